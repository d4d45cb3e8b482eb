# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""``M_u du/dt + C*_u (u (x) u) + g_u = B_a^T tau_a`` in any number type.  [P] section 4.

M_u, C_u, C*_u and g_u are the M, C, C* and g of the equations of motion in independent speeds.
"""

from __future__ import annotations

from typing import NamedTuple

from kron_dynamics import dynamics
from kron_dynamics.constraints.reduction import (
    Choice,
    dependence,
    rate_matrix,
    reduction,
    velocity_matrix_derivative,
)
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


class ReducedEquations(NamedTuple):
    """``M_u du/dt + h_u = B_a^T tau_a`` in one state.

    Attributes:
        mass_matrix: M_u = B^T M B, shape (m, m).
        bias: h_u = B^T (M gamma + c + g), shape (m,).
        transmission: B_a^T, shape (m, a).
    """

    mass_matrix: FloatArray
    bias: FloatArray
    transmission: FloatArray


class ReducedMotion(NamedTuple):
    """Result of forward dynamics.

    Attributes:
        u_dot: derivatives of the independent speeds, shape (m,).
        qdd: accelerations, shape (n,).
        multipliers: lambda of each condition, shape (k,): ``M qdd + c + g = tau + A^T lambda``.
    """

    u_dot: FloatArray
    qdd: FloatArray
    multipliers: FloatArray


def reduced_mass_matrix(model: RobotModel, q: ArrayLike, B: ScalarArray) -> ScalarArray:
    """Return M_u = B^T M B, shape (m, m).  [P] eq. (46).

    Args:
        model: the robot.
        q: coordinates that close the loops, shape (n,).
        B: dqd/du, shape (n, m).
    """
    M: ScalarArray = B.T @ dynamics.mass_matrix(model, q) @ B
    return M


def reduced_gravity_vector(model: RobotModel, choice: Choice, q: ArrayLike) -> ScalarArray:
    """Return g_u = B^T g, shape (m,): dV/dp with positions p of the independent joints.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
    """
    g: ScalarArray = dependence(model, choice, q).B.T @ dynamics.gravity_vector(model, q)
    return g


def reduced_coriolis_matrix(
    model: RobotModel, choice: Choice, q: ArrayLike, u: ArrayLike
) -> ScalarArray:
    """Return C_u = B^T (C B + M dB/dt), shape (m, m), with the Christoffel C.

    ``dM_u/dt - 2 C_u = B^T (dM/dt - 2C) B + (dB/dt)^T M B - B^T M dB/dt`` is skew.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
        u: independent speeds, shape (m,), 1/s.
    """
    found = reduction(model, choice, q, u)
    C, M = dynamics.coriolis_matrix(model, q, found.qd), dynamics.mass_matrix(model, q)
    reduced: ScalarArray = found.B.T @ (C @ found.B + M @ rate_matrix(model, choice, q, found))
    return reduced


def reduced_velocity_free_coriolis_matrix(
    model: RobotModel, choice: Choice, q: ArrayLike
) -> ScalarArray:
    """Return C*_u = B^T (C* (B (x) B) + M dB), (m, m*m), with dB of `velocity_matrix_derivative`.

    ``C*_u (u (x) u)`` are the Coriolis and centrifugal terms, and ``C*_u (E (x) u)`` is
    `reduced_coriolis_matrix`. If all conditions are holonomic, the entries are the Christoffel
    symbols of M_u, and columns ``i*m + j`` and ``j*m + i`` are equal.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
    """
    found = dependence(model, choice, q)
    B, (n, m) = found.B, found.B.shape
    C = dynamics.velocity_free_coriolis_matrix(model, q).reshape(n, n, n)
    # B^T C* (B (x) B), contracted one factor at a time.
    products = (B.T @ (C @ B)).reshape(n, m * m)
    drift = velocity_matrix_derivative(model, choice, q, found)
    reduced: ScalarArray = B.T @ (products + dynamics.mass_matrix(model, q) @ drift)
    return reduced
