# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/negrean.md is what its generator writes, and what the paper should say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper_pages import PAPERS, generator_of
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics import dynamics

URDF = Path(__file__).parents[2] / 'urdf' / 'two_tr.urdf'
FALSE = {'(69)', '(71)', '(75)', '(77)'}


@pytest.fixture(scope='module')
def generator() -> Iterator[Any]:
    with generator_of('negrean', lambda page: ((page.two_tr, ('forms',)),)) as page:
        yield page


def test_page_is_what_its_generator_writes(generator: Any) -> None:
    committed = (PAPERS / 'negrean.md').read_text(encoding='utf-8')
    assert generator.page() == committed, 'make it again: python -m negrean in docs/papers'
    names = re.findall(r'`(\w+_\w+)`', committed)
    assert all(hasattr(dynamics, name) for name in names if name != 'kron_dynamics')


def test_example_is_as_printed_but_for_four(generator: Any) -> None:
    """[N] eqs. (68)-(78)."""
    two_tr = generator.two_tr
    forms = two_tr.forms()
    assert set(forms) == {f'({number})' for number in range(68, 79)}
    for number, form in forms.items():
        difference = (two_tr.PRINTED[number] - form).expand()
        assert (difference != 0) == (number in FALSE), number


def test_every_printed_form_is_wrong_and_every_right_one_exact(generator: Any) -> None:
    """[N] eqs. (50), (53), (54), (62), (66), (67), (69), (71), (75), (77)."""
    made = generator.misprints
    rows = [
        *made.of_bodies(),
        *made.of_principles(generator.two_tr.derived()),
        *made.of_two_tr(),
    ]
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
