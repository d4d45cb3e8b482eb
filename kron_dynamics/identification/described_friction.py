# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The Coulomb and viscous friction that explain most where nothing else can be said."""

from __future__ import annotations

import numpy as np

from kron_dynamics.identification.friction import BASIC_TERMS, URDF_TERMS
from kron_dynamics.identification.rows import Rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


def described_friction(
    robot: Robot, rows: Rows, inertial: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return Coulomb and viscous friction beside inertial parameters, not negative, shape (n, 2).

    Joints without efforts keep what the description says. An offset is fitted along and left out.

    Args:
        robot: the robot as described.
        rows: with the friction terms `BASIC_TERMS`.
        inertial: inertial parameters with the rotors that a description has, shape (10 b + n,).
        weights: of the equations, shape (R, n).
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
