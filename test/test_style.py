# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import functools
import os
import statistics
from pathlib import Path

from statements import statements

ROOT = Path(__file__).parents[1]
HEADER = [
    'Copyright 2026 The kron_dynamics Authors',
    'SPDX-License-Identifier: Apache-2.0',
]
COMMENT = {'.py': '# ', '.sh': '# ', '.cmake': '# ', '.c': '// '}
MADE = {'.venv', 'build', 'install', 'log', '__pycache__'}


@functools.cache
def source_files() -> list[Path]:
    """Every source file of the repository that is not made by a tool."""
    found = list[Path]()
    for folder, folders, files in os.walk(ROOT):
        top = Path(folder) == ROOT
        folders[:] = {name for name in folders if not (top and name.startswith('.'))} - MADE
        found += [Path(folder, name) for name in files if not (top and name.startswith('.'))]
    return sorted(path for path in found if path.suffix in COMMENT)


def of_package() -> list[Path]:
    """Those of the package."""
    return [path for path in source_files() if path.parts[len(ROOT.parts)] == 'kron_dynamics']


def lines(path: Path) -> list[str]:
    return path.read_text(encoding='utf-8').splitlines()


def test_files_are_found() -> None:
    names = {str(path.relative_to(ROOT)) for path in source_files()}
    assert {'setup.py', 'kron_dynamics/robot.py', 'test/test_style.py'} <= names
    assert len(of_package()) > 40


def test_no_file_is_longer_than_400_lines() -> None:
    long = {str(path.relative_to(ROOT)): len(lines(path)) for path in source_files()}
    assert {name: count for name, count in long.items() if count > 400} == {}


def test_half_of_the_files_have_at_most_130_lines() -> None:
    assert statistics.median(len(lines(path)) for path in of_package()) <= 130


def test_at_most_six_functions_have_more_than_60_lines() -> None:
    functions = {
        f'{path.relative_to(ROOT)}: {node.name}': (node.end_lineno or 0) - node.lineno + 1
        for path in of_package()
        if path.suffix == '.py'
        for node in statements(path)
        if isinstance(node, ast.FunctionDef)
    }
    assert len(functions) > 1000
    assert len([name for name, count in functions.items() if count > 60]) <= 6, functions


def test_licence_header() -> None:
    without = []
    for path in source_files():
        top = lines(path)[:3]
        if top and top[0].startswith('#!'):
            top = top[1:]
        if top[:2] != [COMMENT[path.suffix] + line for line in HEADER]:
            without.append(str(path.relative_to(ROOT)))
    assert without == []
