# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians and Hessians of every body's mass centre, for the papers' sums over bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.kinematics.forward import body_placements
from kron_dynamics.kinematics.hessian import assemble_hessian
from kron_dynamics.kinematics.jacobian import assemble_jacobian, body_columns
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import Body, RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class BodyMatrices:
    """One body, in base axes.

    Attributes:
        mass: kg.
        inertia: inertia about the mass centre, shape (3, 3), base axes, kg m^2.
        J_T: translational Jacobian of the mass centre J_TG, shape (3, n).
        J_R: rotational Jacobian, shape (3, n).
        H_T: translational Hessian of the mass centre H_TG, shape (3, n*n).
        H_R: rotational Hessian, shape (3, n*n).
        rotation: body axes in base axes, shape (3, 3).
        center: position of the mass centre, shape (3,), base frame, m.
    """

    mass: float
    inertia: ScalarArray
    J_T: ScalarArray
    J_R: ScalarArray
    H_T: ScalarArray
    H_R: ScalarArray
    rotation: ScalarArray
    center: ScalarArray


def body_matrices(model: RobotModel, q: ArrayLike) -> Iterator[BodyMatrices]:
    """Yield the matrices of every body, in the order of `model.bodies`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    return _matrices(tree, q, [(k, body) for k, body in enumerate(tree.bodies)])


def link_matrices(model: RobotModel, q: ArrayLike) -> Iterator[BodyMatrices]:
    """Yield the matrices of every moving link with inertia, also of links fixed to another.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    bodies = enumerate(tree.bodies)
    return _matrices(tree, q, [(k, link) for k, body in bodies for link in body.parts or (body,)])


def _matrices(
    tree: RigidModel, q: ArrayLike, masses: Sequence[tuple[int, Body]]
) -> Iterator[BodyMatrices]:
    """Yield the matrices of rigid masses, each given with the index of its body, in its frame."""
    bodies = body_placements(tree, q)
    origins = tree.table(np.zeros(3, dtype=int))
    for k, joint in tree.outward():
        origins[k] = origins[joint.parent] + bodies[k].offset
    for k, body in masses:
        R = bodies[k].rotation
        arm = R @ body.center_of_mass
        columns = body_columns(tree, bodies, k, arm)
        J = assemble_jacobian(tree, q, tree.path(k), columns)
        H = assemble_hessian(tree, q, tree.path(k), columns)
        inertia = R @ body.inertia @ R.T
        J_T, J_R, H_T, H_R = J[:3], J[3:], H[:3], H[3:]
        yield BodyMatrices(body.mass, inertia, J_T, J_R, H_T, H_R, R, origins[k] + arm)
