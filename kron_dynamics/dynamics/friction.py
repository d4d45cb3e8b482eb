# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint friction: viscous plus regularised Coulomb friction."""

from __future__ import annotations

import numpy as np

from kron_dynamics.elementary import tanh
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.model.rigid_model import checked_model
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

# Transition velocity of the regularised Coulomb friction as a share of the velocity limit: small
# enough to matter at creep speed only. Without a limit it is absolute, rad/s or m/s.
_TRANSITION = 0.01
_TRANSITION_WITHOUT_LIMIT = 1e-3


def joint_friction(model: RobotModel, qd: ArrayLike) -> ScalarArray:
    """Return the friction effort, same sign as qd: ``M qdd + c + g + friction = tau``.

    Viscous plus Coulomb, ``damping * qd + friction * tanh(qd / v_s)``, with the transition
    velocity v_s one percent of the joint's velocity limit (1e-3 without a limit). At standstill
    the Coulomb force is undetermined; the smooth transition suits integrators and commands.

    Args:
        model: the robot.
        qd: rates, shape (n,), rad/s or m/s.

    Returns:
        shape (n,), N m or N.
    """
    qd = number_vector(qd, 'qd', checked_model(model).n)
    coefficients = model.per_coordinate(friction_coefficients)
    friction = zeros_like(qd, (model.n,))
    for k in model.coordinates():
        damping, coulomb, transition = coefficients[k]
        friction[k] += damping * qd[k] + coulomb * tanh(qd[k] / transition)
    return friction


def friction_coefficients(model: RobotModel) -> FloatArray:
    """Return damping, Coulomb friction and v_s of every coordinate, shape (n, 3), SI units."""
    limit = np.asarray(model.velocity_limit, dtype=np.float64)
    transition = np.where(
        np.isfinite(limit) & (limit > 0), _TRANSITION * limit, _TRANSITION_WITHOUT_LIMIT
    )
    return np.column_stack([model.damping, model.friction, transition])
