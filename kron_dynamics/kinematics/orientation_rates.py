# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Angular velocity and acceleration by rates of orientation angles, and back.  [N] 2.3.

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

# Rates are the angular velocity over the distance to where the first axis and the third are one.
LEAST_DISTANCE = 1e-6


def angular_transfer_matrix(angles: ArrayLike, sequence: str) -> ScalarArray:
    """Return J_Omega = [A, R_A B, R_A R_B C], shape (3, 3): omega per unit rates.

    Base axes; R^T J_Omega for those of the body.  [N] eqs. (36)-(38); J_psi of (40) is this.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
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
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
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
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
    """
    return np.asarray(angular_transfer_matrix(angles, sequence) @ vector(rates, 'rates', 3))


def angular_acceleration(
    angles: ArrayLike, rates: ArrayLike, accelerations: ArrayLike, sequence: str
) -> ScalarArray:
    """Return d omega/dt, shape (3,), rad/s^2, base axes.  [N] eq. (40).

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        rates: their rates, shape (3,), rad/s.
        accelerations: the rates of these, shape (3,), rad/s^2.
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
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
        sequence: the set, as of `orientation_axes`.
        least_distance: of beta to where rates lose their meaning, rad, above 0; of numbers.

    Raises:
        ParameterError: there is no such set, or the least distance is none.
        SingularOrientationError: beta is nearer.
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
    # The rows of the inverse, but for the determinant.
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
        sequence: the set, as of `orientation_axes`.
        least_distance: as of `angle_rates`.

    Raises:
        ParameterError: there is no such set, or the least distance is none.
        SingularOrientationError: beta is nearer.
    """
    J_dot = angular_transfer_matrix_rate(angles, rates, sequence)
    rest = vector(omega_rate, 'omega_rate', 3) - J_dot @ vector(rates, 'rates', 3)
    return angle_rates(angles, rest, sequence, least_distance=least_distance)
