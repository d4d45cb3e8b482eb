# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Link poses and changes of axes by products of matrix exponentials.  [N] 2.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.kinematics.exponentials import rotation_exponential, screw_exponential
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kinematics.screws import joint_screws, zero_pose
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import Joint, RobotModel
from kron_dynamics.scalar_arguments import vector
from kron_dynamics.typing import ArrayLike, ScalarArray


def product_of_exponentials(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return the pose of a link, shape (4, 4), in m: exp(A_1 q_1) ... exp(A_m q_m) T^(0).

    [N] eqs. (8)-(10). "exp of a sum" in (8), (10) and (11) is this ordered product; the sum in (9)
    ends at j = i - 1.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: q has another shape.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    q, screws = vector(q, 'q', model.n), joint_screws(tree)
    moved = zeros_like(q, (4, 4)) + np.eye(4, dtype=int)
    for _, k, joint in tree.path_to(tree.frame(link).body):
        moved = moved @ screw_exponential(screws[k], joint_position(joint, q))
    pose: ScalarArray = moved @ zero_pose(tree, link)
    return pose


def rotation_to_link(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return the rotation from base axes into a link's axes, shape (3, 3), no unit.  [N] eq. (25).

    R^(0)^-1 exp(-k_m~ q_m) ... exp(-k_1~ q_1), the last joint's exponential first.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: q has another shape.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    q, screws = vector(q, 'q', model.n), joint_screws(tree)
    turned = zeros_like(q, (3, 3)) + zero_pose(tree, link)[:3, :3].T
    for _, k, joint in tree.back(tree.path(tree.frame(link).body)):
        turned = turned @ rotation_exponential(screws[k].angular, -joint_position(joint, q))
    return turned


def link_components(model: RobotModel, q: ArrayLike, link: str, values: ArrayLike) -> ScalarArray:
    """Return vectors in the axes of a link, shape (3,) or (6,), in their unit.  [N] eq. (24).

    The time derivatives are taken in base axes. The components of d omega/dt are the derivatives
    of omega's components in the link's axes; those of d2 omega/dt2 are the second derivatives of
    these plus omega x d omega/dt.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        values: one vector in base axes, shape (3,), or two stacked, shape (6,), such as the
            result of `screw_velocity`, `screw_acceleration` or `screw_jerk`.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: values has another shape than (3,) or (6,), or q than (n,).
        UnknownFrameError: the model has no such link.
    """
    values = as_scalars(values)
    pairs = values.reshape(-1, 3) if values.shape == (6,) else [vector(values, 'values', 3)]
    turned = rotation_to_link(model, q, link)
    return np.concatenate([turned @ each for each in pairs])


def joint_position(joint: Joint, q: ScalarArray) -> Any:
    """Return the position of a joint, which may be a mimic joint, rad or m.

    Args:
        joint: a joint of the model.
        q: coordinates, shape (n,).
    """
    return joint.multiplier * q[joint.coordinate] + joint.offset
