# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Friction in the joints."""

from __future__ import annotations

import numpy as np

from kron_dynamics.elementary import tanh
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

# Coulomb friction passes through zero over this share of the velocity limit.
_TRANSITION = 0.01
_TRANSITION_WITHOUT_LIMIT = 1e-3


def joint_friction(model: RobotModel, qd: ArrayLike) -> ScalarArray:
    """Return the friction effort, same sign as qd: ``M qdd + c + g + friction = tau``.

    Viscous plus Coulomb, ``damping * qd + friction * tanh(qd / v_s)``, with v_s one percent of
    the joint's velocity limit (1e-3 where there is none): at a standstill the true Coulomb force
    is undetermined, and a smooth passage is what an integrator and a command can follow.

    Args:
        model: the robot.
        qd: rates, shape (n,), rad/s or m/s.

    Returns:
        shape (n,), N m or N.
    """
    qd = as_scalars(qd)
    coefficients = model.per_coordinate(friction_coefficients)
    friction = zeros_like(qd, (model.n,))
    for k in model.coordinates():
        damping, coulomb, passage = coefficients[k]
        friction[k] += damping * qd[k] + coulomb * tanh(qd[k] / passage)
    return friction


def friction_coefficients(model: RobotModel) -> FloatArray:
    """Return damping, Coulomb friction and v_s of every coordinate, shape (n, 3), SI units."""
    limit = np.asarray(model.velocity_limit, dtype=np.float64)
    passage = np.where(
        np.isfinite(limit) & (limit > 0), _TRANSITION * limit, _TRANSITION_WITHOUT_LIMIT
    )
    return np.column_stack([model.damping, model.friction, passage])
