# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text, and what is wrong with the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .citations import Equation, Place, citing_functions, citing_tests
from .papers import PAPERS, Paper

INTRODUCTION = """\
<!-- Made by `python -m equation_index` in docs; a test makes it again and compares. -->

# Equations of the papers, and who computes and tests them

A function computes an equation where its docstring cites it, and a test tries it where it cites
it: `[T] eq. (101)`. *Done*: computed as printed. *Corrected*: computed, but a misprint of the
paper or of its transcriptions is put right ([T](papers/tuan-2019.md), [P](papers/parsa-2007.md),
[N](papers/negrean-2012.md), [K](papers/khang-2019.md)).
*No computation*: a definition, or a step towards another equation.
"""
DONE, CORRECTED, NO_COMPUTATION = 'done', 'corrected', 'no computation'

Citations = Mapping[Equation, list[Place]]


@dataclass(frozen=True)
class Line:
    """One equation.

    Attributes:
        equation: paper and number.
        functions: that cite it.
        tests: that cite it.
        status: one of three.
        note: what is corrected, or why it is not computed.
    """

    equation: Equation
    functions: list[Place]
    tests: list[Place]
    status: str
    note: str


def lines(by_functions: Citations, by_tests: Citations) -> Iterator[Line]:
    """Yield all equations of all papers."""
    for letter, paper in PAPERS.items():
        for number in paper.numbers:
            equation = Equation(letter, number)
            status, note = _status(paper, number)
            yield Line(
                equation,
                by_functions.get(equation, []),
                by_tests.get(equation, []),
                status,
                note,
            )


def _status(paper: Paper, number: str) -> tuple[str, str]:
    tables = (
        (CORRECTED, paper.corrected),
        (NO_COMPUTATION, paper.no_computation),
    )
    for status, table in tables:
        note = paper.note(table, number)
        if note is not None:
            return status, note
    return DONE, ''


def complaints(by_functions: Citations, by_tests: Citations) -> list[str]:
    """Return what is wrong: numbers that do not exist, equations that nobody computes or tests."""
    known = {Equation(letter, n) for letter, paper in PAPERS.items() for n in paper.numbers}
    found = [
        f'{place.path}: {place.name} cites [{equation.paper}] ({equation.number}), '
        'which does not exist'
        for citations in (by_functions, by_tests)
        for equation, places in citations.items()
        if equation not in known
        for place in places
    ]
    for line in lines(by_functions, by_tests):
        name = f'[{line.equation.paper}] ({line.equation.number})'
        if line.status in (DONE, CORRECTED):
            found += [
                f'{name} is {line.status}, but no {who} cites it'
                for who, places in (('function', line.functions), ('test', line.tests))
                if not places
            ]
    return found


def page() -> str:
    """Return the page."""
    by_functions, by_tests = citing_functions(), citing_tests()
    parts = [INTRODUCTION]
    for letter, paper in PAPERS.items():
        own = [line for line in lines(by_functions, by_tests) if line.equation.paper == letter]
        counts = [
            f'{sum(line.status == status for line in own)} {status}'
            for status in (DONE, CORRECTED, NO_COMPUTATION)
        ]
        parts.append(f'## [{letter}]\n\n{paper.title}: {", ".join(counts)}.\n')
        parts.append(_table(own))
    return '\n'.join(parts)


def _table(own: list[Line]) -> str:
    rows = ['| equation | status | functions | tests |', '| --- | --- | --- | --- |']
    for line in own:
        status = f'{line.status}: {line.note}' if line.note else line.status
        cells = (f'({line.equation.number})', status, _links(line.functions), _links(line.tests))
        rows.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(rows) + '\n'


def _links(places: list[Place]) -> str:
    return ', '.join(
        f'[{place.name.split(".", 1)[-1]}](../{place.path})'.replace('](../docs/', '](')
        for place in places
    )
