# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized trajectories: the same arrays as from the message, whatever the padding."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

from kron_dynamics.exceptions import JointNamesError, TrajectoryError

with contextlib.suppress(ImportError):  # then these tests are not collected
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from kron_dynamics.ros.reference_points import points_from_bytes, reference_points
    from kron_dynamics.ros.trajectory_bytes import IrregularPointsError, raw_trajectory

pytestmark = pytest.mark.ros

FIELDS = ('positions', 'velocities', 'accelerations', 'effort')


def message(joints, count, fields, frame=''):
    rng = np.random.default_rng(joints + 10 * count)
    names = ['joint'[: 1 + k % 5] + str(k) for k in range(joints)]
    made = JointTrajectory(joint_names=names)
    made.header.frame_id = frame
    made.header.stamp.sec, made.header.stamp.nanosec = 12, 500
    for k in range(count):
        point = JointTrajectoryPoint(**{f: rng.normal(size=joints).tolist() for f in fields})
        point.time_from_start.sec, point.time_from_start.nanosec = k - 1, 10 + k
        made.points.append(point)
    return made


@pytest.mark.parametrize('frame', ['', 'a', 'base', 'base_link'])
@pytest.mark.parametrize('fields', [FIELDS[:1], FIELDS[:2], FIELDS[:3], FIELDS, FIELDS[::3], ()])
@pytest.mark.parametrize('joints', [1, 2, 3, 6, 7])
def test_bytes_hold_what_the_message_does(joints, fields, frame):
    for count in (0, 1, 2, 3, 8):
        made = message(joints, count, fields, frame)
        raw = raw_trajectory(serialize_message(made))
        assert raw.joint_names == tuple(made.joint_names)
        assert raw.stamp == pytest.approx(12.0000005, abs=1e-9)
        np.testing.assert_allclose(raw.times, [k - 1 + 1e-9 * (10 + k) for k in range(count)])
        for rows, field in zip(raw.rows, FIELDS[:3], strict=True):
            if field in fields and count:
                np.testing.assert_array_equal(rows, [getattr(p, field) for p in made.points])
            else:
                assert rows is None


def test_points_of_different_lengths_are_told_as_from_the_message():
    made = message(3, 4, FIELDS[:2])
    made.points[2].velocities = [0.0]
    data = serialize_message(made)
    with pytest.raises(IrregularPointsError):
        raw_trajectory(data)
    for refused in (
        lambda: points_from_bytes(data, made.joint_names),
        lambda: reference_points(made, made.joint_names),
    ):
        with pytest.raises(TrajectoryError, match='point 2 has 1 velocities, expected 3'):
            refused()


def test_no_garbage_gets_through():
    """Every prefix of a message, and what is no message: refused, without another error."""
    data = serialize_message(message(2, 3, FIELDS[:2]))
    rng = np.random.default_rng(4)
    read = []
    for size in range(len(data)):
        with contextlib.suppress(IrregularPointsError):
            read.append((size, raw_trajectory(data[:size]).times))
    # What rclpy serializes is followed by bytes that mean nothing: without them it is whole.
    whole = 4 + 4 * ((len(data) - 4) // 4) - 24
    assert all(size >= whole and len(times) == 3 for size, times in read)
    assert [size for size, _ in read] == list(range(read[0][0], len(data)))
    for _ in range(300):
        with contextlib.suppress(IrregularPointsError):
            raw_trajectory(bytes([0, 1, 0, 0]) + rng.bytes(200))


def test_other_representations_are_named():
    data = serialize_message(message(2, 3, FIELDS[:2]))
    for first in (b'\0\2', b'\1\1'):  # lists of parameters, and none at all
        with pytest.raises(IrregularPointsError, match=f'representation {first.hex()}'):
            raw_trajectory(first + data[2:])


def test_names_come_in_any_order_and_some_of_them_where_that_is_allowed():
    made = message(3, 2, FIELDS[:1])
    names = list(made.joint_names)
    robot = [names[2], names[0], names[1]]
    for points in (
        points_from_bytes(serialize_message(made), robot),
        reference_points(made, robot),
    ):
        np.testing.assert_array_equal(points.positions[0][[1, 2, 0]], made.points[0].positions)
        assert points.joints is None
    wider = [names[1], 'other', names[2], names[0]]
    points = points_from_bytes(serialize_message(made), wider, partial=True)
    np.testing.assert_array_equal(points.joints, [0, 2, 3])
    np.testing.assert_array_equal(points.positions[1][[2, 0, 1]], made.points[1].positions)
    with pytest.raises(JointNamesError, match="missing: 'other'"):
        points_from_bytes(serialize_message(made), wider)
    with pytest.raises(JointNamesError, match="unknown: 'j0'"):
        points_from_bytes(serialize_message(made), ['other', *names[1:]], partial=True)
    made.joint_names[1] = made.joint_names[0]
    with pytest.raises(JointNamesError, match='repeated'):
        points_from_bytes(serialize_message(made), wider, partial=True)


def test_long_trajectories_cost_no_python_for_every_point():
    """A hundredth of what rclpy takes to make objects of them, so a tenth holds anywhere."""
    from rclpy.serialization import deserialize_message

    data = serialize_message(message(6, 5000, FIELDS[:3]))
    times = []
    for read in (raw_trajectory, lambda given: deserialize_message(given, JointTrajectory)):
        begin = time.process_time()
        read(data)
        times.append(time.process_time() - begin)
    assert times[0] < 0.2 * times[1]
