# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`read_constraints`: reader of constraint descriptions in several formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from lxml import etree

from kron_dynamics.constraints.description import (
    FROM,
    ConstraintDescription,
    described_constraints,
)
from kron_dynamics.constraints.formats import gepetto
from kron_dynamics.constraints.formats.mjcf import mjcf_constraints
from kron_dynamics.constraints.formats.sdf import sdf_constraints
from kron_dynamics.constraints.formats.urdf_plus import urdf_plus_constraints
from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.entries import Entries, read_document, read_yaml
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.urdf_xml import read_xml_file, xml_root
from kron_dynamics.model.xacro_text import asked_arguments, expanded, is_xacro
from kron_dynamics.model.xml_nodes import Node

_TITLE = 'description of constraints'
# Bytes allowed before the first element: byte order marks, zero bytes of UTF-16, white space.
_BEFORE = b'\xef\xbb\xbf\xff\xfe\x00 \t\r\n'
_Reader = Callable[[Node, RobotModel | None], ConstraintDescription]
_ROOTS: Mapping[str, _Reader] = {
    'robot': urdf_plus_constraints,
    'mujoco': mjcf_constraints,
    'sdf': sdf_constraints,
}


def read_constraints(
    source: str | Path | Mapping[str, object],
    model: RobotModel | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> ConstraintDescription:
    """Return the constraints of a description.

    The format is determined from the contents, not from the file's name:

    - YAML with a key `constraints`: this package's own; with a key `from`, the path of a file in
      any of these formats, it complements that file, with `start` for example;
    - YAML with a key `closed_loop`: Gepetto's robot.yaml, as in example-parallel-robots;
    - XML with the root <mujoco>: the <equality> of an MJCF file, whose bodies are the links;
    - XML with the root <robot>: <loop> and <coupling> of a URDF+ (arXiv 2411.19753);
    - XML with the root <sdf>: joints of an SDF model whose child has another joint as well.

    Args:
        source: path of a file, or the contents of a YAML file.
        model: model of the constrained robot, for formats that refer to joint frames, the world
            or poses of bodies.
        xacro_args: values of xacro arguments by name; those that no file has are ignored.

    Raises:
        ModelError: the file cannot be read, is in none of these formats, or an entry is unknown,
            missing or wrong; the message names file and entry.
        ConstraintError: the values of a constraint are invalid; the message names it.
    """
    if isinstance(source, (str, Path)) and _is_xml(Path(source)):
        return _from_xml(Path(source), model, xacro_args)
    file, values = read_document(source, _TITLE)
    if isinstance(values, Mapping) and gepetto.LOOPS in values:
        return gepetto.gepetto_constraints(file, values, model)
    found = described_constraints(file, values)
    if not isinstance(values, Mapping) or FROM not in values:
        return found
    taken = read_constraints(_named(source, Entries(file, '', values)), model, xacro_args)
    return ConstraintDescription(
        taken.constraints + found.constraints,
        MappingProxyType({**taken.start, **found.start}),
        found.hold or taken.hold,
        taken.independent if found.independent is None else found.independent,
        taken.actuated if found.actuated is None else found.actuated,
    )


def xacro_arguments(
    source: str | Path | Mapping[str, object], values: Mapping[str, str]
) -> frozenset[str] | None:
    """Return the names of a description's xacro arguments; None if it is not xacro.

    Args:
        source: as for `read_constraints`.
        values: values of arguments by name.

    Raises:
        ModelError: the file cannot be read or expanded.
    """
    if isinstance(source, (str, Path)) and _is_xml(Path(source)):
        text = read_xml_file(source, _TITLE.capitalize())
        return asked_arguments(text, source, values) if is_xacro(text, source) else None
    file, found = read_document(source, _TITLE)
    if not isinstance(found, Mapping) or FROM not in found:
        return None
    return xacro_arguments(_named(source, Entries(file, '', found)), values)


def _named(source: str | Path | Mapping[str, object], document: Entries) -> Path:
    """Return the path of the file that a description complements, relative to its own."""
    folder = Path() if isinstance(source, Mapping) else Path(source).parent
    name = document.get(FROM)
    if not isinstance(name, str):
        raise document.wrong(FROM, 'the path of a file')
    path = folder / name
    if not _is_xml(path):
        inner = read_yaml(path)
        if isinstance(inner, Mapping) and FROM in inner:
            raise document.error(FROM, f"names '{clipped(name)}', which names a file in turn")
    return path


def _is_xml(path: Path) -> bool:
    if path.is_fifo():
        place = clipped(str(path))
        raise ModelError(f'{place}: it is a pipe, expected a file, which is read several times')
    try:
        with path.open('rb') as file:
            return file.read(4096).lstrip(_BEFORE).startswith(b'<')
    except (OSError, ValueError):  # reported when the file is read
        return False


def _from_xml(
    path: Path, model: RobotModel | None, xacro_args: Mapping[str, str] | None
) -> ConstraintDescription:
    text = read_xml_file(path, _TITLE.capitalize())
    file = clipped(str(path))
    try:
        if is_xacro(text, path):
            text = expanded(text, path, xacro_args)
        root = xml_root(text, 'it', Findings())
    except ModelError as error:
        raise ModelError(f'{file}: {error}') from None
    reader = _ROOTS.get(etree.QName(root).localname)
    if reader is None:
        expected = ', '.join(f'<{tag}>' for tag in _ROOTS)
        raise ModelError(
            f'{file}: has the root element <{clipped(root.tag)}>, expected one of {expected}'
        )
    for element in root.iter('*'):
        if element.prefix is None:
            element.tag = etree.QName(element).localname
    return reader(Node(file, root), model)
