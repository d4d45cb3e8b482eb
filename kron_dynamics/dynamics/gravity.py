# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gravity."""

from __future__ import annotations

from kron_dynamics.dynamics.composite import subtree_momenta
from kron_dynamics.kinematics.forward import place_joints
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
    placements = place_joints(model, q)
    down: list[ScalarArray] = []  # gravity in the axes of each body
    for joint, placed, momentum in zip(
        model.joints, placements, subtree_momenta(model, placements), strict=True
    ):
        above = down[joint.parent] if joint.parent >= 0 else model.gravity
        down.append(above @ placed.rotation)
        g[joint.coordinate] -= momentum.force @ down[-1]
    return g
