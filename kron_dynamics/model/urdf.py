# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a URDF or SDF text: links and joints, with warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.geometry import Shape, collision_shape
from kron_dynamics.model.joint_kinds import JOINT_KINDS, SCREW
from kron_dynamics.model.transmissions import armatures
from kron_dynamics.model.urdf_elements import Part
from kron_dynamics.model.urdf_quaternions import quaternions_to_angles
from kron_dynamics.model.urdf_xml import element_name, parse_xml
from kron_dynamics.typing import FloatArray

_NO_NAME = 'robot'
_THREAD = 'screw_thread_pitch'
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


class ParsedUrdf(NamedTuple):
    """Content of a URDF text.

    Attributes:
        robot: links and joints, as urdf_parser_py objects; all numbers but limits are finite.
        armature: rotor inertia reflected to the joint, by joint name, kg m^2 or kg.
        shapes: collision geometry by link name, of links with one simple shape.
        sections: names of fixed joints whose child is mounted on a section of a flexible link
            instead of being lumped into the parent's rigid body.
        pitches: pitches of screws by joint name, m/rad.
        payloads: names of links that represent added payloads.
        gravity: gravity acceleration in the world of an SDF, shape (3,), m/s^2; None if it has
            none.
    """

    robot: urdf.Robot
    armature: Mapping[str, float]
    shapes: Mapping[str, Shape] = MappingProxyType({})
    sections: frozenset[str] = frozenset()
    pitches: Mapping[str, float] = MappingProxyType({})
    payloads: frozenset[str] = frozenset()
    gravity: FloatArray | None = None


def parse_urdf(text: str, findings: Findings | None = None) -> ParsedUrdf:
    """Return the links and joints of a URDF or SDF text, and the rotors of its transmissions.

    Elements that the equations do not need (meshes, materials, simulator extensions) are ignored
    in any dialect.

    Args:
        text: URDF or SDF.
        findings: collects warnings and errors.

    Raises:
        ModelError: the text is not XML, neither URDF nor SDF, or unexpanded xacro; or an element
            is missing or malformed.
    """
    findings = Findings() if findings is None else findings
    root, gravity = _robot_element(text, findings)
    name = root.get('name')
    if not name:
        findings.warn(
            'missing_name',
            'URDF',
            f"<robot> has no name; '{_NO_NAME}' is taken",
            'give it a name: Pinocchio and other readers refuse the file',
        )
    if root.get('version', '1.0') not in ('1.0', '1.1'):
        findings.warn(
            'robot_version',
            'URDF',
            f"<robot> has version '{clipped(root.get('version', ''))}', which is read as 1.1",
            'remove it, or write 1.1 if rotations are quaternions',
        )
    quaternions_to_angles(root, findings)
    Part('URDF', 'robot', root, findings)
    _look_for_loops(root, findings)
    robot = urdf.Robot(name=name or _NO_NAME)
    shapes, pitches = {}, {}
    for element in root.iterchildren('link', 'joint'):
        subject = element_name(element)
        findings.place(subject)
        if not element.get('name'):
            findings.refuse(ModelError(f'{subject} has no name'))
            continue
        _check_name(element, subject, findings)
        part = Part(subject, element.tag, element, findings)
        if element.tag == 'joint':
            robot.add_joint(_read_joint(part, findings))
            if part.text('type') == SCREW:
                pitches[element.get('name')] = _read_pitch(part, findings)
        else:
            robot.add_link(_read_link(part, findings))
            shape = collision_shape(element)
            if shape is not None:
                shapes[element.get('name')] = shape
    armature = armatures(root, findings)
    findings.settle()
    return ParsedUrdf(robot, armature, shapes, pitches=pitches, gravity=gravity)


def _robot_element(text: str, findings: Findings) -> tuple[etree._Element, FloatArray | None]:
    """Return the element <robot> of a URDF, or one made from an SDF, and the SDF's gravity."""
    root = parse_xml(text, findings)
    if root.tag != 'sdf':
        return root, None
    from kron_dynamics.model.sdf import world_gravity  # few descriptions need them
    from kron_dynamics.model.sdf_robot import sdf_robot

    return sdf_robot(root, findings), world_gravity(root)


def _look_for_loops(root: etree._Element, findings: Findings) -> None:
    loops = [element_name(element) for element in root.iterchildren('loop', 'coupling')]
    if loops:
        findings.warn(
            'open_loops',
            'URDF',
            f'{listed(loops)} of a URDF+ are constraints, left out of the tree of links',
            'kd.ConstrainedRobot.described(robot, path) has them',
        )


def _check_name(element: etree._Element, subject: str, findings: Findings) -> None:
    if not element.get('name').isprintable():
        findings.warn(
            'control_character',
            subject,
            'the name holds a line break or another control character',
            'give it a name of one line: topics, tables and messages show it',
        )


def _read_link(part: Part, findings: Findings) -> urdf.Link:
    name = part.text('name')
    inertial = part.below('inertial')
    if not inertial:
        return urdf.Link(name=name)
    mass = inertial.below('mass')
    if mass.text('value') is None:
        findings.warn(
            'missing_mass',
            part.subject,
            'its <inertial> has no <mass> with a value; it is taken as 0',
            'give the mass in kg, or remove <inertial> from a link that is a mere frame',
        )
    inertia = inertial.below('inertia')
    missing = [key for key in _MOMENTS if inertia.text(key) is None]
    if missing:
        what = f'<inertia> without {", ".join(missing)}' if inertia else 'no <inertia>'
        findings.warn(
            'missing_inertia',
            part.subject,
            f'its <inertial> has {what}; what is missing is taken as 0',
            f'give {", ".join(_MOMENTS)} in kg m^2',
        )
    return urdf.Link(
        name=name,
        inertial=urdf.Inertial(
            mass=mass.number('value'),
            inertia=urdf.Inertia(**{key: inertia.number(key) for key in _MOMENTS}),
            origin=_pose(inertial.below('origin')),
        ),
    )


def _pose(origin: Part) -> urdf.Pose | None:
    if not origin:
        return None
    xyz, rpy = (origin.numbers(key) or [0.0, 0.0, 0.0] for key in ('xyz', 'rpy'))
    return urdf.Pose(xyz=xyz, rpy=rpy)


def _read_joint(part: Part, findings: Findings) -> urdf.Joint:
    kind = part.text('type')
    links = {}
    for role in ('parent', 'child'):
        links[role] = part.below(role).text('link')
        if not links[role]:
            findings.refuse(ModelError(f'{part.subject} has no <{role}> with the name of a link'))
    if kind is None:
        findings.refuse(ModelError(f'{part.subject} has no type'))
    axis, limit = part.below('axis'), part.below('limit')
    direction = axis.numbers('xyz')
    if axis and axis.text('xyz') is None and kind != 'fixed':
        findings.warn(
            'missing_axis',
            part.subject,
            'its <axis> has no xyz; 1 0 0 is taken',
            'give the direction, such as xyz="0 0 1"',
        )
    dynamics, mimic = part.below('dynamics'), part.below('mimic')
    return urdf.Joint(
        name=part.text('name'),
        joint_type=kind,
        parent=links['parent'],
        child=links['child'],
        origin=_pose(part.below('origin')),
        axis=direction,
        limit=_read_limit(limit, kind, findings) if limit else None,
        dynamics=urdf.JointDynamics(dynamics.number('damping'), dynamics.number('friction')),
        mimic=_read_mimic(mimic, findings) if mimic and kind != 'fixed' else None,
    )


def _read_pitch(joint: Part, findings: Findings) -> float:
    """Return a screw's pitch, m/rad, from the thread's, m per turn, positive if right-handed."""
    element = joint.below(_THREAD)
    expected = f'expected <{_THREAD} value="..."/> with the way per turn in m'
    if element.text('value') is None:
        findings.refuse(ModelError(f'{joint.subject} is a screw without a pitch, {expected}'))
    pitch = element.number('value', 1.0)
    if pitch == 0 or not math.isfinite(pitch * pitch):
        findings.refuse(
            ModelError(
                f'{joint.subject} is a screw with the pitch {pitch:g} m, {expected}: not 0, and '
                f'with a finite square'
            )
        )
    return pitch / (2 * math.pi)


def _read_limit(limit: Part, kind: str | None, findings: Findings) -> urdf.JointLimit:
    missing = [key for key in ('effort', 'velocity') if limit.text(key) is None]
    if missing and kind in JOINT_KINDS:
        findings.warn(
            'missing_limit',
            limit.subject,
            f'its <limit> has no {" and no ".join(missing)}; none is taken',
            'give it: Pinocchio and other readers refuse the file',
        )
    values = {
        'effort': limit.number('effort', math.inf, finite=False),
        'velocity': limit.number('velocity', math.inf, finite=False),
        'lower': limit.number('lower', finite=False),
        'upper': limit.number('upper', finite=False),
    }
    return urdf.JointLimit(**values)


def _read_mimic(mimic: Part, findings: Findings) -> urdf.JointMimic:
    master = mimic.text('joint')
    if not master:
        findings.refuse(ModelError(f'{mimic.subject}: its <mimic> names no joint'))
    return urdf.JointMimic(master, mimic.number('multiplier', 1.0), mimic.number('offset'))
