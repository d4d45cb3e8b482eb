# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From SDFormat to URDF: the spanning tree of a model, with its frames where they were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from lxml import etree

from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.poses import inverse
from kron_dynamics.model.sdf import WORLD, SdfModel, read_pose
from kron_dynamics.model.tree import roll_pitch_yaw
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

_KINDS = ('fixed', 'revolute', 'continuous', 'prismatic', 'screw')
_ENDLESS = 1e15  # SDF writes 1e16 for none
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_THREAD = 'screw_thread_pitch'


def sdf_robot(root: etree._Element, findings: Findings) -> etree._Element:
    """Return the element <robot> of a URDF that says what an SDF model does, but for its loops.

    The world is the root. Where a joint's frame is not that of its child, a link of the joint's
    name has the joint's frame, with the child fixed to it.

    Args:
        root: <sdf>.
        findings: where warnings go.

    Raises:
        ModelError: an element is missing, malformed or not read; the message names it.
    """
    model = SdfModel(Node('SDF', root))
    robot = etree.Element('robot', name=model.node.text('name') or 'robot')
    etree.SubElement(robot, 'link', name=WORLD)
    if model.base is not None:
        _add_joint(robot, f'{WORLD} {model.base}', 'fixed', (WORLD, model.base), model)
    for link in model.links.values():
        _add_link(robot, link, findings)
    for joint in model.tree:
        _add_tree_joint(robot, joint, model)
    if model.loops:
        findings.warn(
            'open_loops',
            'SDF',
            f'{listed(named("joint", joint.name) for joint in model.loops)} close loops, which '
            f'the tree of links is without',
            'kd.ConstrainedRobot.described(robot, path) has them',
        )
    return robot


def _number(node: Node | None, tag: str, default: float) -> float:
    given = None if node is None else node.child(tag)
    if given is None:
        return default
    text = given.content()
    if text.lower().strip('+-') in ('inf', 'infinity'):
        return -math.inf if text.startswith('-') else math.inf
    return float(given.parse(text, 'the text', 1)[0])


def _add_link(robot: etree._Element, link: Node, findings: Findings) -> None:
    made = etree.SubElement(robot, 'link', name=link.name)
    given = link.child('inertial')
    moments = None if given is None else given.child('inertia')
    if given is not None and given.text('auto') in ('1', 'true'):
        raise given.error('is to be found from shapes (auto), expected <mass> and <inertia>')
    if given is None or moments is None or given.child('mass') is None:
        findings.warn(
            'missing_inertia',
            named('link', link.name),
            'it has no mass or inertia; 1 kg and 1 kg m^2 are taken for what is missing, as '
            'SDF has them',
            'give <mass> and <inertia>',
        )
    inertial = etree.SubElement(made, 'inertial')
    if given is not None:
        _add_origin(inertial, read_pose(given))
    etree.SubElement(inertial, 'mass', value=repr(_number(given, 'mass', 1.0)))
    values = {
        key: repr(_number(moments, key, 1.0 if key[1] == key[2] else 0.0)) for key in _MOMENTS
    }
    etree.SubElement(inertial, 'inertia', values)


def _add_tree_joint(robot: etree._Element, joint: Node, model: SdfModel) -> None:
    kind = joint.need('type')
    if kind not in _KINDS:
        raise joint.error(
            f"is of type '{clipped(kind)}', expected one of {listed(_KINDS)}, or that it closes a "
            f'loop'
        )
    parent, child = model.parent(joint), model.child(joint)
    offset = model.pose_in(child, joint.name)
    if kind == 'fixed' or np.array_equal(offset, np.eye(4)):
        made = _add_joint(robot, joint.name, kind, (parent, child), model)
    else:
        etree.SubElement(robot, 'link', name=joint.name)
        made = _add_joint(robot, joint.name, kind, (parent, joint.name), model)
        still = etree.SubElement(robot, 'joint', name=f'{joint.name} {child}', type='fixed')
        etree.SubElement(still, 'parent', link=joint.name)
        etree.SubElement(still, 'child', link=child)
        _add_origin(still, inverse(offset))
    if kind != 'fixed':
        etree.SubElement(made, 'axis', xyz=_written(model.axis(joint)))
        _add_properties(made, joint, kind)


def _add_joint(
    robot: etree._Element, name: str, kind: str, links: tuple[str, str], model: SdfModel
) -> etree._Element:
    parent, child = links
    made = etree.SubElement(robot, 'joint', name=name, type=kind)
    etree.SubElement(made, 'parent', link=parent)
    etree.SubElement(made, 'child', link=child)
    _add_origin(made, model.pose_in(parent, child))
    return made


def _add_properties(made: etree._Element, joint: Node, kind: str) -> None:
    axis = joint.needed_child('axis')
    limit, dynamics = axis.child('limit'), axis.child('dynamics')
    lower, upper = (_number(limit, key, s * math.inf) for key, s in (('lower', -1), ('upper', 1)))
    most = {key: _number(limit, key, math.inf) for key in ('effort', 'velocity')}
    endless = lower <= -_ENDLESS and upper >= _ENDLESS
    if kind == 'revolute' and endless:
        made.set('type', 'continuous')
    values: dict[str, Any] = {
        # Less than 0 is none.
        **{key: repr(value if value >= 0 else math.inf) for key, value in most.items()},
        'lower': repr(max(lower, -math.inf) if lower > -_ENDLESS else -math.inf),
        'upper': repr(upper if upper < _ENDLESS else math.inf),
    }
    if not endless or any(value != 'inf' for value in list(values.values())[:2]):
        etree.SubElement(made, 'limit', values)
    if _number(dynamics, 'spring_stiffness', 0.0):
        raise joint.error('has a spring_stiffness, which is not read')
    shares = {key: repr(_number(dynamics, key, 0.0)) for key in ('damping', 'friction')}
    etree.SubElement(made, 'dynamics', shares)
    if kind == 'screw':
        if joint.child(_THREAD) is None:
            raise joint.error(f'is a screw without <{_THREAD}>, m per turn')
        etree.SubElement(made, _THREAD, value=repr(_number(joint, _THREAD, 0.0)))
    mimic = axis.child('mimic')
    if mimic is not None:
        ratio = _number(mimic, 'multiplier', 1.0)
        offset = _number(mimic, 'offset', 0.0) - ratio * _number(mimic, 'reference', 0.0)
        values = {'joint': mimic.need('joint'), 'multiplier': repr(ratio), 'offset': repr(offset)}
        etree.SubElement(made, 'mimic', values)


def _add_origin(made: etree._Element, pose: FloatArray) -> None:
    R = pose[:3, :3]
    turn = np.zeros(3) if np.array_equal(R, np.eye(3)) else np.array(roll_pitch_yaw(R))
    etree.SubElement(made, 'origin', xyz=_written(pose[:3, 3]), rpy=_written(turn))


def _written(values: FloatArray) -> str:
    return ' '.join(map(repr, values.tolist()))
