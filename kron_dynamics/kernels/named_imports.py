# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the modules that the text of a user's module imports, and their files."""

from __future__ import annotations

import sys
from pathlib import Path

from kron_dynamics.kernels.late_imports import IMPORTING

# Folders of installed libraries.
_LIBRARIES = ('site-packages', 'dist-packages')


def named_imports(text: str, package: str) -> set[str]:
    """Return the modules that a module in a package may import, and their parent packages.

    Those of the standard library are left out: they are parts of a Python version. So are those
    that functions import by name.
    """
    with IMPORTING:
        import ast  # takes time, and is needed only for equations of users

    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError):  # no source, as of an extension
        return set()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = absolute('.' * node.level + (node.module or ''), package)
            found |= {base, *(f'{base}.{alias.name}' for alias in node.names)}
    named = {
        '.'.join(words[:count])
        for words in (name.split('.') for name in found if name)
        for count in range(1, len(words) + 1)
    }
    return {name for name in named if top_level(name) not in sys.stdlib_module_names}


def absolute(name: str, package: str) -> str:
    """Return the absolute name of a module that is imported in a package, relative or not."""
    dots = len(name) - len(name.lstrip('.'))
    if dots == 0:
        return name
    around = package.split('.')
    return '.'.join([*around[: len(around) - dots + 1], *filter(None, [name[dots:]])])


def top_level(module: str) -> str:
    """Return the name of a module's outermost package."""
    return module.partition('.')[0]


def is_library(file: str | None) -> bool:
    """Return whether a module's file is part of an installed library."""
    return file is not None and any(folder in Path(file).parts for folder in _LIBRARIES)


def file_of(module: str) -> str | None:
    """Return the file of an imported module of another package, or None.

    A program that is read from standard input is in no file, though it names one.
    """
    file: str | None = getattr(sys.modules.get(module), '__file__', None)
    return None if file == '<stdin>' else file
