# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gravity vector of the equations of motion."""

from __future__ import annotations

from functools import singledispatch

from kron_dynamics.dynamics.composite import subtree_momenta
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def gravity_vector(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return g(q) = dV/dq, shape (n,), N m or N: the efforts at rest.  [P] eq. (27).

    ``g = - sum m J_TG^T g_vec``; per joint, minus the momentum of its subtree per unit rate times
    the gravity acceleration.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    q = number_vector(q, 'q', tree.n)
    g = zeros_like(q, (tree.n,))
    placements = joint_placements(tree, q)
    momenta = subtree_momenta(tree, placements)
    down = tree.table(tree.gravity)  # in the axes of each body
    for k, joint in tree.outward():
        down[k] = down[joint.parent] @ placements[k].rotation
        g[joint.coordinate] -= momenta[k].force @ down[k]
    return g
