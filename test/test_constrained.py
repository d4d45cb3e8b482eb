# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of constrained robots: reference vectors, a four-bar by hand, energy, efforts."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from constrained_robots import END, GRAVITY, HINGE, PIN, START, TIP, four_bar, hands
from mechanisms import (
    integrated,
    massless_text,
    sleigh_text,
)
from public_vectors import cases_of
from uncompiled import OnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    ConstraintSystem,
    Coupling,
    DistanceLoop,
    Pfaffian,
    PointLoop,
    PrescribedMotion,
)
from kron_dynamics.dynamics import kane_inertia_forces
from kron_dynamics.elementary import cos, sin
from kron_dynamics.kronecker import contract_last

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize('case', cases_of('fourbar'), ids=lambda case: case['id'])
def test_reference_vectors_of_a_four_bar(case: Any, assert_close: Any) -> None:
    """[P] (5)-(11), (39), (42)-(46), the loop at rest and moved over time."""
    inputs, expected = case['inputs'], case['expected']
    robot = uncompiled(inputs['urdf'], gravity=inputs['gravity'], joints=inputs['joint_order'])
    closure = inputs['closure']

    def opening(t: Any) -> Any:
        s = closure['s'] + closure['sdot'] * t + closure['sddot'] * t * t / 2
        return np.array([s, 0 * t])

    loop = PointLoop(
        'closure',
        closure['frame_a'],
        closure['frame_b'],
        components='xy',
        base_axes=True,
        signal=opening,
    )
    closed = ConstrainedRobot(
        robot, [loop], start=inputs['q'], independent=[inputs['independent']]
    )
    q = np.array(inputs['q'])
    assert_close(closed.start, q, 1e-13)
    qd = closed.velocities(q, [inputs['u']])
    terms, speeds = closed.terms(q, qd), closed.speeds(q, qd)
    motion = closed.forward_dynamics(q, qd, inputs['tau'])
    M = closed.mass_matrix(q)
    found = {
        'A': terms.A,
        'Adot': terms.A_dot,
        'b': terms.b,
        'bdot': terms.b_dot,
        'B': speeds.B[:, 0],
        'd': speeds.d,
        'Bdot_u_plus_ddot': speeds.gamma,
        'M': robot.mass_matrix(q),
        'h': robot.coriolis_vector(q, qd),
        'g': robot.gravity_vector(q),
        'qd': qd,
        'qdd': motion.qdd,
        'udot': motion.qdd[0],
        'lam': motion.multipliers,
        'M_reduced': M[0, 0],
    }
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert_close(value, expected[name], 1e-12, floor=1.0)
    # The equations of motion as [P] (46) has them, body by body.
    force = np.array(inputs['tau']) - robot.gravity_vector(q)
    sides = kane_inertia_forces(robot.model, q, qd, motion.qdd, speeds.B), speeds.B.T @ force
    assert_close(*sides, 1e-11, floor=1.0)


@pytest.mark.parametrize('case', cases_of('pfaffian'), ids=lambda case: case['id'])
@pytest.mark.parametrize('kind', ['blade', 'functions'])
def test_reference_vectors_of_a_sleigh(case: Any, kind: str, assert_close: Any) -> None:
    """[P] (5)-(11), (39), (42) of a nonholonomic constraint with quasi-velocities."""
    inputs, expected = case['inputs'], case['expected']
    blade = BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))
    own = Pfaffian('blade', lambda q, t: np.array([[-sin(q[2]), cos(q[2]), 0]]), row_units=('m',))
    robot = ConstrainedRobot(
        uncompiled(sleigh_text(inputs['m'], inputs['a'], inputs['I']), gravity=(0, 0, 0)),
        [blade if kind == 'blade' else own],
        independent=lambda q, t: np.array([[cos(q[2]), sin(q[2]), 0], [0, 0, 1]]),
    )
    q, u = np.array(inputs['q']), np.array(inputs['u'])
    qd = robot.velocities(q, u)
    speeds = robot.speeds(q, qd)
    motion = robot.forward_dynamics(q, qd, np.zeros(3))
    U = np.array([[np.cos(q[2]), np.sin(q[2]), 0], [0, 0, 1]])
    U_dot = qd[2] * np.array([[-np.sin(q[2]), np.cos(q[2]), 0], [0, 0, 0]])
    found = {
        'M': robot.robot.mass_matrix(q),
        'h': robot.robot.coriolis_vector(q, qd),
        'qd': qd,
        'udot': U @ motion.qdd + U_dot @ qd,
        'qdd': motion.qdd,
        'lam': motion.multipliers,
        'A': robot.terms(q, qd).A,
        'Bdot': speeds.B_dot,
    }
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert_close(value, expected[name], 1e-12, floor=1e-3)


def equation_by_hand(theta: float, rate: float, tau: float) -> float:
    """The crank's acceleration by Lagrange's equation in its angle alone.

    Angles of coupler and rocker from the cut of two circles, velocities from the sine rule,
    1/2 m(theta) rate^2 + V(theta) by hand, m' and V' by differences.
    """
    a, b, c, d = 0.35, 0.9, 0.7, 1.0
    # mass, centre along and across, moment about the centre
    crank, coupler, rocker = (
        (1.2, 0.5 * a, 0.02, 0.03),
        (2.1, 0.5 * b, -0.03, 0.15),
        (1.7, 0.4 * c, 0.05, 0.08),
    )

    def turned(angle: float, x: float, y: float) -> Any:
        return np.array(
            [x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)]
        )

    def inertia_and_weight(angle: float) -> Any:
        end = turned(angle, a, 0.0)
        ray = np.array([d, 0.0]) - end
        far = np.hypot(*ray)
        along = (b**2 - c**2 + far**2) / (2 * far)
        tip = end + (along * ray + np.sqrt(b**2 - along**2) * turned(np.pi / 2, *ray)) / far
        two = np.arctan2(*(tip - end)[::-1])
        three = np.arctan2(tip[1], tip[0] - d)
        # Rates of the absolute angles per unit rate of the crank.
        w2 = a * np.sin(three - angle) / (b * np.sin(two - three))
        w3 = a * np.sin(two - angle) / (c * np.sin(two - three))
        inertia, weight = 0.0, 0.0
        for (m, x, y, moment), at, start, v, w in (
            (crank, angle, np.zeros(2), np.zeros(2), 1.0),
            (coupler, two, end, turned(angle + np.pi / 2, a, 0.0), w2),
            (rocker, three, np.array([d, 0.0]), np.zeros(2), w3),
        ):
            velocity = v + w * turned(at + np.pi / 2, x, y)
            inertia += m * velocity @ velocity + moment * w**2
            weight += m * GRAVITY * (start + turned(at, x, y))[1]
        return np.array([inertia, weight])

    h = 1e-3
    near, far = (
        inertia_and_weight(theta + k * h) - inertia_and_weight(theta - k * h) for k in (1, 2)
    )
    by_angle = (8 * near - far) / (12 * h)
    inertia = inertia_and_weight(theta)[0]
    return float((tau - by_angle[0] * rate**2 / 2 - by_angle[1]) / inertia)


@pytest.mark.parametrize('loop', [PIN, HINGE], ids=['two conditions', 'five conditions'])
def test_a_four_bar_by_hand(loop: Any, assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [loop], start=START, independent=['j1'])
    q = robot.start
    for angle, rate, effort in ((0.9, 1.7, 1.3), (2.4, -2.1, 0.0), (5.0, 0.6, -3.0)):
        for step in np.linspace(q[0], angle, 12):
            q = robot.close([step, *q[1:]], hold=['j1'])
        qd = robot.velocities(q, [rate])
        motion = robot.forward_dynamics(q, qd, [effort, 0.0, 0.0])
        assert_close(motion.qdd[0], equation_by_hand(angle, rate, effort), 1e-9)


@pytest.mark.parametrize('make', ['four_bar', 'hands', 'rheonomic'])
def test_mdot_minus_2c_is_skew_in_independent_speeds(
    make: str, rng: Any, derivative: Any, assert_close: Any
) -> None:
    """dM_u/dt of differences along a motion; with C B alone it is not skew."""
    if make == 'four_bar':
        robot = ConstrainedRobot(four_bar(), [HINGE], start=START)
    elif make == 'hands':
        robot = hands()
    else:
        loop = PointLoop(
            'pin', END, TIP, components='xy', signal=lambda t: np.array([0.1 * sin(t), 0 * t])
        )
        robot = ConstrainedRobot(four_bar(), [loop], start=START)
    q, u = robot.start, rng.normal(size=robot.degrees_of_freedom)
    qd = robot.velocities(q, u)

    def mass(t: float) -> Any:
        near = robot.close(q + t * qd + t * t / 2 * robot.accelerations(q, qd, 0 * u), t)
        return robot.mass_matrix(near, t)

    rate, C = derivative(mass), robot.coriolis_matrix(q, qd)
    S = rate - 2 * C
    scale = np.abs(rate).max()
    np.testing.assert_allclose(S, -S.T, atol=1e-6 * scale)
    speeds = robot.speeds(q, qd)
    part = rate - 2 * speeds.B.T @ robot.robot.coriolis_matrix(q, qd) @ speeds.B
    assert np.abs(part + part.T).max() > 1e-2 * scale


def test_energy_of_a_closed_loop_is_kept() -> None:
    """A swing by Runge and Kutta, loops closed after each step."""
    robot = ConstrainedRobot(four_bar(), [PIN], start=START, independent=['j1'])
    q, qd = robot.start, robot.velocities(robot.start, [4.0])
    zero = np.zeros(3)

    def energy(state: Any) -> float:
        parts = (
            four_bar().kinetic_energy(*np.split(state, 2)),
            four_bar().potential_energy(state[:3]),
        )
        return float(sum(parts))

    def rates(t: float, state: Any) -> Any:
        q, qd = np.split(state, 2)
        return np.concatenate([qd, robot.forward_dynamics(q, qd, zero).qdd])

    def settle(t: float, state: Any) -> Any:
        q = robot.close(state[:3])
        return np.concatenate([q, robot.close_rates(q, state[3:])])

    begin = np.concatenate([q, qd])
    end = integrated(rates, begin, 2e-3, 150, settle)
    assert np.abs(end[:3] - q).max() > 0.8
    swing = abs(energy(begin) - energy(np.concatenate([q, zero])))
    assert abs(energy(end) - energy(begin)) < 1e-8 * swing
    assert np.abs(robot.residual(end[:3])).max() < 1e-12


def test_power_of_a_moved_constraint_and_of_efforts(assert_close: Any) -> None:
    """Energy balance: dE/dt = tau . qd + lambda . b, with b what moves the loop."""
    loop = PointLoop(
        'pin', END, TIP, components='xy', signal=lambda t: np.array([0.1 * sin(3 * t), 0.05 * t])
    )
    robot = ConstrainedRobot(four_bar(), [loop], start=START)
    q, qd = robot.start, robot.velocities(robot.start, [1.7])
    tau = np.array([0.5, -0.2, 0.3])
    motion = robot.forward_dynamics(q, qd, tau)
    M, C = four_bar().mass_matrix(q), four_bar().coriolis_vector(q, qd)
    Mdot = contract_last(four_bar().mass_matrix_derivative(q), qd)
    change = qd @ M @ motion.qdd + qd @ Mdot @ qd / 2 + four_bar().gravity_vector(q) @ qd
    power = tau @ qd + motion.multipliers @ robot.terms(q, qd).b
    assert_close(change, power, 1e-11)
    assert C.any() and abs(motion.multipliers @ robot.terms(q, qd).b) > 0.1


def test_the_kernel_is_the_equation(assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [HINGE], start=START)
    q, qd = robot.start, robot.velocities(robot.start, [1.3])
    expected = robot._system.geometry(q, qd)
    for part, own in zip(robot._geometry(q, qd), expected, strict=True):
        assert_close(part, own, 1e-13, floor=1.0)
    assert robot._geometry != robot._system.geometry
    names = [report.name for report in four_bar().kernel_report()]
    assert any(name.startswith('constraints.') for name in names)


def test_other_geometry_has_another_kernel(assert_close: Any) -> None:
    """On one robot: what differs in a number only must not share a kernel."""
    loops = [PointLoop('pin', END, Attachment('rocker', (x, 0.0, 0.0))) for x in (0.7, 0.71)]
    robots = [ConstrainedRobot(four_bar(), [loop], start=START) for loop in loops]
    phi = [robot.residual(robots[0].start) for robot in robots]
    assert np.abs(phi[0]).max() < 1e-10 and np.abs(phi[1]).max() == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize('how', ['pickle', 'copy'])
def test_copies_compute_the_same(how: str, assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [HINGE], start=START)
    other = pickle.loads(pickle.dumps(robot)) if how == 'pickle' else copy.deepcopy(robot)
    q, qd = robot.start, robot.velocities(robot.start, [1.3])
    tau = np.array([0.1, 0.2, 0.3])
    assert_close(
        other.forward_dynamics(q, qd, tau).qdd, robot.forward_dynamics(q, qd, tau).qdd, 1e-14
    )


def test_mass_that_does_not_move_is_refused() -> None:
    with pytest.warns(kd.ModelWarning):
        robot = kd.loads(massless_text())
    lock = ConstrainedRobot(robot, [PrescribedMotion('lock', 'j', 0.0)])
    with pytest.raises(kd.ConstraintError, match='without moving mass'):
        lock.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0])
    # A gear gives it the mass of the other: no inverse of M is needed.
    geared = ConstrainedRobot(robot, [Coupling('gear', {'i': 1.0, 'j': -2.0})])
    assert geared.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).qdd == pytest.approx(
        [4.0, 2.0]
    )


def test_links_that_bend_take_part(assert_close: Any) -> None:
    """A flexible boom with its luff joint locked is the one whose luff torque holds it."""
    robot = OnFloats(
        kd.load(
            ROOT / 'urdf' / 'stacker_reclaimer.urdf',
            flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
        ).model
    )
    luff = next(name for name in robot.joint_names if 'luff' in name)
    k = robot.joint_names.index(luff)
    locked = ConstrainedRobot(robot, [PrescribedMotion('lock', luff, 0.1)])
    q, qd = locked.start, np.zeros(robot.n)
    qd[-1] = 0.01
    motion = locked.forward_dynamics(q, qd, np.zeros(robot.n))
    assert motion.qdd[k] == pytest.approx(0.0, abs=1e-9)
    tau = np.zeros(robot.n)
    tau[k] = motion.multipliers[0]
    assert_close(robot.forward_dynamics(q, qd, tau), motion.qdd, 1e-8, floor=1.0)


def test_loops_of_links_that_bend(derivative: Any, assert_close: Any) -> None:
    """A rod from the boom's tip to the ground: its condition depends on the boom's shape."""
    robot = kd.load(
        ROOT / 'urdf' / 'stacker_reclaimer.urdf',
        flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
    )
    model = robot.model
    q = np.concatenate([[1.0, 0.3, 0.1], np.full(model.n - 3, 0.05)])
    qd = 0.1 * np.cos(np.arange(float(model.n)))
    rod = DistanceLoop(
        'rod', 'bucket_wheel', Attachment(model.root_link, (9.0, 2.0, 0.0)), length=50.0
    )
    system = ConstraintSystem(model, [rod])
    terms = system.terms(q, qd, 0.0)
    along = derivative(lambda t: system.terms(q + t * qd, qd, 0.0).phi)
    assert_close(terms.A @ qd, along, 1e-8)
    rate = derivative(lambda t: system.terms(q + t * qd, qd, 0.0).A)
    assert_close(terms.A_dot, rate, 1e-8)
    assert np.abs(terms.A[0, 3:]).max() > 1e-2


COUNT = {k: f'^independent has {k} joints, expected 1: 3 coordinates with 2' for k in (0, 3)}
NAMES = {
    name: f"^{name} is 'crank_joint', expected a list of names of joints"
    for name in ('independent', 'hold', 'actuated')
}


def free(robot: ConstrainedRobot, **options: Any) -> ConstrainedRobot:
    return ConstrainedRobot(robot.robot, [PIN], start=START, **options)


@pytest.mark.parametrize(
    ('call', 'error', 'words'),
    [
        (lambda r: r.forward_dynamics([0.0], r.start, r.start), kd.ShapeError, r'q has shape'),
        (lambda r: r.speeds(r.start, [np.nan] * 3), kd.NonFiniteError, 'qd holds a NaN'),
        (lambda r: r.velocities(r.start, [1.0, 2.0]), kd.ShapeError, r'u has shape \(2,\)'),
        (lambda r: r.close(r.start, hold=['elbow']), kd.ConstraintError, "hold names .*'elbow'"),
        (lambda r: ConstrainedRobot(r, []), kd.ArgumentTypeError, 'expected a Robot'),
        (lambda r: r.terms(*np.zeros((2, 5, 3))), kd.ShapeError, r'^q has shape \(5, 3\)'),
        (lambda r: r.terms(r.start, [0.0]), kd.ShapeError, r'^qd has shape \(1,\), expected'),
        (lambda r: r.terms('a', r.start), kd.ArgumentTypeError, '^q is '),
        (lambda r: r.residual(r.start, 'a'), kd.ArgumentTypeError, '^t is '),
        (lambda r: r.residual(r.start, np.nan), kd.NonFiniteError, '^t is nan'),
        (lambda r: r.close(r.start, np.inf), kd.NonFiniteError, '^t is inf'),
        (lambda r: free(r, time=np.nan), kd.NonFiniteError, '^time is nan'),
        (lambda r: r.speeds(r.start, r.start, 0.0, r.joint_names), kd.ConstraintError, COUNT[3]),
        (lambda r: r.speeds(r.start, r.start, 0.0, []), kd.ConstraintError, COUNT[0]),
        (lambda r: free(r, independent=[]), kd.ConstraintError, COUNT[0]),
        (lambda r: free(r, independent='crank_joint'), kd.ArgumentTypeError, NAMES['independent']),
        (lambda r: free(r, hold='crank_joint'), kd.ArgumentTypeError, NAMES['hold']),
        (lambda r: free(r, actuated='crank_joint'), kd.ArgumentTypeError, NAMES['actuated']),
        (lambda r: free(r, actuated=5), kd.ArgumentTypeError, '^actuated is 5, expected a list'),
        (lambda r: r.close(r.start, 0.0, 'elbow'), kd.ArgumentTypeError, "^hold is 'elbow'"),
    ],
)
def test_arguments_are_refused_by_name(call: Any, error: Any, words: str) -> None:
    robot = ConstrainedRobot(four_bar(), [PIN], start=START)
    with pytest.raises(error, match=words):
        call(robot)
