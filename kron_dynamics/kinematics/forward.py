# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics: joint transforms and their products along the tree."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.model.joint_kinds import MOTIONS
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


class JointPlacement(NamedTuple):
    """Pose and joint axis of a body relative to its parent.

    Attributes:
        rotation: shape (3, 3), axes of the body in its parent's axes.
        offset: shape (3,), from the parent's origin to the body's, parent's axes, m. Dynamics
            uses these short vectors, never absolute positions, so that a machine 600 m down its
            rails loses no digits.
        angular_axis: shape (3,), angular velocity per unit coordinate rate, 0 for a prismatic
            joint; the same in the joint's and in the body's axes.
        linear_axis: shape (3,), linear velocity per unit coordinate rate, 0 for a revolute joint;
            in the same axes.
    """

    rotation: ScalarArray
    offset: ScalarArray
    angular_axis: ScalarArray
    linear_axis: ScalarArray


class BodyPlacement(NamedTuple):
    """Rotation of a body, offset from its parent and joint axis, in base axes.

    Attributes:
        rotation: shape (3, 3), axes of the body in base axes.
        offset: shape (3,), from the parent body's origin to this body's, base axes, m.
        angular_axis: shape (3,), as in `JointPlacement`, but in base axes.
        linear_axis: shape (3,), likewise.
    """

    rotation: ScalarArray
    offset: ScalarArray
    angular_axis: ScalarArray
    linear_axis: ScalarArray


def joint_placements(model: RigidModel, q: ArrayLike) -> list[JointPlacement]:
    """Return the placement of every body on its parent, as a table of the model.

    Bodies attached to a section of a flexible link are placed as on the undeformed link.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; floats, SymPy expressions or traced scalars.
    """
    q = as_scalars(q)
    placements = model.table()
    for motion in MOTIONS:
        for k, joint in model.moving_by(motion):
            position = joint.multiplier * q[joint.coordinate] + joint.offset
            placements[k] = JointPlacement(
                motion.rotation(joint, position),
                motion.offset(joint, position),
                joint.multiplier * motion.angular_axis(joint),
                joint.multiplier * motion.linear_axis(joint),
            )
    return placements


def body_placements(model: RigidModel, q: ArrayLike) -> list[BodyPlacement]:
    """Return the placement of every body in base axes, as a table of the model.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; floats, SymPy expressions or traced scalars.
    """
    placements = joint_placements(model, number_vector(q, 'q', model.n))
    none = np.zeros(3, dtype=int)
    bodies = model.table(BodyPlacement(np.eye(3, dtype=int), none, none, none))
    for k, joint in model.outward():
        base, placed = bodies[joint.parent].rotation, placements[k]
        # The axes have the same components in the joint frame, whose rotation takes fewer
        # operations.
        frame = base @ joint.rotation
        bodies[k] = BodyPlacement(
            base @ placed.rotation,
            base @ placed.offset,
            frame @ placed.angular_axis,
            frame @ placed.linear_axis,
        )
    return bodies


@singledispatch
def forward_kinematics(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return the pose of a link in the base frame, shape (4, 4) (rotation, position in m).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    frame = tree.frame(link)
    bodies = body_placements(tree, q)
    positions = tree.table(np.zeros(3, dtype=int))
    for k, joint in tree.outward():
        positions[k] = positions[joint.parent] + bodies[k].offset
    rotation = bodies[frame.body].rotation
    pose = zeros_like(q, (4, 4))
    pose[:3, :3] = rotation @ frame.rotation
    pose[:3, 3] = positions[frame.body] + rotation @ frame.translation
    pose[3, 3] = 1
    return pose
