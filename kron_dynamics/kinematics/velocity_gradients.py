# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of velocities with respect to coordinates.  [P] theorems 1 and 2, corollary 1.

They are partial derivatives at constant rates qd: for omega = J_w(q) qd, the matrix d(J_w qd)/dq.
Each follows from the time derivative of the Jacobian and at most one cross product.
"""

from __future__ import annotations

from kron_dynamics.kinematics.hessian import jacobian_dot, kinematic_hessian
from kron_dynamics.kinematics.jacobian import jacobian, rotational_jacobian
from kron_dynamics.kinematics.relative import rotation_between
from kron_dynamics.kinematics.scalars import number_vector
from kron_dynamics.kronecker import contract_last, skew
from kron_dynamics.model.rigid_model import checked_model
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def body_angular_jacobian(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return J_w, shape (3, n), with omega = J_w qd in the link's axes.  [P] (16), (A-5).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    A = rotation_between(model, q, checked_model(model).root_link, link)
    J: ScalarArray = A.T @ rotational_jacobian(model, q, link)
    return J


def body_angular_jacobian_dot(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str
) -> ScalarArray:
    """Return dJ_w/dt = A^T (dJ_R/dt - [omega x] J_R), shape (3, n), rad/s.

    The term in parentheses is d omega/dq in base axes, [P] eq. (A-6).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    A = rotation_between(model, q, checked_model(model).root_link, link)
    J_dot: ScalarArray = A.T @ angular_velocity_gradient(model, q, qd, link)
    return J_dot


def body_angular_velocity_gradient(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str
) -> ScalarArray:
    """Return d omega/dq = dJ_w/dt + [omega x] J_w in the link's axes, shape (3, n), 1/s.

    Theorem 1, [P] eqs. (17), (A-1), (A-4). By theorem 2, [P] eqs. (40), (A-7), its product with a
    virtual displacement dq also holds for constrained coordinates; so does the product with B,
    [P] eq. (41): ``(d omega/dq) B``, not ``B^T (d omega/dq)`` as printed.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    J = body_angular_jacobian(model, q, link)
    gradient: ScalarArray = skew(J @ number_vector(qd, 'qd', model.n)) @ J
    return body_angular_jacobian_dot(model, q, qd, link) + gradient


def angular_velocity_gradient(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str
) -> ScalarArray:
    """Return d omega/dq = dJ_R/dt - [omega x] J_R in base axes, shape (3, n), 1/s.

    Corollary 1, [P] eq. (A-6).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    J = rotational_jacobian(model, q, link)
    turning: ScalarArray = skew(J @ number_vector(qd, 'qd', model.n)) @ J
    return jacobian_dot(model, q, qd, link)[3:] - turning


def velocity_gradient(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return dv/dq = dJ_v/dt of a point on a link, base axes, shape (3, n), 1/s or m/s.

    [P] eq. (18), which holds only for components in axes at rest.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    return contract_last(
        kinematic_hessian(model, q, link, point)[:3], number_vector(qd, 'qd', model.n)
    )


def body_velocity_gradient(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return dv/dq of a point on a link with v in the link's own axes, shape (3, n), 1/s or m/s.

    [P] eq. (18) transformed to these axes: A^T (dJ_v/dt + [v x] J_R).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    A = rotation_between(model, q, checked_model(model).root_link, link)
    J = jacobian(model, q, link, point)
    turning = skew(J[:3] @ number_vector(qd, 'qd', model.n)) @ J[3:]
    gradient: ScalarArray = A.T @ (velocity_gradient(model, q, qd, link, point) + turning)
    return gradient
