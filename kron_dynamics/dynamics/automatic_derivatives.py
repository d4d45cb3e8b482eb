# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Terms of the equations of motion as derivatives of inverse dynamics (dual numbers).

For models without a faster closed form: those with flexible links and those with closed loops.
The modules with such a model's dynamics register these functions. Rigid trees: `coriolis.py`,
`linearization.py`.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics.coriolis import coriolis_matrix
from kron_dynamics.dynamics.inverse import coriolis_vector, inverse_dynamics
from kron_dynamics.dynamics.linearization import Linearization
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def symmetric(M: ScalarArray) -> ScalarArray:
    """Return the symmetric matrix with the upper triangle of M, shape (n, n).

    It is symmetric to the last digit, and the lower triangle of M need not be computed.

    Args:
        M: shape (n, n).
    """
    n = len(M)
    return np.array([[M[min(i, k), max(i, k)] for k in range(n)] for i in range(n)])


def derived_bias_forces(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return c + g, shape (n,), N m or N: see `bias_forces`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    return inverse_dynamics(model, q, qd, zeros_like(q, (model.n,)))


def derived_velocity_free_coriolis_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return C*(q), shape (n, n*n): see `velocity_free_coriolis_matrix`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    rest = zeros_like(q, (model.n,))

    # Gamma[a, i, j] is the derivative of C[a, i] with respect to qd_j.
    symbols = jacobian_of(lambda qd: coriolis_matrix(model, q, qd), rest)[1]
    return symbols.reshape(model.n, model.n**2)


def derived_coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return the Christoffel matrix C(q, qd), shape (n, n): see `coriolis_matrix`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    # c is quadratic in qd, so half its derivative times qd is c; it is the Christoffel matrix.
    return (
        jacobian_of(lambda x: coriolis_vector(model, q, x), number_vector(qd, 'qd', model.n))[1]
        / 2
    )


def derived_inverse_dynamics_rate(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> ScalarArray:
    """Return d(tau)/dt, shape (n,), N m/s or N/s: see `inverse_dynamics_rate`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
    """
    names = ('q', 'qd', 'qdd', 'qddd')
    q, qd, qdd, qddd = (
        number_vector(x, name, model.n) for x, name in zip((q, qd, qdd, qddd), names, strict=True)
    )

    def efforts(t: ScalarArray) -> ScalarArray:
        return inverse_dynamics(model, q + t[0] * qd, qd + t[0] * qdd, qdd + t[0] * qddd)

    return jacobian_of(efforts, zeros_like(q, (1,)))[1][:, 0]


def derived_linearization(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Linearization:
    """Return M_L, D_L, K_L, shape (n, n) each, and the efforts, shape (n,): see `linearization`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
    """
    n = model.n
    accelerations = number_vector(qdd, 'qdd', n)
    state = [number_vector(q, 'q', n), number_vector(qd, 'qd', n)]

    def efforts(state: ScalarArray) -> ScalarArray:
        return inverse_dynamics(model, state[:n], state[n:], accelerations)

    effort, slopes = jacobian_of(efforts, np.concatenate(state))
    return Linearization(mass_matrix(model, q), slopes[:, n:], slopes[:, :n], effort)
