# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix."""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.composite import subtree_momenta
from kron_dynamics.kinematics.forward import place_joints
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def mass_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return M(q), shape (n, n), symmetric positive definite, kg m^2, kg m, kg.

    [T] eq. (95) by composite bodies: M[i, k] = tr(X_i (X_k P)^T) with the pseudo-inertia P of
    the subtree behind joint k, i being nearer the base. The momentum X_k P is carried from body
    to body towards the base, and each joint on the way takes the component it feels. The rotors'
    inertia stands on the diagonal.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    M = zeros_like(q, (model.n, model.n)) + np.diag(model.armature)
    placements = place_joints(model, q)
    momenta = subtree_momenta(model, placements)
    # (coordinate, momentum, angular momentum) of the subtrees carried to each body, its axes.
    carried = [
        [(j.coordinate, m.force, m.moment)] for j, m in zip(model.joints, momenta, strict=True)
    ]
    for i in reversed(range(len(placements))):
        joint, placed = model.joints[i], placements[i]
        row = joint.coordinate
        for position, (column, p, L) in enumerate(carried[i]):
            value = placed.linear_axis @ p + placed.angular_axis @ L
            M[row, column] += value
            if position > 0:
                M[column, row] += value
            if joint.parent >= 0:
                p, L = placed.rotation @ p, placed.rotation @ L
                carried[joint.parent].append((column, p, L + cross(placed.offset, p)))
    return M
