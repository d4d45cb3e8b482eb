# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Deflections that are too large are told: a warning once for each link, and no result at last."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import yaml
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.flexible import deflections
from kron_dynamics.modes import joint_map, payload_map
from kron_dynamics.resources import resource_path
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

LENGTH, MASS = 4.0, 3.0
J = MASS * LENGTH**3 / 12
TEXT = f"""<robot name="pair"><link name="base"/>
<joint name="lift" type="revolute"><parent link="base"/><child link="beam"/>
  <axis xyz="0 -1 0"/><limit lower="-1" upper="1.5" effort="1e4" velocity="1"/></joint>
<link name="beam"><inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="{MASS * LENGTH}"/>
  <inertia ixx="0" iyy="{J}" izz="{J}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="end" type="fixed"><parent link="beam"/><child link="load"/>
  <origin xyz="{LENGTH} 0 0"/></joint>
<link name="load"><inertial><mass value="24"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
# Linear deflection of the tip times the bending stiffness.
SAG = 9.80665 * (24 * LENGTH**3 / 3 + MASS * LENGTH**4 / 8)


def robot(share: float, **options: Any) -> kd.Robot:
    """Return a robot whose beam hangs by some share of its length, as linear theory has it."""
    beam = {'length': LENGTH, 'bending_stiffness': SAG / share / LENGTH, 'modes': {'w': 1}}
    return uncompiled(TEXT, flexible={'flexible_links': {'beam': beam}}, **options)


@contextmanager
def told(count: int) -> Iterator[None]:
    """Exactly so many warnings of large deflections, and no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        yield
    assert [getattr(w.message, 'kind', w.message) for w in caught] == ['large_deflection'] * count


def test_a_small_deflection_passes_without_a_word() -> None:
    with told(0):
        straight = robot(0.049)
        q = quasi_static_equilibrium(straight, [0.0])
        straight.linearize(q, 0 * q, 0 * q)
    (bent,) = deflections(straight.model, q)
    assert (bent.link, bent.length) == ('beam', LENGTH)
    assert bent.share == pytest.approx(0.0488, abs=2e-4) == -q[1] / LENGTH
    assert deflections(kd.loads(TEXT).model, [0.0]) == []


def test_a_large_one_is_told_once_for_each_robot() -> None:
    for _ in range(2):
        bending = robot(0.06)
        with told(1):
            q = quasi_static_equilibrium(bending, [0.0])
            bending.linearize(q, 0 * q, 0 * q)
            quasi_static_equilibrium(bending, [0.1])
    with pytest.warns(kd.ModelWarning) as caught:
        quasi_static_equilibrium(robot(0.06), [0.0])
    assert caught[0].filename == __file__
    assert str(caught[0].message).startswith(
        "flexible link 'beam': deflects by 0.239 m, 5.98 % of its length of 4 m, and from 5 % on"
    )
    # A raised beam hangs less, and one that is turned aside by other coordinates as much.
    with told(0):
        quasi_static_equilibrium(robot(0.06), [0.7])
    with told(1):
        robot(0.01).linearize([0.0, 0.21], [0.0, 0.0], [0.0, 0.0])


def test_of_a_batch_the_worst_state_counts() -> None:
    bending = robot(0.01)
    states = [[0.0, 0.1], [0.0, -0.21], [0.0, 0.0]]
    shares = [deflections(bending.model, state)[0].share for state in states]
    assert deflections(bending.model, states)[0].share == max(shares) == shares[1]
    with told(1):
        bending.check_deflections(states)
    with pytest.raises(kd.ModelError, match=r'deflects by 1\.24 m'):
        bending.check_deflections([[0.0, 0.0], [0.0, 1.24]])
    bending.check_deflections(np.zeros((0, 2)))


def test_links_are_told_one_by_one() -> None:
    text = TEXT.replace(
        '</robot>',
        f"""<joint name="side" type="fixed"><parent link="base"/><child link="other"/>
<origin xyz="0 2 0"/></joint><link name="other"><inertial><origin xyz="{LENGTH / 2} 0 0"/>
<mass value="{MASS * LENGTH}"/>
<inertia ixx="0" iyy="{J}" izz="{J}" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""",
    )
    beam = {'length': LENGTH, 'bending_stiffness': 3e4, 'modes': {'w': 1}}
    pair = uncompiled(text, flexible={'flexible_links': {'beam': beam, 'other': beam}})
    rest = np.zeros(3)
    for modal, count in (([0.3, 0.1], 1), ([0.3, 0.25], 1), ([0.4, 0.4], 0)):
        with told(count):
            pair.linearize([0.0, *modal], rest, rest)
    with pytest.raises(kd.ModelError, match="'other' deflects by 1.3 m, 32.5 % of its length"):
        pair.linearize([0.0, 0.1, 1.3], rest, rest)


def test_beyond_the_largest_there_is_no_result() -> None:
    bending = robot(0.1)
    said = (
        r"flexible link 'beam' deflects by 1\.24 m, 31 % of its length, expected at most 1\.2 m, "
        r'30 % of its length of 4 m'
    )
    with pytest.raises(kd.ModelError, match=said):
        bending.linearize([0.0, 1.24], [0.0, 0.0], [0.0, 0.0])
    with told(1):
        quasi_static_equilibrium(robot(0.3), [0.0])
    for share in (0.4, 1.0, 30.0, 1e6):
        with pytest.raises(kd.ModelError, match="'beam' deflects .* 30 % of its length of 4 m"):
            quasi_static_equilibrium(robot(share), [0.0])


@pytest.mark.parametrize(('plane', 'other'), [('v', 'w'), ('w', 'v')])
def test_steep_waves_of_higher_modes_are_small_and_refused(plane: str, other: str) -> None:
    """The fifth mode of a beam alone is 14 times as steep at its tip as it deflects there."""
    modes = {'modes': {plane: 5, other: 1}, 'mode_shapes': 'clamped_free'}
    beam = {'length': LENGTH, 'bending_stiffness': 1e6, **modes}
    model = uncompiled(TEXT, flexible={'flexible_links': {'beam': beam}}).model
    place = model.joint_names.index(f'beam/{plane}5')
    for slope, count in ((0.14, 0), (0.16, 1), (0.79, 1)):
        q = np.zeros(model.n)
        q[place] = slope * LENGTH / 14.137 / 2  # the shape is 2 at the tip
        (bent,) = deflections(model, q)
        assert bent.slope == pytest.approx(slope, rel=1e-3)
        assert bent.share == pytest.approx(slope / 14.137, rel=1e-3)
        with told(count):
            kd.Robot(model).check_deflections(q)
    with pytest.raises(kd.ModelError, match=r"'beam' bends to a slope of 0\.8\d+, expected"):
        kd.Robot(model).check_deflections(1.05 * q)


@pytest.mark.parametrize('tip', [0.5, 24.0])
def test_the_first_mode_is_refused_for_its_deflection(tip: float) -> None:
    text = TEXT.replace('mass value="24"', f'mass value="{tip}"')
    beam = {'length': LENGTH, 'bending_stiffness': 1e6, 'modes': {'w': 1}}
    model = uncompiled(text, flexible={'flexible_links': {'beam': beam}}).model
    (bent,) = deflections(model, [0.0, 0.05 * LENGTH])
    assert bent.share == pytest.approx(0.05, rel=1e-6)
    assert 0.06 < bent.slope < 0.08  # far below the limits of slopes


def test_a_boom_of_rubber_is_refused() -> None:
    with resource_path('config', 'stacker_reclaimer_flexible.yaml').open() as file:
        flexible = yaml.safe_load(file)
    flexible['flexible_links']['boom']['bending_stiffness'] = 1e9
    text = resource_path('urdf', 'stacker_reclaimer.urdf').read_text()
    boom = uncompiled(text, flexible=flexible)
    with pytest.raises(kd.ModelError, match=r"'boom' deflects .* 18 m, 30 % of its length of 60"):
        quasi_static_equilibrium(boom, [0.0, 0.0, 0.0])


def test_sweeps_warn_once_and_refuse_with_the_value() -> None:
    with told(1):
        joint_map(robot(0.06), 'lift', [-0.2, -0.1, 0.0, 0.1])
    with (
        told(1),
        pytest.raises(kd.ModelError, match="^lift at 0 rad: flexible link 'beam' deflects by"),
    ):
        joint_map(robot(0.45), 'lift', [1.5, 0.0])

    def loaded(mass: float) -> kd.Robot:
        return robot(0.02, payload={'load': mass})

    with told(1):
        found = payload_map(loaded, 'load', [0.0, 60.0, 80.0, 100.0])
    with pytest.raises(
        kd.ModelError, match=r'^payload at load at 5e\+08 kg: no stable equilibrium'
    ):
        payload_map(loaded, 'load', [0.0, 5e8])
    for mass, frequency in zip(found.values, found.frequencies[:, 0], strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            carries = loaded(mass)
            q = quasi_static_equilibrium(carries, [0.0])
            linear = carries.linearize(q, 0 * q, 0 * q).part([1])
        assert frequency == pytest.approx(linear.frequencies()[0] / (2 * np.pi), rel=1e-12)


def test_the_simulated_plant_is_checked() -> None:
    with told(0):
        plant = Plant(kd.Robot(robot(0.04).model), [0.0])
    with told(1):  # it falls and is stopped
        plant.qd[1] = -20.0
        for _ in range(20):
            plant.advance([0.0], 0.01, 0.001)
    plant.qd[1] = -60.0
    with pytest.raises(kd.ModelError, match="flexible link 'beam' deflects by"):
        for _ in range(20):
            plant.advance([0.0], 0.01, 0.001)


def test_what_is_no_number_is_not_checked() -> None:
    with told(0):
        robot(0.04).check_deflections([0.0, np.nan])


@pytest.mark.parametrize(
    ('state', 'error'),
    [
        ([0.0], kd.ShapeError),
        ([[[0.0, 0.0]]], kd.ShapeError),
        ([[0.0], [0.0]], kd.ShapeError),
        (None, kd.ArgumentTypeError),
        ([0j, 0.0], kd.ArgumentTypeError),
    ],
)
def test_a_state_that_is_none_is_refused_by_name(state: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match='^q of check_deflections'):
        robot(0.02).check_deflections(state)
