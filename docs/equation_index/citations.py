# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations that functions and tests cite, such as ``[T] eqs. (77)-(82), (88)``."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

# What only files with citations have: parsing others takes seconds.
_PAPER = re.compile(r'\[[TPNK]\]')
_NUMBER = r'\((?:[AB]-)?\d+\)'
_CITATION = re.compile(
    rf'\[([TPNK])\]\s+(?:eqs?\.\s+)?({_NUMBER}(?:(?:\s*-\s*|[,;]?\s+(?:and\s+)?){_NUMBER})*)'
)


class Equation(NamedTuple):
    """A number in a paper, such as (T, 101) or (P, A-6)."""

    paper: str
    number: str


class Place(NamedTuple):
    """Where an equation is cited.

    Attributes:
        name: name of the function, class, module or test.
        path: path of its file, relative to the root.
    """

    name: str
    path: str


def equations_in(text: str) -> set[Equation]:
    """Return the equations that a text cites, with all equations of ranges."""
    found = set()
    for paper, numbers in _CITATION.findall(text):
        for first, last in re.findall(r'\(([^)]+)\)(?:\s*-\s*\(([^)]+)\))?', numbers):
            for number in _range(first, last or first):
                found.add(Equation(paper, number))
    return found


def _range(first: str, last: str) -> Iterator[str]:
    letters, digits = re.fullmatch(r'([AB]-)?(\d+)', first).groups()
    end = re.fullmatch(r'([AB]-)?(\d+)', last)
    if end[1] != letters or int(end[2]) < int(digits):
        raise ValueError(f'({first})-({last}) is no range')
    for number in range(int(digits), int(end[2]) + 1):
        yield f'{letters or ""}{number}'


def citing_functions(root: Path = ROOT) -> dict[Equation, list[Place]]:
    """Return the citations in docstrings of the package and of the pages' generators."""
    found = defaultdict(list)
    for folder, above in (('kron_dynamics', root), ('docs/papers', root / 'docs/papers')):
        for path in sorted((root / folder).rglob('*.py')):
            module = '.'.join(path.relative_to(above).with_suffix('').parts)
            text = path.read_text(encoding='utf-8')
            if not _PAPER.search(text):
                continue
            tree = ast.parse(text)
            for name, node in _documented(tree, module.removesuffix('.__init__')):
                for equation in equations_in(ast.get_docstring(node) or ''):
                    found[equation].append(Place(name, str(path.relative_to(root))))
    return found


def citing_tests(root: Path = ROOT) -> dict[Equation, list[Place]]:
    """Return the citations in docstrings and comments of tests."""
    found = defaultdict(list)
    for path in sorted((root / 'test').rglob('test_*.py')):
        text = path.read_text(encoding='utf-8')
        if not _PAPER.search(text):
            continue
        source_lines = text.split('\n')
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
                source = '\n'.join(source_lines[node.lineno - 1 : node.end_lineno])
                # A citation may be wrapped within a comment.
                source = source.replace('\n    # ', ' ')
                for equation in equations_in(source):
                    found[equation].append(Place(node.name, str(path.relative_to(root))))
    return found


_Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def _documented(node: _Documented, name: str) -> Iterator[tuple[str, _Documented]]:
    yield name, node
    for child in node.body:
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield from _documented(child, f'{name}.{child.name}')
