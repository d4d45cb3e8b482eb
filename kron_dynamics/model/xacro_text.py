# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Expanding xacro, the macro language that many URDFs are written in.

xacro evaluates expressions and reads files. For security, only files that the user names are
expanded, never a text from a topic or a parameter.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings

# xacro keeps its state in its module, so that expansions must not run concurrently.
_LOCK = threading.Lock()


class _Arguments(dict[str, str]):
    """Values of arguments, and the names that xacro looked up: it ignores all others silently."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:  # at the declaration of an argument
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:  # at its use
        self.asked.add(name)
        return super().__getitem__(name)


def is_xacro(text: str, path: str | Path | None = None) -> bool:
    """Return whether a description is xacro and has to be expanded first.

    Args:
        text: URDF, or xacro.
        path: its file, if any; the extension `.xacro` decides.
    """
    if path is not None and str(path).endswith('.xacro'):
        return True
    if 'xacro' not in text:
        return False
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    try:
        root = etree.fromstring(text.strip().encode(), parser)
    except (etree.XMLSyntaxError, ValueError):  # reported when the URDF is read
        return False
    return any('xacro' in element.tag for element in root.iter('*'))


def expanded(
    text: str,
    path: str | Path | None = None,
    arguments: Mapping[str, str] | None = None,
    findings: Findings | None = None,
) -> str:
    """Return the URDF that the package `xacro` expands a text to.

    Args:
        text: xacro.
        path: its file, which relative paths of includes refer to; None: the current folder.
        arguments: values of its `<xacro:arg>` by name.
        findings: collects a warning for each argument that the text does not have.

    Raises:
        ModelError: xacro is not installed, or the text cannot be expanded; the message has
            xacro's reason.
    """
    xacro = _imported()
    mappings = _Arguments(arguments or {})  # xacro adds the defaults
    said = io.StringIO()
    with _LOCK, contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            xacro.init_stacks(None if path is None else str(path))
            document = xacro.parse(text)
            xacro.process_doc(document, mappings=mappings)
            urdf: str = document.toxml()
        except Exception as error:  # whatever an expression in the text raises
            reason = ' '.join(f'{type(error).__name__}: {error}'.split())
            reason = reason if len(reason) < 400 else f'{reason[:380]} ...'
            raise ModelError(f'xacro cannot be expanded: {reason}') from None
    if findings is not None:
        for name in sorted(set(arguments or {}) - mappings.asked):
            _warn(name, mappings.asked, findings)
    return urdf


def _warn(name: str, asked: set[object], findings: Findings) -> None:
    """Warn about a given argument without effect."""
    has = ', '.join(sorted(clipped(str(known)) for known in asked))
    findings.warn(
        'unused_xacro_argument',
        f"xacro argument '{clipped(name)}'",
        f'is given, and the file has {f"{has} only" if has else "no arguments"}',
        'correct its name, or remove it',
    )


def _imported() -> ModuleType:
    try:
        import xacro
    except ImportError:
        raise ModelError(
            'the description is xacro, and the Python package xacro is not installed: install it '
            '(pip install xacro, or ros-<distro>-xacro), or expand the file yourself'
        ) from None
    module: ModuleType = xacro
    return module
