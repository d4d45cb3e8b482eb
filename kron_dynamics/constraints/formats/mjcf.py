# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<equality> of an MJCF file that describes the same robot as a URDF: bodies are links."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import MappingProxyType

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats.mjcf_agreement import check_joint, check_poses
from kron_dynamics.constraints.formats.mjcf_bodies import WORLD, MjcfBodies
from kron_dynamics.constraints.formats.mjcf_equalities import EQUALITIES
from kron_dynamics.constraints.formats.mjcf_file import MjcfFile
from kron_dynamics.constraints.formats.mjcf_includes import below
from kron_dynamics.exceptions import ModelWarning
from kron_dynamics.messages import clipped
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.xml_nodes import Node


def mjcf_constraints(root: Node, model: RobotModel | None) -> ConstraintDescription:
    """Return the active equalities of an MJCF file, its joints' ref and its actuated joints.

    A `connect` keeps the anchor of body1 at the point of body2 with which it coincides at qpos0.
    A `weld` keeps the relative pose of qpos0, unless it gives another. Both may name sites
    instead. A `joint` keeps y - y0 = sum of polycoef times powers of x - x0, where y0 and x0 are
    the positions in qpos0.

    Args:
        root: <mujoco>.
        model: model of the robot. Its root link is the world, and its links must have the poses of
            the bodies. None for a root link named world, without a check of poses and axes.

    Raises:
        ModelError: an element is unknown or wrong; the message names it.
        ConstraintError: a body and the link of its name have different poses, or a joint that an
            equality names has another axis than the robot's.
    """
    file = MjcfFile(root)
    bodies = MjcfBodies(file, WORLD if model is None else model.root_link)
    made = []
    for k, given in enumerate(_equalities(root), 1):
        node = file.with_defaults(given, 'equality')
        active = node.text('active') or 'true'
        if active not in ('true', 'false'):
            raise node.error(f"has active '{clipped(active)}', expected true or false")
        if active == 'true':
            made.append(_made(node, node.text('name') or f'{node.tag} {k}', bodies, model))
    start = {
        name: joint.position
        for name, joint in bodies.joints.items()
        if joint.position and (model is None or name in model.joint_names)
    }
    return ConstraintDescription(
        tuple(made), MappingProxyType(start), (), None, _driven(root, model)
    )


def _equalities(root: Node) -> Iterator[Node]:
    for section in below(root, 'equality'):
        yield from below(section)


def _made(node: Node, name: str, bodies: MjcfBodies, model: RobotModel | None) -> Constraint:
    make = EQUALITIES.get(node.tag)
    if make is None:
        expected = ', '.join(f'<{tag}>' for tag in EQUALITIES)
        raise node.error(
            f"is an equality that is not read, expected {expected}; or set active='false'"
        )
    constraint = make(node, name, bodies)
    if model is None:
        return constraint
    links, joints = constraint.links(), (node.text('joint1'), node.text('joint2'))
    if links is not None:
        check_poses(node, links, bodies, model)
    for joint in model.joints:
        if joint.name in joints and joint.name in bodies.joints:
            check_joint(node, joint, bodies, model)
    return constraint


def _driven(root: Node, model: RobotModel | None) -> tuple[str, ...] | None:
    """Return the joints with an actuator; None if the file has none."""
    found, others = dict[str, None](), list[Node]()
    for section in below(root, 'actuator'):
        for actuator in below(section):
            joint = actuator.text('joint') or actuator.text('jointinparent')
            if joint is None:
                others.append(actuator)
            elif model is None or joint in model.joint_names:
                found[joint] = None
    for actuator in others:
        warning = ModelWarning(
            'actuator_not_read',
            actuator.where,
            'it drives no joint, so that it is not read',
            'list the actuated joints in the description if they matter',
        )
        warnings.warn(warning, stacklevel=2)
    return tuple(found) or None
