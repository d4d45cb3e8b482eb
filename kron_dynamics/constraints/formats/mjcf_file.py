# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An MJCF file as elements: includes put in, defaults and settings of the compiler looked up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from lxml import etree

from kron_dynamics.constraints.loops import Attachment
from kron_dynamics.exceptions import ModelError
from kron_dynamics.kinematics.quaternion import rotation_of
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.poses import pose_of
from kron_dynamics.model.urdf_xml import read_xml_file, xml_root
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

_TURNS = ('quat', 'axisangle', 'euler', 'xyaxes', 'zaxis')
_MAIN = 'main'  # class of what has none


class MjcfFile:
    """The elements of an MJCF file.

    Attributes:
        root: <mujoco>; `below` looks into what it includes.
        degrees: whether angles are in degrees.
        orders: axes of Euler angles, capital letters where they stand still.
        classes: attributes that each class of defaults gives, by tag.
    """

    def __init__(self, root: Node) -> None:
        """Read what the whole file depends on.

        Raises:
            ModelError: a file that is included, a setting or a class cannot be read.
        """
        _include(root, Path(root.file), {os.path.abspath(root.file)})
        self.root = root
        settings = dict[str, str]()
        for compiler in below(root, 'compiler'):
            settings.update({str(k): str(v) for k, v in compiler.element.attrib.items()})
            if settings.get('coordinate', 'local') != 'local':
                raise compiler.error('has coordinate other than local, which is not read')
            if settings.get('angle', 'degree') not in ('degree', 'radian'):
                raise compiler.error(
                    f"has angle '{clipped(settings['angle'])}', expected degree or radian"
                )
            orders = settings.get('eulerseq', 'xyz')
            if len(orders) != 3 or set(orders.lower()) - set('xyz'):
                raise compiler.error(f"has eulerseq '{clipped(orders)}', expected such as xyz")
        self.degrees = settings.get('angle', 'degree') == 'degree'
        self.orders = settings.get('eulerseq', 'xyz')
        self.classes: dict[str, dict[str, dict[str, str]]] = {_MAIN: {}}
        for default in below(root, 'default'):
            self._read_defaults(default, None)

    def _read_defaults(self, default: Node, above: str | None) -> None:
        name = default.text('class') or (_MAIN if above is None else '')
        if not name:
            raise default.error("has no attribute 'class'")
        # What is given once more for the class of all is added.
        inherited = self.classes[above] if above is not None else self.classes.get(name, {})
        own = self.classes[name] = {tag: dict(values) for tag, values in inherited.items()}
        for child in below(default):
            if child.tag != 'default':
                values = {str(k): str(v) for k, v in child.element.attrib.items()}
                own[child.tag] = {**_without_turn(own.get(child.tag, {}), values), **values}
        for child in below(default, 'default'):
            self._read_defaults(child, name)

    def with_defaults(self, node: Node, tag: str, around: str | None = None) -> Node:
        """Return an element with the attributes that defaults give it.

        Args:
            node: the element.
            tag: in the defaults.
            around: class of the elements around it.

        Raises:
            ModelError: there is no such class.
        """
        name = node.text('class') or around or _MAIN
        if name not in self.classes:
            raise node.error(
                f"has the class '{clipped(name)}', expected one of {listed(self.classes)}"
            )
        values = {str(k): str(v) for k, v in node.element.attrib.items()}
        given = _without_turn(self.classes[name].get(tag, {}), values)
        made = etree.Element(node.tag, {**given, **values})
        made.sourceline = min(node.element.sourceline or 0, 65535)
        return Node(node.file, made)

    def angle(self, value: float) -> float:
        """Return an angle of the file in rad."""
        return float(np.deg2rad(value)) if self.degrees else value

    def pose(self, node: Node) -> FloatArray:
        """Return the pose that an element's pos and orientation give, shape (4, 4), m.

        Raises:
            ModelError: they are malformed, or there are two orientations.
        """
        place = node.numbers('pos', 3)
        return pose_of(self._rotation(node), (0.0, 0.0, 0.0) if place is None else place)

    def _rotation(self, node: Node) -> FloatArray:
        given = [key for key in _TURNS if node.text(key) is not None]
        if len(given) > 1:
            raise node.error(f'has the orientations {listed(given)}, expected one')
        if not given:
            return np.eye(3)
        key = given[0]
        counts = {'quat': 4, 'axisangle': 4, 'euler': 3, 'xyaxes': 6, 'zaxis': 3}
        values = node.numbers(key, counts[key])
        assert values is not None
        axes = values[:3], values[3:] if key == 'xyaxes' else values
        if key != 'euler' and not all(axis.any() for axis in axes):
            raise node.error(f"has {key} '{clipped(node.need(key))}', expected a direction")
        if key == 'quat':
            return quaternion_rotation(values)
        if key == 'axisangle':
            return _turn(values[:3], self.angle(float(values[3])))
        if key == 'zaxis':
            return Attachment('', axis=(values[0], values[1], values[2])).rotation()
        if key == 'euler':
            R = np.eye(3)
            for order, value in zip(self.orders, values, strict=True):
                turn = _turn(np.eye(3)['xyz'.index(order.lower())], self.angle(float(value)))
                R = R @ turn if order.islower() else turn @ R
            return R
        x = values[:3] / np.linalg.norm(values[:3])
        y = values[3:] - (values[3:] @ x) * x
        y /= np.linalg.norm(y)
        return np.column_stack([x, y, np.cross(x, y)])


def quaternion_rotation(values: FloatArray) -> FloatArray:
    """Return the rotation of MJCF's quaternion w x y z of any length, shape (3, 3)."""
    w, x, y, z = values / np.linalg.norm(values)
    return np.asarray(rotation_of(np.array([x, y, z, w])), dtype=np.float64)


def _turn(axis: FloatArray, angle: float) -> FloatArray:
    half = angle / 2
    direction = axis / np.linalg.norm(axis) * np.sin(half)
    return np.asarray(rotation_of(np.array([*direction, np.cos(half)])), dtype=np.float64)


def _without_turn(given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Defaults without their orientation where an element has one of its own."""
    has_turn = any(key in own for key in _TURNS)
    return {key: text for key, text in given.items() if not (has_turn and key in _TURNS)}


def below(node: Node, *tags: str) -> Iterator[Node]:
    """Yield the elements below one, those of included files in the place of <include>."""
    for child in node.children():
        if child.tag == 'include':
            yield from below(Node(child.need('file'), child.element), *tags)
        elif not tags or child.tag in tags:
            yield child


def _include(root: Node, main: Path, seen: set[str]) -> None:
    """Put the contents of included files into each <include>, with the path that was found."""
    for element in list(root.element.iter('include')):
        node = Node(root.file, element)
        name = node.need('file')
        # MuJoCo's order: beside the main file, then beside the one that includes.
        places = [folder / name for folder in (main.parent, Path(root.file).parent)]
        path = next((place for place in places if place.is_file()), places[0])
        if os.path.abspath(path) in seen:
            raise node.error(f"includes the file '{clipped(name)}' again, expected it once")
        seen.add(os.path.abspath(path))
        try:
            part = Node(str(path), xml_root(read_xml_file(path, 'MJCF'), 'it', Findings()))
        except ModelError as error:
            raise node.error(f"has file '{clipped(name)}': {error}") from None
        _include(part, main, seen)
        element.set('file', str(path))
        element.extend(list(part.element))
