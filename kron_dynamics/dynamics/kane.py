# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kane's equations as the paper derives them from Lagrange's.  [P] sections 3 and 4.

Every body has a Jacobian J_i = [J_w; J_v] (angular part in body axes, linear part in base axes),
an inertia dyad M_i and an angular velocity dyad W_i; the equations of motion are sums of products
of these. They are equivalent to the composite-rigid-body forms of `mass_matrix` and `coriolis`,
and share only the geometry with them. Armatures belong to no body and are added to the sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dynamics.body_matrices import body_matrices
from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.kronecker import contract_last, skew
from kron_dynamics.model.rigid_model import checked_model, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import matrix
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class KaneBody:
    """One body in Kane's equations: angular parts in body axes, mass-centre parts in base axes.

    [P] eqs. (13)-(16), (21), (25).

    Attributes:
        J: [J_w; J_v], shape (6, n), so that ``[omega; v] = J qd``.
        J_dot: time derivative of these components, shape (6, n).
        M: inertia dyad diag(I, m E) with I about the mass centre, shape (6, 6), kg m^2 and kg.
        W: angular velocity dyad diag([omega x], 0), shape (6, 6), rad/s.
        rotation: body axes in base axes, shape (3, 3).
        center: position of the mass centre, shape (3,), base frame, m.
    """

    J: ScalarArray
    J_dot: ScalarArray
    M: ScalarArray
    W: ScalarArray
    rotation: ScalarArray
    center: ScalarArray

    def velocity(self, qd: ArrayLike) -> ScalarArray:
        """Return [omega; v] = J qd, shape (6,), rad/s and m/s.  [P] eqs. (14), (15)."""
        velocity: ScalarArray = self.J @ number_vector(qd, 'qd', self.J.shape[1])
        return velocity

    def acceleration(self, qd: ArrayLike, qdd: ArrayLike) -> ScalarArray:
        """Return d(J qd)/dt = J qdd + dJ/dt qd, shape (6,), SI.  [P] eqs. (14), (15)."""
        n = self.J.shape[1]
        qd, qdd = number_vector(qd, 'qd', n), number_vector(qdd, 'qdd', n)
        acceleration: ScalarArray = self.J @ qdd + self.J_dot @ qd
        return acceleration

    def inertia_wrench(self, qd: ArrayLike, qdd: ArrayLike) -> ScalarArray:
        """Return M d(J qd)/dt + W M J qd, shape (6,), N m and N.  [P] eq. (33).

        Newton and Euler: [I omegadot + omega x I omega; m vdot].
        """
        wrench: ScalarArray = self.M @ self.acceleration(qd, qdd)
        gyroscopic: ScalarArray = self.W @ self.M @ self.velocity(qd)
        return wrench + gyroscopic


def kane_bodies(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Iterator[KaneBody]:
    """Yield the `KaneBody` of every body, in the order of `model.bodies`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.

    Raises:
        ModelError: the robot has flexible links or closed loops.
    """
    qd = number_vector(qd, 'qd', model.n)
    for body, found in zip(rigid_tree(model).bodies, body_matrices(model, q), strict=True):
        R, J_R, omega = found.rotation, found.J_R, skew(found.J_R @ qd)
        # J_w is in the rotating body axes: d(A^T J_R)/dt = A^T (dJ_R/dt - [omega x] J_R).
        turned = R.T @ (contract_last(found.H_R, qd) - omega @ J_R)
        inertia, nothing = as_scalars(body.inertia), np.zeros((3, 3), dtype=int)
        yield KaneBody(
            np.concatenate([R.T @ J_R, found.J_T]),
            np.concatenate([turned, contract_last(found.H_T, qd)]),
            _diagonal(inertia, body.mass * np.eye(3, dtype=int)),
            _diagonal(skew(R.T @ (J_R @ qd)), nothing),
            R,
            found.center,
        )


def _diagonal(first: ScalarArray, second: ScalarArray) -> ScalarArray:
    nothing = np.zeros((3, 3), dtype=int)
    return np.concatenate(
        [np.concatenate([first, nothing], axis=1), np.concatenate([nothing, second], axis=1)]
    )


class KaneTerms(NamedTuple):
    """The terms of M qdd + h = f, [P] eq. (34), and of M qdd + C qd = f, [P] eq. (38).

    Attributes:
        M: generalized inertia matrix, shape (n, n), with the armatures.
        h: Coriolis and centrifugal terms, shape (n,), N m or N.
        C: the matrix of [P] eq. (36), shape (n, n): C qd = h, and dM/dt - 2C is skew.
    """

    M: ScalarArray
    h: ScalarArray
    C: ScalarArray


def kane_terms(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> KaneTerms:
    """Return M, h and C by the sums over bodies.  [P] eqs. (34)-(38).

    ``M = sum J^T M_i J``, ``h = sum J^T (M_i dJ/dt + W M_i J) qd``.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.

    Raises:
        ModelError: the robot has flexible links or closed loops.
    """
    n = model.n
    q, qd = number_vector(q, 'q', n), number_vector(qd, 'qd', n)
    state = np.concatenate([q, qd])
    M, h, C = zeros_like(q, (n, n)), zeros_like(state, (n,)), zeros_like(state, (n, n))
    for body in kane_bodies(model, q, qd):
        turning = body.M @ body.J_dot + body.W @ body.M @ body.J
        M = M + body.J.T @ body.M @ body.J
        h = h + body.J.T @ (turning @ qd)
        C = C + body.J.T @ (turning + body.M @ body.W @ body.J)
    return KaneTerms(M + np.diag(model.armature), h, C)


def kane_coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return C of Kane's equations, shape (n, n): ``dM/dt - 2C`` is skew.  [P] eq. (36).

    ``sum J^T (M_i dJ/dt + W M_i J + M_i W J)``. It is not the Christoffel matrix.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
    """
    return kane_terms(model, q, qd).C


class KaneEnergyTerms(NamedTuple):
    """Kinetic energy and its derivatives: the left-hand side of Lagrange's equation.

    Attributes:
        kinetic_energy: T, J.
        momentum: dT/dqd = sum J^T M_i J qd, shape (n,).
        momentum_rate: its time derivative, shape (n,).
        energy_gradient: dT/dq = sum (dJ/dt^T M_i J - J^T W M_i J) qd, shape (n,).
    """

    kinetic_energy: Any
    momentum: ScalarArray
    momentum_rate: ScalarArray
    energy_gradient: ScalarArray


def kane_energy_terms(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> KaneEnergyTerms:
    """Return T and its derivatives in Lagrange's equation.  [P] eqs. (12), (13), (19)-(24).

    ``momentum_rate - energy_gradient`` is M qdd + h, [P] eqs. (29), (30).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        qdd: their second derivatives, shape (n,).

    Raises:
        ModelError: the robot has flexible links or closed loops.
    """
    qd = number_vector(qd, 'qd', checked_model(model).n)
    rotors = model.armature * qd
    energy, momentum = qd @ rotors / 2, rotors
    rate, gradient = model.armature * number_vector(qdd, 'qdd', model.n), 0 * rotors
    for body in kane_bodies(model, q, qd):
        velocity = body.velocity(qd)
        impulse = body.M @ velocity
        energy = energy + velocity @ impulse / 2
        momentum = momentum + body.J.T @ impulse
        rate = rate + body.J.T @ (body.M @ body.acceleration(qd, qdd)) + body.J_dot.T @ impulse
        gradient = gradient + body.J_dot.T @ impulse - body.J.T @ (body.W @ impulse)
    return KaneEnergyTerms(energy, momentum, rate, gradient)


def kane_inertia_forces(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    B: ArrayLike | None = None,
) -> ScalarArray:
    """Return sum T_i^T [M_i d(J qd)/dt + W M_i J qd], the left-hand side of Kane's equations.

    [P] eqs. (30), (32), [N] eq. (54); with B for a constrained robot, [P] eqs. (42)-(46), where
    the columns of T_i = J_i B are the partial velocities of the independent speeds.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        qdd: their second derivatives, shape (n,).
        B: dqd/du, shape (n, m), with qd = B u + d; None for the robot without constraints.

    Returns:
        shape (m,), or (n,) without B.

    Raises:
        ModelError: the robot has flexible links or closed loops.
    """
    n = checked_model(model).n
    partial = np.eye(n, dtype=int) if B is None else as_scalars(matrix(B, 'B', n))
    forces = partial.T @ (model.armature * number_vector(qdd, 'qdd', n))
    for body in kane_bodies(model, q, qd):
        T = body.J @ partial
        forces = forces + T.T @ body.inertia_wrench(qd, qdd)
    return forces
