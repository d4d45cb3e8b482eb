# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sample poses of a robot, for bounds on its dynamics over the workspace."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

_POSES = 500
# Step of the central differences of the gravity vector, rad or m.
_DIFFERENCE = 1e-5


def poses_within_limits(robot: Robot, count: int = _POSES) -> FloatArray:
    """Return random positions within the limits, shape (count, n), the same in every call.

    A missing limit is replaced by -pi or pi for joints that turn, by -1 m or 1 m for others.
    """
    model = robot.model
    reach = np.where([joint_kind(kind).motion.turns for kind in model.joint_types], np.pi, 1.0)
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -reach)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, reach)
    # Not numpy.random, which is imported lazily: its import would delay the start of a node.
    generator = random.Random(0)
    shares = [[generator.random() for _ in range(robot.n)] for _ in range(count)]
    return np.asarray(lower + np.array(shares) * (np.maximum(lower, upper) - lower))


def gravity_derivative(robot: Robot, q: FloatArray) -> FloatArray:
    """Return the derivative dg/dq, shape (N, n, n), symmetric.

    Args:
        robot: the machine with rigid links.
        q: poses, shape (N, n), rad or m.
    """
    columns = []
    for e in _DIFFERENCE * np.eye(robot.n):
        change = robot.gravity_vector(q + e) - robot.gravity_vector(q - e)
        columns.append(change / (2.0 * _DIFFERENCE))
    G = np.stack(columns, axis=-1)
    return np.asarray((G + np.swapaxes(G, 1, 2)) / 2.0)
