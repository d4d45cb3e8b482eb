# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<equality> of an MJCF file that describes the robot of a URDF: bodies are links."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats.mjcf_bodies import WORLD, MjcfBodies
from kron_dynamics.constraints.formats.mjcf_equalities import EQUALITIES
from kron_dynamics.constraints.formats.mjcf_file import MjcfFile
from kron_dynamics.constraints.formats.mjcf_includes import below
from kron_dynamics.constraints.system import characteristic_length
from kron_dynamics.exceptions import ConstraintError, ModelWarning
from kron_dynamics.kinematics.relative import relative_pose
from kron_dynamics.messages import clipped
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.xml_nodes import Node

# Bodies and links that belong to each other are nearer than this: lengths over the robot's, rad.
_SAME_PLACE = 1e-3


def mjcf_constraints(root: Node, model: RobotModel | None) -> ConstraintDescription:
    """Return the active equalities of an MJCF file, its joints' ref and its drives.

    A `connect` holds the anchor of body1 at the point of body2 that is there at qpos0, a `weld`
    the pose of that moment unless it has another; both may name sites instead. Of joints
    y - y0 = sum of polycoef times powers of x - x0, with 0 for the positions in qpos0.

    Args:
        root: <mujoco>.
        model: of the robot: its root link is the world, and its links have to be where the
            bodies are. None for a root link that is named world, and no look at places.

    Raises:
        ModelError: an element is unknown or wrong; the message names it.
        ConstraintError: a body is elsewhere than the link of its name.
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
        raise node.error(f'is an equality that is not read, expected {expected}; or set active')
    constraint = make(node, name, bodies)
    links = constraint.links()
    if model is not None and links is not None:
        _look_at_places(node, links, bodies, model)
    return constraint


def _look_at_places(
    node: Node, links: tuple[str, str], bodies: MjcfBodies, model: RobotModel
) -> None:
    """Refuse bodies that are elsewhere than the links of their names at qpos0."""
    a, b = links
    if a not in model.frames or b not in model.frames:
        return  # told where the constraint is checked
    known = {name: joint.position for name, joint in bodies.joints.items()}
    q = np.array([known.get(name, 0.0) for name in model.joint_names])
    apart = bodies.between(a, b) - np.asarray(relative_pose(model, q, b, a), dtype=np.float64)
    apart[:3, 3] /= characteristic_length(model)
    if np.abs(apart).max() > _SAME_PLACE:
        raise ConstraintError(
            f"{node.where}: body '{clipped(b)}' as seen from '{clipped(a)}' is not where the "
            f'link is at qpos0, expected frames of bodies and links to be the same'
        )


def _driven(root: Node, model: RobotModel | None) -> tuple[str, ...] | None:
    """Joints with an actuator, None where the file has none."""
    found, others = dict[str, None](), list[Node]()
    for section in below(root, 'actuator'):
        for actuator in below(section):
            joint = actuator.text('joint') or actuator.text('jointinparent')
            if joint is None:
                others.append(actuator)
            elif model is None or joint in model.joint_names:
                found[joint] = None
    for actuator in others:
        told = ModelWarning(
            'actuator_not_read',
            actuator.where,
            'it drives no joint, so that it is not read',
            'name the actuated joints where it matters',
        )
        warnings.warn(told, stacklevel=2)
    return tuple(found) or None
