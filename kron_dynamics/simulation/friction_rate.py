# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How fast friction stops a machine near standstill, which limits the integration step."""

from __future__ import annotations

import numpy as np

from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

_SLOW = 1e-9  # rad/s or m/s, far below the transition velocities of the friction
# Poses beside the start, fewer than code for batches is compiled for.
_POSES = 14
_LONGEST = np.pi  # range about the start of a joint without limits, rad or m


def fastest_friction(robot: Robot, q: FloatArray) -> tuple[float, str]:
    """Return the fastest rate at which friction takes small velocities, and its coordinate.

    The rates are the eigenvalues of ``M^-1 d friction / d qd`` at standstill, in the given pose
    and some others within the limits of the joints.

    Args:
        robot: the machine.
        q: coordinates, shape (n,), rad or m.

    Returns:
        rate, 1/s, 0 without friction; name of the coordinate that it moves most.
    """
    slow = np.full(robot.n, _SLOW)
    slope = (robot.joint_friction(slow) - robot.joint_friction(-slow)) / (2.0 * _SLOW)
    slope = np.maximum(slope, 0.0)  # one that drives the joint needs no shorter step
    if not slope.any():
        return 0.0, ''
    model, joints = robot.model, slice(robot.model.joint_count)
    poses = np.tile(q, (_POSES + 1, 1))
    lower, upper = (
        np.where(np.isfinite(bound[joints]), bound[joints], q[joints] + far)
        for bound, far in ((model.position_lower, -_LONGEST), (model.position_upper, _LONGEST))
    )
    shares = np.random.default_rng(0).uniform(size=(_POSES, model.joint_count))
    poses[1:, joints] = lower + shares * (upper - lower)
    root = np.sqrt(slope)
    inverse = np.linalg.pinv(robot.mass_matrix(poses), hermitian=True)
    rates, shapes = np.linalg.eigh(root * inverse * root[:, np.newaxis])
    worst = int(rates[:, -1].argmax())
    moved = np.abs(shapes[worst, :, -1])
    return float(rates[worst, -1]), model.joint_names[int(moved.argmax())]
