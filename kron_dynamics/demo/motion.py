# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A motion of the demonstration: waypoints and their interpolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.control import Trajectory
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import FloatArray

# Rated accelerations of the default machine's drives, m/s^2 and rad/s^2.
RATED_ACCELERATION = {'travel': 0.05, 'slew': 0.0014, 'luff': 0.0002}
# Share of the joints' velocity limits that the moves use.
VELOCITY_SHARE = 0.9


class Stop(NamedTuple):
    """The end of a move.

    Attributes:
        joint: name of the joint that moved.
        time: time since the start of the motion, s.
    """

    joint: str
    time: float


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Waypoints of a motion from rest to rest, with stops in between.

    Attributes:
        joint_names: names of the n joints.
        times: shape (K,), s, the first one 0.
        positions: shape (K, n), rad or m.
        velocities: shape (K, n), rad/s or m/s.
        accelerations: shape (K, n), rad/s^2 or m/s^2, for quintic interpolation. None for cubic
            interpolation, with accelerations that may jump at the waypoints.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray | None

    def trajectory(self) -> Trajectory:
        """Return the motion as quintic polynomials, or cubic ones without accelerations."""
        return Trajectory.from_points(
            self.joint_names, self.times, self.positions, self.velocities, self.accelerations
        )

    def stops(self) -> tuple[Stop, ...]:
        """Return the ends of all joints' moves, sorted by time."""
        arrives = (np.diff(self.positions, axis=0) != 0.0) & (self.velocities[1:] == 0.0)
        return tuple(
            Stop(self.joint_names[joint], float(self.times[1 + point]))
            for point, joint in np.argwhere(arrives)
        )


def require_joints(model: RobotModel, joints: tuple[str, ...]) -> None:
    """Check that a machine has the joints that a motion moves.

    Raises:
        ParameterError: a joint is missing.
    """
    missing = sorted(set(joints) - set(model.joint_names))
    if missing:
        raise ParameterError(
            f"robot '{model.name}' has no joint {', '.join(missing)}; the demonstration moves "
            f'{", ".join(joints)}'
        )
