# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests a module is held against: a rule of names, so that files can be moved."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_COMMON = 10


def mirrors(root: Path, module: Path) -> list[Path]:
    """Return the files and folders of tests that have a module's name.

    ``kron_dynamics/control/reference/limits.py`` is mirrored by every ``test_limits.py`` and every
    folder ``limits`` under ``test/``; where several rooms have one of that name, by those of its
    own.

    Args:
        root: of the repository.
        module: path of the module, from root.
    """
    wanted = {f'test_{module.stem}.py', module.stem}
    found = sorted(
        path.relative_to(root)
        for path in (root / 'test').rglob('*')
        if path.name in wanted and (path.suffix == '.py' or _has_tests(path))
    )
    rooms = set(module.parts[1:-1])
    return [path for path in found if rooms & set(path.parts)] or found


def broader(root: Path, module: Path) -> list[Path]:
    """Return further tests: the room's, and those that mention what the module defines.

    Names that more than `_COMMON` files of tests mention say nothing of where their tests are.
    """
    known = mirrors(root, module)
    others = {
        path.relative_to(root): set(re.findall(r'\w+', path.read_text(encoding='utf-8')))
        for path in sorted((root / 'test').rglob('test_*.py'))
        if not any(path.relative_to(root).is_relative_to(one) for one in known)
    }
    near = [path for path in others if module.parts[1] in path.parts]
    mentions = [
        [path for path, words in others.items() if name in words and 'ros' not in path.parts]
        for name in _public_names(root / module)
    ]
    far = {path for paths in mentions if len(paths) <= _COMMON for path in paths}
    return [*near, *sorted(far.difference(near))]


def _has_tests(path: Path) -> bool:
    return path.is_dir() and any(path.rglob('test_*.py'))


def _public_names(module: Path) -> list[str]:
    """Names that a module defines, its own one with them."""
    body = ast.parse(module.read_text(encoding='utf-8')).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in body if isinstance(node, kinds)]
    return [module.stem, *(name for name in names if not name.startswith('_'))]
