# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A motion that is stopped stays on its path, and a machine has limits where a URDF has none."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import POSE, ROBOTS, machine

from kron_dynamics.control import ReferenceFollower, Trajectory, check_trajectory, retime
from kron_dynamics.control.reference.stop import acceleration_limits, shortest_stop, stopped
from kron_dynamics.exceptions import ParameterError

LIMIT = np.array([120.0, 40.0])
TIMES = [0.0, 1.0, 2.0, 3.5]
POINTS = np.array([[0.2, -0.3], [0.6, 0.1], [0.3, 0.6], [-0.2, 0.2]])


@pytest.fixture
def motion(arm):
    start = POINTS[0], np.zeros(2), np.zeros(2)
    return Trajectory.from_points(arm.joint_names, TIMES, POINTS, start=start)


@pytest.mark.parametrize('at', [0.4, 1.0, 1.7, 3.3])
def test_a_stop_goes_on_in_acceleration_and_ends_at_rest_on_the_path(motion, at):
    stop = stopped(motion, at, 0.8)
    for got, wanted in zip(stop.sample(0.0), motion.sample(at), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-9)
    path = motion.samples(np.linspace(at, at + 0.4, 4001))[0]
    for t in np.linspace(0.0, 0.8, 23):
        q, qd, qdd = stop.sample(t)
        assert np.linalg.norm(path - q, axis=1).min() < 2e-4
    np.testing.assert_allclose(q, motion.sample(at + 0.4)[0], atol=1e-9)
    np.testing.assert_allclose([qd, qdd], np.zeros((2, 2)), atol=1e-9)


def test_the_shortest_stop_is_within_the_limits(arm, motion):
    accelerations = acceleration_limits(arm, LIMIT)
    stop = shortest_stop(motion, 0.5, arm, accelerations, LIMIT)
    check_trajectory(stop, arm, effort_limit=LIMIT)
    assert 0.05 < stop.duration < 1.5
    # A weak machine takes longer than its acceleration limit alone says.
    weak = np.array([70.0, 17.0])
    longer = shortest_stop(motion, 0.5, arm, 100.0 * accelerations, weak)
    check_trajectory(longer, arm, effort_limit=weak)
    at_the_limit = 1.5 * np.abs(motion.sample(0.5)[1] / accelerations).max() / 100.0
    assert longer.duration > 2.0 * at_the_limit


def test_a_stop_on_a_straight_line_uses_its_acceleration_limit_up(arm):
    rate = np.array([0.5, 0.25])
    rest = np.zeros(2)
    states = [4.0 * rate, 6.0 * rate], [rate, rest], [rest, rest]
    line = Trajectory.from_points(arm.joint_names, [4.0, 8.0], *states, start=(rest, rate, rest))
    for limit in (np.array([0.7, 2.0]), np.array([2.0, 0.3])):
        stop = shortest_stop(line, 0.5, arm, limit, np.full(2, 1e3))
        hardest = np.abs(stop.samples(np.linspace(0.0, stop.duration, 2001))[2]).max(axis=0)
        assert (hardest / limit).max() == pytest.approx(1.0, abs=1e-3)


def test_a_machine_at_rest_stops_at_once(arm, motion):
    stop = shortest_stop(motion, 9.0, arm, np.ones(2), LIMIT)
    assert stop.duration == 0.0
    np.testing.assert_allclose(stop.final_position, POINTS[-1])


def test_derived_limits_leave_half_of_the_efforts_beside_the_weight(arm):
    limits = acceleration_limits(arm, LIMIT)
    np.testing.assert_allclose(limits / limits[0], arm.model.velocity_limit / 1.5)
    rng = np.random.default_rng(3)
    poses = rng.uniform(arm.model.position_lower, arm.model.position_upper, (300, 2))
    needed = np.abs(arm.mass_matrix(poses)) @ limits
    left = np.maximum(LIMIT - np.abs(arm.gravity_vector(poses)), 0.1 * LIMIT)
    # Of the poses it was derived from the hardest takes half; no other takes much more.
    share = (needed / left).max()
    assert 0.4 < share < 0.65
    # Twice the efforts that are left, twice the acceleration, where there is no weight.
    arm.gravity_vector = lambda q: np.zeros(2)
    np.testing.assert_allclose(
        acceleration_limits(arm, 2.0 * LIMIT), 2.0 * acceleration_limits(arm, LIMIT)
    )


def test_a_joint_that_may_not_move_has_a_limit_of_acceleration_too(arm):
    arm.model.velocity_limit = np.array([1.5, 0.0])
    limits = acceleration_limits(arm, LIMIT)
    assert (limits > 0.0).all()
    assert np.isfinite(limits).all()


def test_without_effort_limits_no_acceleration_is_too_large(arm):
    with np.errstate(all='raise'):
        limits = acceleration_limits(arm, np.full(2, np.inf))
    np.testing.assert_array_equal(limits, [np.inf, np.inf])


def test_given_limits_count_where_they_are_not_zero(arm):
    derived = acceleration_limits(arm, LIMIT)
    np.testing.assert_allclose(acceleration_limits(arm, LIMIT, [0.0, 3.0]), [derived[0], 3.0])
    with pytest.raises(ParameterError, match="acceleration_limit .*'elbow': -1"):
        acceleration_limits(arm, LIMIT, [0.0, -1.0])


def test_combined_moves_each_joint_as_its_own_trajectory(arm, motion):
    other = Trajectory.from_points(arm.joint_names, [0.0, 0.7, 5.0], POINTS[:3])
    both = Trajectory.combined(motion, other, np.array([True, False]))
    assert both.duration == 5.0
    for t in (0.0, 0.3, 0.7, 1.0, 2.9, 3.4999, 3.6, 4.9, 5.0, 7.0):
        for got, first, second in zip(
            both.sample(t), motion.sample(t), other.sample(t), strict=True
        ):
            np.testing.assert_allclose(got, [first[0], second[1]], atol=1e-9)
    still = Trajectory.from_points(arm.joint_names, [0.0], [POINTS[1]])
    held = Trajectory.combined(still, still, np.array([True, False]))
    assert held.duration == 0.0
    np.testing.assert_allclose(held.sample(3.0)[0], POINTS[1])


@pytest.mark.parametrize('name', ROBOTS)
def test_a_motion_at_its_effort_limits_can_always_be_stopped(kernel_cache, name):
    """It could not, and went on: a motion that brakes at a limit cannot be braked harder."""
    robot = machine(name)
    limit, n = robot.model.effort_limit, robot.n
    away = np.linspace(0.9, 0.4, n) * (-1.0) ** np.arange(n)
    if name == 'stacker':
        away = np.array([1.0, 0.02, -0.003])  # the wheels hardly reach their speed on the way
    path = POSE[name] + np.outer([0.0, 1.0, 0.3], away)
    motion = retime(robot, path, effort_limit=limit, friction=True).trajectory
    follower = ReferenceFollower(robot, start_tolerance=np.ones(n), effort_limit=limit)
    follower.hold(path[0])
    follower.answered(10.0)
    follower.splice(motion)
    for at in np.linspace(0.0, motion.duration, 14)[1:-1]:
        follower.answered(10.0 + at)
        stop = follower.plan_stop().finish().followed
        for got, wanted in zip(stop.sample(0.0), motion.sample(at), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
        _, q, qd, qdd = stop.grid(9)
        efforts = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
        assert (np.abs(efforts) <= 1.05 * limit).all()
        # On the path, and not to its end, unless that is as near as the stop.
        way = motion.samples(np.linspace(at, motion.duration, 4001))[0] / np.abs(away)
        for place in q[:: len(q) // 20] / np.abs(away):
            assert np.abs(way - place).max(axis=1).min() < 2e-3
        if at < 0.25 * motion.duration:
            assert np.abs((stop.final_position - path[-1]) / away).max() > 0.02
