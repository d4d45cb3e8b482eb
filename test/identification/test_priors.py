# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What descriptions say before any data: of bodies, friction and loads, in any units."""

from __future__ import annotations

import numpy as np
import pytest
from identified_arms import identified_arm
from sampled_runs import machine

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.identification.friction import TERMS
from kron_dynamics.identification.known_load import placing
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload_prior import (
    model_prior,
    point_inertia,
    point_inertia_slope,
)
from kron_dynamics.identification.prior import body_parameters, prior_of, thin_notes
from kron_dynamics.identification.pseudo_inertia import is_consistent, pseudo_inertia
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.selection import usual_values

NAMES = tuple(TERMS)
# How coefficients go by units of the effort and of the speed.
POWERS = {'viscous': (1, -1), 'cubic': (1, -3), 'load': (0, 0)}


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return machine('ur5', coulomb=0.03)


def usual(rng: np.random.Generator, robot: kd.Robot) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(5.0, 50.0, robot.n), rng.uniform(0.1, 2.0, robot.n)


def test_bodies_that_can_be_are_as_described_and_others_are_made_so(robot: kd.Robot) -> None:
    ten = robot.inertial_parameters()[: 10 * len(robot.model.bodies)].reshape(-1, 10)
    found = body_parameters(robot)
    can_be = [is_consistent(own) for own in ten]
    assert any(can_be)
    for own, made, same in zip(ten, found, can_be, strict=True):
        assert is_consistent(made)
        if same and own[0] > 0.1:
            np.testing.assert_allclose(made, own)


def test_possible_bodies_that_are_too_thin_for_a_prior_are_told() -> None:
    text = identified_arm('6')
    assert thin_notes(kd.loads(text)) == []
    rod = kd.loads(text.replace('ixx="0.02" iyy="0.1"', 'ixx="1.8e-5" iyy="0.1"'))
    (note,) = thin_notes(rod)
    assert "'fore'" in note and "'upper'" not in note and '5 mm' in note
    # The rest of the rod is as described.
    described = rod.inertial_parameters()[10:20]
    np.testing.assert_allclose(body_parameters(rod)[1], described, atol=3e-4)
    with pytest.warns(UserWarning):
        impossible = kd.loads(text.replace('ixx="0.02" iyy="0.1"', 'ixx="1" iyy="0.1"'))
    assert thin_notes(impossible) == []  # the warning says so


def test_bodies_without_mass_get_little_of_the_lightest_one() -> None:
    link = """<link name="{name}"><inertial><mass value="{mass}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    joint = """<joint name="{name}" type="revolute"><parent link="{parent}"/>
      <child link="{child}"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>"""
    chain = ['base', 'first', 'middle', 'last']
    text = '<robot name="r"><link name="base"/><link name="middle"/>'
    text += link.format(name='first', mass=7.0) + link.format(name='last', mass=4.0)
    for parent, child in zip(chain[:-1], chain[1:], strict=True):
        text += joint.format(name=f'to_{child}', parent=parent, child=child)
    found = body_parameters(kd.loads(text + '</robot>'))
    assert all(is_consistent(own) for own in found)
    np.testing.assert_allclose(found[:, 0], [7.0, 4e-3, 4.0])


def test_expected_are_the_described_coefficients(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    effort, speed = usual(rng, robot)
    prior = prior_of(robot, NAMES, effort, speed)
    bodies = 10 * len(robot.model.bodies)
    np.testing.assert_allclose(prior.bodies[0], pseudo_inertia(body_parameters(robot)[0]))
    others = prior.expected[bodies:]
    assert len(others) == robot.n * (1 + len(NAMES))
    friction = others[robot.n :].reshape(robot.n, -1)
    np.testing.assert_allclose(friction[:, NAMES.index('coulomb')], robot.model.friction)
    free = [not TERMS[name] for name in NAMES]
    np.testing.assert_array_equal(friction[:, free], 0.0)
    positive = prior.positive[robot.n :].reshape(robot.n, -1)
    np.testing.assert_array_equal(positive, np.tile(np.logical_not(free), (robot.n, 1)))
    # What the description leaves out is next to nothing, but something.
    left_out = friction[:, NAMES.index('stribeck')]
    assert (left_out > 0.0).all() and (left_out < 0.05 * effort).all()


def test_scales_go_with_the_units_of_efforts_and_speeds(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    effort, speed = usual(rng, robot)
    first, other = (
        prior_of(robot, NAMES, a * effort, b * speed) for a, b in ((1.0, 1.0), (3.0, 2.0))
    )
    ratio = other.scale / first.scale
    np.testing.assert_allclose(ratio[: robot.n], 1.5)  # armatures
    bodies = 10 * len(robot.model.bodies)
    one, two = (each.expected[bodies + robot.n :].reshape(robot.n, -1) for each in (first, other))
    # So does what is expected of what no description tells.
    np.testing.assert_allclose(
        two[:, NAMES.index('stribeck')], 3.0 * one[:, NAMES.index('stribeck')]
    )
    friction = ratio[robot.n :].reshape(robot.n, -1)
    for k, name in enumerate(NAMES):
        a, b = POWERS.get(name, (1, 0))
        np.testing.assert_allclose(friction[:, k], 3.0**a * 2.0**b, err_msg=name)
    assert first.scale[robot.n + NAMES.index('offset')] == pytest.approx(0.1 * effort[0])


def test_usual_values_are_root_mean_squares_and_never_zero(rng: np.random.Generator) -> None:
    robot = machine('stacker')
    limit = robot.model.velocity_limit
    t = 0.01 * np.arange(400)
    qd, effort = limit * rng.standard_normal((400, 3)), rng.standard_normal((400, 3)) * [1, 5, 9]
    qd[:, 1] = 0.0
    effort[::3, 0], effort[:, 2] = np.nan, np.nan
    halves = [
        Motion(t[part], qd[part], qd[part], effort[part]) for part in (slice(100), slice(100, 400))
    ]
    found = usual_values(robot, halves)
    rms = np.sqrt(np.nanmean(effort[:, :2] ** 2, axis=0))
    np.testing.assert_allclose(found.effort, [*rms, rms.max()])
    still = 0.1 * limit[1]
    np.testing.assert_allclose(found.speed, np.sqrt(np.mean(qd**2, axis=0)) + [0.0, still, 0.0])
    slow = [Motion(t, 0.0 * qd, 0.01 * limit * np.sign(qd + 1e-9), effort)]
    np.testing.assert_allclose(usual_values(robot, slow).speed, 0.1 * limit)
    nothing = [Motion(t, qd, qd, 0.0 * qd)]
    np.testing.assert_allclose(usual_values(robot, nothing).effort, 1.0)


def test_a_point_of_a_kilogram_has_its_inertia_and_slope(rng: np.random.Generator) -> None:
    c, w = rng.normal(size=3), rng.normal(size=3)
    xx, xy, xz, yy, yz, zz = point_inertia(c)
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    np.testing.assert_allclose(full @ w, np.cross(c, np.cross(w, c)))
    h = 1e-6
    slope = np.column_stack(
        [(point_inertia(c + h * e) - point_inertia(c - h * e)) / (2.0 * h) for e in np.eye(3)]
    )
    np.testing.assert_allclose(point_inertia_slope(c), slope, atol=1e-9)


def test_a_load_placed_on_its_link_takes_the_efforts_of_one_that_is_carried(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    link = 'tool0'
    load = kd.RigidPayload(2.0, [0.05, -0.03, 0.08], np.diag([0.02, 0.03, 0.04]))
    c = np.asarray(load.center_of_mass)
    about_link = load.inertia + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    ten = np.concatenate([[2.0], 2.0 * c, about_link[np.triu_indices(3)]])
    own = placing(robot, link) @ ten
    loaded = kd.loads(description('ur5').text, payload={link: load})
    change = loaded.inertial_parameters() - robot.inertial_parameters()
    bodies = change[: 10 * len(robot.model.bodies)].reshape(-1, 10)
    carrier = int(np.abs(bodies).max(axis=1).argmax())
    np.testing.assert_allclose(bodies[carrier], own, atol=1e-12)


@pytest.mark.parametrize('learnt', [True, False])
def test_descriptions_are_less_certain_where_other_motion_tells(
    robot: kd.Robot, learnt: bool, rng: np.random.Generator
) -> None:
    effort = rng.standard_normal((50, robot.n)) * np.arange(1.0, robot.n + 1.0)
    effort[::2, 0], effort[:, 1] = np.nan, np.nan
    columns = len(robot.inertial_parameters()) + robot.n * len(NAMES)
    rows = Rows(np.arange(50.0), np.zeros((50, robot.n, columns)), effort, np.zeros(50))
    mean, deviation = model_prior(robot, NAMES, rows, learnt)
    bodies = len(robot.inertial_parameters()) - robot.n
    np.testing.assert_allclose(mean[: bodies + robot.n], robot.inertial_parameters())
    share = 0.5 if learnt else 0.05
    masses = robot.inertial_parameters()[:bodies:10]
    np.testing.assert_allclose(deviation[:bodies:10], share * masses)
    # As if a body's mass were at its centre or at its radius of gyration, whichever is farther.
    ten = robot.inertial_parameters()[:bodies].reshape(-1, 10)
    centre = np.linalg.norm(ten[:, 1:4], axis=1) / masses
    gyration = np.sqrt(ten[:, [4, 7, 9]].sum(axis=1) / masses)
    some = np.maximum(centre, gyration) > 0.15  # a tenth of the reach is the least
    assert some.sum() >= 3 and (np.abs(centre - gyration)[some] > 0.01).any()
    arms = deviation[:bodies].reshape(-1, 10)[:, 1] / (share * masses)
    np.testing.assert_allclose(arms[some], np.maximum(centre, gyration)[some])
    assert (arms >= np.maximum(centre, gyration) - 1e-12).all()
    friction = deviation[bodies + robot.n :].reshape(robot.n, -1)
    rms = np.sqrt([np.nanmean(effort[:, 0] ** 2), 1.0, *np.mean(effort[:, 2:] ** 2, axis=0)])
    speed = robot.model.velocity_limit
    np.testing.assert_allclose(friction[:, NAMES.index('offset')], rms)
    np.testing.assert_allclose(friction[:, NAMES.index('load')], 0.1)  # of what a joint bears
    coulomb = np.maximum(rms, robot.model.friction)
    np.testing.assert_allclose(friction[:, NAMES.index('coulomb')], coulomb)
    np.testing.assert_allclose(friction[:, NAMES.index('viscous')], rms / speed)
    np.testing.assert_allclose(friction[:, NAMES.index('cubic')], rms / speed**3)
    expected = mean[bodies + robot.n :].reshape(robot.n, -1)[:, NAMES.index('coulomb')]
    np.testing.assert_allclose(expected, robot.model.friction)
