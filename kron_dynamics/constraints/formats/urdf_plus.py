# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<loop> and <coupling> of a URDF+: closed loops and gears in the robot's description.

The format: M. Chignoli et al., URDF+, arXiv 2411.19753.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.couplings import Coupling
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.formats.urdf_plus_loops import SIDES, link_at, loop_of
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.joint_kinds import JOINT_KINDS
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.xml_nodes import Node

_TRUTHS = {'true': True, 'True': True, 'false': False, 'False': False}
# Joints without a coordinate.
_STILL = ('fixed', 'floating', 'planar')


def urdf_plus_constraints(root: Node, model: RobotModel | None) -> ConstraintDescription:
    """Return the loops and couplings of a URDF+, and its independent joints.

    A coupling makes ratio times the angle of the predecessor equal to that of the successor, both
    summed over the joints from the last common link of the two.

    Args:
        root: <robot>.
        model: not used, as the file contains everything.

    Raises:
        ModelError: there is neither, or an element is missing or wrong; the message names it.
    """
    joints = {joint.needed_child('child').need('link'): joint for joint in root.children('joint')}
    links = {link.name for link in root.children('link')}
    made = [
        loop_of(node, links) if node.tag == 'loop' else _coupling(node, links, joints)
        for node in root.children('loop', 'coupling')
    ]
    if not made:
        raise root.error('has no <loop> and no <coupling>, expected some: it is a plain URDF')
    return ConstraintDescription(
        tuple(made), MappingProxyType({}), (), _independent(joints.values()), None
    )


def _coupling(node: Node, links: set[str], joints: Mapping[str, Node]) -> Constraint:
    node.allow('predecessor', 'successor', 'ratio')
    value = node.needed_child('ratio').numbers('value', 1)
    if value is None or value[0] == 0.0:
        raise node.error('has no ratio but 0, expected <ratio value="..."/> with another number')
    chains = [list(_chain(link_at(node, side, links), joints)) for side in SIDES]
    shared = {joint.name for joint in chains[0]} & {joint.name for joint in chains[1]}
    ratios = dict[str, float]()
    for chain, factor in zip(chains, (float(value[0]), -1.0), strict=True):
        for joint in chain:
            if joint.name not in shared and joint.text('type') not in _STILL:
                kind = joint.need('type')
                if kind not in JOINT_KINDS:
                    raise joint.error(
                        f"is of type '{clipped(kind)}', expected one of {listed(JOINT_KINDS)}"
                    )
                ratios[joint.name] = factor
    if not ratios:
        raise node.error('is between links with no moving joint between them')
    return Coupling(node.name, ratios)


def _chain(link: str, joints: Mapping[str, Node]) -> Iterator[Node]:
    """Yield the joints from a link to the root."""
    for _ in range(len(joints) + 1):  # a cycle of joints is reported when the robot is read
        if link not in joints:
            return
        yield joints[link]
        link = joints[link].needed_child('parent').need('link')


def _independent(joints: Iterable[Node]) -> tuple[str, ...] | None:
    """Return the joints not marked as dependent; None if no joint is marked."""
    found, said = [], False
    for joint in joints:
        text = joint.text('independent') or 'true'
        if text not in _TRUTHS:
            raise joint.error(f"has independent '{clipped(text)}', expected true or false")
        said = said or not _TRUTHS[text]
        if _TRUTHS[text] and joint.text('type') not in _STILL and joint.child('mimic') is None:
            found.append(joint.name)
    return tuple(found) if said else None
