# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/negrean-2012.md is what its generator writes; what it says is so, and can fail."""

from __future__ import annotations

import pydoc
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from equation_index.papers import PAPERS as KNOWN
from equation_index.papers import numbers
from paper_pages import (
    PAPERS,
    assert_all_fail,
    generator_of,
    is_right,
    nudged,
    nudging,
    program_names,
)
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics import dynamics

URDF = Path(__file__).parents[2] / 'urdf' / 'two_tr.urdf'
FALSE = {'(69)', '(71)', '(75)', '(77)'}
SECTIONS = ('exponentials', 'motion', 'angles')


@pytest.fixture(scope='module')
def generator() -> Iterator[Any]:
    # The page and the tests of what it says ask for the same.
    with generator_of(
        'negrean_2012',
        lambda page: (
            (page, ('Arm',)),
            *((getattr(page, section), ('statements',)) for section in SECTIONS),
            (page.vectors, ('rows',)),
            (page.machines, ('rows',)),
            (page.misprints, ('misprints',)),
            (page.mind, ('minds',)),
            (page, ('misprints_of_dynamics',)),
            (page.two_tr, ('forms',)),
        ),
    ) as page:
        yield page


@pytest.fixture(scope='module')
def arm(generator: Any) -> Any:
    return generator.Arm()


@pytest.fixture(scope='module')
def checks(generator: Any, arm: Any) -> list[Any]:
    return list(generator.statements(arm))


def test_page_is_what_its_generator_writes(generator: Any) -> None:
    committed = (PAPERS / 'negrean-2012.md').read_text(encoding='utf-8')
    assert generator.page() == committed, 'make it again: python -m negrean_2012 in docs/papers'
    names = re.findall(r'`(\w+_\w+)`', generator.words.MIND_DYNAMICS)
    assert len(names) == 4
    assert all(hasattr(dynamics, name) for name in names)


def test_every_equation_is_tried_and_holds(checks: list[Any]) -> None:
    """[N] (1)-(25), (27)-(45); (26) has nothing to compute."""
    tried = {name for check in checks for name in check.equation.split(', ')}
    assert {f'({number})' for number in numbers('1-25', '27-45')} <= tried
    for check in checks:
        assert is_right(check.error), check.equation


def test_every_printed_form_is_wrong_and_every_right_one_exact(generator: Any, arm: Any) -> None:
    """[N] (6), (8)-(11), (14), (16), (18), (20), (22), (23), (33), (38), (45)."""
    rows = generator.misprints.misprints(arm)
    assert [row.equation for row in rows] == [
        *('(6)', '(6)', '(8), (10)', '(9)', '(11), (14), (18)', '(14)', '(16)', '(20)', '(22)'),
        *('(23)', '(33)', '(38)', '(45)'),
    ]
    for row in rows:
        assert row.right_error == 0, row.equation
        assert row.printed_error > 0.01, row.equation


def test_the_index_of_equations_has_every_correction(generator: Any, arm: Any) -> None:
    rows = [row.equation.split(', ') for row in generator.misprints.misprints(arm)]
    counts = Counter(name.strip('()') for names in rows for name in names)
    several = {number for number, count in counts.items() if count > 1}
    assert several == {'6', '14'}
    for number in counts:
        note = KNOWN['N'].note(KNOWN['N'].corrected, number)
        # A semicolon or 'or' between two corrections.
        assert number not in several or len(re.split('; |, or ', note)) == counts[number], note


def test_every_reading_is_wrong_and_what_is_right_is_exact(generator: Any, arm: Any) -> None:
    """[N] (1), (5), (13)-(17), (21)-(24), (28), (31), (34), (35), (39), (40), (42)."""
    rows = generator.mind.minds(arm)
    assert len(rows) == 13
    for row in rows:
        assert row.right_error == 0, row.equation
        assert isinstance(row.printed_error, str) or row.printed_error > 0.05, row.equation


def test_vectors_and_machines_agree(generator: Any) -> None:
    """[N] (2)-(25), (28)-(45)."""
    vectors, machines = generator.vectors.rows(), generator.machines.rows()
    kinds = [row.name.split('-')[0] for row in vectors]
    trees = ['rprrp', 'rprrp', 'tree6', 'tree6', 'mimic4', 'mimic4']
    assert kinds == ['screw', 'screw', *trees, 'euler', 'euler']
    assert [row.file for row in machines] == list(generator.machines.FILES)
    errors = [row.error for row in vectors] + [x for row in machines for x in row.errors]
    assert all(is_right(error) for error in errors)


@pytest.mark.parametrize('section', SECTIONS)
def test_every_check_fails_where_the_program_is_wrong(
    generator: Any, section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm, module = generator.Arm.__wrapped__(), getattr(generator, section)
    named = {name.split('.')[-1] for name in program_names(module.statements(generator.Arm()))}
    if 'Screw' in named:
        arm.screws = [nudged(screw) for screw in arm.screws]
    for k, name in enumerate(sorted(named - {'Screw'}), start=1):
        monkeypatch.setattr(module, name, nudging(getattr(module, name), k))
    assert_all_fail(module.statements.__wrapped__(arm))


def test_programs_and_letters_are_there(generator: Any, checks: list[Any]) -> None:
    names = program_names(checks)
    for _, _, text in generator.words.LETTERS:
        program, *attributes = text.split(': ')
        names |= set(program.split('`')[1::2])
        if attributes:
            owner: Any = pydoc.locate(f'kron_dynamics.{program.strip("`")}')
            assert set(attributes[0].split('`')[1::2]) <= set(owner.__dataclass_fields__), text
    assert len(names) > 20
    for name in names:
        assert pydoc.locate(f'kron_dynamics.{name}') is not None, name


def test_the_state_is_nothing_special(arm: Any) -> None:
    """All joints have moved, all turn or slide, and no axis is parallel to another."""
    assert all(abs(x) > 0.1 for x in (*arm.q, *arm.rates[0], *arm.rates[1], *arm.rates[2]))
    axes = [screw.axis for screw in arm.screws]
    for k, axis in enumerate(axes):
        assert all(abs(float(axis @ other)) < 0.95 for other in axes[:k])


def test_example_is_as_printed_but_for_four(generator: Any) -> None:
    """[N] eqs. (68)-(78)."""
    two_tr = generator.two_tr
    forms = two_tr.forms()
    assert set(forms) == {f'({number})' for number in range(68, 79)}
    for number, form in forms.items():
        difference = (two_tr.PRINTED[number] - form).expand()
        assert (difference != 0) == (number in FALSE), number


def test_every_printed_form_of_dynamics_is_wrong_and_every_right_one_exact(
    generator: Any,
) -> None:
    """[N] eqs. (50), (53), (54), (62), (66), (67), (69), (71), (75), (77)."""
    rows = generator.misprints_of_dynamics()
    general = {'(50)', '(53)', '(54)', '(62)', '(66)', '(67)'}
    assert {row.equation for row in rows} == general | FALSE
    for row in rows:
        assert row.right_error == 0, row.equation
        assert row.printed_error > 0, row.equation


@pytest.mark.parametrize('case', cases_of('2tr'), ids=lambda case: case['id'])
def test_the_urdf_is_the_robot_of_the_vectors(case: Any, assert_close: Any) -> None:
    model = kd.load(URDF, gravity=case['inputs']['gravity']).model
    motion = [np.array(case['inputs']['state'][key]) for key in ('q', 'qd', 'qdd', 'qddd')]
    rate = dynamics.inverse_dynamics_rate(model, *motion)
    assert_close(rate, case['expected']['dtau_dt'])
    energy = dynamics.second_order_acceleration_energy(model, *motion)
    assert_close(energy, case['expected']['E_A2'])
    lower, upper = model.position_lower, model.position_upper
    assert np.all((lower < motion[0]) & (motion[0] < upper))
