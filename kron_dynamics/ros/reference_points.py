# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts trajectory messages, also serialized ones, to arrays in the robot's joint order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from kron_dynamics.control import reorder
from kron_dynamics.exceptions import JointNamesError, TrajectoryError
from kron_dynamics.ros.conversions import seconds
from kron_dynamics.ros.deserialization import deserialized
from kron_dynamics.ros.trajectory_bytes import IrregularPointsError, raw_trajectory
from kron_dynamics.typing import FloatArray, IndexArray

_FIELDS = ('positions', 'velocities', 'accelerations')


class ReferencePoints(NamedTuple):
    """The points of a JointTrajectory, in the robot's joint order.

    Attributes:
        times: times after the start, shape (K,), s.
        positions: shape (K, n), or (K, m) for some joints, rad or m.
        velocities: same shape, or None if the points have none.
        accelerations: same shape, or None if the points have none.
        stamp: start, s; None means at once.
        joints: indices of the joints of the m columns, shape (m,); None for all n.
    """

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray | None
    accelerations: FloatArray | None
    stamp: float | None
    joints: IndexArray | None = None


def points_from_bytes(
    data: bytes, joint_names: Sequence[str], partial: bool = False
) -> ReferencePoints:
    """Return the points of a serialized trajectory; see `reference_points`.

    Raises:
        MessageError: the bytes cannot be read.
    """
    try:
        raw = raw_trajectory(data)
    except IrregularPointsError:
        message = deserialized(data, JointTrajectory)
        return reference_points(message, joint_names, partial)
    return _points(raw.joint_names, raw.stamp, raw.times, raw.rows, joint_names, partial)


def reference_points(
    message: JointTrajectory, joint_names: Sequence[str], partial: bool = False
) -> ReferencePoints:
    """Return the points of a trajectory message for a robot.

    Args:
        message: the trajectory.
        joint_names: names of the robot's joints.
        partial: whether it may be for some of the joints.

    Raises:
        JointNamesError: a name is unknown or repeated, or a required one is missing.
        TrajectoryError: there are no points or positions, or lengths are different or wrong.
    """
    rows = [_rows(message, field) for field in _FIELDS]
    durations = [point.time_from_start for point in message.points]
    times = np.array([each.sec for each in durations], np.float64)
    times += 1e-9 * np.array([each.nanosec for each in durations], np.float64)
    return _points(
        message.joint_names,
        seconds(message.header.stamp),
        times,
        (rows[0], rows[1], rows[2]),
        joint_names,
        partial,
    )


def _points(
    names: Sequence[str],
    stamp: float,
    times: FloatArray,
    rows: tuple[FloatArray | None, FloatArray | None, FloatArray | None],
    joint_names: Sequence[str],
    partial: bool,
) -> ReferencePoints:
    if not times.size:
        raise TrajectoryError('the trajectory has no points')
    order, joints = _order(names, joint_names, partial)
    for field, values in zip(_FIELDS, rows, strict=True):
        if values is not None and values.shape[1] != len(names):
            raise TrajectoryError(
                f'point 0 has {values.shape[1]} {field}, expected {len(names)} as there are joints'
            )
    positions, velocities, accelerations = (
        None if values is None else values[:, order] for values in rows
    )
    if positions is None:
        raise TrajectoryError('the points of the trajectory have no positions')
    start = stamp if stamp > 0.0 else None
    return ReferencePoints(times, positions, velocities, accelerations, start, joints)


def _order(
    names: Sequence[str], joint_names: Sequence[str], partial: bool
) -> tuple[IndexArray, IndexArray | None]:
    """Return the columns in the robot's order, and the indices of their joints; None for all."""
    if not partial:
        return reorder(names, joint_names), None
    if not names:
        raise JointNamesError('the trajectory names no joints')
    wanted = [name for name in joint_names if name in names]
    if len(wanted) == len(joint_names):
        return reorder(names, joint_names), None
    unknown = [name for name in names if name not in joint_names]
    order = reorder(names, joint_names if unknown else wanted)
    return order, np.array([list(joint_names).index(name) for name in wanted], np.intp)


def _rows(message: JointTrajectory, field: str) -> FloatArray | None:
    """Return one field of all points, shape (K, m); None if all points leave it empty."""
    rows = [getattr(point, field) for point in message.points]
    if not any(map(len, rows)):
        return None
    columns = len(message.joint_names)
    for k, row in enumerate(rows):
        if len(row) != columns:
            raise TrajectoryError(
                f'point {k} has {len(row)} {field}, expected {columns} as there are joints'
            )
    return np.frombuffer(b''.join(rows)).reshape(len(rows), columns)
