# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generalized forces of an external force and moment."""

from __future__ import annotations

import numpy as np

from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.relative import rotation_between
from kron_dynamics.kinematics.scalars import number_vector
from kron_dynamics.model.rigid_model import checked_model
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def external_wrench(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    force: ArrayLike,
    moment: ArrayLike,
    point: ArrayLike | None = None,
    axes: str | None = None,
) -> ScalarArray:
    """Return f = J_T^T force + J_R^T moment, shape (n,): ``M qdd + c + g = tau + f``.

    [P] eq. (28), where the force acts at the mass centre and both are in the link's axes.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link that force and moment act on.
        force: shape (3,), N.
        moment: shape (3,), N m.
        point: where the force acts, in the link's frame, shape (3,), m; None for its origin.
        axes: link in whose axes force and moment are given; None for the link's own.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    axes = link if axes is None else axes
    A = rotation_between(model, q, checked_model(model).root_link, axes)
    J = jacobian(model, q, link, point)
    force, moment = number_vector(force, 'force', 3), number_vector(moment, 'moment', 3)
    wrench = np.concatenate([A @ force, A @ moment])
    generalized: ScalarArray = J.T @ wrench
    return generalized
