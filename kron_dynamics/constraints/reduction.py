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

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.system import stacked_geometry
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


def reduction(model: RobotModel, choice: Choice, q: ArrayLike, u: ArrayLike) -> Reduction:
    """Return B, qd, gamma and A_d.  [P] eqs. (8), (9).

    Args:
        model: the robot.
        choice: which speeds are independent.
        q: coordinates that close the loops, shape (n,).
        u: independent speeds, shape (m,), 1/s.
    """
    q, u = as_scalars(q), as_scalars(u)
    n, m = len(q), len(choice.independent)
    free, bound = list(choice.independent), list(choice.dependent)
    B = zeros_like(q, (n, m))
    B[free, range(m)] = 1
    if not bound:
        return Reduction(B, B @ u, zeros_like(q, (n,)), zeros_like(q, (0, 0)))
    A = _scaled(choice, stacked_geometry(*choice.constraints, model, q, zeros_like(q, (n,))).A)
    A_d = A[:, bound]
    for column in range(m):
        B[bound, column] = -solve_dependent(A_d, A[:, free[column]])
    qd = B @ u
    A_dot = _scaled(choice, stacked_geometry(*choice.constraints, model, q, qd).A_dot)
    gamma = zeros_like(q, (n,))
    gamma[bound] = -solve_dependent(A_d, A_dot @ qd)
    return Reduction(B, qd, gamma, A_d)


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
