# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Duration of synchronised rest-to-rest moves along a quintic polynomial."""

from __future__ import annotations

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import ArrayLike

# Peak velocity and peak acceleration of a rest-to-rest quintic over distance 1 in time 1.
_PEAK_VELOCITY = 15.0 / 8.0
_PEAK_ACCELERATION = 10.0 / np.sqrt(3.0)


def point_to_point(
    start: ArrayLike, goal: ArrayLike, velocity_limit: ArrayLike, acceleration_limit: ArrayLike
) -> float:
    """Return the shortest time, in s, for a synchronised quintic rest-to-rest move.

    The move itself is the :class:`Trajectory` through both points with zero velocities and
    accelerations: a joint that moves by D in the time T reaches the peak velocity 15/8 D/T and the
    peak acceleration 10/sqrt(3) D/T^2.

    Args:
        start: positions, shape (n,), in rad or m.
        goal: positions, shape (n,).
        velocity_limit: shape (n,), above 0, in rad/s or m/s; inf for none.
        acceleration_limit: shape (n,), above 0, in rad/s^2 or m/s^2; inf for none.

    Returns:
        The time; 0 if start and goal are the same.

    Raises:
        ParameterError: a shape or a number cannot be used, or a joint that has to move has
            no limit at all.
    """
    q0, q1, velocity, acceleration = (
        np.array(values, dtype=np.float64)
        for values in (start, goal, velocity_limit, acceleration_limit)
    )
    shapes = {array.shape for array in (q0, q1, velocity, acceleration)}
    if len(shapes) != 1 or q0.ndim != 1:
        raise ParameterError(
            'start, goal, velocity_limit and acceleration_limit have shapes '
            f'{q0.shape}, {q1.shape}, {velocity.shape}, {acceleration.shape}, expected one (n,)'
        )
    distance = np.abs(q1 - q0)
    if not np.isfinite(distance).all():
        raise ParameterError(f'start {q0.tolist()} and goal {q1.tolist()} must be finite')
    if not (np.all(velocity > 0.0) and np.all(acceleration > 0.0)):
        raise ParameterError(
            'velocity and acceleration limits must be above 0, got '
            f'{velocity.tolist()} and {acceleration.tolist()}'
        )
    durations = np.maximum(
        _PEAK_VELOCITY * distance / velocity, np.sqrt(_PEAK_ACCELERATION * distance / acceleration)
    )
    if np.any((distance > 0.0) & (durations == 0.0)):
        raise ParameterError('a joint that has to move has no velocity or acceleration limit')
    return float(durations.max(initial=0.0))
