# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<equality> of an MJCF file that describes the robot of a URDF: bodies are links."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.couplings import Coupling, PolynomialCoupling, PrescribedMotion
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats.mjcf_bodies import WORLD, MjcfBodies
from kron_dynamics.constraints.formats.mjcf_file import MjcfFile, below, quaternion_rotation
from kron_dynamics.constraints.loops import Attachment, PointLoop, WeldLoop
from kron_dynamics.constraints.system import characteristic_length
from kron_dynamics.exceptions import ConstraintError, ModelWarning
from kron_dynamics.kinematics.relative import relative_pose
from kron_dynamics.messages import clipped
from kron_dynamics.model.poses import pose_of
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

# Bodies and links that belong to each other are nearer than this: lengths over the robot's, rad.
_SAME_PLACE = 1e-3
_LINEAR = 2  # coefficients of a polynomial that is a gear


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
    make = _KINDS.get(node.tag)
    if make is None:
        expected = ', '.join(f'<{tag}>' for tag in _KINDS)
        raise node.error(f'is an equality that is not read, expected {expected}; or set active')
    constraint = make(node, name, bodies)
    links = constraint.links()
    if model is not None and links is not None:
        _look_at_places(node, links, bodies, model)
    return constraint


def _sides(
    node: Node, bodies: MjcfBodies, ends: Callable[[str, str], tuple[FloatArray, FloatArray]]
) -> tuple[Attachment, Attachment]:
    """Frames on both bodies: those of two sites, or of two poses that the bodies give."""
    if node.text('site1') is not None or node.text('site2') is not None:
        if node.text('body1') is not None or node.text('anchor') is not None:
            raise node.error('has sites and a body or an anchor, expected one of both')
        return bodies.site(node, 'site1'), bodies.site(node, 'site2')
    one, other = bodies.body(node, 'body1'), bodies.body(node, 'body2', WORLD)
    first, second = ends(one, other)
    return bodies.frame(one, first), bodies.frame(other, second)


def _connect(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    def ends(one: str, other: str) -> tuple[FloatArray, FloatArray]:
        anchor = node.numbers('anchor', 3)
        if anchor is None:
            raise node.error("has no attribute 'anchor'")
        there = bodies.between(other, one) @ [*anchor, 1.0]
        return pose_of(np.eye(3), anchor), pose_of(np.eye(3), there[:3])

    a, b = (Attachment(side.link, side.point) for side in _sides(node, bodies, ends))
    return PointLoop(name, a, b)


def _weld(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    scale = node.numbers('torquescale', 1)
    if scale is not None and scale[0] == 0.0:
        raise node.error('has torquescale 0, which leaves it free to turn, expected a <connect>')

    def ends(one: str, other: str) -> tuple[FloatArray, FloatArray]:
        given, relpose = node.numbers('anchor', 3), node.numbers('relpose', 7)
        anchor = pose_of(np.eye(3), np.zeros(3) if given is None else given)
        if relpose is None or not relpose[3:].any():
            return bodies.between(one, other) @ anchor, anchor
        # Where the anchor of body2 is in body1, not the origin of body2.
        return pose_of(quaternion_rotation(relpose[3:]), relpose[:3]), anchor

    return WeldLoop(name, *_sides(node, bodies, ends))


def _joint(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    y = bodies.joint(node, 'joint1')
    given = node.numbers('polycoef')
    c = [0.0, 1.0] if given is None else given.tolist()
    if len(c) > 5:
        raise node.error(f'has {len(c)} numbers as polycoef, expected up to 5')
    c = [*c, *[0.0, 1.0][len(c) :]]  # what is left out is as by default
    offset, joint = y.position + c[0], node.need('joint1')
    if node.text('joint2') is None:
        return PrescribedMotion(name, joint, offset, unit=y.unit)
    x, driver = bodies.joint(node, 'joint2'), node.need('joint2')
    if any(c[_LINEAR:]):
        return PolynomialCoupling(
            name, joint, driver, (offset, *c[1:]), about=x.position, unit=y.unit
        )
    if c[1] == 0.0:
        return PrescribedMotion(name, joint, offset, unit=y.unit)
    ratios = {joint: 1.0, driver: -c[1]}
    return Coupling(name, ratios, signal=offset - c[1] * x.position, unit=y.unit)


_KINDS: Mapping[str, Callable[[Node, str, MjcfBodies], Constraint]] = {
    'connect': _connect,
    'weld': _weld,
    'joint': _joint,
}


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
