# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Bench reclaiming: travel to the face, sweep across it, step down, sweep back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control import Trajectory, point_to_point
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

# (joint, distance in m or rad, rated acceleration in m/s^2 or rad/s^2), one move after another.
# Accelerations as the default machine is rated; distances small enough to watch in a minute.
MOVES = (
    ('travel', 1.0, 0.05),
    ('slew', 0.08, 0.0014),
    ('luff', -0.008, 0.0002),
    ('slew', -0.08, 0.0014),
)
# Share of the joints' velocity limits that the moves use.
_VELOCITY_SHARE = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Points of a motion from rest to rest, with rests in between.

    Attributes:
        joint_names: the n joints.
        times: shape (K,), s, the first one 0.
        positions: shape (K, n), rad or m; velocities and accelerations are zero at every point.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    positions: FloatArray

    def trajectory(self) -> Trajectory:
        """Return the motion as quintic polynomials from point to point."""
        rest = np.zeros_like(self.positions)
        return Trajectory.from_points(self.joint_names, self.times, self.positions, rest, rest)


def bench_reclaiming(model: RobotModel, start: ArrayLike) -> Motion:
    """Return the motion of one bench, at the pace the machine's limits allow.

    Args:
        model: a machine with joints `travel`, `slew` and `luff`.
        start: its position at the beginning, shape (n,), rad or m.

    Raises:
        ParameterError: the machine has other joints.
    """
    missing = sorted({joint for joint, _, _ in MOVES} - set(model.joint_names))
    if missing:
        raise ParameterError(
            f"robot '{model.name}' has no joint {', '.join(missing)}; the demonstration moves "
            f'travel, slew and luff'
        )
    times, positions = [0.0], [np.array(start, dtype=np.float64)]
    for joint, distance, acceleration in MOVES:
        index = model.joint_names.index(joint)
        goal = positions[-1].copy()
        goal[index] += distance
        duration = point_to_point(
            positions[-1],
            goal,
            _VELOCITY_SHARE * model.velocity_limit,
            np.full(model.n, acceleration),
        )
        times.append(times[-1] + duration)
        positions.append(goal)
    return Motion(model.joint_names, np.array(times), np.array(positions))
