# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics."""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.inverse import bias_forces
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.kinematics.scalars import number_vector, span
from kron_dynamics.messages import named
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

# Number of fixed, irregular poses in which M is tested, so that no alignment of joints is
# accidental. Not random: NumPy's generators take longer to import than a robot from the cache.
_POSES = 2
# What is said about a joint of such a combination, and its remedy.
AGAINST_OTHERS = (
    'can move against others without moving mass: the mass matrix is singular in every pose and '
    'has no inverse, which forward dynamics needs'
)
AGAINST_OTHERS_CURE = (
    'give the links between these joints masses and inertias, or a joint an armature'
)


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
        InvalidInertiaError: a joint moves no mass, so that M is singular.
    """
    if isinstance(model, RobotModel):  # not its stand-in while a kernel is traced with loops
        model.require_mass()
    tau = number_vector(tau, 'tau', model.n)
    return solve_positive_definite(mass_matrix(model, q), tau - bias_forces(model, q, qd))


def singular_mass(model: RobotModel) -> str | None:
    """Return why M is singular in every pose, as a sentence; None if it is not.

    Either a joint moves no mass, or a combination of joints moves none, such as two joints about
    one axis with a massless link between them. M is tested in two irregular poses; of a robot
    with flexible links the rigid robot is tested.
    """
    try:
        model.require_mass()
    except InvalidInertiaError as error:
        return str(error)
    joint = joint_against_others(model)
    return joint and f'{named("joint", joint)} {AGAINST_OTHERS}; {AGAINST_OTHERS_CURE}'


def joint_against_others(model: RobotModel) -> str | None:
    """Return the name of a joint that can move against others without moving mass, if any."""
    rigid = getattr(model, 'rigid', model)
    for q in np.sin(1.0 + np.arange(_POSES * rigid.n) ** 2).reshape(_POSES, rigid.n):
        M = np.asarray(mass_matrix(rigid, q), dtype=np.float64)
        if not np.isfinite(M).all():
            return None
        smallest, joint = smallest_mass(M)
        if abs(smallest) > rounding_of_mass(rigid.n):
            return None
    return rigid.joint_names[joint]


def smallest_mass(M: FloatArray) -> tuple[float, int]:
    """Return the smallest eigenvalue of a scaled mass matrix, and its dominant coordinate.

    The dominant coordinate has the largest entry in the eigenvector.

    Args:
        M: shape (n, n), n > 0. It is scaled to a unit diagonal, so that coordinates with
            different units and sizes compare. If a diagonal entry is not positive, the smallest
            one is returned instead of an eigenvalue.
    """
    diagonal = M.diagonal()
    weakest = int(diagonal.argmin())
    if diagonal[weakest] <= 0.0:
        return float(diagonal[weakest]), weakest
    scale = 1.0 / np.sqrt(diagonal)
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    return float(values[0]), int(np.abs(vectors[:, 0]).argmax())


def rounding_of_mass(n: int) -> float:
    """Return the magnitude below which an eigenvalue of a scaled M, shape (n, n), is rounding."""
    return 4.0 * n * float(np.finfo(float).eps)


def solve_positive_definite(M: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return x with M x = b, shape (n,), by the factorization M = L D L^T.

    It needs no square roots and, for a positive definite M, no pivoting, and so runs on traced
    scalars too.

    Args:
        M: shape (n, n), symmetric positive definite.
        b: shape (n,).
    """
    n = len(b)
    L, scaled, x = M.copy(), b.copy(), b.copy()  # D is stored on the diagonal of L
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
