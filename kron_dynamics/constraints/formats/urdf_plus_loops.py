# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<loop> of a URDF+: a joint of a URDF type between frames on two links."""

from __future__ import annotations

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.formats.joint_loops import (
    JOINT_LOOPS,
    loop_between,
    needs_axis,
)
from kron_dynamics.constraints.loops import PointLoop
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.poses import pose_of
from kron_dynamics.model.tree import placement
from kron_dynamics.model.urdf_quaternions import QUATERNION
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.reproducible import norm
from kron_dynamics.typing import FloatArray

SIDES = ('predecessor', 'successor')
_TYPES = tuple(kind for kind, make in JOINT_LOOPS.items() if make is not PointLoop)


def loop_of(node: Node, links: set[str]) -> Constraint:
    """Return the constraint of a <loop>.

    Args:
        node: <loop>.
        links: names of the robot's links.

    Raises:
        ModelError: an element is missing or wrong; the message names it.
    """
    node.allow('predecessor', 'successor', 'axis')
    kind = node.need('type')
    if kind not in _TYPES:
        raise node.error(f"has type '{clipped(kind)}', expected one of {listed(_TYPES)}")
    make = JOINT_LOOPS[kind]
    ends = [(link_at(node, side, links), _origin(node.needed_child(side))) for side in SIDES]
    return loop_between(make, node.name, ends, _axis(node) if needs_axis(make) else None)


def link_at(node: Node, side: str, links: set[str]) -> str:
    """Return the link at a side of a <loop> or <coupling>.

    Args:
        node: <loop> or <coupling>.
        side: 'predecessor' or 'successor'.
        links: names of the robot's links.

    Raises:
        ModelError: the link is missing or unknown.
    """
    end = node.needed_child(side)
    link = end.need('link')
    if link not in links:
        raise node.error(f"has the unknown {side} link '{clipped(link)}'")
    return link


def _origin(end: Node) -> FloatArray:
    end.allow('origin')
    origin = end.child('origin')
    if origin is None:
        return np.eye(4)
    if origin.text(QUATERNION) is not None:
        raise origin.error(f'has {QUATERNION}, which is not read in a <loop>, expected rpy')
    values = [origin.numbers(key, 3) for key in ('xyz', 'rpy')]
    xyz, rpy = ([0.0, 0.0, 0.0] if value is None else value.tolist() for value in values)
    return pose_of(*placement(urdf.Pose(xyz=xyz, rpy=rpy)))


def _axis(node: Node) -> FloatArray:
    given = node.child('axis')
    values = None if given is None else given.numbers('xyz', 3)
    axis = np.array([1.0, 0.0, 0.0]) if values is None else values  # default as for URDF joints
    if not axis.any():
        raise node.error('has the axis 0 0 0, expected a direction')
    return axis / norm(axis)
