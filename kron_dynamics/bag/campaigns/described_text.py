# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a description says, with all that it takes from other files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lxml import etree

from kron_dynamics.constraints.description import FROM
from kron_dynamics.constraints.formats.mjcf_includes import include_files
from kron_dynamics.model.entries import read_yaml
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.urdf_xml import read_xml_file, xml_root
from kron_dynamics.model.xacro_text import expanded, is_xacro
from kron_dynamics.model.xml_nodes import Node

_BEFORE = '\ufeff \t\r\n'  # characters that may stand before the first element


def described_text(file: Path) -> str:
    """Return the text of a description; it changes whenever one of its files does.

    xacro is expanded, files that an MJCF includes are in the place of the <include>, and the file
    that a description of constraints complements follows it.

    Args:
        file: description of a robot, of flexible links or of constraints.

    Raises:
        ModelError: a file cannot be read or expanded.
    """
    text = read_xml_file(file, 'description')
    if is_xacro(text, file):
        text = expanded(text, file)
    if text.lstrip(_BEFORE).startswith('<'):
        return _with_includes(text, file) if '<mujoco' in text else text
    values = read_yaml(file)
    other = values.get(FROM) if isinstance(values, Mapping) else None
    # Such a file cannot name another in turn.
    path = file.parent / other if isinstance(other, str) else file
    return text if path.resolve() == file.resolve() else f'{text}\n{_named(path)}'


def _named(path: Path) -> str:
    """Return the text of a file that another one complements."""
    text = read_xml_file(path, 'description')
    return described_text(path) if text.lstrip(_BEFORE).startswith('<') else text


def _with_includes(text: str, file: Path) -> str:
    """Return an MJCF with the files that it includes."""
    root = Node(str(file), xml_root(text, 'it', Findings()))
    if etree.QName(root.element).localname == 'mujoco':
        include_files(root, file, {os.path.abspath(file)})
    return str(etree.tostring(root.element, encoding='unicode'))
