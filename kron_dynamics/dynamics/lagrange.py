# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations in the Kronecker formalism, as the paper states them.  [T] section 5.

The quantities of `mass_matrix` and `coriolis` in the theory's forms. `lagrange_mass_matrix` and
`direct_velocity_free_matrix` are sums over bodies, slower than the composite-rigid-body algorithms
there and independent of them; the others take dM/dq from `mass_matrix_derivative`. C* is not
unique as a matrix; each form has a function, and all agree on ``qd (x) qd`` and in the reduced
form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dynamics.body_matrices import body_matrices
from kron_dynamics.dynamics.coriolis import mass_matrix_derivative
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.kronecker import (
    block_skew,
    contract_last,
    duplication_matrix,
    kronecker,
    swap_columns,
    vec,
)
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import matrix
from kron_dynamics.typing import ArrayLike, ScalarArray


def lagrange_mass_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return M(q) = sum m J_TG^T J_TG + J_R^T I J_R, shape (n, n).  [T] (95), [P] (35).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    q = number_vector(q, 'q', model.n)
    M = zeros_like(q, (model.n, model.n))
    for body in body_matrices(model, q):
        M = M + body.mass * body.J_T.T @ body.J_T + body.J_R.T @ body.inertia @ body.J_R
    return M + np.diag(model.armature)


def lagrange_coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return C = dM/dt - 1/2 N^T with N = (dM/dq)(qd (x) E_n), shape (n, n).  [T] eq. (97).

    ``C qd`` is correct, but ``dM/dt - 2C`` is not skew-symmetric; `coriolis_matrix` has this
    property.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
    """
    qd = number_vector(qd, 'qd', model.n)
    dM = mass_matrix_derivative(model, q)
    N = contract_last(swap_columns(dM, model.n), qd)
    return contract_last(dM, qd) - N.T / 2


def lagrange_velocity_free_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return C* = dM/dq - 1/2 (d vec M/dq)^T, shape (n, n*n).  [T] (98), (99), (101).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    n = model.n
    dM = mass_matrix_derivative(model, q)
    # Row i + j*n of d vec M/dq is d M[i, j]/dq; as M is symmetric, it equals row i*n + j.
    return dM - dM.reshape(n * n, n).T / 2


def vec_kinetic_energy(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Any:
    """Return T = 1/2 (vec M)^T (qd (x) qd), a scalar, J.  [T] eqs. (93), (94) by (10).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
    """
    qd = number_vector(qd, 'qd', model.n)
    return vec(mass_matrix(model, q)) @ kronecker(qd, qd) / 2


class LagrangeTerms(NamedTuple):
    """The left-hand side of Lagrange's equations without the potential, shape (n,) each.

    Attributes:
        momentum_rate: d/dt (dT/dqd)^T = M qdd + (dM/dq)(qd (x) qd), [T] eq. (98).
        energy_gradient: (dT/dq)^T = 1/2 (d vec M/dq)^T (qd (x) qd), [T] eq. (99).
    """

    momentum_rate: ScalarArray
    energy_gradient: ScalarArray


def lagrange_terms(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> LagrangeTerms:
    """Return the two terms whose difference is M qdd + C* (qd (x) qd).  [T] eqs. (98), (99).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        qdd: their second derivatives, shape (n,).
    """
    n = model.n
    qd, qdd = number_vector(qd, 'qd', n), number_vector(qdd, 'qdd', n)
    dM, square = mass_matrix_derivative(model, q), kronecker(qd, qd)
    momentum_rate = mass_matrix(model, q) @ qdd + dM @ square
    # Row i + j*n of d vec M/dq is d M[i, j]/dq; as M is symmetric, it equals row i*n + j.
    return LagrangeTerms(momentum_rate, dM.reshape(n * n, n).T @ square / 2)


def direct_velocity_free_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return C* without dM/dq, shape (n, n*n).

    ``sum m J_TG^T H_TG + J_R^T I H_R + J_R^T bs(J_R)(I J_R (x) E_n)``, base axes, with bs for
    `block_skew`: the inertia forces of the velocity-dependent accelerations.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    E, q = np.eye(model.n, dtype=int), number_vector(q, 'q', model.n)
    C = zeros_like(q, (model.n, model.n**2))
    for body in body_matrices(model, q):
        spin = body.inertia @ body.J_R
        gyroscopic = block_skew(body.J_R) @ kronecker(spin, E)
        C = C + body.mass * body.J_T.T @ body.H_T
        C = C + body.J_R.T @ (body.inertia @ body.H_R + gyroscopic)
    return C


def reduced_coriolis_matrix(C: ScalarArray) -> ScalarArray:
    """Return the unique reduced form C* D_n, shape (n, n(n+1)/2), in the unit of C*.

    Columns (1,1), (1,2), ..., (1,n), (2,2), ...: ``C* (qd (x) qd)`` is this times the products
    qd_i qd_j with i <= j in that order.

    Args:
        C: any form of C*, shape (n, n*n).

    Raises:
        ArgumentTypeError: C is not of numbers.
        ShapeError: C has another shape.
    """
    n = len(matrix(C, 'C'))
    return matrix(C, 'C', n, n * n) @ duplication_matrix(n)
