# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the self-test of an export stores: states of the robot, numbers, what rounding may do."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from exported import self_test

import kron_dynamics as kd
from benchmarks.chain import chain_urdf
from kron_dynamics.export import export_library, write_export
from kron_dynamics.export.self_test import _case, expected, states

ROBOTS = Path(__file__).parents[1] / 'robots'


def test_positions_are_spread_within_their_ranges():
    """Of joints that turn far from zero alone, too."""
    text = (ROBOTS / 'planar_2r.urdf').read_text()
    ranges = iter(['lower="2.0" upper="3.0"', 'lower="-9.0" upper="-1.0"'])
    text = re.sub(r'lower="\S+" upper="\S+"', lambda _: next(ranges), text)
    library = export_library(kd.loads(text), prefix='arm', quantities=['gravity_vector'])
    (q,) = states(library, library.functions[0], 200, seed=1)
    lower, upper = np.array([2.0, -9.0]), np.array([3.0, -1.0])
    assert ((lower < q) & (q < upper)).all()
    np.testing.assert_allclose(np.ptp(q, axis=0), 0.9 * (upper - lower), rtol=0.05)
    np.testing.assert_allclose(q.mean(axis=0), (lower + upper) / 2, atol=0.1 * (upper - lower)[1])


def test_positions_keep_the_only_limit_of_a_joint():
    text = (ROBOTS / 'planar_2r.urdf').read_text()
    ranges = iter(['upper="7.0" lower="-inf"', 'lower="5.0" upper="inf"'])
    robot = kd.loads(
        re.sub(r'lower="\S+" upper="\S+"', lambda _: '@', text)
        .replace('@', next(ranges), 1)
        .replace('@', next(ranges), 1)
    )
    library = export_library(robot, prefix='arm', quantities=['gravity_vector'])
    (q,) = states(library, library.functions[0], 200, seed=1)
    assert (q[:, 0] < 7.0).all() and (q[:, 1] > 5.0).all()
    assert (np.ptp(q, axis=0) > 1.0).all()


def test_payloads_are_bodies_with_ten_numbers_that_matter():
    """A library that ignores one of the ten must not pass."""
    robot = kd.load(ROBOTS / 'planar_2r.urdf')
    library = export_library(
        robot, quantities=['mass_matrix'], payload_links=[robot.model.tip_link]
    )
    rows = states(library, library.functions[0], 50, seed=1)[-1]
    assert rows.shape == (50, 10)
    scale = np.abs(rows).max(axis=0)
    assert (np.ptp(rows, axis=0) > 0.3 * scale).all()
    assert (np.abs(np.corrcoef(rows.T)[~np.eye(10, dtype=bool)]) < 0.95).all()
    for m, x, y, z, xx, xy, xz, yy, yz, zz in rows:
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        first = np.array([x, y, z])
        second = np.trace(about) / 2 * np.eye(3) - about - np.outer(first, first) / m
        assert m > 0.0 and np.linalg.eigvalsh(second).min() > 0.0


@pytest.mark.parametrize('real', ['float', 'double'])
def test_numbers_given_to_an_export_are_those_of_its_kind(real):
    """Else it would be compared with equations of other numbers than it is given."""
    robot = kd.load(ROBOTS / 'planar_2r.urdf')
    library = export_library(robot, prefix='arm', quantities=['mass_matrix'], real=real)
    (q,) = states(library, library.functions[0], 10, seed=1)
    assert (q.astype(np.float32) == q).all() == (real == 'float')


@pytest.mark.parametrize('a', [0.0, 1.0, -2.0, np.inf, np.nan])
@pytest.mark.parametrize('b', [0.0, -0.0, 1.0, -4.0, np.inf])
def test_quotients_are_those_of_floats_by_zero_too(a, b):
    def quotients(model, x, y):
        return x[0] / y[0], a / y[0], x[0] / b

    quantity = SimpleNamespace(function=quotients)
    function = SimpleNamespace(specification=quantity, results=('all',) * 3)
    with np.errstate(all='ignore'):
        right = np.float64(a) / np.float64(b)
    robot = kd.load(ROBOTS / 'planar_2r.urdf')
    library = SimpleNamespace(model=robot.model)
    for quotient in expected(library, function, [np.array([a]), np.array([b])]):
        np.testing.assert_array_equal(quotient, [right])


def test_what_changes_fast_may_be_off_by_more():
    """A joint turns by the hundred: one that is rounded elsewhere is off by so many last bits."""
    text = (ROBOTS / 'planar_2r.urdf').read_text()
    tolerances = []
    for turns in ('1', '1000'):
        wide = re.sub(r'lower="\S+" upper="\S+"', f'lower="-{turns}" upper="{turns}"', text)
        library = export_library(kd.loads(wide), prefix='arm', quantities=['mass_matrix'])
        program = library.files()['test/self_test.c']
        (tolerance,) = re.findall(r'compare\("mass_matrix".* (\S+)\);', program)
        tolerances.append(float(tolerance))
    usual, wide = tolerances
    assert usual < 1e-11
    assert 1e-11 < wide < 1e-9


def test_numbers_may_be_rounded_up_and_down_at_once():
    """What depends on ratios of numbers does not change where all grow by one share."""
    library = export_library(kd.load(ROBOTS / 'planar_2r.urdf'), quantities=['mass_matrix'])
    (function,) = library.functions
    ratio = function.specification._replace(
        function=lambda model, q: np.full((2, 2), (q[0] / q[1]) ** 8)
    )
    _, call = _case(library, replace(function, specification=ratio), np.random.default_rng(1))
    (tolerance,) = re.findall(r'(\S+)\);\n    }', call)
    assert 4e-12 < float(tolerance) < 1e-11


def test_rounding_alone_is_no_error(tmp_path):
    """Gravity has no lever on vertical axes, but rounding tilts them, as the processor does."""
    text = (ROBOTS / 'planar_2r.urdf').read_text()
    text = text.replace(
        '<axis xyz="0 0 1"/>', '<axis xyz="0 0.7071067811865475 0.70710678118654752"/>'
    )
    first = '<parent link="base"/> <child link="upper_arm"/>'
    robot = kd.loads(text.replace(first, f'{first} <origin rpy="0.7853981633974483 0 0"/>'))
    library = export_library(robot, prefix='arm', quantities=['gravity_vector', 'mass_matrix'])
    write_export(library, tmp_path)
    assert 'passed' in self_test(library, tmp_path, 'gcc', ['-march=native'])
    program = library.files()['test/self_test.c']
    (_, least, share), (_, none, tolerance) = re.findall(
        r'compare\("(\w+)", .*, (\S+), (\S+)\);', program
    )
    assert 1e-17 < float(least) < 1e-11 and float(share) == 1.0
    assert float(none) == 0.0 and float(tolerance) < 1e-11


@pytest.mark.parametrize(
    ('joints', 'quantity', 'count'),
    [(2, 'gravity_vector', 5), (12, 'mass_matrix', 5), (12, 'mass_matrix_derivative', 2)],
)
def test_functions_are_called_in_five_states_or_with_less_than_4000_results(
    joints, quantity, count
):
    library = export_library(kd.loads(chain_urdf(joints)), quantities=[quantity])
    program = library.files()['test/self_test.c']
    assert re.findall(r'k < (\d+); \+\+k', program)[-1] == str(count)


def test_a_single_precision_number_of_a_light_joint_must_be_right():
    """A tenth of its effort was within the tolerance, which is relative to the largest effort."""
    arm = kd.load(ROBOTS / 'spatial_3r.urdf')
    library = export_library(arm, prefix='arm', quantities=['inverse_dynamics'], real='float')
    text = library.files()['test/self_test.c']
    (tolerance,) = re.findall(r'compare\("inverse_dynamics".*, (\S+)\);', text)
    assert 1e-6 < float(tolerance) < 3e-5
