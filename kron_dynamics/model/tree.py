# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The tree of links: one root, one parent each, and a depth-first walk in document order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError, UnsupportedJointError
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.joint_kinds import JOINT_KINDS
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.reproducible import cosine_and_sine, direction_angle, norm
from kron_dynamics.typing import FloatArray

KINDS = (*JOINT_KINDS, 'fixed')
# Kinds with several degrees of freedom: accepted only at the base, and only if held there.
BASE_KINDS = ('floating', 'planar')
_NO_ROTATION = read_only(np.eye(3))


def find_root(robot: urdf.Robot, findings: Findings | None = None) -> str:
    """Return the root link's name after checking that the links form one tree.

    Args:
        robot: links and joints.
        findings: collects warnings and errors.

    Raises:
        ModelError: duplicate names, a joint that names an unknown link, a link with two parents,
            no root, several roots, or a loop.
    """
    findings = Findings() if findings is None else findings
    links = [link.name for link in robot.links]
    if not links:
        raise ModelError(f'URDF of {named("robot", robot.name)} has no links')
    _find_duplicates(robot, findings)
    parents: dict[str, str] = {}
    for joint in robot.joints:
        subject = named('joint', joint.name)
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in robot.link_map:
                findings.refuse(
                    ModelError(f"{subject} has the unknown {role} link '{clipped(link)}'")
                )
        if joint.child in parents:
            findings.refuse(
                ModelError(
                    f'{named("link", joint.child)} is the child of two joints, '
                    f"'{clipped(parents[joint.child])}' and '{clipped(joint.name)}': the links "
                    f'must form a tree'
                )
            )
        parents.setdefault(joint.child, joint.name)
    findings.settle()
    roots = [link for link in links if link not in parents]
    if len(roots) > 1:
        names = listed(f"'{root}'" for root in roots)
        raise ModelError(f'URDF has {len(roots)} root links, {names}; expected one')
    reached = {roots[0], *(joint.child for joint, _ in walk(robot, roots[0]))} if roots else set()
    looped = [link for link in links if link not in reached]
    if looped:
        subject = named('link', looped[0])
        raise ModelError(f'{subject} is part of a loop: the links must form a tree')
    return str(roots[0])


def _find_duplicates(robot: urdf.Robot, findings: Findings) -> None:
    """Look for duplicate names; those of fixed joints, used only in messages, are a warning."""
    for link, count in Counter(link.name for link in robot.links).items():
        if count > 1:
            findings.refuse(ModelError(f"URDF has {count} links named '{clipped(link)}'"))
    moving = {joint.name for joint in robot.joints if joint.type != 'fixed'}
    for name, count in Counter(joint.name for joint in robot.joints).items():
        if count == 1:
            continue
        if name in moving:
            findings.refuse(ModelError(f"URDF has {count} joints named '{clipped(name)}'"))
        else:
            findings.warn(
                'duplicate_name',
                named('joint', name),
                f'there are {count} fixed joints of this name',
                'give each a name of its own: Pinocchio and other readers refuse the file',
            )


def settle_kinds(robot: urdf.Robot, root: str, hold_base: bool, findings: Findings) -> None:
    """Check that the kinds of all joints are supported; hold a floating or planar base.

    Args:
        robot: links and joints; held joints are changed to fixed ones.
        root: the root link.
        hold_base: whether a floating or planar joint with only fixed joints before it is held at
            its zero position.
        findings: collects warnings and errors.

    Raises:
        ModelError: a joint has an unknown kind.
        UnsupportedJointError: a floating or planar joint is not held.
    """
    still = {root}
    for joint, link in walk(robot, root):
        subject = named('joint', joint.name)
        expected = f'expected one of {", ".join(KINDS)}'
        said = f"{subject} is of type '{clipped(joint.type)}'"
        if joint.type in BASE_KINDS:
            if joint.parent not in still:
                what = 'other joints move what it is mounted on, so that it cannot be held'
                findings.refuse(UnsupportedJointError(f'{said}, {expected}: {what}'))
            elif not hold_base:
                findings.refuse(
                    UnsupportedJointError(
                        f'{said}, {expected}: the base of a robot stands still here; '
                        'hold_base=True (on the command line --hold-base) holds it at its zero '
                        'position'
                    )
                )
            else:
                findings.warn(
                    'joint_held',
                    subject,
                    f"it is of type '{joint.type}' and is held at its zero position",
                    'make it fixed if the base does stand still; what a moving base does to the '
                    'robot is not in the equations',
                )
                joint.type = 'fixed'
        elif joint.type not in KINDS:
            findings.refuse(ModelError(f'{said}, {expected}'))
        if joint.type == 'fixed' and joint.parent in still:
            still.add(link.name)
    findings.settle()


def walk(robot: urdf.Robot, root: str) -> Iterator[tuple[urdf.Joint, urdf.Link]]:
    """Yield (joint, child link) depth first, children in document order."""
    children: dict[str, list[urdf.Joint]] = {}
    for joint in reversed(robot.joints):
        children.setdefault(joint.parent, []).append(joint)
    waiting = list(children.get(root, ()))
    while waiting:
        joint = waiting.pop()
        yield joint, robot.link_map[joint.child]
        waiting.extend(children.get(joint.child, ()))


def placement(origin: urdf.Pose | None) -> tuple[FloatArray, FloatArray]:
    """Return rotation (3, 3) and translation (3,), m, of an <origin> with fixed-axis rpy angles.

    Entries within rounding of 0 or +-1 are made exact: rpy="1.5707963267948966 0 0" means a right
    angle, and 6e-17 instead of 0 would appear in every closed form. Negative zeros are removed,
    as they would change the fingerprint.
    """
    xyz = origin.xyz if origin is not None and origin.xyz is not None else (0.0, 0.0, 0.0)
    if origin is None or origin.rpy is None or not any(origin.rpy):
        return _NO_ROTATION, read_only(np.add(xyz, 0.0))
    (cr, sr), (cp, sp), (cy, sy) = (cosine_and_sine(float(angle)) for angle in origin.rpy)
    rotation = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    nearest = np.round(rotation)
    rotation = np.where(np.abs(rotation - nearest) < 4 * np.finfo(float).eps, nearest, rotation)
    return read_only(rotation + 0.0), read_only(np.add(xyz, 0.0))


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the rpy angles of a rotation, shape (3, 3), rad: the inverse of `placement`.

    If the pitch is a right angle, roll and yaw turn about the same axis. The yaw is then decided
    by rounding, and the roll is consistent with it.
    """
    R = np.asarray(rotation, dtype=np.float64)  # (3, 3)
    yaw = direction_angle(R[1, 0], R[0, 0])
    c, s = cosine_and_sine(yaw)
    roll = direction_angle(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, direction_angle(-R[2, 0], norm(R[:2, 0])), yaw
