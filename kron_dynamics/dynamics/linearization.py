# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion linearized about a motion: ``M_L dqdd + D_L dqd + K_L dq = dtau``.

Let joint j have the twist X = [[z~, s], [0, 0]] and its parent body the acceleration field A_p and
velocity field V_p. For every body in the joint's subtree, with velocity field V, a change of q_j
changes the acceleration field in the body's frame by [A_p, X] + 2 [V_p, X] (V - V_p), and a change
of qd_j by 2 [V_p, X] + 2 X V. The fields [V_p, X] and [A_p, X] - 2 [V_p, X] V_p are rigid-body
fields of six numbers each, which multiply the mass moments of the whole subtree.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dynamics.composite import (
    FieldMoments,
    Inertia,
    Wrench,
    composite_inertias,
    regrouped_inertias,
)
from kron_dynamics.dynamics.inverse import inverse_dynamics
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.forward import JointPlacement, joint_placements
from kron_dynamics.kinematics.motion import FrameMotion, body_motions, rate_vectors
from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


class Linearization(NamedTuple):
    """The terms of ``M_L dqdd + D_L dqd + K_L dq = dtau`` about a motion.  [K] (55), (60)-(67).

    Attributes:
        mass_matrix: M_L = d tau/d qdd (65), the mass matrix, shape (n, n), kg m^2, kg m, kg.
        damping_matrix: D_L = d tau/d qd (66), shape (n, n), N m s/rad, N s/m and the like:
            Coriolis and centrifugal terms, without friction.
        stiffness_matrix: K_L = d tau/d q (67), shape (n, n), N m/rad, N/m and the like.
        effort: tau_0, the effort of the motion itself, shape (n,), N m or N: h_L of (64) is
            tau - tau_0.
    """

    mass_matrix: ScalarArray
    damping_matrix: ScalarArray
    stiffness_matrix: ScalarArray
    effort: ScalarArray


def state_matrix(M: FloatArray, D: FloatArray, K: FloatArray) -> FloatArray:
    """Return A of ``xdot = A x`` with x = (dq, dqd), shape (..., 2n, 2n).

    ``A = [0 1; -M^-1 K, -M^-1 D]``.

    Args:
        M: mass matrices, shape (..., n, n).
        D: damping matrices, likewise.
        K: stiffness matrices, likewise.

    Raises:
        LinAlgError: a mass matrix is singular.
    """
    n = M.shape[-1]
    A = np.zeros((*M.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :] = -np.linalg.solve(M, np.concatenate([K, D], axis=-1))
    return A


@singledispatch
def linearization(model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Linearization:
    """Return the derivatives of inverse dynamics about any motion, and its efforts.

    Exact, and equal to [K] eqs. (60)-(67) in terms of M, C and g, for any choice of C:
    ``D_L = C* (qd (x) E + E (x) qd)`` and
    ``K_L = (dM/dq)(qdd (x) E) + (dC*/dq)(qd (x) qd (x) E) + dg/dq``. The derivatives in these are
    not formed, so that the cost grows with n^2 instead of n^4. Joint friction is not included.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
    """
    tree = rigid_tree(model)
    damping, stiffness = _derivatives(tree, q, qd, qdd)
    effort = inverse_dynamics(tree, q, qd, qdd)
    return Linearization(mass_matrix(tree, q), damping, stiffness, effort)


class _RigidField(NamedTuple):
    """A vector field ``angular x r + linear`` in a body's frame, shape (3,) each."""

    linear: ScalarArray
    angular: ScalarArray

    def product(self, wrench: Wrench) -> Any:
        """Return the product of a wrench at the origin with this field (its power)."""
        return self.linear @ wrench.force + self.angular @ wrench.moment

    def wrench(self, inertia: Inertia) -> Wrench:
        """Return the inertia wrench of this field as an acceleration field."""
        return inertia.moments(self.linear, skew(self.angular)).wrench


class _FieldSensitivity(NamedTuple):
    """Derivatives of the accelerations in the subtree of a joint with twist X, body axes.

    For a body of the subtree with velocity field V the derivative with respect to qd is
    ``with_rate + 2 X V``, that with respect to q is ``with_position + (turning~) V``.

    Attributes:
        with_rate: 2 [V_p, X].
        with_position: [A_p, X] - 2 [V_p, X] V_p.
    """

    with_rate: _RigidField
    with_position: _RigidField

    @property
    def turning(self) -> ScalarArray:
        """Angular part of 2 [V_p, X], shape (3,)."""
        return self.with_rate.angular


class _SubtreeSensitivity(NamedTuple):
    """Coupling between joint k and its ancestors, expressed at a body on the path to the base.

    Attributes:
        position: derivative of the wrench through joint k with respect to q_k.
        rate: derivative of the wrench through joint k with respect to qd_k.
        rigid: X_k P; its product with a rigid acceleration field of the subtree is the effort of
            joint k.
        gyroscopic: moment, shape (3,); its product with a vector t is the effort of joint k for
            the accelerations t~ V of the subtree.
    """

    position: Wrench
    rate: Wrench
    rigid: Wrench
    gyroscopic: ScalarArray

    def to_parent(self, placed: JointPlacement) -> _SubtreeSensitivity:
        """Return the coupling expressed at the parent body."""
        return _SubtreeSensitivity(
            self.position.to_parent(placed),
            self.rate.to_parent(placed),
            self.rigid.to_parent(placed),
            placed.rotation @ self.gyroscopic,
        )


def _derivatives(
    model: RigidModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> tuple[ScalarArray, ScalarArray]:
    """Return D_L and K_L, shape (n, n) each."""
    n = model.n
    q = number_vector(q, 'q', n)
    qd, qdd = rate_vectors(qd, qdd, length=n)
    numbers = as_scalars(q) + as_scalars(qd) + as_scalars(qdd)
    D, K = zeros_like(numbers, (n, n)), zeros_like(numbers, (n, n))
    placements = joint_placements(model, q)
    inertias = model.per_body(regrouped_inertias)
    composites = composite_inertias(model, placements, inertias)
    motions = body_motions(model, placements, (qd, qdd), -model.gravity)
    rest = np.zeros(3, dtype=int)
    # For the subtree of each joint: moments of the velocities, wrench of the accelerations.
    momenta = model.table(FieldMoments(rest, np.zeros((3, 3), dtype=int)))
    wrenches = model.table(Wrench(rest, rest))
    changes = model.table()
    for k, joint in model.outward():
        placed, motion = placements[k], motions[k]
        momenta[k] = inertias[k].moments(motion.linear[0], motion.field(0))
        wrenches[k] = inertias[k].moments(motion.linear[1], motion.field(1)).wrench
        before = motions[joint.parent].carried(placed.offset).turned(placed.rotation.T)
        changes[k] = _field_sensitivity(before, placed)
    sensitivities = model.table()
    for i, joint in model.inward():
        row, placed, change = joint.coordinate, placements[i], changes[i]
        own = _subtree_sensitivity(change, placed, composites[i], momenta[i], wrenches[i])
        K[row, row] += own.position.joint_effort(placed)
        D[row, row] += own.rate.joint_effort(placed)
        sensitivities[i] = own.to_parent(placed)
        for k, behind in model.descendants(i):
            column, there = behind.coordinate, sensitivities[k]
            K[row, column] += there.position.joint_effort(placed)
            D[row, column] += there.rate.joint_effort(placed)
            gyroscopic = there.gyroscopic
            K[column, row] += change.with_position.product(there.rigid)
            K[column, row] += change.turning @ gyroscopic
            D[column, row] += change.with_rate.product(there.rigid)
            D[column, row] += 2 * (placed.angular_axis @ gyroscopic)
            sensitivities[k] = there.to_parent(placed)
        momenta[joint.parent] += momenta[i].to_parent(placed)
        wrenches[joint.parent] += wrenches[i].to_parent(placed)
    return D, K


def _field_sensitivity(before: FrameMotion, placed: JointPlacement) -> _FieldSensitivity:
    """Return the field sensitivity of a joint from its parent body's motion at the joint."""
    (v, a), (w, wd) = before.linear, before.angular
    z, s = placed.angular_axis, placed.linear_axis
    n = cross(w, z)
    return _FieldSensitivity(
        _RigidField(2 * (cross(w, s) - cross(z, v)), 2 * n),
        _RigidField(
            before.field(1) @ s - cross(z, a) - 2 * cross(n, v), cross(wd, z) + cross(w, n)
        ),
    )


def _subtree_sensitivity(
    change: _FieldSensitivity,
    placed: JointPlacement,
    composite: Inertia,
    momentum: FieldMoments,
    wrench: Wrench,
) -> _SubtreeSensitivity:
    """Return the coupling of a joint with its ancestors, at the joint's own body.

    Args:
        change: sensitivity of the accelerations in the joint's subtree.
        placed: placement of the joint's body on its parent.
        composite: inertia of the joint's subtree.
        momentum: moments of the subtree's velocities.
        wrench: inertia wrench of the subtree's accelerations.
    """
    z, s = placed.angular_axis, placed.linear_axis
    p, Q = momentum.force, momentum.matrix
    # The velocities multiplied by z~ have the moment N z.
    N = np.trace(Q) * np.eye(3, dtype=int) - Q
    n, f, m = change.turning, wrench.force, wrench.moment
    # The last term: the wrench rotates and moves with the subtree when q changes.
    position = (
        change.with_position.wrench(composite)
        + Wrench(cross(n, p), N @ n)
        + Wrench(cross(z, f), cross(z, m) + cross(s, f))
    )
    rate = change.with_rate.wrench(composite) + Wrench(2 * cross(z, p), 2 * (N @ z))
    return _SubtreeSensitivity(
        position, rate, _RigidField(s, z).wrench(composite), N.T @ z + cross(p, s)
    )
