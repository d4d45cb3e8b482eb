# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The mass matrix."""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.composite import subtrees
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def mass_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return M(q), shape (n, n), symmetric positive definite, kg m^2, kg m, kg.

    [T] eq. (95) by composite bodies: column k is the momentum of subtree k per unit rate of
    joint k, seen through the Jacobian columns of the joints before it. The rotors' inertia
    stands on the diagonal.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    M = zeros_like(q, (model.n, model.n)) + np.diag(model.armature)
    for subtree in subtrees(model, q):
        k, columns, composite = subtree.coordinate, subtree.columns, subtree.composite
        spin = cross(composite.first, columns.linear[-1])
        spin = spin + composite.rotational @ columns.angular[-1]
        inertia = [
            v @ subtree.momentum + z @ spin
            for v, z in zip(columns.linear, columns.angular, strict=True)
        ]
        for i, value in zip(subtree.coordinates[:-1], inertia, strict=False):
            M[i, k] += value
            M[k, i] += value
        M[k, k] += inertia[-1]
    return M
