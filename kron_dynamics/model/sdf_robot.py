# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion from SDFormat to URDF: the spanning tree of a model, with unchanged link frames."""

from __future__ import annotations

import numpy as np
from lxml import etree

from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.joint_kinds import JOINT_KINDS
from kron_dynamics.model.poses import inverse
from kron_dynamics.model.sdf import WORLD, SdfModel, read_pose
from kron_dynamics.model.sdf_elements import look_for_misspelt
from kron_dynamics.model.sdf_properties import add_properties
from kron_dynamics.model.sdf_values import number_below, truth_below, truth_of
from kron_dynamics.model.tree import roll_pitch_yaw
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

_KINDS = ('fixed', *JOINT_KINDS)
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def sdf_robot(root: etree._Element, findings: Findings) -> etree._Element:
    """Return the element <robot> of a URDF equivalent to an SDF model, without its loops.

    The world is the root. If a joint's frame differs from its child's, an additional link with the
    joint's name has the joint's frame, and the child is fixed to it.

    Args:
        root: the element <sdf>.
        findings: collects warnings.

    Raises:
        ModelError: an element is missing, malformed or not read; the message names it.
    """
    model = SdfModel(Node('SDF', root))
    look_for_misspelt(model, findings)
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
            f'{listed(named("joint", joint.name) for joint in model.loops)} close loops and are '
            f'left out of the tree of links',
            'kd.ConstrainedRobot.described(robot, path) has them',
        )
    return robot


def _add_link(robot: etree._Element, link: Node, findings: Findings) -> None:
    made = etree.SubElement(robot, 'link', name=link.name)
    given = link.child('inertial')
    moments = None if given is None else given.child('inertia')
    if not truth_below(link, 'gravity', True):
        findings.warn(
            'other_gravity',
            named('link', link.name),
            'its <gravity> is false, which is not read: it has weight as all links',
            'remove the element if that is right',
        )
    if given is not None and truth_of(given, 'auto'):
        raise given.error('is to be found from shapes (auto), expected <mass> and <inertia>')
    if given is None or moments is None or given.child('mass') is None:
        findings.warn(
            'missing_inertia',
            named('link', link.name),
            'it has no mass or inertia; the defaults of SDF, 1 kg and 1 kg m^2, are used where '
            'they are missing',
            'give <mass> and <inertia>',
        )
    inertial = etree.SubElement(made, 'inertial')
    if given is not None:
        _refuse_other_frame(given, link)
        _add_origin(inertial, read_pose(given))
    etree.SubElement(inertial, 'mass', value=repr(number_below(given, 'mass', 1.0)))
    values = {
        key: repr(number_below(moments, key, 1.0 if key[1] == key[2] else 0.0)) for key in _MOMENTS
    }
    etree.SubElement(inertial, 'inertia', values)


def _refuse_other_frame(inertial: Node, link: Node) -> None:
    pose = inertial.child('pose')
    within = None if pose is None else pose.text('relative_to')
    if pose is not None and within not in (None, '', link.name):
        raise pose.error(
            f"of an inertial has relative_to '{clipped(str(within))}', which is not read, "
            f'expected a pose in its {named("link", link.name)}'
        )


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
        add_properties(made, joint, kind)


def _add_joint(
    robot: etree._Element, name: str, kind: str, links: tuple[str, str], model: SdfModel
) -> etree._Element:
    parent, child = links
    made = etree.SubElement(robot, 'joint', name=name, type=kind)
    etree.SubElement(made, 'parent', link=parent)
    etree.SubElement(made, 'child', link=child)
    _add_origin(made, model.pose_in(parent, child))
    return made


def _add_origin(made: etree._Element, pose: FloatArray) -> None:
    R = pose[:3, :3]
    turn = np.zeros(3) if np.array_equal(R, np.eye(3)) else np.array(roll_pitch_yaw(R))
    etree.SubElement(made, 'origin', xyz=_written(pose[:3, 3]), rpy=_written(turn))


def _written(values: FloatArray) -> str:
    return ' '.join(map(repr, values.tolist()))
