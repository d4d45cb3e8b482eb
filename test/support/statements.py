# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The statements of a Python file, which are few beside its expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path


def statements(path: Path) -> Iterator[ast.AST]:
    """Yield all statements of a file, also those inside functions, classes and other statements.

    Args:
        path: the file.
    """
    yield from _within(ast.parse(path.read_text(encoding='utf-8')).body)


def _within(block: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in block:
        yield node
        for part in ('body', 'handlers', 'orelse', 'finalbody', 'cases'):
            yield from _within(getattr(node, part, ()))
