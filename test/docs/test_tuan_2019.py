# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/tuan-2019.md is what its generator writes, and what the paper should say."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sympy
from paper_pages import PAPERS, generator_of
from sympy import Matrix, cos, sin, sympify

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics

URDF = Path(__file__).parents[2] / 'urdf' / 'paper_stacker.urdf'

q1, q2, q3 = sympy.symbols('q1 q2 q3')
S2, C2, S3, C3 = sin(q2), cos(q2), sin(q3), cos(q3)
m1, m2, m3, l3, a3, d2, g = sympy.symbols('m1 m2 m3 l3 a3 d2 g')
I2y, I3x, I3y, I3z = sympy.symbols('I2y I3x I3y I3z')
P, D = m3 * l3, m3 * l3**2 + I3y - I3x

# What the program calls the paper's letters; what is not here must not enter the equations.
LETTERS = {
    'm_carriage': m1,
    'm_mast': m2,
    'm_boom': m3,
    'c_boom_x': l3,
    'p_frame_3_x': a3,
    'p_frame_2_z': d2,
    'l_q3_z': d2,
    'I_mast_zz': I2y,
    'I_boom_xx': I3x,
    'I_boom_yy': I3y,
    'I_boom_zz': I3z,
    'g': g,
}

# (102)-(107), typed from the paper with its misprints put right.
D3 = Matrix([a3 * C2 * C3, -d2 - a3 * S3, q1 + a3 * S2 * C3])
J_T3 = Matrix(
    [
        [0, -a3 * S2 * C3, -a3 * C2 * S3],
        [0, 0, -a3 * C3],
        [1, a3 * C2 * C3, -a3 * S2 * S3],
    ]
)
H_T3 = Matrix(
    [
        [0, 0, 0, 0, -a3 * C2 * C3, a3 * S2 * S3, 0, a3 * S2 * S3, -a3 * C2 * C3],
        [0, 0, 0, 0, 0, 0, 0, 0, a3 * S3],
        [0, 0, 0, 0, -a3 * S2 * C3, -a3 * C2 * S3, 0, -a3 * C2 * S3, -a3 * S2 * C3],
    ]
)
J_R3 = Matrix([[0, 0, S2], [0, -1, 0], [0, 0, -C2]])
H_R3 = Matrix([[0] * 7 + [C2, 0], [0] * 9, [0] * 7 + [S2, 0]])
M = Matrix(
    [
        [m1 + m2 + m3, P * C2 * C3, -P * S2 * S3],
        [P * C2 * C3, I2y + (m3 * l3**2 + I3y) * C3**2 + I3x * S3**2, 0],
        [-P * S2 * S3, 0, m3 * l3**2 + I3z],
    ]
)
C_STAR = Matrix(
    [
        [0, 0, 0, 0, -P * S2 * C3, -P * C2 * S3, 0, -P * C2 * S3, -P * S2 * C3],
        [
            *(0, -P * S2 * C3 / 2, -P * C2 * S3 / 2),
            *(P * S2 * C3 / 2, 0, -2 * D * S3 * C3),
            *(P * C2 * S3 / 2, 0, 0),
        ],
        [
            *(0, -P * C2 * S3 / 2, -P * S2 * C3 / 2),
            *(P * C2 * S3 / 2, D * S3 * C3, 0),
            *(P * S2 * C3 / 2, 0, 0),
        ],
    ]
)
C_STAR_REDUCED = Matrix(
    [
        [0, 0, 0, -P * S2 * C3, -2 * P * C2 * S3, -P * S2 * C3],
        [0, 0, 0, 0, -2 * D * S3 * C3, 0],
        [0, 0, 0, D * S3 * C3, 0, 0],
    ]
)
GRAVITY = Matrix([0, 0, m3 * g * l3 * C3])


@pytest.fixture(scope='module')
def stacker() -> Any:
    return kd.load(URDF, gravity=(0, 9.81, 0)).symbolic.with_parameters('symbolic')


@pytest.fixture(scope='module')
def generator() -> Iterator[Any]:
    # The page and the tests of what it says ask for the same.
    with generator_of(
        'tuan_2019',
        lambda page: (
            (page, ('State', 'load_stacker')),
            (page.motion, ('Motion', 'misprints', 'relations')),
            (page.equations, ('misprints', 'right_but')),
            (page.theorems, ('products', 'derivatives')),
            (page.frames, ('motions',)),
        ),
    ) as page:
        yield page


@pytest.fixture(scope='module')
def derived(stacker: Any) -> dict[str, tuple[Any, Matrix]]:
    """Each matrix as the program derives it, not simplified, and as typed above."""
    frame = stacker.frame('frame_3')
    J, H = frame.jacobian(), frame.kinematic_hessian()
    return {
        'd3': (frame.pose()[:3, 3], D3),
        '(102)': (J[:3, :], J_T3),
        '(103)': (H[:3, :], H_T3),
        '(104)': (J[3:, :], J_R3),
        '(105)': (H[3:, :], H_R3),
        '(106)': (stacker.mass_matrix(), M),
        '(107)': (stacker.evaluate(dynamics.lagrange_velocity_free_matrix, stacker.q), C_STAR),
        'reduced': (stacker.reduced_coriolis_matrix(), C_STAR_REDUCED),
        'gravity': (stacker.gravity_vector(), GRAVITY),
    }


NAMES = ['d3', *(f'({k})' for k in range(102, 108)), 'reduced', 'gravity']


@pytest.mark.parametrize('name', NAMES)
def test_derived_matrix_is_exactly_the_papers(
    derived: dict[str, tuple[Any, Matrix]], name: str
) -> None:
    """[T] (102)-(107)."""
    form, typed = derived[name]
    letters = {sympify(ours): theirs for ours, theirs in LETTERS.items()}
    assert form.shape == typed.shape
    difference = (Matrix(form).xreplace(letters) - typed).applyfunc(sympy.simplify)
    assert difference == sympy.zeros(*typed.shape)


def test_symmetrised_form_is_half_of_both_columns(stacker: Any) -> None:
    letters = {sympify(ours): theirs for ours, theirs in LETTERS.items()}
    symmetric = stacker.velocity_free_coriolis_matrix().simplified().xreplace(letters)
    for i in range(3):
        for j in range(3):
            both = (C_STAR[:, 3 * i + j] + C_STAR[:, 3 * j + i]) / 2
            difference = (symmetric[:, 3 * i + j] - both).applyfunc(sympy.simplify)
            assert difference == sympy.zeros(3, 1)


def test_page_is_what_its_generator_writes(generator: Any) -> None:
    committed = (PAPERS / 'tuan-2019.md').read_text(encoding='utf-8')
    assert generator.page() == committed, 'make it again: python -m tuan_2019 in docs/papers'
    # States and parameters are not typed beside the numbers that they give.
    assert re.findall(r'= \[?-?\d|\d/\d', generator.MOTIONS) == []


def test_every_printed_form_is_wrong_and_every_right_one_exact(generator: Any) -> None:
    """[T] (17), (36), (43), (45), (83), (85)-(90), (97), (103), (106), (107)."""
    state, symbolic = generator.State(), generator.load_stacker()
    misprints = [
        *generator.motion.misprints(generator.State(grab=True)),
        *generator.equations.misprints(state, symbolic),
    ]
    places = {misprint.equation for misprint in misprints}
    assert {'(17)', '(36)', '(43)', '(45)', '(83)', '(85)', '(89)', '(90)'} <= places
    assert {'(86)', '(87)', '(88)', 'Table 2', '(103)', '(106)', '(107)'} <= places
    (mind,) = generator.equations.right_but(state)
    assert mind.equation == '(97)'
    for misprint in [*misprints, mind]:
        assert misprint.right_error == 0, misprint.equation
        assert isinstance(misprint.printed_error, str) or misprint.printed_error > 0


def test_relations_hold_for_all_rates_and_some_as_matrices(generator: Any) -> None:
    """[T] (84), (86)-(91)."""
    relations = {r.equation: r for r in generator.motion.relations(generator.State(grab=True))}
    assert set(relations) == {'(84)', *(f'({k})' for k in range(86, 92))}
    assert all(relation.squared == 0 for relation in relations.values())
    matrices = {name: r for name, r in relations.items() if name != '(84)'}
    assert all(relation.exact == 0 for relation in matrices.values())
    assert all(relation.otherwise > 0.1 for relation in matrices.values())
    as_printed = {name for name, relation in matrices.items() if relation.matrix == 0}
    assert as_printed == {'(87)', '(91)'}


def test_theorems_hold_exactly(generator: Any) -> None:
    """[T] (1)-(5), (7)-(16), (18)."""
    rows = [*generator.theorems.products(), *generator.theorems.derivatives()]
    tried = {number for row in rows for number in row.equation.split(', ')}
    assert tried == {f'({k})' for k in range(1, 19)} - {'(6)', '(17)'}
    assert all(row.error == 0 for row in rows)


def test_jacobians_and_hessians_are_derivatives_exactly(generator: Any) -> None:
    """By derivatives of places and direction cosines.

    [T] (20), (21), (29)-(31), (34), (37), (38), (40), (42), (44), (47), (48), (51)-(55),
    (57)-(67).
    """
    rows = generator.frames.motions(generator.motion.Motion(generator.State(grab=True)))
    tried = {number for row in rows for number in row.equation.split(', ')}
    expected = {20, 21, 29, 30, 31, 34, 37, 38, 40, 42, 44, 47, 48, *range(51, 68)} - {56}
    assert tried == {f'({k})' for k in expected}
    assert all(row.error == 0 for row in rows)
    names = {name for row in rows for name in row.program.split('`')[1::2]}
    assert all(callable(getattr(kinematics, name)) for name in names)


def test_products_that_do_fit_are_not_called_misprints(generator: Any) -> None:
    claims = importlib.import_module('shared.claims')
    with pytest.raises(AssertionError, match='has a value'):
        claims.sizes_do_not_fit(lambda: 0)


def test_letters_of_the_page_have_the_numbers_of_the_urdf(generator: Any, stacker: Any) -> None:
    numbers = {'m1': 1200, 'm2': 850, 'm3': 430, 'l3': 4.75, 'a3': 9.5, 'd2': 3.2}
    numbers |= {'I2x': 900, 'I2y': 1150, 'I2z': 870, 'I3x': 95, 'I3y': 3300, 'I3z': 3280}
    numbers |= {'d2 + y_G2': 3.2 + 0.65, 'g': 9.81}
    letters = importlib.import_module('tuan_2019.stacker').LETTERS
    assert {letters[str(symbol)] for symbol in stacker.values if str(symbol) in letters} == set(
        numbers
    )
    for symbol, value in stacker.values.items():
        if str(symbol) in letters:
            assert float(value) == pytest.approx(numbers[letters[str(symbol)]])
