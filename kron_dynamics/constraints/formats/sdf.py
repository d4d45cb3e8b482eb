# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of an SDFormat model that close loops: those outside its spanning tree."""

from __future__ import annotations

import warnings
from types import MappingProxyType

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats.joint_loops import (
    JOINT_LOOPS,
    loop_between,
    needs_axis,
)
from kron_dynamics.constraints.loops import PlanarLoop
from kron_dynamics.exceptions import ModelWarning
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.sdf import SdfModel
from kron_dynamics.model.xml_nodes import Node

_TYPES = tuple(kind for kind, make in JOINT_LOOPS.items() if make is not PlanarLoop)


def sdf_constraints(root: Node, model: RobotModel | None) -> ConstraintDescription:
    """Return constraints for the joints that close loops: their child has another joint as well.

    The robot must be read from the same file: at 0 all links have the poses of the file, so that
    the loops are closed there.

    Args:
        root: <sdf>.
        model: not used, as the file contains everything.

    Raises:
        ModelError: the model has no loops, or no constraint represents the type of a joint.
    """
    described = SdfModel(root)
    if not described.loops:
        raise described.node.error('has no loops: no link is the child of two joints')
    made = tuple(_loop(joint, described) for joint in described.loops)
    return ConstraintDescription(made, MappingProxyType({}), (), None, None)


def _loop(joint: Node, model: SdfModel) -> Constraint:
    kind = joint.need('type')
    if kind not in _TYPES:
        raise joint.error(
            f"closes a loop and is of type '{clipped(kind)}', expected one of {listed(_TYPES)}"
        )
    _warn_of_friction(joint)
    make, links = JOINT_LOOPS[kind], (model.child(joint), model.parent(joint))
    ends = [(link, model.pose_in(link, joint.name)) for link in links]
    return loop_between(make, joint.name, ends, model.axis(joint) if needs_axis(make) else None)


def _warn_of_friction(joint: Node) -> None:
    for dynamics in joint.element.iterfind('axis/dynamics'):
        lost = [part.tag for part in dynamics if (part.text or '').strip() not in ('', '0', '0.0')]
        if lost:
            warning = ModelWarning(
                'friction_of_loop',
                named('joint', joint.name),
                f'it closes a loop, and its {listed(lost)} is not read',
                'have another joint of the loop in its place, which stands before it in the file',
            )
            warnings.warn(warning, stacklevel=2)
