# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nominal geometry of a tree: joint screws with all joint positions 0.  [N] 2.2.

Every kind of joint has a screw; the screw joint as a kind is in `model/joint_kinds.py`. A mimic
joint has one, too; its position is multiplier times coordinate plus offset.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.kinematics.exponentials import Screw
from kron_dynamics.kronecker import cross
from kron_dynamics.model.joint_kinds import MOTIONS
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ScalarArray


def joint_screws(model: RobotModel) -> list[Screw]:
    """Return the screw of every joint, in the model's joint order.  [N] eq. (2).

    Args:
        model: the robot.

    Raises:
        ModelError: the robot has flexible links or closed loops.
    """
    tree = rigid_tree(model)
    poses = _zero_poses(tree)
    screws = tree.table()
    for motion in MOTIONS:
        for k, joint in tree.moving_by(motion):
            turn, point = poses[k][:3, :3], poses[k][:3, 3]
            angular = turn @ motion.angular_axis(joint)
            linear = cross(point, angular) + turn @ motion.linear_axis(joint)
            screws[k] = Screw(point, turn @ joint.axis, angular, linear)
    return screws[:-1]  # the last entry of a table is the base


def zero_pose(model: RobotModel, link: str) -> ScalarArray:
    """Return T^(0), shape (4, 4), in m: the pose of a link with all joint positions 0.

    Args:
        model: the robot.
        link: name of the link.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    frame = tree.frame(link)
    pose: ScalarArray = _zero_poses(tree)[frame.body] @ _pose(frame)
    return pose


def screw_table(model: RobotModel, link: str) -> ScalarArray:
    """Return the matrix of the nominal geometry, shape (m + 1, 9).  [N] eq. (1).

    Args:
        model: the robot.
        link: name of the link.

    Returns:
        a row [p; k; v] for each of the m joints from the base to the link, in base axes: origin
        of the joint (m), axis, and v of [N] eq. (2) (m for a revolute joint, 1 for a prismatic
        one). The last row has the link's origin, then zeros: it has no axis.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    screws = joint_screws(tree)
    origin = zero_pose(tree, link)[:3, 3]
    rows = [screws[k].row for _, k, _ in tree.path_to(tree.frame(link).body)]
    return np.array([*rows, np.concatenate([origin, np.zeros(6, dtype=int)])])


def _zero_poses(tree: RigidModel) -> list[ScalarArray]:
    """Return the zero poses of all bodies as a table: body and joint frames then coincide."""
    poses = tree.table(np.eye(4, dtype=int))
    for k, joint in tree.outward():
        poses[k] = poses[joint.parent] @ _pose(joint)
    return poses


def _pose(mounted: Any) -> ScalarArray:
    upper = np.column_stack([mounted.rotation, mounted.translation])
    return np.vstack([upper, np.array([0, 0, 0, 1])])
