# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page itself, as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import sympy
from shared.tables import error_text, mind_table, misprint_table, page_of, table

from . import identities, link, machine, misprints, numbers, words

_MORE = ('where', 'printed', 'addition', 'compared', 'error printed', 'error with addition')


def page() -> str:
    """Return the page."""
    cases = numbers.load_cases()
    plain = next(case for case in cases if not case.parameters['m_E'])
    loaded = next(case for case in cases if case.parameters['m_E'])
    parts = [
        words.INTRODUCTION,
        *_taylor(),
        *_link(),
        words.NUMBERS,
        *(part for case in cases for part in _numbers(case)),
        *_modes(plain),
        *_stability(cases),
        *_frequencies(plain),
        *_robot(),
        words.MISPRINTS.format(case=loaded.name),
        misprint_table([*misprints.misprints(), *numbers.misprints(loaded)]),
        words.MIND,
        mind_table(_MORE, numbers.right_but(loaded)),
    ]
    return page_of(parts)


def _taylor() -> list[str]:
    statements = [*identities.kronecker_statements(), *identities.derivative_statements()]
    held = [(s.equation, s.form, error_text(s.error)) for s in statements]
    series = [
        (number, form, *(f'{order:.2f}' for order in orders), error_text(error))
        for number, form, orders, error in identities.series()
    ]
    products = [
        (number, words.FIRST_ORDER[number], f'{order:.2f}', error_text(error))
        for number, order, error in [*identities.values(), *identities.products()]
    ]
    return [
        words.IDENTITIES,
        table(('equation', 'statement', 'error'), held),
        words.SERIES,
        table(('equation', 'factor', '$k = 1$', '$k = 2$', '$k = 3$', 'program'), series),
        words.SWAPPED.format(order=f'{identities.swapped_series_order():.2f}'),
        words.LINEAR,
        table(('equation', 'first-order terms', 'order', 'program'), products),
    ]


def _link() -> list[str]:
    derived, printed, real = link.linearized(False), link.printed(), link.linearized(True)
    names = {'M': '(68)', 'D': '(70)', 'K': '(69)', 'h': '(71)'}
    rows = []
    for letter, number in names.items():
        difference = (getattr(derived, letter) - getattr(printed, letter)).applyfunc(sympy.expand)
        kept = (getattr(real, letter) - getattr(printed, letter)).applyfunc(sympy.expand)
        rows.append((number, rf'$\mathbf{{{letter}}}_L$', _zero(difference), _zero(kept)))
    for number, k, letter in (('(67)', 0, 'K'), ('(66)', 1, 'D')):
        errors = [
            (link.change_of_left_side(keeps)[k] - getattr(form, letter)).applyfunc(sympy.expand)
            for keeps, form in ((False, derived), (True, real))
        ]
        rows.append((number, words.LEFT_SIDE[number], *map(_zero, errors)))
    return [
        words.LINK,
        table(('symbol', 'meaning', 'program'), words.LETTERS),
        words.LAGRANGE,
        _equation(r'\mathbf{M}_L', derived.M),
        _equation(r'\mathbf{D}_L', derived.D),
        _equation(r'\mathbf{K}_L', derived.K),
        _equation(r'\mathbf{h}_L', derived.h),
        words.FORESHORTENED,
        _equation('K_{22}', real.K[1, 1]),
        words.COMPARED,
        table(('equation', 'compared', 'link of (69)', 'inextensible link'), rows),
    ]


def _numbers(case: numbers.Case) -> list[str]:
    p = case.parameters
    count = p['n']
    printed, real = (case.linearized(count, keeps) for keeps in (False, True))
    for name in 'MDh':
        assert (getattr(printed, name) == getattr(real, name)).all()
    assert not real.D.any()
    given = ', '.join(f'{letter} = {p[name]:g}$' for name, letter in words.PARAMETERS.items())
    return [
        f'### {case.name}\n\n{given}; $n = {count}$, modes of {case.shapes}.',
        f'$$\n\\mathbf{{M}}_L = {_matrix(real.M)}, \\quad \\mathbf{{h}}_L = {_matrix(real.h)}\n$$',
        f'$$\n\\mathbf{{K}}_L^{{printed}} = {_matrix(printed.K)}, \\quad '
        f'\\mathbf{{K}}_L = {_matrix(real.K)}\n$$',
    ]


def _modes(case: numbers.Case) -> list[str]:
    rows = [
        (str(j), f'{beta_l:.10f}', f'{sigma:.8f}', f'{omega:.5f}', f'{southwell:.5f}')
        for j, beta_l, sigma, omega, southwell in numbers.mode_rows(case)
    ]
    titles = ('$j$', r'$\beta_j l$', r'$\sigma_j$', r'$\omega_j$, rad/s', '$S_{jj}/m_{jj}$')
    return [words.MODES.format(case=case.name), table(titles, rows)]


def _stability(cases: Sequence[numbers.Case]) -> list[str]:
    rows = []
    for case in cases:
        for n in numbers.MODES:
            speeds = [numbers.critical_speed(case.link(n), keeps) for keeps in (False, True)]
            cells = ['never' if speed is None else f'{speed:.4f}' for speed in speeds]
            rows.append((case.name, case.shapes, str(n), *cells))
    titles = ('link', 'modes of', 'count', 'as printed, from rad/s', 'with the axial force')
    return [words.STABILITY, table(titles, rows)]


def _frequencies(case: numbers.Case) -> list[str]:
    one, many = case.link(1), case.link(max(numbers.MODES))
    rows = []
    for qd in numbers.SPEEDS:
        squares = [
            numbers.squared_frequency(one, qd, False),
            numbers.squared_frequency(one, qd, True),
            numbers.squared_frequency(many, qd, True),
        ]
        rows.append((f'{qd:g}', *map(_frequency, squares)))
    titles = (r'$\dot{q}$, rad/s', 'as printed', 'with the axial force', 'the same, 3 modes')
    return [words.FREQUENCIES.format(case=case.name), table(titles, rows)]


def _robot() -> list[str]:
    def small(value: float) -> str:
        return '0' if value < 1e-12 else f'{value:.3g}'

    names = {False: '`geometric_stiffness: false`: as printed', True: 'with the axial force'}
    rows = [
        (names[row.geometric_stiffness], *map(small, (row.M, row.D, row.K, row.h)))
        for row in machine.comparisons()
    ]
    margins = []
    for speed in machine.SPEEDS:
        pairs = [(a, keeps) for keeps in (False, True) for a in machine.AMPLITUDES]
        cells = [f'{machine.margin(speed, a, keeps):.3f}' for a, keeps in pairs]
        margins.append((f'{speed:g}', *(cell.replace('-0.000', '0.000') for cell in cells)))
    columns = [
        f'{what}, $A = {a:g}$' for what in ('(69)', 'with axial force') for a in machine.AMPLITUDES
    ]
    return [
        words.ROBOT.format(**dict(zip(('q', 'qd', 'qdd'), machine.STATE, strict=True))),
        table(('link', *(rf'$\mathbf{{{name}}}_L$' for name in 'MDKh')), rows),
        words.SWING.format(omega=f'{machine.natural_frequency():.4f}'),
        table((r'$\Omega$, rad/s', *columns), margins),
    ]


def _frequency(square: float) -> str:
    return f'{sqrt(square):.4f}' if square > 0 else f'grows, {sqrt(-square):.4f} 1/s'


def _equation(name: str, form: Any) -> str:
    return f'$$\n{name} = {link.tex(form)}\n$$'


def _matrix(A: Any) -> str:
    """Return LaTeX with six digits; rounding errors are replaced by 0."""
    scale = abs(A).max()
    rows = np.where(abs(A) > 1e-10 * scale, A, 0.0).reshape(len(A), -1)
    lines = r'\\'.join(' & '.join(f'{entry:.6g}' for entry in row) for row in rows)
    return rf'\left[\begin{{matrix}}{lines}\end{{matrix}}\right]'


def _zero(difference: Any) -> str:
    """Return 0, or the nonzero entries of a difference of two matrices."""
    entries = [entry for entry in difference if entry != 0]
    return ', '.join(f'${link.tex(entry)}$' for entry in entries) if entries else '0'
