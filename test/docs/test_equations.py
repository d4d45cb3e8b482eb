# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/equations.md is what its generator writes, and every equation is accounted for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from equation_index.citations import Equation, Place, citing_functions, citing_tests, equations_in
from equation_index.page import CORRECTED, DONE, complaints, lines, page
from equation_index.papers import PAPERS

DOCS = Path(__file__).parents[2] / 'docs'
Citations = dict[Equation, list[Place]]


@pytest.fixture(scope='module')
def citations() -> tuple[Citations, Citations]:
    return dict(citing_functions()), dict(citing_tests())


def test_page_is_what_its_generator_writes(
    citations: tuple[Citations, Citations], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, found in zip(('citing_functions', 'citing_tests'), citations, strict=True):
        monkeypatch.setattr(f'equation_index.page.{name}', lambda found=found: found)
    committed = (DOCS / 'equations.md').read_text(encoding='utf-8')
    assert page() == committed, 'make it again: python -m equation_index in docs'


def test_every_equation_is_accounted_for(citations: tuple[Citations, Citations]) -> None:
    assert complaints(*citations) == []


def test_each_number_stands_in_one_table_and_exists() -> None:
    for letter, paper in PAPERS.items():
        tables = [
            number
            for table in (paper.corrected, paper.no_computation)
            for ranges in table
            for number in paper.listed(ranges)
        ]
        assert len(tables) == len(set(tables)), letter
        assert set(tables) <= set(paper.numbers), letter


def test_pages_do_not_stand_for_the_program(citations: tuple[Citations, Citations]) -> None:
    by_functions = {
        equation: [place for place in places if place.path.startswith('docs/')]
        for equation, places in citations[0].items()
    }
    examples = {
        Equation(letter, number) for letter in PAPERS for number in PAPERS[letter].examples
    }
    expected = [
        f'[{line.equation.paper}] ({line.equation.number}) is {line.status}, but no function '
        'of kron_dynamics cites it'
        for line in lines(*citations)
        if line.status in (DONE, CORRECTED) and line.equation not in examples
    ]
    assert len(expected) > 200 and all(by_functions[equation] for equation in examples)
    assert complaints(by_functions, citations[1]) == expected


@pytest.mark.parametrize('side', [0, 1], ids=['functions', 'tests'])
def test_equations_that_lose_their_citations_are_named(
    citations: tuple[Citations, Citations], side: int
) -> None:
    who = ('function', 'test')[side]
    without, expected = list(citations), []
    # All at once: a complaint for each of them and no other.
    without[side] = dict(citations[side])
    for line in lines(*citations):
        if line.status in (DONE, CORRECTED):
            del without[side][line.equation]
            name = f'[{line.equation.paper}] ({line.equation.number})'
            own = not side and line.equation.number not in PAPERS[line.equation.paper].examples
            which = f'{who} of kron_dynamics' if own else who
            expected.append(f'{name} is {line.status}, but no {which} cites it')
    assert len(expected) > 100
    assert complaints(*without) == expected


PLACE = Place('kron_dynamics.module.function', 'kron_dynamics/module.py')


@pytest.mark.parametrize(
    ('equation', 'words'),
    [
        (Equation('T', '108'), r'function cites \[T\] \(108\), which does not exist'),
        (Equation('P', 'A-9'), r'function cites \[P\] \(A-9\), which does not exist'),
    ],
)
def test_a_citation_that_cannot_be_right_is_named(
    citations: tuple[Citations, Citations], equation: Equation, words: str
) -> None:
    more = [{**each, equation: [PLACE]} for each in citations]
    with pytest.raises(AssertionError, match=words):
        assert complaints(*more) == []


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('as in [T] eq. (101).', {'T 101'}),
        ('[T] eqs. (51), (60)', {'T 51', 'T 60'}),
        ('[K] (7)-(9), (45); (48)', {'K 7', 'K 8', 'K 9', 'K 45', 'K 48'}),
        ('[T] (9), [K]\n    (19): d(AB)', {'T 9', 'K 19'}),
        ('[T] (45), (79) and (88) of (3) links', {'T 45', 'T 79', 'T 88'}),
        ('[P] (A-1)-(A-3), (B-9)', {'P A-1', 'P A-2', 'P A-3', 'P B-9'}),
        ('[T] section 5, (3, 4) and [1] (2)', set()),
    ],
)
def test_citations_are_read(text: str, expected: set[str]) -> None:
    assert {f'{e.paper} {e.number}' for e in equations_in(text)} == expected


@pytest.mark.parametrize('text', ['[T] (9)-(7)', '[P] (A-1)-(B-9)'])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match='is no range'):
        equations_in(text)


FILES = {
    'kron_dynamics/a.py': '"""[T] (1)."""\n\nclass B:\n    """[T] (2)."""\n\n'
    '    def c(self):\n        """[T] (3)."""\n',
    'test/test_a.py': 'def test_it():\n    # [T] eqs. (4),\n    # (5)\n    assert True\n\n\n'
    'def helper():\n    """[T] (6)."""\n',
}


def test_each_place_of_a_citation_is_named(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def found(scan: Callable[[Path], Citations]) -> dict[str, list[str]]:
        return {e.number: [place.name for place in places] for e, places in scan(tmp_path).items()}

    names = {'1': 'kron_dynamics.a', '2': 'kron_dynamics.a.B', '3': 'kron_dynamics.a.B.c'}
    assert found(citing_functions) == {number: [name] for number, name in names.items()}
    assert found(citing_tests) == {'4': ['test_it'], '5': ['test_it']}
