# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of Jacobians by automatic differentiation (dual numbers).

For models without a faster closed form: those with flexible links and those with closed loops.
The modules with such a model's kinematics register these functions.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.relative import in_axes, relative_jacobian
from kron_dynamics.kinematics.scalars import number_vector
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def derived_kinematic_hessian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return H, shape (6, n*n): see `kinematic_hessian`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.
    """
    derivative = jacobian_of(
        lambda x: jacobian(model, x, link, point), number_vector(q, 'q', model.n)
    )[1]
    return derivative.reshape(6, model.n**2)


def derived_jacobian_dot(model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str) -> ScalarArray:
    """Return dJ/dt, shape (6, n): see `jacobian_dot`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        link: name of the link.
    """
    q, qd = number_vector(q, 'q', model.n), number_vector(qd, 'qd', model.n)
    along = jacobian_of(lambda t: jacobian(model, q + t[0] * qd, link), np.zeros(1))[1]
    return along[..., 0]


def derived_relative_hessian(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return H relative to another link, shape (6, n*n): see `relative_hessian`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the reference link.
        axes: link in whose axes the result is expressed; None for `reference`.
        point: in the link's frame, shape (3,), m; None for its origin.
    """

    def in_axes_of_the_reference(x: ScalarArray) -> ScalarArray:
        return relative_jacobian(model, x, link, reference, reference, point)

    H = jacobian_of(in_axes_of_the_reference, number_vector(q, 'q', model.n))[1].reshape(
        6, model.n**2
    )
    return in_axes(model, q, axes, reference, H)
