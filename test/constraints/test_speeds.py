# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Independent speeds, rank and redundancy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from constrained_robots import spatial_loop
from mechanisms import four_bar_text, joint, link, two_arms_text
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    Coupling,
    DistanceLoop,
    HingeLoop,
    Pfaffian,
    PlanarLoop,
    PointLoop,
    PolynomialCoupling,
    PrescribedMotion,
)
from kron_dynamics.elementary import sin

pytestmark = pytest.mark.interpreted

END, TIP = Attachment('coupler', (0.9, 0.0, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
LEFT, RIGHT = Attachment('left3', (0.3, 0.1, 0.0)), Attachment('right3', (0.3, -0.1, 0.0))
START = [0.9, -0.4, 1.5]


@functools.cache
def four_bar() -> kd.Robot:
    return kd.loads(four_bar_text(), gravity=(0.0, -9.81, 0.0))


@functools.cache
def two_arms() -> kd.Robot:
    return uncompiled(two_arms_text())


def moving_arms() -> ConstrainedRobot:
    """Hands that meet in a point, whose distance from there is driven, and a gear."""
    constraints = [
        PointLoop(
            'hands', LEFT, RIGHT, signal=lambda t: np.array([0.1 * sin(t), 0 * t, 0.05 * t])
        ),
        Coupling('gear', {'left2_joint': 1.0, 'right2_joint': 0.5}),
    ]
    return ConstrainedOnFloats(two_arms(), constraints, start=[0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2])


def test_speeds_give_all_admissible_rates(rng: Any, derivative: Any, assert_close: Any) -> None:
    """[P] (6)-(9): A B = 0, A d = b, and gamma and dB/dt along a motion that obeys A qd = b."""
    robot = moving_arms()
    m, u, u_dot = robot.degrees_of_freedom, rng.normal(size=3), rng.normal(size=3)
    assert (m, robot.rank) == (3, 4)
    q = robot.start

    def step(h: float, count: int = 20) -> Any:
        """The motion with u + h u_dot, by fourth-order steps."""
        x, dt = q.copy(), h / count
        for k in range(count):

            def rate(s: float, y: Any, k: int = k) -> Any:
                t = k * dt + s
                return robot.velocities(y, u + t * u_dot, t)

            k1 = rate(0.0, x)
            k2 = rate(dt / 2, x + dt / 2 * k1)
            k3 = rate(dt / 2, x + dt / 2 * k2)
            k4 = rate(dt, x + dt * k3)
            x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    qd = robot.velocities(q, u)
    terms, speeds = robot.terms(q, qd), robot.speeds(q, qd)
    assert_close(terms.A @ speeds.B, np.zeros((4, m)), 1e-13, floor=1.0)
    assert_close(terms.A @ speeds.d, terms.b, 1e-13)
    assert np.abs(speeds.d).max() > 0.01
    chosen = [robot.joint_names.index(name) for name in robot.independent]
    assert_close(qd[chosen], u, 1e-13)
    # States 1e-2 s before and behind: on the motion that these speeds are.
    at = {h: step(h, 2) for h in (-2e-3, -1e-3, 0.0, 1e-3, 2e-3)}

    def along(h: float) -> Any:
        return robot.velocities(at[round(h, 9)], u + h * u_dot, h)

    qdd = derivative(along, h=1e-3)
    assert_close(robot.accelerations(q, qd, u_dot), qdd, 1e-8)
    assert_close(speeds.B @ u_dot + speeds.gamma, qdd, 1e-8)
    B_dot = derivative(lambda h: robot.speeds(at[round(h, 9)], qd, h).B.copy(), h=1e-3)
    assert_close(speeds.B_dot, B_dot, 1e-8)
    # Without gamma it is another motion.
    assert np.abs(speeds.B @ u_dot - qdd).max() > 0.05


def test_redundant_conditions_are_counted_and_do_no_harm(assert_close: Any) -> None:
    """A planar four-bar closed by a hinge in space, and again by a planar joint."""
    once = ConstrainedRobot(four_bar(), [PointLoop('pin', END, TIP, components='xy')], start=START)
    conditions = [HingeLoop('pin', END, TIP), PlanarLoop('again', END, TIP)]
    often = ConstrainedRobot(
        four_bar(), conditions, start=once.start, independent=once.independent
    )
    assert often.rank == 2 and often.degrees_of_freedom == 1
    report = often.report(often.start)
    assert (report.conditions, report.rank) == (8, 2)
    assert report.redundant == {'pin': 3, 'again': 3}
    assert once.report(once.start).redundant == {}
    q = once.start
    assert_close(often.start, q, 1e-10)
    qd = once.velocities(q, [1.3])
    assert_close(often.velocities(q, [1.3]), qd, 1e-12)
    tau = np.array([0.4, 0.1, -0.3])
    motion, other = (robot.forward_dynamics(q, qd, tau) for robot in (once, often))
    assert_close(other.qdd, motion.qdd, 1e-11)
    forces = [
        robot.terms(q, qd).A.T @ result.multipliers
        for robot, result in ((once, motion), (often, other))
    ]
    assert_close(forces[1], forces[0], 1e-10)


def parallelogram(angle: float, *more: Any, **options: Any) -> ConstrainedRobot:
    """Crank and rocker of one length: flat, all links lie on one line and it may fold over."""
    robot = kd.loads(four_bar_text(0.5, 1.0, 0.5, 1.0), gravity=(0.0, -9.81, 0.0))
    ends = Attachment('coupler', (1.0, 0.0, 0.0)), Attachment('rocker', (0.5, 0.0, 0.0))
    start = [angle, -angle, angle]
    return ConstrainedRobot(
        robot, [PointLoop('pin', *ends, components='xy'), *more], start=start, **options
    )


def test_distance_to_a_singularity(assert_close: Any) -> None:
    robot = parallelogram(0.8)
    found = [robot.report([a, -a, a]).singular_value for a in (0.8, 0.1, 0.01, 0.001, 0.0)]
    assert found == sorted(found, reverse=True)
    # Near it, proportional to the angle.
    assert_close(found[3], found[2] / 10, 1e-3)
    assert found[-1] < 1e-15
    assert robot.rank == 2


def test_a_start_at_a_singularity_is_refused_by_name() -> None:
    with pytest.raises(kd.SingularConstraintError, match="constraints 'pin' are at a singularity"):
        parallelogram(0.0)
    robot = parallelogram(0.8)
    with pytest.raises(kd.SingularConstraintError, match="'pin' are at a singularity"):
        robot.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))


def test_only_what_takes_part_in_a_singularity_is_named() -> None:
    """Beside it there are redundant belts between joints that may turn, and a free joint."""
    text = four_bar_text(0.5, 1.0, 0.5, 1.0).removesuffix('</robot>')
    for name in ('x', 'y', 'z'):
        text += link(name, 1.0, (0.1, 0.0, 0.0), (1.0, 1.0, 1.0))
        text += joint(f'j{name}', 'base', name, (0.0, 0.0, 0.0), '0 0 1')
    ends = Attachment('coupler', (1.0, 0.0, 0.0)), Attachment('rocker', (0.5, 0.0, 0.0))
    constraints = [
        Coupling('belt', {'jx': 1.0, 'jy': 1.0}),
        PointLoop('pin', *ends),
        Coupling('belts', {'jx': 2.0, 'jy': 2.0}),
    ]
    robot = uncompiled(f'{text}</robot>')
    start = {'j1': 0.8, 'j2': -0.8, 'j3': 0.8}
    closed = ConstrainedOnFloats(
        robot, constraints, start=[start.get(name, 0.0) for name in robot.joint_names]
    )
    rest = np.zeros(robot.n)
    words = "constraints 'pin' are at a singularity: .* do not hold j1, j2, j3; start"
    with pytest.raises(kd.SingularConstraintError, match=words):
        closed.forward_dynamics(rest, rest, rest)
    with pytest.raises(kd.SingularConstraintError, match=words):
        ConstrainedOnFloats(robot, constraints, start=rest)


def test_a_singularity_to_which_closing_leads_back_is_refused() -> None:
    """A third crank of a flat parallelogram, a stretched rod: nothing near is closed as they are.

    The other joints of the rod's robot are free, and stay where they are put.
    """
    crank = Attachment('coupler', (0.4, 0.0, 0.0)), Attachment('base', (0.4, 0.0, 0.0))
    third = DistanceLoop('third', *crank, length=0.5)
    assert parallelogram(0.3, third).degrees_of_freedom == 1
    with pytest.raises(kd.SingularConstraintError, match="'pin', 'third' are at a singularity"):
        parallelogram(0.0, third)
    rod = Attachment('crank', (0.35, 0.0, 0.0)), Attachment('base', (1.35, 0.0, 0.0))
    with pytest.raises(kd.SingularConstraintError, match='do not hold j1'):
        ConstrainedRobot(four_bar(), [DistanceLoop('rod', *rod, length=1.0)])
    # A condition that always holds is none of motion.
    axle = Attachment('crank'), Attachment('base', (1.0, 0.0, 0.0))
    assert ConstrainedRobot(four_bar(), [DistanceLoop('axle', *axle, length=1.0)]).rank == 0


def test_the_length_unit_does_not_matter() -> None:
    """The same machine ten times as large is as far from its singularity."""
    values = []
    for size in (0.1, 1.0, 10.0):
        robot = uncompiled(four_bar_text(0.35 * size, 0.9 * size, 0.7 * size, size))
        ends = (
            Attachment('coupler', (0.9 * size, 0.0, 0.0)),
            Attachment('rocker', (0.7 * size, 0.0, 0.0)),
        )
        closed = ConstrainedOnFloats(robot, [HingeLoop('pin', *ends)], start=START)
        values.append(closed.report(closed.start).singular_value)
    assert values == pytest.approx([values[0]] * 3, rel=1e-3)


def test_a_choice_stays_until_another_is_much_better() -> None:
    """Round one turn of the crank: with j3 as the speed, its dead points ask for a change."""
    robot = ConstrainedRobot(
        four_bar(), [PointLoop('pin', END, TIP, components='xy')], start=START
    )
    q, chosen, eager = robot.start, ('j3',), 0
    changes, distances = 0, []
    best = robot.choose_independent(q)
    for angle in np.linspace(q[0], q[0] + 2 * np.pi, 60):
        q = robot.close([angle, *q[1:]], hold=('j1',))
        after = robot.choose_independent(q, previous=chosen)
        changes, chosen = changes + (after != chosen), after
        again = robot.choose_independent(q)
        eager, best = eager + (again != best), again
        speeds = robot.speeds(q, np.zeros(3), independent=chosen)
        distances.append(np.abs(speeds.B).max())
    assert 1 <= changes < eager
    assert max(distances) < 8.0  # rates of no joint become large
    # A choice that is as good as another one is never left.
    assert robot.choose_independent(q, previous=chosen) == chosen
    with pytest.raises(kd.ConstraintError, match='previous has 2 joints, expected 1'):
        robot.choose_independent(q, previous=['j1', 'j3'])


def test_accelerations_do_not_depend_on_the_choice(assert_close: Any) -> None:
    robots = [
        ConstrainedRobot(four_bar(), [HingeLoop('pin', END, TIP)], start=START, independent=[name])
        for name in ('j1', 'j2', 'j3')
    ]
    q = robots[0].start
    qd = robots[0].velocities(q, [1.1])
    found = [robot.forward_dynamics(q, qd, [0.3, 0.0, 0.0]) for robot in robots]
    for motion in found[1:]:
        assert_close(motion.qdd, found[0].qdd, 1e-12)
        assert_close(motion.multipliers, found[0].multipliers, 1e-11)


def test_speeds_that_do_not_determine_the_motion_are_refused() -> None:
    pin = PointLoop('pin', END, TIP, components='xy')
    with pytest.raises(kd.ConstraintError, match='independent has 2 joints, expected 1'):
        ConstrainedRobot(four_bar(), [pin], start=START, independent=['j1', 'j2'])
    with pytest.raises(kd.ConstraintError, match="independent names .*'elbow'"):
        ConstrainedRobot(four_bar(), [pin], start=START, independent=['elbow'])
    locked = [pin, PrescribedMotion('lock', 'j1', 0.9)]
    with pytest.raises(kd.ConstraintError, match='independent has 1 joints, expected 0'):
        ConstrainedRobot(four_bar(), locked, start=START, independent=['j2'])
    turning = Coupling('belt', {'j1': 1.0, 'j2': 1.0})
    with pytest.raises(kd.SingularConstraintError, match='speeds of j1, j2 do not determine'):
        ConstrainedRobot(four_bar(), [turning], independent=['j1', 'j2'])


def test_a_speed_that_is_always_zero_is_refused() -> None:
    """A row of U vanishes in some states; elsewhere it is a good choice."""

    def rows(q: Any, t: Any) -> Any:
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, q[2]]])

    robot = ConstrainedOnFloats(four_bar(), [], start=START, independent=rows)
    with pytest.raises(kd.SingularConstraintError, match='u3 do not determine the motion'):
        robot.speeds([0.9, -0.4, 0.0], np.zeros(3))


def test_redundant_moved_constraints_agree_about_the_rates(assert_close: Any) -> None:
    """A cam, its driver and its follower are all moved in time: qd is known, but for one joint."""
    constraints = [
        PolynomialCoupling('cam', 'j2', 'j1', (0.0, 0.0, 1.0)),
        PrescribedMotion('driver', 'j1', lambda t: sin(t)),
        PrescribedMotion('follower', 'j2', lambda t: sin(t) * sin(t)),
    ]
    robot = ConstrainedOnFloats(four_bar(), constraints, start=[0.5, 0.2, 0.0], time=0.5)
    assert robot.degrees_of_freedom == 1
    q = robot.close([np.sin(0.7), np.sin(0.7) ** 2, 0.3], 0.7)
    expected = [np.cos(0.7), 2.0 * np.sin(0.7) * np.cos(0.7), 1.0]
    qd = robot.velocities(q, [1.0], 0.7)
    assert_close(qd, expected, 1e-12)
    exact = robot.speeds(q, qd, 0.7)
    assert_close(qd, exact.B[:, 0] + exact.d, 1e-12)
    assert_close(robot.mass_matrix(q, 0.7), exact.B.T @ four_bar().mass_matrix(q) @ exact.B, 1e-12)
    # Accelerations need the right rates: at others the conditions contradict each other.
    with pytest.raises(kd.ConstraintError, match='contradict each other'):
        robot.speeds(q, np.zeros(3), 0.7)


def test_rates_that_contradict_each_other_are_refused_by_name() -> None:
    def driven(rate: float) -> Pfaffian:
        return Pfaffian(f'drive {rate}', lambda q, t: np.array([[1, 1, 0]]), lambda q, t: rate)

    with pytest.raises(kd.ConstraintError, match=r"'drive 0.5', 'drive 0.7' ask for rates"):
        ConstrainedRobot(four_bar(), [driven(0.5), driven(0.7)])
    assert ConstrainedRobot(four_bar(), [driven(0.5)]).rank == 1


def test_conditions_that_begin_to_count_later_are_refused_by_name() -> None:
    """A brake that engages after the start: a freedom less, which is no contradiction."""
    constraints = [
        Pfaffian('rod', lambda q, t: np.array([[1.0, -1.0, 0.0]]), row_units=('1',)),
        Pfaffian('brake', lambda q, t: np.array([[0.0, t, -t]]), row_units=('1',)),
    ]
    robot = ConstrainedOnFloats(four_bar(), constraints)
    q, qd = np.array(START), np.ones(3)
    assert robot.rank == 1 and robot.close_rates(q, qd).tolist() == qd.tolist()
    words = r"'brake' .* more than 1 independent condition\b.*, the number at the start"
    for late in (
        lambda: robot.close_rates(q, [1.0, 0.0, 0.0], 0.5),
        lambda: robot.velocities(q, [1.0, 0.0], 0.5),
        lambda: robot.forward_dynamics(q, qd, np.zeros(3), 0.5),
    ):
        with pytest.raises(kd.ConstraintError, match=words):
            late()


def test_conditions_that_are_redundant_only_where_loops_are_closed(assert_close: Any) -> None:
    """Bennett's linkage: of five conditions on three joints two count, in closed positions."""
    robot = spatial_loop(1.0)
    q = robot.start
    open_position = robot.terms([0.7, 1.8, -0.8], np.zeros(3)).A
    assert np.linalg.matrix_rank(open_position, tol=1e-6) == 3
    assert (robot.rank, robot.report(q).redundant) == (2, {'loop': 3})
    relation = np.sin(0.85) / np.sin(0.25)
    for angle in np.linspace(q[0], q[0] + 4.0, 15):
        q = robot.close([angle, *q[1:]], hold=['joint1'])
        assert_close(q[2], -q[0], 1e-9)
        product = np.tan(q[0] / 2) * np.tan(q[1] / 2)
        assert_close(abs(product), relation, 1e-8)
    qd = robot.velocities(q, [1.0])
    motion = robot.forward_dynamics(q, qd, np.zeros(3))
    assert_close(motion.qdd[2], -motion.qdd[0], 1e-10)
    M, h = robot.robot.mass_matrix(q), robot.robot.bias_forces(q, qd)
    assert_close(robot.speeds(q, qd).B[:, 0] @ (M @ motion.qdd + h), 0.0, 1e-9, floor=1.0)


def test_a_spatial_loop_of_other_proportions_does_not_move() -> None:
    """It closes where it is folded, and there without any freedom."""
    robot = spatial_loop(1.05)
    assert (robot.rank, robot.degrees_of_freedom, robot.independent) == (3, 0, ())
    qdd = robot.forward_dynamics(robot.start, np.zeros(3), np.ones(3)).qdd
    assert np.abs(qdd).max() < 1e-9


def test_a_robot_without_constraints_is_itself(assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [])
    q, qd = np.array(START), np.array([0.2, -0.4, 0.9])
    assert (robot.rank, robot.degrees_of_freedom) == (0, 3)
    motion = robot.forward_dynamics(q, qd, [1.0, 2.0, 3.0])
    assert_close(motion.qdd, four_bar().forward_dynamics(q, qd, [1.0, 2.0, 3.0]), 1e-12)
    assert motion.multipliers.shape == (0,)
    assert_close(robot.inverse_dynamics(q, qd, motion.qdd), [1.0, 2.0, 3.0], 1e-12)


def test_a_hinge_on_the_table_holds_an_arm(assert_close: Any) -> None:
    """A frame of the table where the hand is: its three joints are held, not in a singularity."""
    q = np.array([0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2])
    pose = two_arms().frame('left3').relative_to('table').pose(q)
    b = Attachment('table', tuple(pose[:3, 3]), tuple(pose[:3, 2]))
    held = ConstrainedOnFloats(two_arms(), [HingeLoop('hold', 'left3', b)], start=q)
    assert (held.rank, held.report(q).redundant) == (3, {'hold': 2})
    assert_close(held.speeds(q, 0 * q).B[1:4], np.zeros((3, 4)), 1e-10, floor=1.0)
