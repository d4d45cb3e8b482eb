# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutations, selection of tests, and the list of reviewed mutants."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mutations import Mutation, mutations
from reviewed import Key, Reviewed
from selection import broader, mirrors

ROOT = Path(__file__).parents[2]


def changed(text: str) -> set[str]:
    return {mutation.applied(text) for mutation in mutations(text)}


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('x = a + b', ['x = (a - b)']),
        ('x = a * -b', ['x = (a / -b)', 'x = a * (b)']),
        ('x = a < b', ['x = (a <= b)', 'x = (a >= b)']),
        ('x = a and b', ['x = (a or b)', 'x = (a)', 'x = (b)']),
        ('x = not a', ['x = (a)']),
        ('x = max(a)', ['x = min(a)']),
        ('x = a.any()', ['x = a.all()']),
        ('x = (a | b).any()', ['x = (a | b).all()']),
        ('x = a[i]', ['x = a[i - 1]']),
        ('x = (a | b)[i]', ['x = (a | b)[i - 1]']),
        ('x = a[2]', ['x = a[3]']),
        ('x = 0.0', ['x = 1.0']),
        ('x = True', ['x = False']),
        ('x -= a', ['x += a']),
        ('f(a)', ['pass']),
        ('if a:\n    raise E(b + 1)', ['if not (a):\n    raise E(b + 1)',
         'if False and (a):\n    raise E(b + 1)']),
        ('"text"', []),
        ('x: Literal[0, 1] = a', []),
        ('x = f"{a + b}"', []),
        ('x = zip(a, b, strict=True)', []),
    ],
)  # fmt: skip
def test_each_change_is_made_alone(text: str, expected: list[str]) -> None:
    assert changed(text) == set(expected)


def test_places_are_found_behind_letters_that_take_several_bytes() -> None:
    assert 'x = "\u03bcm", (a - b)' in changed('x = "\u03bcm", a + b')


def test_every_change_of_real_code_is_code_and_names_its_function() -> None:
    text = (ROOT / 'test' / 'mutation' / 'mutations.py').read_text('utf-8')
    found = mutations(text)
    assert len(found) > 50
    for mutation in found[::7]:
        ast.parse(mutation.applied(text))
    assert {'Mutation.applied', '_of_statement', ''} <= {each.function for each in found}


def test_tests_of_a_module_are_found_by_its_name_wherever_it_is(tmp_path: Path) -> None:
    def write(name: str, text: str = '') -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding='utf-8')

    module = Path('kron_dynamics/control/reference/limits.py')
    write(str(module), 'def tightest(): ...\ndef _hidden(): ...')
    write('test/control/reference/test_limits.py')
    write('test/model/test_limits.py')
    write('test/control/limits/test_more.py')
    write('test/control/test_other.py')
    write('test/test_far.py', 'assert tightest() == _hidden')
    write('test/test_hidden.py', 'assert _hidden')
    assert [str(path) for path in mirrors(tmp_path, module)] == [
        'test/control/limits',
        'test/control/reference/test_limits.py',
    ]
    assert {str(path) for path in broader(tmp_path, module)} == {
        'test/control/test_other.py',
        'test/test_far.py',
    }


def test_tests_of_a_room_come_before_those_of_its_users(tmp_path: Path) -> None:
    def write(name: str, text: str = '') -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding='utf-8')

    module = Path('kron_dynamics/bag/reading/motion.py')
    write(str(module))
    write(
        'kron_dynamics/cli/analyze.py',
        'def run():\n    from kron_dynamics.bag.reading.motion import a',
    )
    write('kron_dynamics/export/folder.py', 'from kron_dynamics.bag.reading.motions import a')
    write(
        'kron_dynamics/export/table/rows.py', 'import kron_dynamics.bag.reading.motion as motion'
    )
    write('test/kinematics/test_motion.py')
    write('test/bag/outputs/test_files.py')
    write('test/bag/reading/test_spool.py')
    write('test/bag/test_analyze.py')
    write('test/export/test_folder.py')
    write('test/export/table/test_numbers.py')
    assert mirrors(tmp_path, module) == []
    assert [str(path) for path in broader(tmp_path, module)] == [
        'test/bag/reading/test_spool.py',
        'test/bag/outputs/test_files.py',
        'test/bag/test_analyze.py',
        'test/export/table/test_numbers.py',
    ]


def test_a_reviewed_mutant_is_known_wherever_its_lines_are_moved() -> None:
    text = 'def f(a):\n    return a + 1\n'
    mutation = next(each for each in mutations(text) if each.new == '(a - 1)')
    entry = Key.of(Path('room/x.py'), mutation, text)._asdict() | {'reason': 'it is so'}
    known = Reviewed([entry])
    moved = 'import os\n\n' + text
    again = next(each for each in mutations(moved) if each.new == '(a - 1)')
    assert known.reason(Path('elsewhere/x.py'), again, moved) == 'it is so'
    other = next(each for each in mutations(text) if each.new == '2')
    assert known.reason(Path('room/x.py'), other, text) is None


def test_every_reviewed_mutant_still_exists() -> None:
    assert Reviewed.read().stale(ROOT / 'kron_dynamics') == []


def test_a_mutation_replaces_its_place_alone() -> None:
    assert Mutation(1, 3, 'X', 1, '').applied('abcd') == 'aXd'
