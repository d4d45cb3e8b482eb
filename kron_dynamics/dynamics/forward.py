# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics."""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.inverse import bias_forces
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.kinematics.scalars import as_scalars, span
from kron_dynamics.messages import named
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray

_SEED = 20190301


def forward_dynamics(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, tau: ArrayLike
) -> ScalarArray:
    """Return ``qdd = M^-1 (tau - c - g)``, shape (n,), without friction.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        tau: joint efforts, shape (n,), N m or N.

    Raises:
        InvalidInertiaError: a joint moves no mass, so that M has no inverse.
    """
    if isinstance(model, RobotModel):  # not what stands for it in a record of its loops
        model.require_mass()
    return solve_positive_definite(
        mass_matrix(model, q), as_scalars(tau) - bias_forces(model, q, qd)
    )


def require_mass(model: RobotModel) -> None:
    """Refuse what needs the inverse of M for a robot whose M is singular in every pose.

    Joints about one axis with nothing between them, for instance: each moves mass, but one
    against the other moves none. M is looked at in two poses anywhere, of the robot with stiff
    links where links bend.

    Raises:
        InvalidInertiaError: M has no inverse; the message names a joint.
    """
    model.require_mass()
    rigid = getattr(model, 'rigid', model)
    for q in np.random.default_rng(_SEED).uniform(-1.0, 1.0, (2, rigid.n)):
        M = np.asarray(mass_matrix(rigid, q), dtype=np.float64)
        # Scaled, so that tonnes and kg m^2 weigh alike.
        scale = 1.0 / np.sqrt(np.maximum(M.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
        if np.abs(values[0]) > 4.0 * rigid.n * np.finfo(float).eps:
            return
    joint = rigid.joint_names[int(np.abs(vectors[:, 0]).argmax())]
    raise InvalidInertiaError(
        f'{named("joint", joint)} can move against others without moving mass: the mass matrix is '
        f'singular in every pose and has no inverse, which forward dynamics needs; give the links '
        f'between these joints masses and inertias, or a joint an armature'
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
    L, scaled, x = M.copy(), b.copy(), b.copy()  # D stands on the diagonal of L
    for j in span(M, 0, n):
        for k in span(M, 0, j):
            scaled[k] = L[j, k] * L[k, k]
            L[j, j] -= L[j, k] * scaled[k]
        for i in span(M, j + 1, n):
            for k in span(M, 0, j):
                L[i, j] -= L[i, k] * scaled[k]
            L[i, j] /= L[j, j]
    for i in span(M, 0, n):
        for k in span(M, 0, i):
            x[i] -= L[i, k] * x[k]
    for i in span(M, n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in span(M, i + 1, n):
            x[i] -= L[k, i] * x[k]
    return x
