# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A slew move and a luff move, each followed by a wait in which the boom's vibration shows."""

from __future__ import annotations

import numpy as np

from kron_dynamics.demo.bench_reclaiming import DISTANCE
from kron_dynamics.demo.motion import (
    RATED_ACCELERATION,
    VELOCITY_SHARE,
    Motion,
    require_joints,
)
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

# Joint and direction of the moves, as in bench reclaiming.
_MOVES = (('slew', 1.0), ('luff', -1.0))
# Waiting time after each move, s. The longest shaper for both modes delays the end by 2.2 s, and
# three periods of the slower mode take another 3.7 s.
REST = 6.0


def slew_and_luff(model: RobotModel, start: ArrayLike) -> Motion:
    """Return both moves, with trapezoidal velocities and a wait after each.

    Accelerations are the rated ones and switch without ramps, which excites the boom most.

    Args:
        model: a machine with joints `slew` and `luff`.
        start: start position, shape (n,), rad or m.

    Raises:
        ParameterError: the machine lacks one of these joints.
    """
    require_joints(model, tuple(joint for joint, _ in _MOVES))
    position, time = np.array(start, dtype=np.float64), 0.0
    times, positions, velocities = [time], [position], [np.zeros(model.n)]
    for joint, direction in _MOVES:
        k = model.joint_names.index(joint)
        axis = direction * np.eye(model.n)[k]
        limit = VELOCITY_SHARE * float(model.velocity_limit[k])
        moved = _trapezoid(DISTANCE[joint], limit, RATED_ACCELERATION[joint])
        for after, distance, speed in moved:
            times.append(time + after)
            positions.append(position + distance * axis)
            velocities.append(speed * axis)
        position, time = positions[-1], times[-1] + REST
        times.append(time)
        positions.append(position)
        velocities.append(np.zeros(model.n))
    return Motion(
        model.joint_names, np.array(times), np.array(positions), np.array(velocities), None
    )


def _trapezoid(distance: float, speed: float, acceleration: float) -> FloatArray:
    """Return time, distance and speed of the points after the first one, shape (2 or 3, 3).

    There are two points, without a cruise, if the distance is too short to reach the speed.
    """
    speed = min(speed, np.sqrt(acceleration * distance))
    ramp, way = speed / acceleration, 0.5 * speed**2 / acceleration
    cruise = distance / speed - ramp
    points = [(ramp, way, speed), (ramp + cruise, distance - way, speed)]
    # Points that differ only by rounding errors cannot be interpolated.
    points = points if cruise > 1e-6 * ramp else points[:1]
    return np.array([*points, (2.0 * ramp + cruise, distance, 0.0)])
