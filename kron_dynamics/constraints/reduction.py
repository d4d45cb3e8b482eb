# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A constrained robot's motion in its independent speeds, in any number system.  [P] section 4.

With rates u of m joints and A_d the columns of A of the others, ``A qd = 0`` gives qd = B u with

    B_d = -(A_d^T W A_d)^-1 A_d^T W A_u,

and `gamma` in ``qdd = B du/dt + gamma`` likewise from ``A qdd = -dA/dt qd``. Conditions that say
the same twice do no harm: A_d^T W A_d is positive definite where the m rates determine the motion.
It has the square of A_d's condition: `solve_speeds` has not, and chooses other speeds near a
singularity of these.
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
    """Which speeds determine the motion.

    Attributes:
        constraints: whose conditions do not depend on time.
        row_scale: unit of each condition, shape (k,).
        independent: coordinates whose rates are u, m of them.
        dependent: the other ones.
    """

    constraints: tuple[Constraint, ...]
    row_scale: FloatArray
    independent: tuple[int, ...]
    dependent: tuple[int, ...]


class Dependence(NamedTuple):
    """How rates follow from independent speeds in one pose.

    Attributes:
        B: dqd/du, shape (n, m).
        A_d: columns of A of the dependent coordinates, each row over its unit, shape (k, r).
    """

    B: ScalarArray
    A_d: ScalarArray


class Reduction(NamedTuple):
    """How rates and accelerations follow from independent speeds in one state.

    Attributes:
        B: dqd/du, shape (n, m).
        qd: B u, shape (n,).
        gamma: dB/dt u, shape (n,).
        A_d: columns of A of the dependent coordinates, each row over its unit, shape (k, r).
    """

    B: ScalarArray
    qd: ScalarArray
    gamma: ScalarArray
    A_d: ScalarArray


def dependence(model: RobotModel, choice: Choice, q: ArrayLike) -> Dependence:
    """Return B and A_d.  [P] eq. (9).

    Args:
        model: the robot.
        choice: which speeds are independent.
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
    """Return how far the loops are open, shape (k,), and its derivative, (k, n); without units.

    Args:
        choice: whose constraints are looked at.
        model: the robot.
        targets: what their functions of the coordinates are to be, shape (k,).
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
    """Return dX/dt of columns that obey the constraints while q moves, shape (n, c).

    ``A X = 0`` all along, so that ``A dX/dt = -dA/dt X``; rows of independent joints stay.

    Args:
        model: the robot.
        choice: which speeds are independent.
        q: coordinates that close the loops, shape (n,).
        qd: rates that obey the constraints, shape (n,), 1/s.
        X: columns that obey them too, shape (n, c).
        A_d: of `Dependence`, shape (k, r).
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
        choice: which speeds are independent.
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
        choice: which speeds are independent.
        q: coordinates that close the loops, shape (n,).
        found: of them and u.
    """
    return rate_of_columns(model, choice, q, found.qd, found.B, found.A_d)


def velocity_matrix_derivative(
    model: RobotModel, choice: Choice, q: ArrayLike, found: Dependence
) -> ScalarArray:
    """Return the velocity-free dB, shape (n, m*m): ``gamma = dB (u (x) u)``.

    Column ``i*m + j`` is the rate of B[:, i] while u_j alone is 1: d B[:, i] / d q_j of
    independent joint j where all conditions are of positions, equal to column ``j*m + i`` there.

    Args:
        model: the robot.
        choice: which speeds are independent.
        q: coordinates that close the loops, shape (n,).
        found: of them.
    """
    B, A_d = found
    n, m = B.shape
    rates = [rate_of_columns(model, choice, q, B[:, j], B, A_d) for j in range(m)]
    return np.stack(rates, axis=2).reshape(n, m * m)


def least_efforts(
    B: ScalarArray, actuated: Sequence[int], weights: FloatArray, force: ScalarArray
) -> ScalarArray:
    """Return efforts of the actuated joints, shape (a,), that do the work of a force, shape (m,).

    ``B_a^T tau = force`` with the least sum of weight times effort squared.

    Args:
        B: dqd/du, shape (n, m).
        actuated: coordinates of the actuators, at least m that can cause every motion.
        weights: of each, shape (a,), positive.
        force: shape (m,), on the independent speeds.
    """
    T = B[list(actuated)]
    light = T / weights[:, None]
    efforts: ScalarArray = light @ solve_positive_definite(T.T @ light, force)
    return efforts


def smallest_multipliers(choice: Choice, A_d: ScalarArray, force: ScalarArray) -> ScalarArray:
    """Return lambda with A^T lambda = force, shape (k,), the smallest one; forces weigh by length.

    Args:
        choice: which speeds are independent.
        A_d: of `Reduction`, shape (k, r).
        force: M qdd + c + g - tau, shape (n,), which does no work.
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
    """Return x with A_d x = b, shape (r,), where there is one; else that of least squares.

    Args:
        A_d: columns of A of the dependent coordinates, without units, shape (k, r).
        b: shape (k,).
    """
    return solve_positive_definite(A_d.T @ A_d, A_d.T @ b)
