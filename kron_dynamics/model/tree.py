# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The tree of links: one root, one parent each, and a depth-first walk in document order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError, UnsupportedJointError
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray

MOVING_KINDS = ('revolute', 'continuous', 'prismatic')
KINDS = (*MOVING_KINDS, 'fixed')


def find_root(robot: urdf.Robot) -> str:
    """Return the root link's name after checking that the links form one tree.

    Raises:
        ModelError: duplicate names, a joint that names an unknown link, a link with two parents,
            no root, several roots, or a loop.
        UnsupportedJointError: a joint of a kind other than `KINDS`.
    """
    links = [link.name for link in robot.links]
    if not links:
        raise ModelError(f"URDF of robot '{robot.name}' has no links")
    _refuse_duplicates('link', links)
    _refuse_duplicates('joint', [joint.name for joint in robot.joints])
    parents: dict[str, str] = {}
    for joint in robot.joints:
        if joint.type not in KINDS:
            raise UnsupportedJointError(
                f"joint '{joint.name}' is of type '{joint.type}', expected one of "
                f'{", ".join(KINDS)}'
            )
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in robot.link_map:
                raise ModelError(f"joint '{joint.name}' has the unknown {role} link '{link}'")
        if joint.child in parents:
            raise ModelError(
                f"link '{joint.child}' is the child of two joints, '{parents[joint.child]}' and "
                f"'{joint.name}': the links must form a tree"
            )
        parents[joint.child] = joint.name
    roots = [link for link in links if link not in parents]
    if len(roots) > 1:
        names = ', '.join(f"'{root}'" for root in roots)
        raise ModelError(f'URDF has {len(roots)} root links, {names}; expected one')
    reached = {roots[0], *(joint.child for joint, _ in walk(robot, roots[0]))} if roots else set()
    looped = [link for link in links if link not in reached]
    if looped:
        raise ModelError(f"link '{looped[0]}' is part of a loop: the links must form a tree")
    return str(roots[0])


def _refuse_duplicates(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"URDF has {names.count(name)} {what}s named '{name}'")


def walk(robot: urdf.Robot, root: str) -> Iterator[tuple[urdf.Joint, urdf.Link]]:
    """Yield (joint, child link) depth first, children in document order."""
    waiting = [joint for joint in reversed(robot.joints) if joint.parent == root]
    while waiting:
        joint = waiting.pop()
        yield joint, robot.link_map[joint.child]
        waiting.extend(child for child in reversed(robot.joints) if child.parent == joint.child)


def placement(origin: urdf.Pose | None) -> tuple[FloatArray, FloatArray]:
    """Return rotation (3, 3) and translation (3,), m, of an <origin>: axes x, y, z turned by rpy.

    Entries within rounding of 0 or +-1 are made exact: rpy="1.5707963267948966 0 0" means a right
    angle, and 6e-17 instead of 0 would spread through every closed form.
    """
    xyz = origin.xyz if origin is not None and origin.xyz is not None else (0.0, 0.0, 0.0)
    rpy = origin.rpy if origin is not None and origin.rpy is not None else (0.0, 0.0, 0.0)
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    rotation = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    nearest = np.round(rotation)
    rotation = np.where(np.abs(rotation - nearest) < 4 * np.finfo(float).eps, nearest, rotation)
    return read_only(rotation), read_only(xyz)
