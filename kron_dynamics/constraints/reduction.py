# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A constrained robot's motion in its independent speeds, in any number type.  [P] section 4.

With rates u of m joints, A_u their columns of A, A_d the columns of the other joints and W the
weights 1/row_scale^2, ``A qd = 0`` gives qd = B u with

    B_d = -(A_d^T W A_d)^-1 A_d^T W A_u,

and `gamma` in ``qdd = B du/dt + gamma`` likewise from ``A qdd = -dA/dt qd``. Redundant conditions
are allowed: A_d^T W A_d is positive definite wherever the m rates determine the motion. Its
condition number is the square of A_d's; `solve_speeds` avoids this, and near a singularity of
these speeds others can be chosen there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.system import stacked_conditions, stacked_geometry
from kron_dynamics.dynamics.forward import solve_positive_definite
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


class Choice(NamedTuple):
    """Choice of the independent speeds of constraints.

    Attributes:
        constraints: the constraints, whose conditions do not depend on time.
        row_scale: scale of each condition, shape (k,).
        independent: indices of the m coordinates whose rates are u.
        dependent: indices of the other coordinates.
    """

    constraints: tuple[Constraint, ...]
    row_scale: FloatArray
    independent: tuple[int, ...]
    dependent: tuple[int, ...]


class Dependence(NamedTuple):
    """Rates as functions of the independent speeds in one pose.

    Attributes:
        B: dqd/du, shape (n, m).
        A_d: columns of A of the dependent coordinates, rows over their scale, shape (k, r).
    """

    B: ScalarArray
    A_d: ScalarArray


class Reduction(NamedTuple):
    """Rates and accelerations as functions of the independent speeds in one state.

    Attributes:
        B: dqd/du, shape (n, m).
        qd: B u, shape (n,).
        gamma: dB/dt u, shape (n,).
        A_d: columns of A of the dependent coordinates, rows over their scale, shape (k, r).
    """

    B: ScalarArray
    qd: ScalarArray
    gamma: ScalarArray
    A_d: ScalarArray


def dependence(model: RobotModel, choice: Choice, q: ArrayLike) -> Dependence:
    """Return B and A_d.  [P] eq. (9).

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
    """
    q = as_scalars(q)
    n, m = len(q), len(choice.independent)
    free, bound = list(choice.independent), list(choice.dependent)
    B = zeros_like(q, (n, m))
    B[free, range(m)] = 1
    if not bound:
        return Dependence(B, zeros_like(q, (0, 0)))
    A = _scaled(choice, stacked_conditions(choice.constraints, model, q)[1])
    A_d = A[:, bound]
    for column in range(m):
        B[bound, column] = -solve_dependent(A_d, A[:, free[column]])
    return Dependence(B, A_d)


def open_by(
    choice: Choice, model: RobotModel, targets: FloatArray, q: ArrayLike
) -> tuple[ScalarArray, ScalarArray]:
    """Return the dimensionless residuals of the loops, shape (k,), and their Jacobian, (k, n).

    Args:
        choice: has the constraints.
        model: the robot.
        targets: required values of the constraints' functions f(q), shape (k,).
        q: coordinates, shape (n,).
    """
    f, A = stacked_conditions(choice.constraints, model, as_scalars(q))
    return (f - targets) / choice.row_scale, _scaled(choice, A)


def rate_of_columns(
    model: RobotModel,
    choice: Choice,
    q: ArrayLike,
    qd: ScalarArray,
    X: ScalarArray,
    A_d: ScalarArray,
) -> ScalarArray:
    """Return dX/dt of columns X that satisfy A X = 0 along a motion, shape (n, c).

    Hence ``A dX/dt = -dA/dt X``; rows of independent joints are constant.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
        qd: rates that satisfy the constraints, shape (n,), 1/s.
        X: columns with A X = 0, shape (n, c).
        A_d: as in `Dependence`, shape (k, r).
    """
    rates = zeros_like(qd, X.shape)
    bound = list(choice.dependent)
    if bound:
        A_dot = _scaled(choice, stacked_geometry(*choice.constraints, model, q, qd).A_dot)
        for column in range(X.shape[1]):
            rates[bound, column] = -solve_dependent(A_d, A_dot @ X[:, column])
    return rates


def reduction(model: RobotModel, choice: Choice, q: ArrayLike, u: ArrayLike) -> Reduction:
    """Return B, qd, gamma and A_d.  [P] eqs. (8), (9).

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
        u: independent speeds, shape (m,), 1/s.
    """
    B, A_d = dependence(model, choice, q)
    qd = B @ as_scalars(u)
    gamma = rate_of_columns(model, choice, q, qd, qd.reshape(-1, 1), A_d)[:, 0]
    return Reduction(B, qd, gamma, A_d)


def rate_matrix(model: RobotModel, choice: Choice, q: ArrayLike, found: Reduction) -> ScalarArray:
    """Return dB/dt, shape (n, m): gamma is dB/dt u.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
        found: the reduction at q and u.
    """
    return rate_of_columns(model, choice, q, found.qd, found.B, found.A_d)


def velocity_matrix_derivative(
    model: RobotModel, choice: Choice, q: ArrayLike, found: Dependence
) -> ScalarArray:
    """Return the velocity-free dB, shape (n, m*m): ``gamma = dB (u (x) u)``.

    Column ``i*m + j`` is the rate of B[:, i] while u_j is 1 and all others are 0. If all
    conditions are holonomic, it is d B[:, i] / d q_j for the independent joint j and equals
    column ``j*m + i``.

    Args:
        model: the robot.
        choice: the independent speeds.
        q: coordinates that close the loops, shape (n,).
        found: the dependence at q.
    """
    B, A_d = found
    n, m = B.shape
    rates = [rate_of_columns(model, choice, q, B[:, j], B, A_d) for j in range(m)]
    return np.stack(rates, axis=2).reshape(n, m * m)


def least_efforts(
    B: ScalarArray, actuated: Sequence[int], weights: FloatArray, force: ScalarArray
) -> ScalarArray:
    """Return efforts of the actuated joints, shape (a,), equivalent to a generalized force.

    ``B_a^T tau = force`` with the least sum of weight times effort squared.

    Args:
        B: dqd/du, shape (n, m).
        actuated: coordinates of the actuators, at least m, which can cause every motion.
        weights: weight of each effort, shape (a,), positive.
        force: generalized force of the independent speeds, shape (m,).
    """
    T = B[list(actuated)]
    light = T / weights[:, None]
    efforts: ScalarArray = light @ solve_positive_definite(T.T @ light, force)
    return efforts


def smallest_multipliers(choice: Choice, A_d: ScalarArray, force: ScalarArray) -> ScalarArray:
    """Return the least-norm lambda with A^T lambda = force, shape (k,), scaled by `row_scale`.

    Args:
        choice: the independent speeds.
        A_d: as in `Reduction`, shape (k, r).
        force: M qdd + c + g - tau, shape (n,), which does no virtual work.
    """
    if not choice.dependent:
        return zeros_like(force, (len(choice.row_scale),))
    inner = solve_positive_definite(A_d.T @ A_d, force[list(choice.dependent)])
    multipliers: ScalarArray = (A_d @ inner) / choice.row_scale
    return multipliers


def _scaled(choice: Choice, A: ScalarArray) -> ScalarArray:
    scaled: ScalarArray = A / choice.row_scale[:, None]
    return scaled


def solve_dependent(A_d: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return the least-squares solution x of A_d x = b, shape (r,).

    Args:
        A_d: dimensionless columns of A of the dependent coordinates, shape (k, r).
        b: shape (k,).
    """
    return solve_positive_definite(A_d.T @ A_d, A_d.T @ b)
