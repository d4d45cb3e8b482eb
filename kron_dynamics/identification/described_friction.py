# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Best Coulomb and viscous friction for a URDF, which has no other friction terms."""

from __future__ import annotations

import numpy as np

from kron_dynamics.identification.friction import BASIC_TERMS, URDF_TERMS
from kron_dynamics.identification.rows import Rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


def described_friction(
    robot: Robot, rows: Rows, inertial: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return nonnegative Coulomb and viscous friction for given inertial parameters, shape (n, 2).

    Joints without efforts keep the described values. An offset is fitted, too, and discarded.

    Args:
        robot: the robot as described.
        rows: rows with the friction terms `BASIC_TERMS`.
        inertial: identified inertial parameters with the described armatures, shape (10 b + n,).
        weights: weights of the equations, shape (R, n).
    """
    from scipy.optimize import nnls  # takes long to import

    count = len(inertial)
    rest = rows.effort - rows.matrix[:, :, :count] @ inertial
    found = np.column_stack([robot.model.friction, robot.model.damping])
    for joint in range(robot.n):
        first = count + joint * len(BASIC_TERMS)
        columns = rows.matrix[:, joint, first : first + len(BASIC_TERMS)]
        root = np.sqrt(np.where(np.isfinite(rest[:, joint]), weights[:, joint], 0.0))
        if not root.any():
            continue
        offset = columns[:, len(URDF_TERMS) :]
        A = np.column_stack([columns, -offset]) * root[:, None]
        b = np.where(root > 0.0, rest[:, joint], 0.0) * root
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0.0] = np.inf
        found[joint] = (nnls(A / scale, b)[0] / scale)[: len(URDF_TERMS)]
    return found
