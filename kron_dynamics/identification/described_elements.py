# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of a URDF into which identified parameters are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.urdf_xml import is_read, xml_root


class DescribedElements(NamedTuple):
    """Elements of a URDF, its comments included.

    Attributes:
        root: the element <robot>.
        joints: elements of the joints by name.
        links: elements of the links by name.
    """

    root: etree._Element
    joints: dict[str, etree._Element]
    links: dict[str, etree._Element]


def described_elements(text: str, model: RobotModel) -> DescribedElements:
    """Return the elements of the joints and links of a model.

    Args:
        text: the URDF that the model was loaded from, xacro expanded.
        model: the robot as described.

    Raises:
        ModelError: the text is not a URDF with the joints and links of the model.
    """
    root = xml_root(text, 'URDF', Findings(), is_whole=True)
    tag = etree.QName(root).localname
    if tag != 'robot':
        raise ModelError(
            f'the description has the root element <{tag}>, expected <robot>: identified '
            f'parameters are written into a URDF'
        )
    joints, links = (
        {each.get('name'): each for each in read_children(root, tag)} for tag in ('joint', 'link')
    )
    moved = [joint.name for joint in model.joints]
    for tag, found, names in (('joint', joints, moved), ('link', links, model.link_names)):
        missing = [name for name in names if name not in found]
        if missing:
            raise ModelError(f'the URDF has no {named(tag, missing[0])}')
    return DescribedElements(root, joints, links)


def read_children(parent: etree._Element, *tags: str) -> Iterator[etree._Element]:
    """Yield the children that count for the robot, not those of other namespaces.

    Args:
        parent: an element.
        tags: names of the children.
    """
    yield from filter(is_read, parent.iterchildren(*(f'{{*}}{tag}' for tag in tags)))
