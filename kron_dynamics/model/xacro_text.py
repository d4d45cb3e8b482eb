# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Expanding xacro, the macro language that many URDFs are written in.

xacro evaluates expressions and reads files. For security, only files that the user names are
expanded, never a text from a topic or a parameter.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType

from kron_dynamics.exceptions import ModelError
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.urdf_xml import without_declaration, xml_root
from kron_dynamics.model.xacro_arguments import GivenArguments, warn_of_unused
from kron_dynamics.model.xacro_messages import messages_of_xacro, tell_messages

# xacro keeps its state in its module, so that expansions must not run concurrently.
_LOCK = threading.Lock()


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
    try:
        root = xml_root(text, 'URDF', Findings())
    except ModelError:  # reported when the URDF is read
        return False
    return any('xacro' in element.tag for element in root.iter('*'))


def expanded(
    text: str,
    path: str | Path | None = None,
    arguments: Mapping[str, str] | None = None,
    findings: Findings | None = None,
    others: Collection[str] = (),
) -> str:
    """Return the URDF that the package `xacro` expands a text to.

    Args:
        text: xacro.
        path: its file, which relative paths of includes refer to; None: the current folder.
        arguments: values of its `<xacro:arg>` by name.
        findings: collects what xacro prints, and warnings about the XML declaration and about
            arguments that the text does not have.
        others: names of arguments that another file has.

    Raises:
        ModelError: xacro is not installed, or the text cannot be expanded; the message has
            xacro's reason.
    """
    mappings = GivenArguments(arguments or {})  # xacro adds the defaults
    findings = Findings() if findings is None else findings
    urdf = _processed(text, path, mappings, findings)
    warn_of_unused(arguments or {}, mappings.asked.union(others), findings)
    return urdf


def asked_arguments(
    text: str, path: str | Path | None, arguments: Mapping[str, str]
) -> frozenset[str]:
    """Return the names of the arguments that a text has; see `expanded`."""
    mappings = GivenArguments(arguments)
    _processed(text, path, mappings, Findings())
    return frozenset(mappings.asked)


def _processed(
    text: str, path: str | Path | None, mappings: GivenArguments, findings: Findings
) -> str:
    xacro = _imported()
    text = without_declaration(text, findings)
    failure: Exception | None = None
    with _LOCK, messages_of_xacro() as messages:
        try:
            xacro.init_stacks(None if path is None else str(path))
            document = xacro.parse(text)
            xacro.process_doc(document, mappings=mappings)
            urdf: str = document.toxml()
        except Exception as error:  # whatever an expression in the text raises
            failure = error
    if failure is not None:
        reason = _shortened(f'{type(failure).__name__}: {failure}')
        also = f'; before, it said: {_shortened(" / ".join(messages))}' if messages else ''
        raise ModelError(f'xacro cannot be expanded: {reason}{also}')
    tell_messages(messages, findings)
    return urdf


def _shortened(text: str) -> str:
    text = ' '.join(text.split())
    return text if len(text) < 400 else f'{text[:380]} ...'


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
