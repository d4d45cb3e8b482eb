# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/parsa-2007.md is what its generator writes, and what it says is so, and can fail."""

from __future__ import annotations

import importlib
import pydoc
import re
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sympy
from equation_index.papers import PAPERS as KNOWN
from paper_pages import (
    PAPERS,
    assert_all_fail,
    generator_of,
    is_right,
    nudged,
    nudging,
    program_names,
)

import kron_dynamics as kd
from kron_dynamics.dual import jacobian_of

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module')
def generator() -> Iterator[Any]:
    # The page and the tests of what it says ask for the same.
    with generator_of(
        'parsa_2007',
        lambda page: (
            (page, ('State', 'Loop', 'Wrist', 'Matrices', 'minds')),
            (page.trees, ('statements',)),
            (page.loops, ('statements',)),
            (page.quaternions, ('statements',)),
            (page.vectors, ('rows',)),
            (page.machines, ('rows',)),
            (page.misprints, ('misprints',)),
        ),
    ) as page:
        yield page


@pytest.fixture(scope='module')
def at(generator: Any) -> Any:
    state = generator.State()
    return types.SimpleNamespace(
        state=state,
        matrices=generator.Matrices(state),
        loop=generator.Loop(),
        wrist=generator.Wrist(),
    )


@pytest.fixture(scope='module')
def checks(generator: Any, at: Any) -> list[Any]:
    return [
        *generator.trees.statements(at.state, at.matrices),
        *generator.loops.statements(at.loop),
        *generator.quaternions.statements(at.wrist),
    ]


def test_page_is_what_its_generator_writes(generator: Any) -> None:
    committed = (PAPERS / 'parsa-2007.md').read_text(encoding='utf-8')
    assert generator.page() == committed, 'make it again: python -m parsa_2007 in docs/papers'
    # States and parameters are not typed beside the numbers that they give.
    assert re.findall(r'multiplier \d', generator.words.TREE) == []


def test_every_equation_is_tried_and_holds(checks: list[Any]) -> None:
    """[P] (1)-(46), (A-1)-(A-8), (B-9)-(B-19), (41) among the misprints."""
    tried = {name for check in checks for name in check.equation.split(', ')}
    assert {f'({number})' for number in KNOWN['P'].numbers} - tried == {'(41)'}
    for check in checks:
        assert is_right(check.error), check.equation


def test_every_printed_form_is_wrong_and_every_right_one_exact(generator: Any, at: Any) -> None:
    """[P] (41), (A-2), (A-8), (B-16), (B-19)."""
    rows = generator.misprints.misprints(at.loop, at.wrist)
    places = ['footnote 4', '(41)', '(A-2)', 'proof of theorem 2', '(A-8)', '(B-16)', '(B-16)']
    assert [row.equation for row in rows] == [*places, 'before (B-19)', '(B-19)']
    for row in rows:
        assert row.right_error == 0, row.equation
        assert isinstance(row.printed_error, str) or row.printed_error > 0.1, row.equation
    # What repeats another is as wrong as that.
    by_name = {row.equation: row for row in rows}
    assert by_name['(A-2)'].printed_error == by_name['(B-19)'].printed_error


def test_every_reading_is_wrong_and_what_is_right_is_exact(generator: Any, at: Any) -> None:
    """[P] (5), (8), (10), (17), (18), (23), (26)-(28), (36), (38), (46), (B-13), (B-17)."""
    rows = generator.minds(at.state, at.matrices, at.loop, at.wrist)
    assert len(rows) == 22
    for row in rows:
        assert is_right(row.right_error), row.equation
        assert row.printed_error > 1e-3, row.equation


def test_vectors_and_machines_agree(generator: Any) -> None:
    """[P] (5)-(11), (27), (28), (30), (31), (34)-(39), (42)-(46), (B-9), (B-10)."""
    vectors = generator.vectors.rows()
    assert [row.name.split('-')[0] for row in vectors] == [
        *('fourbar', 'fourbar', 'sleigh', 'field', 'wrench', 'quaternion'),
    ]
    errors = [row.error for row in vectors]
    machines = generator.machines.rows()
    assert [row.file.removesuffix('.urdf') for row in machines] == list(generator.machines.FILES)
    assert [row.loops is None for row in machines] == [False, True, False]
    for row in machines:
        errors += [row.matrices, row.equations, row.skew, row.loops or row.skew]
    assert all(is_right(error) for error in errors)


def test_momentum_and_mass_matrix_are_derivatives_of_the_energy(at: Any) -> None:
    """The checks compare with both; the generator gets them from derivatives of poses."""
    state, bodies = at.state, at.matrices.bodies

    def momentum(rates: Any) -> Any:
        return jacobian_of(lambda qd: bodies.kinetic_energy(state.q, qd), rates)[1]

    found, by_rates = jacobian_of(momentum, state.qd)
    assert (found == bodies.momentum(state.q, state.qd)).all()
    assert (by_rates == at.matrices.mass).all()


class NudgedRobot:
    """A closed robot whose every answer is a little wrong."""

    def __init__(self, robot: kd.ConstrainedRobot) -> None:
        self._robot = robot

    def __getattr__(self, name: str) -> Any:
        return nudging(getattr(self._robot, name))


@pytest.fixture
def wrong_program(
    generator: Any, checks: list[Any], monkeypatch: pytest.MonkeyPatch
) -> pytest.MonkeyPatch:
    """Nudges whatever functions of trees the tables name."""
    named = {name for name in program_names(checks) if name.count('.') == 1 and name.islower()}
    for name in {*named, 'dynamics.kane_bodies'}:
        folder, function = name.split('.')
        if folder in ('dynamics', 'kinematics'):
            owner = getattr(generator.trees, folder)
            monkeypatch.setattr(owner, function, nudging(getattr(owner, function)))
    return monkeypatch


def test_every_check_of_trees_fails_where_the_program_is_wrong(
    generator: Any, at: Any, wrong_program: pytest.MonkeyPatch
) -> None:
    assert_all_fail(generator.trees.statements.__wrapped__(at.state, at.matrices))


def test_every_check_of_loops_fails_where_the_program_is_wrong(
    generator: Any, at: Any, wrong_program: pytest.MonkeyPatch
) -> None:
    module, loop = generator.loops, at.loop
    robot, held = loop.robot(), loop.held()
    answers = {name: nudging(getattr(held, name)) for name in ('geometry', 'conditions')}
    wrong = types.SimpleNamespace(**vars(held), **answers)
    wrong_program.setattr(module, 'reduction', nudging(module.reduction))
    wrong_program.setattr(loop, 'robot', lambda: NudgedRobot(robot), raising=False)
    wrong_program.setattr(loop, 'held', lambda: wrong, raising=False)
    assert_all_fail(module.statements.__wrapped__(loop))


def test_every_check_of_quaternions_fails_where_the_program_is_wrong(
    generator: Any, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = generator.quaternions
    names = ['body_angular_velocity', 'conjugate', 'conjugate_derivative', 'quaternion_rate']
    names += ['rotation_of', 'star', 'times', 'star_matrix', 'times_matrix']
    for k, name in enumerate(names, start=1):
        monkeypatch.setattr(module, name, nudging(getattr(module, name), k))
    monkeypatch.setattr(module, 'D', nudged(module.D.astype(object)))
    assert_all_fail(module.statements.__wrapped__(at.wrist))


def test_programs_and_letters_are_there(generator: Any, checks: list[Any]) -> None:
    letters = [row[2] for row in generator.words.LETTERS]
    names = program_names(checks)
    for text in letters:
        program, *attributes = text.split(': ')
        owners = program.split('`')[1::2]
        names |= set(owners)
        if attributes:
            owner = pydoc.locate(f'kron_dynamics.{owners[0]}')
            known = getattr(owner, '__dataclass_fields__', None) or owner._fields
            assert set(attributes[0].split('`')[1::2]) <= set(known), text
    assert len(names) > 30
    for name in names:
        assert pydoc.locate(f'kron_dynamics.{name}') is not None, name


def test_the_start_of_the_loop_is_nothing_special(at: Any) -> None:
    """Far from a singularity, all rates and all conditions at work."""
    A = np.array(at.loop.conditions(at.loop.q), dtype=float)
    assert np.linalg.cond(A[:, at.loop.bound]) < 10
    assert min(abs(x) for x in at.loop.qd) > 0.1
    assert not np.array(at.loop.speed(0) == 0).any()


def test_bounds_are_powers_of_ten_that_do_not_differ_between_machines(generator: Any) -> None:
    claims = importlib.import_module('shared.claims')
    texts = {0.0: 'below 1e-12', 3e-16: 'below 1e-12', 2e-11: 'below 1e-10', 0.3: 'below 1e0'}
    assert {float(x): str(claims.Bound(x)) for x in texts} == texts
    with pytest.raises(AssertionError):
        generator.misprints.it_holds(sympy.Rational(1, 10**9))
