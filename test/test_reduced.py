# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constrained robots in their independent speeds: compiled, and what the general solution is."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import four_bar_text, massless_text, sleigh_text, two_arms_text
from scipy.optimize import brentq
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    Coupling,
    DistanceLoop,
    HingeLoop,
    Pfaffian,
    PointLoop,
    PrescribedMotion,
)
from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.elementary import cos, sin
from kron_dynamics.reduced import ReducedRobot

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
PIN = HingeLoop(
    'pin',
    Attachment('coupler', (0.9, 0.0, 0.0)),
    Attachment('rocker', (0.7, 0.0, 0.0)),
)
START = (0.9, -0.4, 1.5)


@functools.cache
def four_bar() -> kd.Robot:
    return kd.loads(four_bar_text(), gravity=(0.0, -9.81, 0.0))


def linkage(*more: Constraint, **options: Any) -> ConstrainedRobot:
    options = {'independent': ['j1'], **options}
    return ConstrainedRobot(four_bar(), [PIN, *more], start=START, **options)


def two_arms() -> ConstrainedRobot:
    left = Attachment('left3', (0.3, 0.1, 0.0), (0.2, 1.0, 0.1))
    right = Attachment('right3', (0.3, -0.1, 0.0), (0.0, 1.0, 0.2))
    return ConstrainedRobot(
        kd.loads(two_arms_text()),
        [
            PointLoop('hands', left, right),
            Coupling('gear', {'left2_joint': 1, 'right2_joint': 0.5}),
        ],
        start=[0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2],
    )


def sleigh() -> ConstrainedRobot:
    robot = kd.loads(sleigh_text(3.0, 0.4, 0.5), gravity=(0, 0, 0))
    blade = BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))
    return ConstrainedRobot(robot, [blade], start=[0.3, -0.2, 0.7])


@functools.cache
def stacker() -> ConstrainedRobot:
    robot = kd.load(ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf')
    return ConstrainedRobot.described(robot, ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml')


MACHINES: dict[str, Callable[[], ConstrainedRobot]] = {
    'four-bar': linkage,
    'two arms': two_arms,
    'sleigh': sleigh,
    'stacker': stacker,
}


def states_of(
    robot: ConstrainedRobot, count: int = 4
) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Closed q near the start, u and du/dt."""
    rng = np.random.default_rng(5)
    m = robot.degrees_of_freedom
    return [
        (
            robot.close(robot.start + 0.05 * rng.normal(size=robot.n)),
            rng.normal(size=m),
            rng.normal(size=m),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize('name', MACHINES)
def test_kernels_are_the_general_solution(name: str, assert_close: Any) -> None:
    robot = MACHINES[name]()
    reduced = ReducedRobot(robot)
    reduced.prepare()
    rng = np.random.default_rng(8)
    for q, u, u_dot in states_of(robot):
        qd = robot.velocities(q, u)
        qdd = robot.accelerations(q, qd, u_dot)
        assert_close(reduced.residual(q), robot.residual(q), 1e-12, floor=1.0)
        assert_close(reduced.velocities(q, u), qd, 1e-11, floor=1.0)
        assert_close(reduced.accelerations(q, u, u_dot), qdd, 1e-11, floor=1.0)
        equations = reduced.equations_of_motion(q, u)
        assert_close(equations.mass_matrix, robot.mass_matrix(q), 1e-11)
        efforts = reduced.inverse_dynamics(q, u, u_dot)
        expected = robot.inverse_dynamics(q, qd, qdd)
        assert_close(efforts, expected[list(reduced._actuated)], 1e-10)
        assert_close(
            equations.mass_matrix @ u_dot + equations.bias,
            equations.transmission @ efforts,
            1e-10,
        )
        tau = np.abs(expected).max() * rng.normal(size=robot.n) + 0.1
        found, motion = reduced.forward_dynamics(q, u, tau), robot.forward_dynamics(q, qd, tau)
        assert_close(found.qdd, motion.qdd, 1e-9)
        assert_close(found.multipliers, motion.multipliers, 1e-9)
        assert_close(reduced.accelerations(q, u, found.u_dot), motion.qdd, 1e-9)


@pytest.mark.parametrize('name', ['four-bar', 'two arms', 'stacker'])
def test_batches_are_the_single_states(name: str, assert_close: Any) -> None:
    robot = MACHINES[name]()
    reduced = ReducedRobot(robot)
    q, u, u_dot = map(np.array, zip(*states_of(robot, 9), strict=True))
    singles = [reduced.inverse_dynamics(*state) for state in zip(q, u, u_dot, strict=True)]
    assert_close(reduced.inverse_dynamics(q, u, u_dot), singles, 1e-12)
    tau = np.zeros((9, robot.n))
    alone = [reduced.forward_dynamics(*state).qdd for state in zip(q, u, tau, strict=True)]
    assert_close(reduced.forward_dynamics(q, u, tau).qdd, alone, 1e-11)


def test_more_actuators_share_by_weights(assert_close: Any) -> None:
    robot = linkage(actuated=['j1', 'j3'])
    weights = {'j3': 3.0}
    reduced = ReducedRobot(robot, weights=weights)
    plain = ReducedRobot(robot)
    for q, u, u_dot in states_of(robot):
        qd = robot.velocities(q, u)
        expected = robot.inverse_dynamics(
            q, qd, robot.accelerations(q, qd, u_dot), weights=weights
        )
        assert_close(reduced.inverse_dynamics(q, u, u_dot), expected[[0, 2]], 1e-11)
        assert np.abs(plain.inverse_dynamics(q, u, u_dot) - expected[[0, 2]]).max() > 1e-3


def test_the_force_of_the_luffing_cylinder_by_hand(assert_close: Any) -> None:
    """From the triangle of its pins and the balance of power, written down by hand."""
    robot = stacker()
    reduced = ReducedRobot(robot)
    names = robot.joint_names
    for luff, rate, change in ((0.0, 0.0, 0.0), (-0.2, 0.001, 0.0), (0.2, -0.0012, 0.003)):
        c, s = np.cos(luff), np.sin(luff)
        eye = np.array([11 * c + 1.2 * s, 11 * s - 1.2 * c])
        along = eye - [5.0, -3.8]
        length = np.hypot(*along)
        arm = (eye[0] * along[1] - eye[1] * along[0]) / length
        lean = np.arctan2(along[1], along[0]) - np.arctan2(2.6, 6.0)
        # d(lean)/d(luff): of the eye's motion what is across the cylinder, over its length.
        turn = (eye @ along) / length**2
        q = np.zeros(7)
        place = {'luff': luff, 'cab_pin': -luff, 'levelling_pin': luff, 'barrel_pin': lean}
        place['cylinder'] = length - np.hypot(6.0, 2.6)
        for joint, value in place.items():
            q[names.index(joint)] = value
        assert np.abs(reduced.residual(q)).max() < 1e-12
        column = {'luff': 1.0, 'cab_pin': -1.0, 'levelling_pin': 1.0, 'barrel_pin': turn}
        column['cylinder'] = arm
        B = np.array([column.get(name, 0.0) for name in names])
        u = np.array([0.0, 0.0, rate])
        assert_close(reduced.velocities(q, u), B * rate, 1e-12, floor=1e-3)
        qdd = reduced.accelerations(q, u, [0.0, 0.0, change])
        full = robot.robot.inverse_dynamics(q, B * rate, qdd)
        efforts = reduced.inverse_dynamics(q, u, [0.0, 0.0, change])
        assert_close(efforts[2] * arm, B @ full, 1e-10)
        assert abs(efforts[2] * arm - full[names.index('luff')]) > 1e4  # what moves with it


def test_the_cab_stays_level_and_the_cylinder_within_its_stroke() -> None:
    robot = stacker()
    model = robot.robot.model
    luff = robot.joint_names.index('luff')
    for angle in np.linspace(model.position_lower[luff], model.position_upper[luff], 7):
        q = robot.start.copy()
        q[luff] = angle
        q = robot.close(q, hold=['luff'])
        pose = robot.robot.frame('cab').pose(q)
        np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-10)
        assert (q >= model.position_lower - 1e-12).all()
        assert (q <= model.position_upper).all()
        assert robot.report(q).singular_value > 0.1


def test_near_a_dead_point_of_the_speeds_results_grow_and_the_report_is_silent() -> None:
    """Crank and coupler in line: the rocker turns back, and its rate determines nothing."""
    robot = linkage(independent=['j3'])
    other = linkage()
    reduced, turned = ReducedRobot(robot), ReducedRobot(other)

    def placed(crank: float) -> np.ndarray:
        return other.close([crank, *other.start[1:]], hold=['j1'])

    dead = brentq(lambda x: turned.velocity_matrix(placed(x))[2, 0], 0.3, 0.9, xtol=1e-15)
    with pytest.raises(kd.SingularConstraintError, match='speeds of j3 do not determine'):
        robot.speeds(placed(dead), np.zeros(3))
    assert robot.report(placed(dead)).singular_value > 0.1
    near, far = (np.abs(reduced.velocity_matrix(placed(dead + way))).max() for way in (1e-4, 1e-2))
    assert 90.0 < near / far < 110.0


@pytest.mark.parametrize('how', ['pickle', 'copy'])
def test_copies_compute_the_same(how: str, assert_close: Any) -> None:
    reduced = ReducedRobot(linkage())
    expected = reduced.inverse_dynamics(reduced.constrained.start, [1.3], [0.2])
    other = pickle.loads(pickle.dumps(reduced)) if how == 'pickle' else copy.deepcopy(reduced)
    assert_close(other.inverse_dynamics(other.constrained.start, [1.3], [0.2]), expected, 1e-14)


def test_what_differs_in_a_number_has_other_kernels() -> None:
    foot, end = Attachment('base', (0.2, -0.3, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
    start = linkage().start
    robots = [
        ReducedRobot(
            ConstrainedRobot(four_bar(), [DistanceLoop('rod', foot, end, length=x)], start=start)
        )
        for x in (1.2, 1.25)
    ]
    phi = [robot.residual(robots[0].constrained.start)[0] for robot in robots]
    assert abs(phi[0]) < 1e-10 < 1e-3 < abs(phi[1])
    # The same conditions, held at another place.
    gears = [
        ReducedRobot(
            ConstrainedRobot(four_bar(), [Coupling('gear', {'j1': 1.0, 'j2': 2.0}, signal=x)])
        )
        for x in (0.0, 0.25)
    ]
    found = [robot.residual(np.zeros(3))[0] for robot in gears]
    assert abs(found[0] - found[1]) == pytest.approx(0.25)
    shared = [
        ReducedRobot(linkage(actuated=actuated)).inverse_dynamics(start, [1.0], [0.0])
        for actuated in (['j1'], ['j3'])
    ]
    assert abs(shared[0] - shared[1]) > 1e-3


def test_payloads_count(assert_close: Any) -> None:
    robot = kd.loads(
        four_bar_text(), gravity=(0.0, -9.81, 0.0), payload={'rocker': (2.0, (0.4, 0.1, 0.0))}
    )
    loaded = ConstrainedRobot(robot, [PIN], start=START, independent=['j1'])
    empty = ReducedRobot(linkage()).inverse_dynamics(loaded.start, [1.0], [0.5])
    q, qd = loaded.start, loaded.velocities(loaded.start, [1.0])
    expected = loaded.inverse_dynamics(q, qd, loaded.accelerations(q, qd, [0.5]))
    found = ReducedRobot(loaded).inverse_dynamics(q, [1.0], [0.5])
    assert_close(found, expected, 1e-11)
    assert abs(found[0] - empty[0]) > 0.1


def test_mass_that_does_not_move_is_refused() -> None:
    with pytest.warns(kd.ModelWarning):
        robot = kd.loads(massless_text())
    still = ReducedRobot(ConstrainedRobot(robot, [PrescribedMotion('lock', 'j', 0.0)]))
    assert still.inverse_dynamics([0.0, 0.0], [1.0], [1.0])[0] == 0.0
    with pytest.raises(kd.InvalidInertiaError, match=r"'i' can move .* without moving mass"):
        still.forward_dynamics([0.0, 0.0], [0.0], [1.0, 0.0])
    geared = ReducedRobot(ConstrainedRobot(robot, [Coupling('gear', {'i': 1.0, 'j': -2.0})]))
    moved = geared.forward_dynamics([0.0, 0.0], [0.0], [1.0, 0.0])
    assert np.isfinite(moved.qdd).all()


@pytest.mark.parametrize(
    ('make', 'error', 'words'),
    [
        (lambda: four_bar(), kd.ArgumentTypeError, 'expected a ConstrainedRobot'),
        (
            lambda: ConstrainedRobot(
                four_bar(), [PrescribedMotion('drive', 'j1', lambda t: 0.9 + sin(t))]
            ),
            kd.ConstraintError,
            "'drive' is a function of time",
        ),
        (
            lambda: ConstrainedRobot(
                four_bar(), [Pfaffian('own', lambda q, t: np.array([[1.0, cos(q[1]), 0]]))]
            ),
            kd.ConstraintError,
            "'own' is a function",
        ),
        (
            lambda: linkage(independent=lambda q, t: np.array([[1.0, 1.0, 0.0]])),
            kd.ConstraintError,
            'quasi-velocities',
        ),
        (
            lambda: ConstrainedRobot(
                *(kd.loads(four_bar_text().replace('j1', 'u1')), [PIN]),
                start=START,
                independent=lambda q, t: np.array([[3.0, 0.0, 0.0]]),
            ),
            kd.ConstraintError,
            'quasi-velocities',
        ),
        (
            lambda: ConstrainedRobot(
                kd.loads(sleigh_text(3.0, 0.4, 0.5), gravity=(0, 0, 0)),
                [BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0), signal=0.1)],
            ),
            kd.ConstraintError,
            "'blade' asks for a rate of 0.1",
        ),
        (
            lambda: ConstrainedRobot(
                four_bar(), [Coupling('gear', {'j1': 1.0, 'j2': 2.0})], actuated=['j1']
            ),
            kd.ConstraintError,
            "'j1' leave 1 of 2 degrees of freedom",
        ),
        (lambda: ConstrainedRobot(four_bar(), []), kd.ConstraintError, 'has 0 constraints'),
        (
            lambda: linkage(PrescribedMotion('lock', 'j1', 0.9), independent=None),
            kd.ConstraintError,
            'and 0 degrees of freedom',
        ),
    ],
)
def test_what_is_not_compiled_is_refused_by_name(make: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ReducedRobot(make())


def test_wrong_lengths_are_refused() -> None:
    reduced = ReducedRobot(linkage())
    with pytest.raises(kd.ShapeError, match=r'u '):
        reduced.velocities(START, [1.0, 2.0])
    with pytest.raises(kd.ParameterError, match='weights'):
        ReducedRobot(linkage(), weights={'elbow': 1.0})


def test_on_floats_it_is_the_same(assert_close: Any) -> None:
    """What the tracer records, run without it."""
    robot = ConstrainedRobot(
        uncompiled(four_bar_text(), gravity=(0.0, -9.81, 0.0)),
        [PIN],
        start=START,
        independent=['j1'],
    )
    reduced = ReducedRobot(robot)
    method = type(reduced).__dict__['inverse_dynamics']
    state = robot.start, np.array([1.3]), np.array([0.2])
    plain = method.specification(reduced).function(reduced.model, *state)
    assert_close(reduced.inverse_dynamics(*state), plain, 1e-13)
