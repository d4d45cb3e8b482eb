# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a linear function of masses, first moments and inertias."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.jacobian import columns_in_body_axes
from kron_dynamics.kinematics.motion import body_motions
from kron_dynamics.kinematics.scalars import number_vector, widest, zeros_like
from kron_dynamics.kronecker import skew
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.rigid_model import checked_model, rigid_tree
from kron_dynamics.model.robot_model import Body, RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

PARAMETERS_PER_BODY = 10


@singledispatch
def inertial_parameters(model: RobotModel) -> FloatArray:
    """Return pi, shape (10 b + n,): ten parameters of each of the b bodies, then the armatures.

    Per body [m, h_x, h_y, h_z, I_xx, I_xy, I_xz, I_yy, I_yz, I_zz]: mass, first moment and
    inertia about the body frame's origin, in the body's axes, kg, kg m, kg m^2. Bodies are in the
    order of `model.bodies`. A robot with flexible links has those of `model.skeleton.bodies` (the
    rigid bodies and the rigid parts of flexible links) and a last parameter 1 for the beams, which
    are not parametrized, so that pi has shape (10 b + n + 1,).
    """
    return np.concatenate([parameters_of(checked_model(model).bodies), model.armature])


def parameters_of(bodies: Sequence[Body]) -> FloatArray:
    """Return the ten inertial parameters of each of b bodies, shape (10 b,), in SI units."""
    rows = []
    for body in bodies:
        inertia = rotational_inertia(body.second_moment)
        rows.append([body.mass, *body.first_moment, *inertia[np.triu_indices(3)]])
    return np.ravel(rows)


def _inertia_columns(w: ScalarArray) -> ScalarArray:
    """Return L(w), shape (3, 6), with L(w) [I_xx, I_xy, I_xz, I_yy, I_yz, I_zz] = I w."""
    x, y, z = w
    return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])


@singledispatch
def regressor(model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ScalarArray:
    """Return Y(q, qd, qdd), shape (n, 10 b + n): ``tau = Y pi``, without friction.

    For a robot with flexible links the shape is (n, 10 b + n + 1), and the last column holds the
    efforts of the beams.

    With the body-axes acceleration a of the body's origin (less gravity) and w, wd:
    force = m a + ([wd x] + [w x]^2) h, moment = h x a + I wd + w x I w.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
    """
    tree = rigid_tree(model)
    q, accelerations = number_vector(q, 'q', tree.n), number_vector(qdd, 'qdd', tree.n)
    placements = joint_placements(tree, q)
    motions = body_motions(tree, placements, (qd, qdd), -tree.gravity)
    columns = columns_in_body_axes(tree, placements)
    bodies = PARAMETERS_PER_BODY * len(tree.joints)
    Y = zeros_like(widest(q, qd, qdd), (tree.n, bodies + tree.n))
    for k, _ in tree.outward():
        motion = motions[k]
        a, (w, wd) = motion.linear[1], motion.angular
        force = np.column_stack([a, motion.field(1), np.zeros((3, 6), dtype=int)])
        turning = _inertia_columns(wd) + skew(w) @ _inertia_columns(w)
        moment = np.column_stack([np.zeros(3, dtype=int), -skew(a), turning])
        for d, _, joint in tree.path_to(k):
            column = columns[k, d]
            row = column.linear @ force + column.angular @ moment
            for parameter in range(PARAMETERS_PER_BODY):
                place = PARAMETERS_PER_BODY * k + parameter
                Y[joint.coordinate, place] += row[parameter]
    for k in tree.coordinates():
        Y[k, bodies + k] += accelerations[k]
    return Y
