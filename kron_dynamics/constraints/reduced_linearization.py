# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A constrained robot near a motion, in its independent joints: ``M_L du' + D_L du + K_L dp``.

With deviations p of the independent joints' positions, q moves by B p along the constraints, and
B with it: ``d(B u) = B du + (dB/dt) p``. So forces that do no work have a part in K_L: where a
cylinder's lever arm changes with the boom's angle, a constant force in it is a spring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics import dynamics
from kron_dynamics.constraints.reducible import refuse_rates
from kron_dynamics.constraints.reduction import Choice, least_efforts, reduction
from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


class ReducedLinearization(NamedTuple):
    """The terms of ``M_L d(du/dt) + D_L du + K_L dp = B_a^T dtau_a`` about a motion.

    p are the positions of the independent joints, whose rates are u.

    Attributes:
        mass_matrix: M_L = M_u, shape (m, m).
        damping_matrix: D_L, shape (m, m), without friction.
        stiffness_matrix: K_L, shape (m, m), of efforts tau_0 that stay as they are.
        transmission: B_a^T, shape (m, a).
        effort: tau_0 of the actuated joints in the motion itself, shape (a,), N m or N.
    """

    mass_matrix: ScalarArray
    damping_matrix: ScalarArray
    stiffness_matrix: ScalarArray
    transmission: ScalarArray
    effort: ScalarArray


class Resistance(NamedTuple):
    """Efforts against the motion of all joints, such as friction.

    Attributes:
        efforts: shape (n,), N m or N.
        slopes: their derivative by qd, shape (n, n).
    """

    efforts: FloatArray
    slopes: FloatArray


def reduced_linearization(
    model: RobotModel,
    choice: Choice,
    actuators: tuple[Sequence[int], FloatArray],
    q: ArrayLike,
    u: ArrayLike,
    u_dot: ArrayLike,
) -> ReducedLinearization:
    """Return the derivatives of the equations of motion along the constraints, about any motion.

    Of ``F = B^T (M qdd + c + g) - B_a^T tau_0`` with qd = B u and qdd = B du/dt + gamma, by the
    chain rule of the tree's `linearization` and of B and gamma, whose derivatives are exact too.

    Args:
        model: the robot.
        choice: which speeds are independent.
        actuators: their coordinates, and the weights of their efforts, shape (a,).
        q: coordinates that close the loops, shape (n,).
        u: independent speeds, shape (m,), 1/s.
        u_dot: their derivatives, shape (m,).

    Raises:
        ConstraintError: a condition is one of rates: then positions do not follow from p.
    """
    refuse_rates(choice.constraints)
    q, u, u_dot = as_scalars(q), as_scalars(u), as_scalars(u_dot)
    B, qd, gamma, _ = reduction(model, choice, q, u)
    m = len(choice.independent)

    def moved(p: ScalarArray) -> ScalarArray:
        """B and gamma; a step along B leaves the constraints by its square."""
        near = reduction(model, choice, q + B @ p, u)
        return np.concatenate([near.B, near.gamma.reshape(-1, 1)], axis=1)

    slopes = jacobian_of(moved, zeros_like(q, (m,)))[1]
    B_p, gamma_p = slopes[:, :m], slopes[:, m]
    B_dot = B_p @ u  # d qd/dp too: second derivatives of q by p are symmetric
    M, D, K, tau = dynamics.linearization(model, q, qd, B @ u_dot + gamma)
    qdd_p = B_p @ u_dot + gamma_p
    effort = least_efforts(B, *actuators, B.T @ tau)
    carried = tau.copy()  # what the constraints carry: tau - tau_0 = A^T lambda
    for place, part in zip(actuators[0], effort, strict=True):
        carried[place] = carried[place] - part
    return ReducedLinearization(
        B.T @ M @ B,
        B.T @ (D @ B + 2 * (M @ B_dot)),
        B.T @ (K @ B + D @ B_dot + M @ qdd_p) + B_p.transpose(1, 2, 0) @ carried,
        B[list(actuators[0])].T,
        effort,
    )


def resisted(
    terms: ReducedLinearization,
    motion: tuple[FloatArray, FloatArray, FloatArray],
    resistance: Resistance,
    actuators: tuple[Sequence[int], FloatArray],
    effort: FloatArray | None,
) -> ReducedLinearization:
    """Return a linearization with what resists the motion, and of other efforts where given.

    Args:
        terms: the linearization without it.
        motion: B, shape (n, m); dB/dp, column ``i*m + j`` by joint j, shape (n, m*m); u, (m,).
        resistance: of all joints.
        actuators: their coordinates, and the weights of their efforts, shape (a,).
        effort: of the actuated joints in the motion, shape (a,); None for the least.
    """
    B, B_p, u = motion
    n, m = B.shape
    B_p, slopes = B_p.reshape(n, m, m), resistance.slopes
    if effort is None:
        force = B.T @ resistance.efforts
        effort = terms.effort + least_efforts(B, *actuators, force)
    carried = resistance.efforts.copy()
    carried[list(actuators[0])] -= effort - terms.effort
    added = B_p.transpose(1, 2, 0) @ carried + B.T @ slopes @ (B_p @ u)
    return terms._replace(
        damping_matrix=terms.damping_matrix + B.T @ slopes @ B,
        stiffness_matrix=terms.stiffness_matrix + added,
        effort=effort,
    )
