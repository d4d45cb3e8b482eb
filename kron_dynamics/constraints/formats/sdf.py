# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of an SDFormat model that close loops: those outside its spanning tree."""

from __future__ import annotations

import warnings
from types import MappingProxyType

import numpy as np

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
from kron_dynamics.model.sdf_properties import ENDLESS
from kron_dynamics.model.sdf_values import number_below
from kron_dynamics.model.xml_nodes import Node

_TYPES = tuple(kind for kind, make in JOINT_LOOPS.items() if make is not PlanarLoop)
_ENDS = 'lower', 'upper'


def sdf_constraints(root: Node, model: RobotModel | None) -> ConstraintDescription:
    """Return constraints for the joints that close loops: their child has another joint as well.

    The robot must be read from the same file: at 0 all links have the poses of the file, so that
    the loops are closed there.

    Args:
        root: <sdf>.
        model: not used, as the file contains everything.

    Raises:
        ModelError: the model has no loops, or no constraint represents the type of a joint or its
            <mimic>.
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
    make, links = JOINT_LOOPS[kind], (model.child(joint), model.parent(joint))
    _warn_of_lost_properties(joint, has_position=needs_axis(make))
    ends = [(link, model.pose_in(link, joint.name)) for link in links]
    return loop_between(make, joint.name, ends, model.axis(joint) if needs_axis(make) else None)


def _warn_of_lost_properties(joint: Node, has_position: bool) -> None:
    axis = joint.child('axis')
    if axis is None:
        return
    if axis.child('mimic') is not None:
        raise joint.error('closes a loop and has <mimic>, which is not read there')
    if not has_position:
        return  # what such a joint says about an axis has no effect anywhere
    dynamics, limit = axis.child('dynamics'), axis.child('limit')
    parts = [] if dynamics is None else list(dynamics.children())
    lost = [part.tag for part in parts if part.content() not in ('', '0', '0.0')]
    if lost:
        _warn(joint, 'friction_of_loop', f'{listed(lost)} is')
    ends = [] if limit is None else [(s, number_below(limit, s, np.inf)) for s in _ENDS]
    finite = [f'{side} {end:g}' for side, end in ends if abs(end) < ENDLESS]
    if finite:
        _warn(joint, 'limits_of_loop', f'limits {listed(finite)} are')


def _warn(joint: Node, kind: str, lost: str) -> None:
    warning = ModelWarning(
        kind,
        named('joint', joint.name),
        f'it closes a loop, and its {lost} not read',
        'have another joint of the loop in its place, which stands before it in the file',
    )
    warnings.warn(warning, stacklevel=2)
