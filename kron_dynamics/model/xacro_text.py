# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Expanding xacro, the macro language that many URDFs are written in.

xacro evaluates expressions and reads files: only what the user names is expanded, never a text
that came by a topic or a parameter.
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

# xacro keeps its state in its module.
_LOCK = threading.Lock()


def is_xacro(text: str, path: str | Path | None = None) -> bool:
    """Return whether a description is to be expanded first.

    Args:
        text: URDF, or xacro.
        path: its file, if it comes from one: `.xacro` at the end says so.
    """
    if path is not None and str(path).endswith('.xacro'):
        return True
    if 'xacro' not in text:
        return False
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    try:
        root = etree.fromstring(text.strip().encode(), parser)
    except (etree.XMLSyntaxError, ValueError):  # told where the URDF is read
        return False
    return any('xacro' in element.tag for element in root.iter('*'))


def expanded(
    text: str, path: str | Path | None = None, arguments: Mapping[str, str] | None = None
) -> str:
    """Return the URDF that a xacro text is expanded to, by the package `xacro`.

    Args:
        text: xacro.
        path: its file, which relative paths of includes start from; None: the current folder.
        arguments: values of its `<xacro:arg>` by name.

    Raises:
        ModelError: xacro is not installed, or the text cannot be expanded; the message has
            xacro's reason.
    """
    xacro = _imported()
    mappings = dict(arguments or {})  # xacro adds defaults to it
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
    return urdf


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
