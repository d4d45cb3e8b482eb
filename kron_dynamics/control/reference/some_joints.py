# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory points for a subset of the joints: the other joints stand still or stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kron_dynamics.control.per_joint import reorder
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.control.reference.waypoints import numbers
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.messages import listed
from kron_dynamics.typing import ArrayLike, BoolArray, FloatArray, IndexArray

_State = tuple[FloatArray, FloatArray, FloatArray]


def trajectory_from(
    start: _State,
    names: Sequence[str],
    times: ArrayLike,
    points: tuple[ArrayLike, ArrayLike | None, ArrayLike | None],
    joints: IndexArray | None,
    *,
    continuous: BoolArray,
    start_tolerance: FloatArray,
) -> Trajectory:
    """Return the trajectory from a start state through points of some joints; others rest.

    Args:
        start: (q, qd, qdd), shape (n,) each.
        names: the n joints.
        times: times of the points, shape (K,), s.
        points: positions, velocities and accelerations, shape (K, m) each, or None.
        joints: joint indices of the m columns, shape (m,); None for all joints.
        continuous: mask of the continuous joints, shape (n,).
        start_tolerance: as for `Trajectory.from_points`, shape (n,).

    Raises:
        TrajectoryError: the points are malformed or do not agree with the start.
    """
    if joints is not None:
        start, points = widened(start, points, joints)
        moved = np.isin(np.arange(len(names)), joints)
        start_tolerance = np.where(moved, start_tolerance, np.inf)
    return Trajectory.from_points(
        names,
        times,
        *points,
        start=start,
        continuous=continuous,
        start_tolerance=start_tolerance,
    )


def widened(
    start: _State,
    points: tuple[ArrayLike, ArrayLike | None, ArrayLike | None],
    joints: IndexArray,
) -> tuple[_State, tuple[ArrayLike, ArrayLike | None, ArrayLike | None]]:
    """Return points of some joints extended to all joints, and the start state for them.

    Args:
        start: (q, qd, qdd), shape (n,) each.
        points: positions, velocities and accelerations, shape (K, m) each, or None.
        joints: joint indices of the m columns, shape (m,).

    Returns:
        The start with the other joints at rest, and the points, shape (K, n) each.

    Raises:
        TrajectoryError: the points have a wrong number of columns.
    """
    q, qd, qdd = start
    at_rest = np.zeros_like(q)

    def wide(rows: ArrayLike | None, standing: FloatArray) -> FloatArray | None:
        if rows is None:
            return None
        rows = numbers('points', rows)
        if rows.ndim != 2 or rows.shape[1] != len(joints):
            raise TrajectoryError(
                f'points have shape {rows.shape}, expected (K, {len(joints)}) for that many joints'
            )
        found = np.tile(standing, (len(rows), 1))
        found[:, joints] = rows
        return found

    positions, velocities, accelerations = points
    chosen = np.isin(np.arange(len(q)), joints)
    found = wide(positions, q)
    assert found is not None
    given = found, wide(velocities, at_rest), wide(accelerations, at_rest)
    return (q, qd * chosen, qdd * chosen), given


def moving_and_held(
    given: Sequence[str] | None, held: Mapping[str, float], known: Sequence[str]
) -> tuple[tuple[str, ...], IndexArray]:
    """Return the column names, and indices that bring columns and held joints in robot order.

    Args:
        given: joints of the m columns; None for all joints of the robot.
        held: constant positions of all other joints, rad or m, by joint name.
        known: the n joints of the robot.

    Returns:
        The m names, and indices, shape (n,), into the columns followed by the held joints.

    Raises:
        TrajectoryError: a joint is missing, unknown or named twice, or held at no finite position.
    """
    names = tuple(known if given is None else given)
    missing = [name for name in known if name not in names and name not in held]
    if missing and set(names) <= set(known):
        raise TrajectoryError(
            f'the trajectory leaves out {listed(missing)}, expected all of {listed(known)}, or '
            f'where the others are held meanwhile'
        )
    for name, position in held.items():
        if not np.isfinite(position):
            raise TrajectoryError(
                f"joint '{name}' is held at {position}, expected a finite position"
            )
    return names, reorder([*names, *held], known)
