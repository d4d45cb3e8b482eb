# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quintic motions between two states, and whether they keep limits: always, not in samples."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.reference.joint_stops import JointLimits
from kron_dynamics.control.reference.polynomials import (
    control_points,
    derivative_of,
    halves,
    quintic_pieces,
    shifted,
)
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

QUANTITIES = 'position', 'velocity', 'acceleration'
# Parts of a motion whose control points are compared with the limits first.
_PARTS = 4
# Each halving brings the control points four times nearer to the motion: to rounding.
_MOST_HALVINGS = 24


def quintic_between(start: JointReference, goal: JointReference, duration: float) -> FloatArray:
    """Return the quintic between two states, (6, 1, n), as in `Trajectory.polynomials`.

    Args:
        start: q, qd, qdd, shape (n,) each.
        goal: those at the end.
        duration: s.
    """
    ends = _ends(start, goal, duration, np.array([duration]))[0]
    piece: FloatArray = (_MONOMIALS @ ends) / duration**_POWERS
    piece[0] = start[0]
    return piece[:, np.newaxis]


def beyond_limits(
    start: JointReference,
    goal: JointReference,
    least: float,
    durations: FloatArray,
    limits: JointLimits,
) -> BoolArray:
    """Return masks of limits that are left: position, velocity and acceleration, (3, D, n).

    The control points of a polynomial bound it: parts that they leave undecided are halved.

    Args:
        start: q, qd, qdd, shape (n,) each.
        goal: those at the end of a motion that takes the least duration; a slower motion is that
            much slower there, and its accelerations are smaller by the square.
        least: s.
        durations: shape (D,), s.
        limits: those of the joints, inf for none.
    """
    q0 = start[0]
    shape = 3, len(durations), 6, _PARTS, len(q0)
    points = (_BASIS[:, np.newaxis] @ _ends(start, goal, least, durations)).reshape(shape)
    units = durations ** np.arange(3)[:, np.newaxis]
    upper = np.stack((limits.upper - q0, limits.velocity, limits.acceleration))
    lower = np.stack((limits.lower - q0, -limits.velocity, -limits.acceleration))
    upper, lower = (units[..., np.newaxis] * bound[:, np.newaxis] for bound in (upper, lower))
    outside = (points > upper[:, :, np.newaxis, np.newaxis]) | (
        points < lower[:, :, np.newaxis, np.newaxis]
    )
    if not outside.any():
        return np.zeros((3, len(durations), len(q0)), dtype=bool)
    # The first and the last control point are values.
    beyond: BoolArray = np.any(outside[:, :, (0, -1)], axis=(2, 3))
    undecided = outside.any(axis=2) & ~beyond[:, :, np.newaxis]
    if undecided.any():
        quantity, k, part, joint = np.nonzero(undecided)
        place = np.ravel_multi_index((quantity, k, joint), beyond.shape)
        left = points[quantity, k, :, part, joint].T
        beyond.flat[_leaving(left, place, lower.ravel(), upper.ravel())] = True
    return beyond


def _ends(
    start: JointReference, goal: JointReference, least: float, durations: FloatArray
) -> FloatArray:
    """End conditions in normalised time, 0 to 1, relative to the start: (D, 5, n)."""
    (q0, v0, a0), (q1, v1, a1) = start, goal
    h = durations[:, np.newaxis]
    ends = np.empty((len(durations), 5, len(q0)))
    ends[:, 0], ends[:, 1], ends[:, 2] = q1 - q0, v0 * h, v1 * least
    ends[:, 3], ends[:, 4] = a0 * h**2, a1 * least**2
    return ends


def _leaving(
    points: FloatArray, place: IndexArray, lower: FloatArray, upper: FloatArray
) -> IndexArray:
    """Places of bounds that are left by polynomials with control points (order, m)."""
    bad = np.zeros(len(lower), dtype=bool)
    for _ in range(_MOST_HALVINGS):
        points = np.concatenate(halves(points), axis=1)
        place = np.concatenate((place, place))
        outside = (points > upper[place]) | (points < lower[place])
        bad[place[outside[0] | outside[-1]]] = True
        left = outside.any(axis=0) & ~bad[place]
        if not left.any():
            break
        points, place = points[:, left], place[left]
    return np.flatnonzero(bad)


def _monomials() -> FloatArray:
    """Coefficients of quintics over the time 1, (6, 5), for unit values of each end condition.

    Columns: displacement, begin and end rate, begin and end acceleration.
    """
    unit = np.eye(5)[:, np.newaxis]
    begin = np.zeros((1, 5)), unit[1], unit[3]
    end = unit[0], unit[2], unit[4]
    return quintic_pieces(np.ones(1), begin, end)[:, 0]


def _basis() -> FloatArray:
    """Control points of q, qd and qdd, (3, 6 parts, 5), of these quintics.

    All are raised to the fifth degree.
    """
    pieces = _MONOMIALS[:, np.newaxis]
    times = np.arange(_PARTS) / _PARTS
    found = []
    for derivative in range(3):
        raised = np.zeros((6, _PARTS, 5))
        raised[: 6 - derivative] = pieces
        points = control_points(shifted(raised, times), np.full(_PARTS, 1.0 / _PARTS))
        found.append(points.reshape(6 * _PARTS, 5))
        pieces = derivative_of(pieces)
    return np.array(found)


_MONOMIALS, _POWERS = _monomials(), np.arange(6.0)[:, np.newaxis]
_BASIS = _basis()
