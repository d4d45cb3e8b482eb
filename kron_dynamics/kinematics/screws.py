# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The nominal geometry of a tree: its joints as screws where all positions are 0.  [N] 2.2.

A joint that follows another is a screw like any other: what it moves by is its own position,
multiplier times coordinate plus offset.
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
    """Return the screw of every joint, in the order of the model's.  [N] eq. (2).

    Args:
        model: the robot.

    Raises:
        ModelError: a link of the robot bends, or it has closed loops.
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
    return screws[:-1]  # without a place for the base


def zero_pose(model: RobotModel, link: str) -> ScalarArray:
    """Return T^(0), shape (4, 4), in m: the pose of a link where all joints' positions are 0.

    Args:
        model: the robot.
        link: name of the link.

    Raises:
        ModelError: a link of the robot bends, or it has closed loops.
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
        a row [p; k; v] for each of the m joints on the way to the link, the base's first, in base
        axes: origin of the joint (m), axis, and v of [N] eq. (2) (m where it turns, else 1). The
        last row is the link's: its origin, and 0, for it has no axis.

    Raises:
        ModelError: a link of the robot bends, or it has closed loops.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    screws = joint_screws(tree)
    origin = zero_pose(tree, link)[:3, 3]
    rows = [screws[k].row for _, k, _ in tree.path_to(tree.frame(link).body)]
    return np.array([*rows, np.concatenate([origin, np.zeros(6, dtype=int)])])


def _zero_poses(tree: RigidModel) -> list[ScalarArray]:
    """Poses of all bodies, a table of the model: a body's frame lies in its joint's there."""
    poses = tree.table(np.eye(4, dtype=int))
    for k, joint in tree.outward():
        poses[k] = poses[joint.parent] @ _pose(joint)
    return poses


def _pose(mounted: Any) -> ScalarArray:
    upper = np.column_stack([mounted.rotation, mounted.translation])
    return np.vstack([upper, np.array([0, 0, 0, 1])])
