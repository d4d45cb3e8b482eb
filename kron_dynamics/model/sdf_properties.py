# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of limits, friction and other numbers of an SDF joint to URDF."""

from __future__ import annotations

import math
from typing import Any

from lxml import etree

from kron_dynamics.model.joint_kinds import JOINT_KINDS, ROTATION, SCREW
from kron_dynamics.model.sdf_values import number_below
from kron_dynamics.model.xml_nodes import Node

ENDLESS = 1e15  # position limits beyond this are none; SDF's default is 1e16
_THREAD = 'screw_thread_pitch'
# Elements with the prefix drake.
_ROTOR, _GEAR = '{*}rotor_inertia', '{*}gear_ratio'
_ENDLESS_TURN = next(name for name, kind in JOINT_KINDS.items() if kind.is_endless)


def add_properties(made: etree._Element, joint: Node, kind: str) -> None:
    """Add limits, friction, pitch, mimic and Drake's rotor of an SDF joint to a URDF joint.

    Args:
        made: <joint> in the <robot> of the URDF.
        joint: <joint> of the SDF.
        kind: type of the joint.

    Raises:
        ModelError: an element is missing, malformed or not read; the message names it.
    """
    axis = joint.needed_child('axis')
    limit, dynamics = axis.child('limit'), axis.child('dynamics')
    lower, upper = (
        number_below(limit, key, s * math.inf) for key, s in (('lower', -1), ('upper', 1))
    )
    most = {key: number_below(limit, key, math.inf) for key in ('effort', 'velocity')}
    endless = lower <= -ENDLESS and upper >= ENDLESS
    if endless and JOINT_KINDS[kind].motion == ROTATION:
        made.set('type', _ENDLESS_TURN)
    values: dict[str, Any] = {
        # In SDF a negative value means no limit.
        **{key: repr(value if value >= 0 else math.inf) for key, value in most.items()},
        'lower': repr(lower if lower > -ENDLESS else -math.inf),
        'upper': repr(upper if upper < ENDLESS else math.inf),
    }
    if not endless or any(value != 'inf' for value in list(values.values())[:2]):
        etree.SubElement(made, 'limit', values)
    if number_below(dynamics, 'spring_stiffness', 0.0):
        raise joint.error('has a spring_stiffness, which is not read')
    shares = {key: repr(number_below(dynamics, key, 0.0)) for key in ('damping', 'friction')}
    etree.SubElement(made, 'dynamics', shares)
    if kind == SCREW:
        if joint.child(_THREAD) is None:
            raise joint.error(f'is a screw without <{_THREAD}>, m per turn')
        etree.SubElement(made, _THREAD, value=repr(number_below(joint, _THREAD, 0.0)))
    mimic = axis.child('mimic')
    if mimic is not None:
        ratio = number_below(mimic, 'multiplier', 1.0)
        offset = number_below(mimic, 'offset', 0.0) - ratio * number_below(mimic, 'reference', 0.0)
        values = {'joint': mimic.need('joint'), 'multiplier': repr(ratio), 'offset': repr(offset)}
        etree.SubElement(made, 'mimic', values)
    if joint.child(_ROTOR) is not None:
        _add_rotor(made, joint)


def _add_rotor(made: etree._Element, joint: Node) -> None:
    """Add the rotor of a joint as a <transmission> beside it, as URDF has it."""
    transmission = etree.SubElement(made.getparent(), 'transmission', name=joint.name)
    etree.SubElement(transmission, 'joint', name=joint.name)
    actuator = etree.SubElement(transmission, 'actuator', name=joint.name)
    for tag, default in ((_ROTOR, 0.0), (_GEAR, 1.0)):
        value = repr(number_below(joint, tag, default))
        etree.SubElement(actuator, tag.removeprefix('{*}'), value=value)
