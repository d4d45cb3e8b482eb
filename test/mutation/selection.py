# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the tests for a module by name, so that files can be moved."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_COMMON = 10  # names in more test files, and modules with more importers, are ignored


def mirrors(root: Path, module: Path) -> list[Path]:
    """Return the files and folders of tests that have a module's name.

    ``kron_dynamics/control/reference/limits.py`` is mirrored by every ``test_limits.py`` and every
    folder ``limits`` under ``test/``; if its subpackage has tests, only by those.

    Args:
        root: root of the repository.
        module: path of the module, relative to `root`.
    """
    wanted = {f'test_{module.stem}.py', module.stem}
    found = sorted(
        path.relative_to(root)
        for path in (root / 'test').rglob('*')
        if path.name in wanted and (path.suffix == '.py' or _has_tests(path))
    )
    rooms = set(module.parts[1:-1])
    own = [path for path in found if rooms & set(path.parts)]
    return own if own or (root / 'test' / module.parts[1]).is_dir() else found


def broader(root: Path, module: Path) -> list[Path]:
    """Return further tests: of the subpackage, of users, and those that mention its names.

    Tests of the subpackage come first, those of the module's own folder before the others. Users
    are modules of other subpackages that import the module; their tests are those named like them
    and those of their folders. Names mentioned in more than `_COMMON` test files, and modules
    imported by more than `_COMMON` others, are ignored: they do not indicate the relevant tests.
    """
    known = mirrors(root, module)
    others = {
        path.relative_to(root): set(re.findall(r'\w+', path.read_text(encoding='utf-8')))
        for path in sorted((root / 'test').rglob('test_*.py'))
        if not any(path.relative_to(root).is_relative_to(one) for one in known)
    }
    near = [path for path in others if module.parts[1] in path.parts]
    near.sort(key=lambda path: -len(set(module.parts[1:-1]) & set(path.parts)))
    mentions = [
        [path for path, words in others.items() if name in words and 'ros' not in path.parts]
        for name in _public_names(root / module)
    ]
    far = {path for paths in mentions if len(paths) <= _COMMON for path in paths}
    users = _importers(root, module)
    for user in users if len(users) <= _COMMON else []:
        folder = Path('test', *user.parts[1:-1])
        theirs = [*mirrors(root, user), *([folder] if len(user.parts) > 2 else [])]
        far.update(path for path in others if any(path.is_relative_to(one) for one in theirs))
    return [*near, *sorted(far.difference(near))]


def _importers(root: Path, module: Path) -> list[Path]:
    """Return modules of other subpackages that import a module, except nodes: slow tests."""
    name = re.escape('.'.join(module.with_suffix('').parts))
    found = re.compile(rf'^ *from {name} import|^ *import {name}\b', re.MULTILINE)
    paths = [path.relative_to(root) for path in (root / 'kron_dynamics').rglob('*.py')]
    rooms = {'ros', module.parts[1]}
    return [
        path
        for path in sorted(paths)
        if path.parts[1] not in rooms and found.search((root / path).read_text(encoding='utf-8'))
    ]


def _has_tests(path: Path) -> bool:
    return path.is_dir() and any(path.rglob('test_*.py'))


def _public_names(module: Path) -> list[str]:
    """Return the public names that a module defines, and its own name."""
    body = ast.parse(module.read_text(encoding='utf-8')).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in body if isinstance(node, kinds)]
    return [module.stem, *(name for name in names if not name.startswith('_'))]
