# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether bodies and joints of an MJCF file are the robot's links and joints of these names."""

from __future__ import annotations

import numpy as np

from kron_dynamics.constraints.formats.mjcf_bodies import WORLD, MjcfBodies
from kron_dynamics.constraints.system import characteristic_length
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.kinematics.relative import relative_jacobian, relative_pose
from kron_dynamics.messages import clipped, named
from kron_dynamics.model.robot_model import Joint, RobotModel
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

# Tolerance of the poses of a body and its link: lengths over the robot's, entries of rotations.
_SAME_PLACE = 1e-3


def check_joint(node: Node, joint: Joint, bodies: MjcfBodies, model: RobotModel) -> None:
    """Check that a joint has the same kind, axis and position in the file as in the robot.

    Axes are compared only if the bodies before and after the joint are links of the robot.

    Args:
        node: the equality that names the joint.
        joint: joint of the robot that is also a joint of the file.
        bodies: the bodies of the file.
        model: model of the robot.

    Raises:
        ConstraintError: it has not; the message names the joint.
    """
    given = bodies.joints[joint.name]
    subject = f'{node.where}: {named("joint", joint.name)}'
    if joint.motion.turns != (given.unit == 'rad'):
        kind = 'hinge' if given.unit == 'rad' else 'slide'
        raise ConstraintError(
            f"{subject} is a {kind}, expected the kind of the robot's joint, {joint.kind}"
        )
    links = _links(given.bodies, model)
    check_poses(node, given.bodies, bodies, model, joint)
    if links is None or joint.name not in model.joint_names:
        return  # a joint without a coordinate is reported when the constraint is checked
    before, after = links
    J = relative_jacobian(model, _reference(bodies, model), after, before, axes=after)
    own = slice(3, 6) if joint.motion.turns else slice(0, 3)
    axis = np.asarray(J, dtype=np.float64)[own, model.joint_names.index(joint.name)]
    if np.abs(given.axis - axis).max() > _SAME_PLACE:
        raise ConstraintError(
            f"{subject} has the axis {_rounded(given.axis)} in body '{clipped(after)}', expected "
            f"that of the robot's joint, {_rounded(axis)}: positions would count another way"
        )


def check_poses(
    node: Node,
    links: tuple[str, str],
    bodies: MjcfBodies,
    model: RobotModel,
    joint: Joint | None = None,
) -> None:
    """Check that bodies have the relative pose of the links of their names at qpos0.

    Args:
        node: the equality.
        links: names of the two bodies.
        bodies: the bodies of the file.
        model: model of the robot.
        joint: joint between them, if only its position matters. It does not depend on where a
            base stands that is no body.

    Raises:
        ConstraintError: they have another; the message names them.
    """
    known = _links(links, model)
    if known is None:
        return  # reported when the constraint is checked
    a, b = known
    pose = np.asarray(relative_pose(model, _reference(bodies, model), b, a), dtype=np.float64)
    apart = bodies.between(a, b) - pose
    if joint is not None and WORLD in links:
        along = pose[:3, :3] @ joint.axis if joint.motion.slides else np.zeros(3)
        apart[:3, 3] = along * (along @ apart[:3, 3])
    apart[:3, 3] /= characteristic_length(model)
    if np.abs(apart).max() > _SAME_PLACE:
        raise ConstraintError(
            f"{node.where}: body '{clipped(b)}' as seen from '{clipped(a)}' is not where the "
            f'link is at qpos0, expected frames of bodies and links to be the same'
        )


def _links(bodies: tuple[str, str], model: RobotModel) -> tuple[str, str] | None:
    """Return the links of two bodies' names, the root link for the world; None if one is none."""
    a, b = (model.root_link if body == WORLD else body for body in bodies)
    return (a, b) if a in model.frames and b in model.frames else None


def _reference(bodies: MjcfBodies, model: RobotModel) -> FloatArray:
    """Return the robot's coordinates at qpos0, shape (n,), rad or m."""
    known = {name: joint.position for name, joint in bodies.joints.items()}
    return np.array([known.get(name, 0.0) for name in model.joint_names])


def _rounded(axis: FloatArray) -> list[float]:
    return list(map(float, axis.round(3) + 0.0))
