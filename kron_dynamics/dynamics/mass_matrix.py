# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix of rigid robots.

Of robots with flexible links: `flexible/flexible_dynamics.py`, with closed loops:
`closed_loops/closed_loop_dynamics.py`.
"""

from __future__ import annotations

from functools import singledispatch

from kron_dynamics.dynamics.composite import subtree_momenta
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def mass_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return M(q), shape (n, n), symmetric positive definite, kg m^2, kg m, kg.

    [T] eq. (95) by the composite-rigid-body algorithm: M[i, k] = tr(X_i (X_k P)^T) with the
    pseudo-inertia P of the subtree of joint k and an ancestor i of k. The momentum X_k P is
    transformed from body to body towards the base and projected on the axis of each joint on the
    path. The armatures are added to the diagonal.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    q = number_vector(q, 'q', tree.n)
    M = zeros_like(q, (tree.n, tree.n))
    placements = joint_placements(tree, q)
    momenta = subtree_momenta(tree, placements)
    carried = tree.table()  # the momenta, in the frame of a body on their path to the base
    for i, joint in tree.inward():
        row, placed, own = joint.coordinate, placements[i], momenta[i].wrench
        M[row, row] += own.joint_effort(placed)
        carried[i] = own.to_parent(placed)
        for k, behind in tree.descendants(i):
            column, value = behind.coordinate, carried[k].joint_effort(placed)
            M[row, column] += value
            M[column, row] += value
            carried[k] = carried[k].to_parent(placed)
    for k in tree.coordinates():
        M[k, k] += tree.armature[k]
    return M
