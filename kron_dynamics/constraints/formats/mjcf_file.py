# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of an MJCF file, with includes, defaults and compiler settings resolved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from lxml import etree

from kron_dynamics.constraints.formats.mjcf_includes import below, include_files
from kron_dynamics.constraints.formats.mjcf_orientations import TURNS, orientation
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.poses import pose_of
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.typing import FloatArray

_MAIN = 'main'  # default class of elements without one


class MjcfFile:
    """The elements of an MJCF file.

    Attributes:
        root: <mujoco>; `below` also yields elements of included files.
        degrees: whether angles are in degrees.
        orders: axes of Euler angles (eulerseq); capital letters are extrinsic (fixed) axes.
        classes: attributes of each default class, by tag.
    """

    def __init__(self, root: Node) -> None:
        """Read the included files, compiler settings and default classes.

        Raises:
            ModelError: an included file, a setting or a class cannot be read.
        """
        include_files(root, Path(root.file), {os.path.abspath(root.file)})
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
        # Repeated top-level defaults are merged.
        inherited = self.classes[above] if above is not None else self.classes.get(name, {})
        own = self.classes[name] = {tag: dict(values) for tag, values in inherited.items()}
        for child in below(default):
            if child.tag != 'default':
                values = {str(k): str(v) for k, v in child.element.attrib.items()}
                own[child.tag] = {**_without_turn(own.get(child.tag, {}), values), **values}
        for child in below(default, 'default'):
            self._read_defaults(child, name)

    def with_defaults(self, node: Node, tag: str, around: str | None = None) -> Node:
        """Return an element with its default attributes added.

        Args:
            node: the element.
            tag: tag of its defaults.
            around: childclass of the enclosing elements.

        Raises:
            ModelError: the class does not exist.
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
        """Return the pose from an element's pos and orientation, shape (4, 4), m.

        Raises:
            ModelError: they are malformed, or there are two orientations.
        """
        place = node.numbers('pos', 3)
        return pose_of(
            orientation(node, self.orders, self.degrees),
            (0.0, 0.0, 0.0) if place is None else place,
        )


def _without_turn(given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return default attributes, without the orientation if the element has its own."""
    has_turn = any(key in own for key in TURNS)
    return {key: text for key, text in given.items() if not (has_turn and key in TURNS)}
