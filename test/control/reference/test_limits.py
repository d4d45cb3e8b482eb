# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import (
    LimitViolation,
    Trajectory,
    check_trajectory,
    limit_violations,
    point_to_point,
)
from kron_dynamics.exceptions import KronDynamicsError, ParameterError, TrajectoryError

REST = np.zeros((2, 2))


def move(goal, duration, start=(0.0, 0.0), names=('shoulder', 'elbow')):
    return Trajectory.from_points(names, [0.0, duration], [start, goal], REST, REST)


def test_move_within_the_limits_passes(arm):
    assert limit_violations(move((1.0, -1.0), 3.0), arm) == ()
    check_trajectory(move((1.0, -1.0), 3.0), arm)


def test_position_overshoot_between_the_points_is_found_exactly(arm):
    # Both points are inside; the cubic with these velocities peaks at u = 2/3.
    velocities = [[1.2, 0.0], [0.0, 0.0]]
    trajectory = Trajectory.from_points(
        arm.joint_names, [0.0, 3.0], [[1.9, 0.0], [1.9, 0.0]], velocities
    )
    (violation,) = limit_violations(trajectory, arm)
    assert violation == LimitViolation(
        'shoulder',
        'position',
        pytest.approx(1.0),
        pytest.approx(1.9 + 1.2 * 3.0 * 4 / 27),
        2.0,
        'rad',
    )


def test_lower_position_limit_is_checked_too(arm):
    (violation,) = limit_violations(move((0.0, -2.6), 10.0), arm)
    assert (violation.joint, violation.got, violation.limit) == (
        'elbow',
        pytest.approx(-2.6),
        -2.5,
    )


@pytest.mark.parametrize('position', [2.001, -2.001])
def test_position_tolerance_accepts_a_machine_resting_on_its_stop(arm, position):
    trajectory = move((0.0, 0.0), 10.0, start=(position, 0.0))
    with pytest.raises(TrajectoryError, match=f"'shoulder': position {position} rad"):
        check_trajectory(trajectory, arm)
    check_trajectory(trajectory, arm, position_tolerance=0.002)


def test_velocity_limit_is_met_exactly_and_not_passed(arm):
    duration = point_to_point((0, 0), (-1, 0), arm.model.velocity_limit, (np.inf, np.inf))
    assert limit_violations(move((-1.0, 0.0), duration), arm) == ()
    (violation,) = limit_violations(move((-1.0, 0.0), duration * 0.99), arm)
    assert violation.quantity == 'velocity'
    assert violation.got == pytest.approx(-1.5 / 0.99)
    assert violation.limit == -1.5
    assert violation.time == pytest.approx(0.99 * duration / 2)


def test_every_violation_is_in_one_message(arm):
    with pytest.raises(TrajectoryError) as caught:
        check_trajectory(move((2.3, -2.7), 0.5), arm)
    message = str(caught.value)
    assert "limits of 'planar_arm'" in message
    for words in (
        "joint 'shoulder': position 2.3 rad at t = 0.5 s is beyond the limit 2 rad",
        "joint 'elbow': position -2.7 rad at t = 0.5 s is beyond the limit -2.5 rad",
        "joint 'shoulder': velocity 8.625 rad/s at t = 0.25 s is beyond the limit 1.5 rad/s",
        "joint 'elbow': velocity -10.125 rad/s at t = 0.25 s is beyond the limit -2 rad/s",
        "joint 'shoulder': effort",
        'N m at t =',
    ):
        assert words in message
    assert '\n' not in message


def test_effort_is_that_of_the_whole_plant(make_arm):
    hold = Trajectory.from_points(('shoulder', 'elbow'), [0.0], [[0.0, 0.0]])
    weight = make_arm().gravity_vector([0.0, 0.0])
    (violation,) = limit_violations(hold, make_arm(), effort_limit=(weight[0] - 0.1, 100.0))
    assert violation.got == pytest.approx(weight[0])
    assert limit_violations(hold, make_arm(), effort_limit=weight) == ()

    slow = move((0.05, 0.0), 1.0)
    limit = (weight[0] + 3.0, 100.0)
    assert limit_violations(slow, make_arm(), effort_limit=limit) == ()
    (violation,) = limit_violations(slow, make_arm(friction=5.0), effort_limit=limit)
    assert violation.quantity == 'effort'


def test_effort_just_before_an_acceleration_step_counts(make_arm):
    # The first cubic ends braking at its hardest, the second begins without acceleration.
    arm = make_arm()
    trajectory = Trajectory.from_points(
        arm.joint_names,
        [0.0, 1.0, 2.0],
        [[1.5, 0.0], [1.5, 0.5], [1.5, 0.5]],
        np.zeros((3, 2)),
    )
    braking = arm.inverse_dynamics([1.5, 0.5], [0, 0], [0, -3.0])[1]
    violations = limit_violations(trajectory, arm, effort_limit=(1e6, abs(braking) * 0.999))
    assert {v.joint for v in violations} == {'elbow'}


def test_effort_that_peaks_within_a_long_piece_is_found(arm):
    """One piece of 1 s: the elbow's effort is 14 % above the largest of nine even samples."""
    start, goal = [-1.5, 0.0], [1.5, -2.0]
    trajectory = Trajectory.from_points(arm.joint_names, [0.0, 1.0], [start, goal], REST, REST)
    u = np.linspace(0.0, 1.0, 100_001)[:, None]
    way = np.subtract(goal, start)
    q = start + way * (10 * u**3 - 15 * u**4 + 6 * u**5)
    qd = way * (30 * u**2 - 60 * u**3 + 30 * u**4)
    qdd = way * (60 * u - 180 * u**2 + 120 * u**3)
    effort = np.abs(arm.inverse_dynamics(q, qd, qdd)[:, 1])
    peak = effort.max()
    assert effort[:: len(u) // 8].max() < 0.87 * peak
    (violation,) = [
        violation
        for violation in limit_violations(trajectory, arm, effort_limit=(1e6, 0.999 * peak))
        if violation.quantity == 'effort'
    ]
    assert violation.joint == 'elbow'
    assert abs(violation.got) == pytest.approx(peak, rel=1e-4)
    assert violation.time == pytest.approx(u[effort.argmax(), 0], abs=1e-3)


def test_effort_that_is_not_a_number_is_a_violation(arm):
    arm.joint_friction = lambda qd: np.where(np.abs(qd) > 0.1, np.nan, 0.0)
    violations = limit_violations(move((1.0, 0.0), 3.0), arm)
    assert [(v.joint, v.quantity) for v in violations] == [('shoulder', 'effort')]
    assert np.isnan(violations[0].got)


def test_no_limit_is_never_violated(arm):
    for name in ('position_lower', 'position_upper', 'velocity_limit', 'effort_limit'):
        setattr(arm.model, name, np.full(2, -np.inf if name == 'position_lower' else np.inf))
    assert limit_violations(move((30.0, -30.0), 0.1), arm) == ()


def test_units_follow_the_joint(make_arm):
    arm = make_arm(joint_types=('prismatic', 'continuous'))
    messages = [str(v) for v in limit_violations(move((2.3, -2.7), 0.5), arm)]
    for words in ('2.3 m at', '8.625 m/s at', '-2.7 rad at', '-10.125 rad/s at', ' N at'):
        assert any(words in message for message in messages)


def test_joints_in_another_order_are_refused(arm):
    with pytest.raises(TrajectoryError, match='expected .*shoulder.*elbow.* in this order'):
        check_trajectory(move((0.0, 0.0), 1.0, names=('elbow', 'shoulder')), arm)


def test_effort_limit_that_cannot_be_used_is_refused(arm):
    with pytest.raises(ParameterError, match="effort_limit .*'elbow': nan"):
        check_trajectory(move((0.0, 0.0), 1.0), arm, effort_limit=(1.0, np.nan))


@pytest.mark.parametrize('tolerance', [np.nan, np.inf, -1e-3])
def test_a_tolerance_that_is_none_does_not_switch_the_check_off(arm, tolerance):
    with pytest.raises(ParameterError, match='position_tolerance is'):
        limit_violations(move((9.0, 0.0), 30.0), arm, position_tolerance=tolerance)


def test_a_start_that_is_unknown_does_not_switch_the_check_off(arm):
    far = move((9.0, 0.0), 30.0)
    with pytest.raises(KronDynamicsError, match='start holds a NaN'):
        limit_violations(far, arm, start=[np.nan, 0.0])
    with pytest.raises(ParameterError, match=r'start has shape \(1,\), expected \(2,\)'):
        limit_violations(far, arm, start=[0.0])
    assert [v.joint for v in limit_violations(far, arm, start=[2.5, 0.0])] == ['shoulder']
