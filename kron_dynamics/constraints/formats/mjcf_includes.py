# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""<include> of MJCF: elements of other files in the place of the <include>."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.urdf_xml import read_xml_file, xml_root
from kron_dynamics.model.xml_nodes import Node


def below(node: Node, *tags: str) -> Iterator[Node]:
    """Yield the child elements, with those of included files in the place of <include>."""
    for child in node.children():
        if child.tag == 'include':
            yield from below(Node(child.need('file'), child.element), *tags)
        elif not tags or child.tag in tags:
            yield child


def include_files(root: Node, main: Path, seen: set[str]) -> None:
    """Insert the contents of included files into each <include>, and set its `file` to the path.

    Args:
        root: <mujoco> of the including file.
        main: path of the main file.
        seen: absolute paths of the files already read.

    Raises:
        ModelError: a file cannot be read, or is included twice.
    """
    for element in list(root.element.iter('include')):
        node = Node(root.file, element)
        name = node.need('file')
        # MuJoCo's search order: the folder of the main file, then that of the including file.
        places = [folder / name for folder in (main.parent, Path(root.file).parent)]
        path = next((place for place in places if place.is_file()), places[0])
        if os.path.abspath(path) in seen:
            raise node.error(f"includes the file '{clipped(name)}' again, expected it once")
        seen.add(os.path.abspath(path))
        try:
            part = Node(str(path), xml_root(read_xml_file(path, 'MJCF'), 'it', Findings()))
        except ModelError as error:
            raise node.error(f"has file '{clipped(name)}': {error}") from None
        include_files(part, main, seen)
        element.set('file', str(path))
        element.extend(list(part.element))
