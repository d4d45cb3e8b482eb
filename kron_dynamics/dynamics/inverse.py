# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics: recursive Newton-Euler algorithm in body axes."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kron_dynamics.dynamics.composite import Wrench, regrouped_inertias
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.motion import body_motions
from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def inverse_dynamics(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    """Return ``tau = M qdd + C* (qd (x) qd) + g``, shape (n,), N m or N, without friction.

    [T] eqs. (92), (96), (100); phi + tau of [P] eqs. (1), (3).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
    """
    tree = rigid_tree(model)
    return _newton_euler(tree, q, qd, qdd, tree.gravity)


@singledispatch
def bias_forces(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return ``c + g``, shape (n,), N m or N: inverse dynamics at zero acceleration.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    tree = rigid_tree(model)
    q = number_vector(q, 'q', tree.n)
    return _newton_euler(tree, q, qd, zeros_like(q, (tree.n,)), tree.gravity)


@singledispatch
def coriolis_vector(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return ``c = C* (qd (x) qd)``, shape (n,), N m or N: without acceleration and gravity.

    [T] eq. (100); h of [P] eqs. (34), (35), (37).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    tree = rigid_tree(model)
    q = number_vector(q, 'q', tree.n)
    return _newton_euler(tree, q, qd, zeros_like(q, (tree.n,)), zeros_like(q, (3,)))


def _newton_euler(
    model: RigidModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: ScalarArray
) -> ScalarArray:
    placements = joint_placements(model, number_vector(q, 'q', model.n))
    inertias = model.per_body(regrouped_inertias)
    # Gravity enters as the acceleration -gravity of the base.
    motions = body_motions(model, placements, (qd, qdd), -gravity)
    rest = np.zeros(3, dtype=int)
    wrenches = model.table(Wrench(rest, rest))
    for k, _ in model.outward():
        wrenches[k] = inertias[k].moments(motions[k].linear[1], motions[k].field(1)).wrench
    # In the common number type of all three: some may be floats.
    tau = zeros_like(as_scalars(q) + as_scalars(qd) + as_scalars(qdd), (model.n,))
    for k, joint in model.inward():
        tau[joint.coordinate] += wrenches[k].joint_effort(placements[k])
        wrenches[joint.parent] += wrenches[k].to_parent(placements[k])
    accelerations = number_vector(qdd, 'qdd', model.n)
    for k in model.coordinates():
        tau[k] += model.armature[k] * accelerations[k]
    return tau
