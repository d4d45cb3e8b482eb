# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from kron_dynamics.dynamics.composite import body_inertias, composite_inertias
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.scalars import number_vector
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike


@singledispatch
def kinetic_energy(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Any:
    """Return ``T = 1/2 qd^T M qd``, J.  [T] eqs. (93), (94); [N] eqs. (46), (47).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    qd = number_vector(qd, 'qd', model.n)
    return qd @ mass_matrix(model, q) @ qd / 2


@singledispatch
def potential_energy(model: RobotModel, q: ArrayLike) -> Any:
    """Return V(q) = - sum m c^T g_vec, J, with mass centres c from the root frame's origin.

    [P] eq. (26).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    placements = joint_placements(tree, number_vector(q, 'q', tree.n))
    composites = composite_inertias(tree, placements, tree.per_body(body_inertias))
    return -(composites[-1].first @ tree.gravity)
