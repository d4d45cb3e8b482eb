# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Effort rates as sums of terms: with Kronecker products, and from energies of acceleration.

Also the equations of motion from time derivatives of energies. Every derivative is formed as
written in the paper; `inverse_dynamics` and `inverse_dynamics_rate` are faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dual import derivatives_of, jacobian_of
from kron_dynamics.dynamics.acceleration_energies import (
    acceleration_energy,
    second_order_acceleration_energy,
)
from kron_dynamics.dynamics.coriolis import mass_matrix_derivative, velocity_free_coriolis_matrix
from kron_dynamics.dynamics.energies import kinetic_energy
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.kronecker import contract
from kron_dynamics.model.rigid_model import checked_model
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import at_least, matrix, vector
from kron_dynamics.typing import ArrayLike, ScalarArray


class EffortRateTerms(NamedTuple):
    """The terms of d(tau)/dt = d(M qdd + C* (qd (x) qd) + g)/dt, shape (n,) each, N m/s or N/s.

    Their sum is `inverse_dynamics_rate`.

    Attributes:
        inertia: M qddd.
        inertia_change: (dM/dq)(qdd (x) qd).
        coriolis: C* (qdd (x) qd + qd (x) qdd).
        coriolis_change: (dC*/dq)(qd (x) qd (x) qd).
        gravity: (dg/dq) qd.
    """

    inertia: ScalarArray
    inertia_change: ScalarArray
    coriolis: ScalarArray
    coriolis_change: ScalarArray
    gravity: ScalarArray


def effort_rate_terms(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> EffortRateTerms:
    """Return the terms of the effort rates in Kronecker products, shape (n,) each, N m/s or N/s.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).

    Raises:
        ArgumentTypeError: an argument is not an array of numbers.
        ShapeError: an argument has another shape.
    """
    n = model.n
    q, qd, qdd, qddd = _motion(model, q, qd, qdd, qddd)
    C, C_q = jacobian_of(lambda x: velocity_free_coriolis_matrix(model, x), q)
    products = np.kron(qdd, qd) + np.kron(qd, qdd)
    return EffortRateTerms(
        mass_matrix(model, q) @ qddd,
        contract(mass_matrix_derivative(model, q), qdd, qd),
        C @ products,
        contract(C_q.reshape(n, n**3), np.kron(qd, qd), qd),
        _gravity_rate(model, q, qd),
    )


class AppellRateTerms(NamedTuple):
    """The terms of [N] eq. (65), shape (n,) each, N m/s or N/s; their sum is d(tau)/dt.

    Attributes:
        by_jerk: dE_A^(2)/dqddd.
        by_rate: 1/2 dE_A^(1)/dqd of the complete energy, with the terms in qd alone.
        gravity: the time derivative of dV/dq.
    """

    by_jerk: ScalarArray
    by_rate: ScalarArray
    gravity: ScalarArray


def appell_rate_terms(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> AppellRateTerms:
    """Return the terms of the effort rates from the energies of acceleration, (n,) each, N m/s.

    [N] eqs. (64), (65); the first two are the sums over all bodies of [N] eqs. (61), (62).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).

    Raises:
        ArgumentTypeError: an argument is not an array of numbers.
        ShapeError: an argument has another shape.
    """
    q, qd, qdd, qddd = _motion(model, q, qd, qdd, qddd)
    by_jerk = jacobian_of(lambda x: second_order_acceleration_energy(model, q, qd, qdd, x), qddd)[
        1
    ]
    by_rate = jacobian_of(lambda x: acceleration_energy(model, q, x, qdd), qd)[1]
    return AppellRateTerms(by_jerk, by_rate / 2, _gravity_rate(model, q, qd))


def appell_forces(model: RobotModel, motion: Sequence[ArrayLike], order: int = 0) -> ScalarArray:
    """Return the generalized inertia forces by Gibbs and Appell, shape (n,), N m or N.

    The derivative of the k-th time derivative of E_A^(1) with respect to the (k+2)-th time
    derivative of the coordinates; for every k it is M qdd + c.  [N] eqs. (57), (58), (60).

    Args:
        model: the robot.
        motion: q, qd, qdd and k further derivatives, shape (order + 3, n).
        order: k, 0 or more.

    Raises:
        ArgumentTypeError: motion is not an array of numbers, or order is not an integer.
        ParameterError: the order is negative.
        ShapeError: motion has another shape.
    """
    order = at_least(order, 'order', 0)
    return _slope(model, lambda *x: acceleration_energy(model, *x), 3, motion, order, order + 2)


def appell_jerk_forces(
    model: RobotModel, motion: Sequence[ArrayLike], order: int = 0
) -> ScalarArray:
    """Return dE_A^(2)/dqddd from time derivatives of E_A^(2), shape (n,), N m/s or N/s.

    The derivative of the k-th time derivative of E_A^(2) with respect to the (k+3)-th time
    derivative of the coordinates.  [N] eq. (67).

    Args:
        model: the robot.
        motion: q, qd, qdd, qddd and k further derivatives, shape (order + 4, n).
        order: k, 0 or more.

    Raises:
        ArgumentTypeError: motion is not an array of numbers, or order is not an integer.
        ParameterError: the order is negative.
        ShapeError: motion has another shape.
    """
    order = at_least(order, 'order', 0)

    def energy(*x: ScalarArray) -> Any:
        return second_order_acceleration_energy(model, *x)

    return _slope(model, energy, 4, motion, order, order + 3)


def mangeron_tsenov_forces(
    model: RobotModel, motion: Sequence[ArrayLike], order: int = 1
) -> ScalarArray:
    """Return the generalized inertia forces from time derivatives of T, shape (n,), N m or N.

    ``1/m (dT^(m)/dq^(m) - (m + 1) dT/dq)`` with the m-th time derivatives: Lagrange's, Nielsen's
    (m = 1) and Tsenov's equations (m = 2), all of them equal to M qdd + c.  [N] eq. (59).

    Args:
        model: the robot.
        motion: q, qd and m further derivatives, shape (order + 2, n).
        order: m, 1 or more.

    Raises:
        ArgumentTypeError: motion is not an array of numbers, or order is not an integer.
        ParameterError: the order is below 1.
        ShapeError: motion has another shape.
    """
    m = at_least(order, 'order', 1)

    def energy(*x: ScalarArray) -> Any:
        return kinetic_energy(model, *x)

    slope = _slope(model, energy, 2, motion, m, m)
    forces: ScalarArray = (slope - (m + 1) * _slope(model, energy, 2, motion[:2], 0, 0)) / m
    return forces


def _slope(
    model: RobotModel,
    energy: Callable[..., Any],
    count: int,
    motion: Sequence[ArrayLike],
    times: int,
    by: int,
) -> ScalarArray:
    """Return the derivative of a time derivative of an energy by motion[by], shape (n,).

    Args:
        model: the robot.
        energy: function of the coordinates and their first ``count - 1`` time derivatives.
        count: number of its arguments.
        motion: the coordinates and their time derivatives.
        times: order of the time derivative of the energy.
        by: index in `motion` of the variable of differentiation.
    """
    rows = list(matrix(motion, 'motion', count + times, checked_model(model).n))

    def derivative(row: ScalarArray) -> Any:
        moved = [row if k == by else other for k, other in enumerate(rows)]

        def at(t: ScalarArray) -> Any:
            return energy(
                *(
                    sum(x * t[0] ** j / factorial(j) for j, x in enumerate(moved[first:]))
                    for first in range(count)
                )
            )

        return derivatives_of(at, np.zeros(1), times)[times].reshape(())

    return jacobian_of(derivative, rows[by])[1]


def _motion(model: RobotModel, *derivatives: ArrayLike) -> list[ScalarArray]:
    names = ('q', 'qd', 'qdd', 'qddd')
    return [vector(x, name, model.n) for x, name in zip(derivatives, names, strict=True)]


def _gravity_rate(model: RobotModel, q: ScalarArray, qd: ScalarArray) -> ScalarArray:
    """Return (dg/dq) qd, shape (n,)."""
    along = jacobian_of(lambda t: gravity_vector(model, q + t[0] * qd), 0 * as_scalars(q)[:1])
    return along[1][:, 0]
