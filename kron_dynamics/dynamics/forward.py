# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics."""

from __future__ import annotations

from kron_dynamics.dynamics.inverse import bias_forces
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def forward_dynamics(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, tau: ArrayLike
) -> ScalarArray:
    """Return ``qdd = M^-1 (tau - c - g)``, shape (n,), without friction.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        tau: joint efforts, shape (n,), N m or N.
    """
    return solve_positive_definite(
        mass_matrix(model, q), as_scalars(tau) - bias_forces(model, q, qd)
    )


def solve_positive_definite(M: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return x with M x = b, shape (n,), by the factorization M = L D L^T.

    No square roots and no pivoting, so it runs on traced scalars too; a positive definite M
    needs neither.

    Args:
        M: shape (n, n), symmetric positive definite.
        b: shape (n,).
    """
    n = len(b)
    L, D, x = M.copy(), [None] * n, b.copy()
    for j in range(n):
        scaled = [L[j, k] * D[k] for k in range(j)]
        D[j] = M[j, j] - sum(L[j, k] * scaled[k] for k in range(j))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - sum(L[i, k] * scaled[k] for k in range(j))) / D[j]
    for i in range(n):
        x[i] = x[i] - sum(L[i, k] * x[k] for k in range(i))
    for i in reversed(range(n)):
        x[i] = x[i] / D[i] - sum(L[k, i] * x[k] for k in range(i + 1, n))
    return x
