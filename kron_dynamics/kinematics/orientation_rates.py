# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Angular velocity and acceleration from orientation-angle rates, and back.  [N] 2.3.

Every function takes floats, SymPy expressions and traced scalars alike.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.exceptions import ParameterError, SingularOrientationError
from kron_dynamics.kinematics.exponentials import rotation_exponential, rotation_exponential_rate
from kron_dynamics.kinematics.orientation import distance_to_singularity, orientation_axes
from kron_dynamics.kronecker import cross
from kron_dynamics.scalar_arguments import vector
from kron_dynamics.typing import ArrayLike, ScalarArray

# Default least distance of beta to the singularity (first and third axis parallel), rad. Near it
# the angle rates grow as the angular velocity over this distance.
LEAST_DISTANCE = 1e-6


def angular_transfer_matrix(angles: ArrayLike, sequence: str) -> ScalarArray:
    """Return J_Omega = [A, R_A B, R_A R_B C], shape (3, 3): omega = J_Omega rates, rad/s.

    Base axes; R^T J_Omega is its form in body axes.  [N] eqs. (36)-(38); J_psi of (40) is J_Omega.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    A, B, C = orientation_axes(sequence).T
    alpha, beta, _ = vector(angles, 'angles', 3)
    R_A, R_B = rotation_exponential(A, alpha), rotation_exponential(B, beta)
    return np.column_stack([A, R_A @ B, R_A @ R_B @ C])


def angular_transfer_matrix_rate(
    angles: ArrayLike, rates: ArrayLike, sequence: str
) -> ScalarArray:
    """Return dJ_Omega/dt, shape (3, 3), 1/s, base axes.  [N] eqs. (41)-(45).

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        rates: their rates, shape (3,), rad/s.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    A, B, C = orientation_axes(sequence).T
    alpha, beta, _ = vector(angles, 'angles', 3)
    alpha_rate, beta_rate, _ = vector(rates, 'rates', 3)
    R_A, R_B = rotation_exponential(A, alpha), rotation_exponential(B, beta)
    R_A_rate = rotation_exponential_rate(A, alpha, alpha_rate)
    R_B_rate = rotation_exponential_rate(B, beta, beta_rate)
    return np.column_stack([0 * A, R_A_rate @ B, R_A_rate @ R_B @ C + R_A @ R_B_rate @ C])


def angular_velocity(angles: ArrayLike, rates: ArrayLike, sequence: str) -> ScalarArray:
    """Return omega = J_Omega rates, shape (3,), rad/s, base axes.  [N] eqs. (34), (35), (39).

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        rates: their rates, shape (3,), rad/s.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    return np.asarray(angular_transfer_matrix(angles, sequence) @ vector(rates, 'rates', 3))


def angular_acceleration(
    angles: ArrayLike, rates: ArrayLike, accelerations: ArrayLike, sequence: str
) -> ScalarArray:
    """Return d omega/dt, shape (3,), rad/s^2, base axes.  [N] eq. (40).

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        rates: their rates, shape (3,), rad/s.
        accelerations: their second derivatives, shape (3,), rad/s^2.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    J = angular_transfer_matrix(angles, sequence)
    J_dot = angular_transfer_matrix_rate(angles, rates, sequence)
    return np.asarray(
        J @ vector(accelerations, 'accelerations', 3) + J_dot @ vector(rates, 'rates', 3)
    )


def angle_rates(
    angles: ArrayLike,
    omega: ArrayLike,
    sequence: str,
    *,
    least_distance: float = LEAST_DISTANCE,
) -> ScalarArray:
    """Return the rates of the angles, shape (3,), rad/s: [N] eq. (35) solved.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        omega: angular velocity, base axes, shape (3,), rad/s.
        sequence: the angle set, one of `ORIENTATION_SETS`.
        least_distance: least distance of beta to a singularity, rad, above 0; not checked where
            beta is symbolic or traced.

    Raises:
        ParameterError: the set does not exist, or the least distance is not above 0 and finite.
        SingularOrientationError: beta is nearer to a singularity.
    """
    least = real_number(least_distance, 'least_distance')
    if not 0.0 < least < np.inf:
        raise ParameterError(f'least_distance is {least:g} rad, expected more than 0')
    distance = distance_to_singularity(angles, sequence)
    if distance is not None and distance < least:
        raise SingularOrientationError(
            sequence, float(vector(angles, 'angles', 3)[1]), distance, least
        )
    a, b, c = angular_transfer_matrix(angles, sequence).T
    # The rows of the inverse times the determinant.
    rows = np.array([cross(b, c), cross(c, a), cross(a, b)])
    return np.asarray(rows @ vector(omega, 'omega', 3) / (a @ rows[0]))


def angle_accelerations(
    angles: ArrayLike,
    rates: ArrayLike,
    omega_rate: ArrayLike,
    sequence: str,
    *,
    least_distance: float = LEAST_DISTANCE,
) -> ScalarArray:
    """Return the second derivatives of the angles, shape (3,), rad/s^2: [N] eq. (40) solved.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        rates: their rates, shape (3,), rad/s.
        omega_rate: angular acceleration, base axes, shape (3,), rad/s^2.
        sequence: the angle set, one of `ORIENTATION_SETS`.
        least_distance: as in `angle_rates`.

    Raises:
        ParameterError: the set does not exist, or the least distance is not above 0 and finite.
        SingularOrientationError: beta is nearer to a singularity.
    """
    J_dot = angular_transfer_matrix_rate(angles, rates, sequence)
    rest = vector(omega_rate, 'omega_rate', 3) - J_dot @ vector(rates, 'rates', 3)
    return angle_rates(angles, rest, sequence, least_distance=least_distance)
