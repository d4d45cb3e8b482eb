# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gravity."""

from __future__ import annotations

from kron_dynamics.dynamics.composite import subtrees
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def gravity_vector(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return g(q) = dV/dq, shape (n,), N m or N: what holds the robot still.

    ``g = - sum m J_TG^T g_vec``; per joint, the momentum of its subtree per unit rate against
    the gravity acceleration.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    g = zeros_like(q, (model.n,))
    for subtree in subtrees(model, q):
        g[subtree.coordinate] -= subtree.momentum @ model.gravity
    return g
