# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Linearization of a constrained robot in its independent joints: ``M_L du' + D_L du + K_L dp``.

With deviations p of the independent joints' positions, q changes by B p along the constraints, and
B changes with it: ``d(B u) = B du + (dB/dt) p``. Constraint forces and constant efforts therefore
contribute to K_L: if a cylinder's lever arm changes with the boom's angle, a constant cylinder
force acts as a spring.
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
        stiffness_matrix: K_L, shape (m, m), for constant efforts tau_0.
        transmission: B_a^T, shape (m, a).
        effort: tau_0, efforts of the actuated joints in the motion itself, (a,), N m or N.
    """

    mass_matrix: ScalarArray
    damping_matrix: ScalarArray
    stiffness_matrix: ScalarArray
    transmission: ScalarArray
    effort: ScalarArray


class Resistance(NamedTuple):
    """Efforts opposing the motion of the joints, such as friction.

    Attributes:
        efforts: shape (n,), N m or N.
        slopes: their derivative with respect to qd, shape (n, n).
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

    These are the derivatives of ``F = B^T (M qdd + c + g) - B_a^T tau_0`` with qd = B u and
    qdd = B du/dt + gamma, by the chain rule from the tree's `linearization` and the exact
    derivatives of B and gamma.

    Args:
        model: the robot.
        choice: the independent speeds.
        actuators: coordinates of the actuators, and the weights of their efforts, shape (a,).
        q: coordinates that close the loops, shape (n,).
        u: independent speeds, shape (m,), 1/s.
        u_dot: their derivatives, shape (m,).

    Raises:
        ConstraintError: a condition is nonholonomic: then positions do not follow from p.
    """
    refuse_rates(choice.constraints)
    q, u, u_dot = as_scalars(q), as_scalars(u), as_scalars(u_dot)
    B, qd, gamma, _ = reduction(model, choice, q, u)
    m = len(choice.independent)

    def moved(p: ScalarArray) -> ScalarArray:
        """Return B and gamma after a step along B, which keeps the constraints to first order."""
        near = reduction(model, choice, q + B @ p, u)
        return np.concatenate([near.B, near.gamma.reshape(-1, 1)], axis=1)

    slopes = jacobian_of(moved, zeros_like(q, (m,)))[1]
    B_p, gamma_p = slopes[:, :m], slopes[:, m]
    B_dot = B_p @ u  # equals d qd/dp, as second derivatives of q by p are symmetric
    M, D, K, tau = dynamics.linearization(model, q, qd, B @ u_dot + gamma)
    qdd_p = B_p @ u_dot + gamma_p
    effort = least_efforts(B, *actuators, B.T @ tau)
    carried = tau.copy()  # constraint forces tau - tau_0 = A^T lambda
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
    """Return a linearization with resistance added, and for other efforts if given.

    Args:
        terms: the linearization without resistance.
        motion: B, shape (n, m); dB/dp, column ``i*m + j`` by joint j, shape (n, m*m); u, (m,).
        resistance: resistance of all joints.
        actuators: coordinates of the actuators, and the weights of their efforts, shape (a,).
        effort: efforts of the actuated joints in the motion, (a,); None for the least efforts.
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
