# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/khang-2019.md is what its generator writes, and what it says is so."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from paper_pages import PAPERS, generator_of


@pytest.fixture(scope='module')
def generator() -> Iterator[Any]:
    # The page and the tests of what it says ask for the same.
    identities = ('kronecker_statements', 'derivative_statements', 'series')
    with generator_of(
        'khang_2019',
        lambda page: (
            (page.identities, (*identities, 'swapped_series_order', 'values', 'products')),
            (page.link, ('linearized', 'printed')),
            (page.machine, ('comparisons',)),
            (page.misprints, ('misprints',)),
            (page.numbers, ('load_cases',)),
        ),
    ) as page:
        yield page


def test_page_is_what_its_generator_writes(generator: Any) -> None:
    committed = (PAPERS / 'khang-2019.md').read_text(encoding='utf-8')
    assert generator.page() == committed, 'make it again: python -m khang_2019 in docs/papers'
    # States and parameters are not typed beside the numbers that they give.
    assert re.findall(r'\d\.\d', generator.words.ROBOT) == []


def test_statements_hold_exactly(generator: Any) -> None:
    """[K] (6)-(10), (19)-(21), (23), (25), (27), (45)."""
    made = generator.identities
    statements = [*made.kronecker_statements(), *made.derivative_statements()]
    names = {statement.equation for statement in statements}
    expected = {*range(6, 11), 19, 20, 21, 23, 25, 27, 45}
    assert names == {f'({number})' for number in expected}
    assert all(statement.error == 0 for statement in statements)


def test_series_leave_the_order_after_the_last(generator: Any) -> None:
    """[K] (36), (41), (47)."""
    rows = generator.identities.series()
    assert [number for number, *_ in rows] == ['(36)', '(41)', '(47)']
    for _, _, orders, error in rows:
        assert orders == pytest.approx([2, 3, 4], abs=1e-4)
        assert error == 0
    assert generator.identities.swapped_series_order() == pytest.approx(1, abs=1e-4)


def test_linearized_products_leave_the_second_order(generator: Any) -> None:
    """[K] (48), (50), (52), (53)."""
    rows = [*generator.identities.values(), *generator.identities.products()]
    assert [number for number, *_ in rows] == ['(48)', '(50)', '(52)', '(53)']
    for _, order, error in rows:
        assert order == pytest.approx(2, abs=1e-4)
        assert error == 0


def test_every_printed_form_is_wrong_and_every_right_one_exact(generator: Any) -> None:
    """[K] (13), (16), (34), (49), (51), (54), and the number before [K] (62)."""
    numbers = generator.numbers
    loaded = next(case for case in numbers.load_cases() if case.parameters['m_E'])
    misprints = [*generator.misprints.misprints(), *numbers.misprints(loaded)]
    places = [misprint.equation for misprint in misprints]
    assert places == ['(13), (16)', '(34)', '(49)', '(51)', 'before (62)', '(54)']
    (mind,) = numbers.right_but(loaded)
    assert mind.equation == '(69)'
    for misprint in [*misprints, mind]:
        assert misprint.right_error == 0, misprint.equation
        assert isinstance(misprint.printed_error, str) or misprint.printed_error > 0


def test_printed_equations_are_those_of_the_link_whose_points_keep_their_x(
    generator: Any,
) -> None:
    link = generator.link
    plain, real, printed = link.linearized(False), link.linearized(True), link.printed()
    for name in 'MDKh':
        difference = getattr(plain, name) - getattr(printed, name)
        assert sympy.expand(difference).is_zero_matrix
    changed = sympy.expand(real.K - printed.K)
    assert [entry == 0 for entry in changed] == [True, True, True, False]


@pytest.mark.parametrize('foreshortening', [False, True])
def test_derived_link_is_the_programs(generator: Any, foreshortening: bool) -> None:
    """One mode without a tip inertia, which the paper does not have."""
    form = generator.link.linearized(foreshortening)
    cases = [case for case in generator.numbers.load_cases() if not case.parameters['J_E']]
    assert cases
    for case in cases:
        program = case.linearized(1, foreshortening)
        for name in 'MDKh':
            derived = np.array(getattr(form, name).subs(case.in_letters()), dtype=float)
            actual = getattr(program, name)
            np.testing.assert_allclose(actual, derived.reshape(actual.shape), 1e-12, 1e-12)


def test_printed_link_softens_at_its_natural_frequency(generator: Any) -> None:
    """Of one mode of its own, omega^2 = omega_0^2 - qd^2; the real link is never unstable."""
    numbers = generator.numbers
    for case in numbers.load_cases():
        link = case.link(1)
        at_rest = numbers.squared_frequency(link, 0.0, True)
        speed = numbers.critical_speed(link, False)
        assert numbers.critical_speed(link, True) is None
        assert numbers.squared_frequency(link, speed, False) == pytest.approx(0, abs=1e-9)
        assert numbers.squared_frequency(link, 50.0, True) > at_rest
        if not case.parameters['J_E']:
            assert speed**2 == pytest.approx(at_rest, rel=1e-12)


def test_the_shipped_manipulator_reproduces_the_equations(generator: Any) -> None:
    rows = generator.machine.comparisons()
    assert [row.geometric_stiffness for row in rows] == [False, True]
    for row in rows:
        assert max(row.M, row.D, row.K, row.h) < 1e-12


@pytest.fixture(scope='module')
def maps(generator: Any) -> Any:
    return importlib.import_module('khang_2019.maps')


@pytest.mark.parametrize('name', ['printed', 'right'])
def test_margins_of_the_maps_are_those_of_the_program(maps: Any, name: str) -> None:
    """A sample of each map, on both sides of its boundary, computed again."""
    stored = maps.read(PAPERS, name)
    assert stored.shape == (len(maps.AMPLITUDES), len(maps.SPEEDS))
    assert (stored < -0.1).sum() > 50
    rows, columns = slice(10, None, 20), slice(5, None, 17)
    again = maps.margins(name, maps.SPEEDS[columns], maps.AMPLITUDES[rows])
    assert (again < -0.1).any()
    assert (again == 0).any()
    # Beside the boundary of a tongue the rate is a square root of what rounding spoils.
    np.testing.assert_allclose(again, stored[rows, columns], rtol=1e-3, atol=1e-3)


def test_pictures_are_drawn_from_the_maps(maps: Any, tmp_path: Path) -> None:
    from matplotlib.image import imread

    drawn = {}
    for name in maps.NAMES:
        maps.draw(PAPERS, name, tmp_path)
        file = f'khang-2019-swing-{name}.png'
        drawn[name] = imread(tmp_path / file)[..., :3], imread(PAPERS / file)[..., :3]
    page = (PAPERS / 'khang-2019.md').read_text(encoding='utf-8')
    assert re.findall(r'!\[.*\]\((.*)\)', page) == [
        f'khang-2019-swing-{name}.png' for name in maps.NAMES
    ]
    # Other versions of the plotting library place and render letters otherwise.
    for again, committed in drawn.values():
        assert again.shape == committed.shape
        assert np.abs(again - committed).mean() < 0.005
    assert np.abs(drawn['printed'][0] - drawn['right'][0]).mean() > 0.05
