# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""~/retime_trajectory gives what `retime` gives, with the limits of the node."""

from __future__ import annotations

import numpy as np
import pytest
from kron_dynamics_msgs.srv import RetimeTrajectory

from kron_dynamics.control import Trajectory, retime

pytestmark = pytest.mark.ros

EFFORT, RATE = (
    {'effort_limit.lift': 60.0},
    {f'effort_rate_limit.{joint}': 400.0 for joint in ('turn', 'lift', 'slide')},
)


@pytest.fixture
def ask(bench):
    """Call the service of a configured node with arrays."""
    bench.keep('retiming', lambda: bench.configure(joints={**EFFORT, **RATE}))

    def request(**fields):
        flat = {
            field: np.ravel(value).tolist() if isinstance(value, np.ndarray) else value
            for field, value in fields.items()
        }
        return bench.client.call(RetimeTrajectory, 'dynamics_node/retime_trajectory', **flat)

    return request


@pytest.fixture
def points():
    """Waypoints (4, 3)."""
    return np.array([[0.0, 0.0, 0.1], [0.3, 0.3, 0.15], [0.4, 0.1, 0.2], [0.2, 0.2, 0.12]])


def limits(robot, effort=1.0, rate=1.0):
    given = robot.model.effort_limit.copy()
    given[1] = min(given[1], 60.0)
    return {'effort_limit': effort * given, 'effort_rate_limit': rate * np.full(3, 400.0)}


def table(answer, field):
    return np.reshape(getattr(answer, field), (-1, len(answer.joint_names)))


def test_waypoints_within_the_limits_of_the_node(ask, bench_robot, points, assert_close):
    answer = ask(position=points, rests=[2])
    assert (answer.success, answer.message) == (True, '')
    expected = retime(bench_robot, points, rests=[2], **limits(bench_robot))
    assert tuple(answer.joint_names) == bench_robot.joint_names
    assert answer.duration == pytest.approx(expected.duration, rel=1e-9)
    assert_close(answer.point_time, expected.point_times, 1e-9)
    assert list(answer.limited_by) == list(expected.reports) != []
    times = np.array(answer.time_from_start)
    for field, own in zip(
        ('position', 'velocity', 'acceleration'), expected.trajectory.samples(times), strict=True
    ):
        assert_close(table(answer, field), own, 1e-9, floor=1e-6)
    states = [table(answer, field) for field in ('position', 'velocity', 'acceleration')]
    assert_close(table(answer, 'effort'), bench_robot.inverse_dynamics(*states), 1e-9)
    at_rest = np.isclose(times, answer.point_time[2])
    assert np.abs(states[1][at_rest]).max() < 1e-9


def test_points_of_the_answer_are_the_motion(ask, bench_robot, points):
    """A controller that joins them by quintic polynomials keeps all limits."""
    answer = ask(position=points)
    states = [table(answer, field) for field in ('position', 'velocity', 'acceleration')]
    joined = Trajectory.from_points(bench_robot.joint_names, answer.time_from_start, *states)
    times = np.arange(0.0, answer.duration, 1e-3)
    tau = bench_robot.inverse_dynamics(*joined.samples(times))
    allowed = limits(bench_robot)
    assert (np.abs(tau) <= 1.0001 * allowed['effort_limit']).all()
    rate = np.abs(np.diff(tau, axis=0)).max(axis=0) / 1e-3
    assert (rate <= 1.001 * allowed['effort_rate_limit']).all()
    assert (rate / allowed['effort_rate_limit']).max() > 0.95  # and as quick as they allow


def test_scales_friction_and_samples(ask, bench_robot, points, assert_close):
    answer = ask(
        position=points,
        effort_scale=0.8,
        effort_rate_scale=0.5,
        velocity_scale=0.6,
        acceleration_limit=np.array([3.0, 4.0, 5.0]),
        include_friction=True,
        sample_period=0.05,
    )
    assert (answer.success, answer.message) == (True, '')
    expected = retime(
        bench_robot,
        points,
        velocity_limit=0.6 * bench_robot.model.velocity_limit,
        acceleration_limit=[3.0, 4.0, 5.0],
        friction=True,
        **limits(bench_robot, 0.8, 0.5),
    )
    assert answer.duration == pytest.approx(expected.duration, rel=1e-9)
    times = np.array(answer.time_from_start)
    assert_close(np.diff(times)[:-1], np.full(len(times) - 2, 0.05), 1e-9)
    assert 0.0 < times[-1] - times[-2] <= 0.05 + 1e-9 and times[-1] == answer.duration
    states = [table(answer, field) for field in ('position', 'velocity', 'acceleration')]
    tau = bench_robot.inverse_dynamics(*states) + bench_robot.joint_friction(states[1])
    assert_close(table(answer, 'effort'), tau, 1e-9)


@pytest.mark.parametrize('timed', [{}, {'time_from_start': [0.5]}])
def test_one_point_is_one_point(ask, points, timed):
    answer = ask(position=points[0], **timed)
    assert (answer.success, answer.duration) == (True, 0.0)
    assert list(answer.time_from_start) == list(answer.point_time) == [0.0]
    assert list(answer.position) == list(points[0])


def test_some_joints_along_a_trajectory(ask, bench_robot, points, assert_close):
    times = np.array([0.5, 1.5, 2.0, 3.5])
    names, order = ['slide', 'turn'], [2, 0]
    rates = np.zeros((4, 2))
    rates[1] = [0.05, 0.1]
    answer = ask(
        joint_names=names,
        time_from_start=times,
        position=points[:, order],
        velocity=rates,
        acceleration=np.zeros((4, 2)),
        held_joint_names=['lift'],
        held_position=[0.4],
        acceleration_limit=np.array([2.0, 1.0]),
    )
    assert (answer.success, answer.message) == (True, '')
    whole, moving = np.full((4, 3), 0.4), np.zeros((4, 3))
    whole[:, order], moving[:, order] = points[:, order], rates
    standing = np.zeros((4, 3))
    path = Trajectory.from_points(bench_robot.joint_names, times - 0.5, whole, moving, standing)
    expected = retime(
        bench_robot, path, acceleration_limit=[1.0, np.inf, 2.0], **limits(bench_robot)
    )
    assert list(answer.joint_names) == names
    assert answer.duration == pytest.approx(expected.duration, rel=1e-9)
    found = expected.trajectory.samples(np.array(answer.time_from_start))[0]
    assert_close(table(answer, 'position'), found[:, order], 1e-9)


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        ({'position': [0.0] * 7}, 'position has 7 numbers, expected 2 x 3'),
        ({'position': []}, 'expected (K, 3)'),
        ({'position': [0.0, 9.0, 0.1] * 2 + [0.0, 0.0, 0.1]}, "joint 'lift': the path is at 9"),
        ({'position': [np.nan] * 6}, 'path'),
        ({'velocity': [0.0] * 12}, 'without time_from_start'),
        (
            {'time_from_start': [0.0, 1.0, 2.0, 3.0], 'velocity': [0.1] * 9 + [0.0] * 3},
            'begins in motion',
        ),
        ({'time_from_start': [0.0, 1.0]}, 'position has 12 numbers, expected 2 x 3'),
        ({'time_from_start': [0.0, 1.0, 1.0, 3.0]}, 'time'),
        ({'effort_scale': 1.5}, 'effort_scale is 1.5, expected above 0 to 1'),
        ({'velocity_scale': -0.1}, 'velocity_scale is -0.1'),
        ({'effort_rate_scale': np.nan}, 'effort_rate_scale is nan'),
        ({'sample_period': -1.0}, 'sample_period is -1 s'),
        ({'sample_period': np.nan}, 'sample_period is nan s'),
        ({'sample_period': 1e-9}, 'max_batch_size'),
        ({'acceleration_limit': [1.0]}, 'acceleration_limit has 1 numbers, expected 3'),
        ({'rests': [9]}, 'rests has 9'),
        ({'position': [0.1] * 3003}, '1001 points, expected at most 1000'),
        ({'joint_names': ['turn', 'lift']}, 'leaves out slide'),
        ({'held_joint_names': ['turn']}, 'held_position has 0 numbers'),
        ({'effort_scale': 0.01}, "joint 'lift'"),
    ],
)
def test_what_cannot_be_followed_is_refused(ask, points, change, said):
    answer = ask(**{'position': points, **change})
    assert not answer.success and said in answer.message, answer.message
    assert not len(answer.position) and not len(answer.effort)
