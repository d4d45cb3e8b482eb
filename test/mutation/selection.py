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
    folder ``limits`` under ``test/``; where its room has tests, by those of its own room alone.

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
    own = [path for path in found if rooms & set(path.parts)]
    return own if own or (root / 'test' / module.parts[1]).is_dir() else found


def broader(root: Path, module: Path) -> list[Path]:
    """Return further tests: the room's, and those that mention what the module defines or use it.

    Those of the room come with the module's own folder first. Tests use a module by those that
    import it in another room: their own and those of their folders. Names that more than `_COMMON`
    files of tests mention, and modules that more than these import, say nothing of where their
    tests are.
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
    """Modules of other rooms that import a module; nodes are left out, whose tests take long."""
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
    """Names that a module defines, its own one with them."""
    body = ast.parse(module.read_text(encoding='utf-8')).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in body if isinstance(node, kinds)]
    return [module.stem, *(name for name in names if not name.startswith('_'))]
