# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics derive`: closed forms as text and as LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import kron_dynamics as kd
from kron_dynamics.cli import main

URDF = Path(__file__).parents[1] / 'urdf'
STACKER = str(URDF / 'stacker_reclaimer.urdf')
PAPER = str(URDF / 'paper_stacker.urdf')


@pytest.fixture
def derive(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command, expect success, return the lines."""

    def run(*arguments: str) -> list[str]:
        code = main(['derive', *arguments])
        captured = capsys.readouterr()
        assert (code, captured.err) == (0, '')
        return captured.out.splitlines()

    return run


def test_default_is_m_c_star_and_g(derive: Any) -> None:
    lines = derive(STACKER, '--simplify')
    assert lines[0] == '# stacker_reclaimer, coordinates travel, slew, luff'
    titles = [line for line in lines[1:] if line.startswith('#')]
    assert titles == ['# M, shape (3, 3)', '# C*, shape (3, 9)', '# g, shape (3, 1)']
    assert 'M[0, 0] = 1150000' in lines
    assert 'M[0, 1] = (-370000*sin(luff) + 253900*cos(luff) + 133500)*sin(slew)' in lines
    assert 'g[2] = 3628460.5*sin(luff) - 2489908.435*cos(luff)' in lines
    # What is zero is not listed.
    assert not any(line.startswith(('M[1, 2]', 'g[0]', 'C*[0, 0]')) for line in lines)


def test_text_is_what_sympy_reads(derive: Any) -> None:
    text = dict(line.split(' = ') for line in derive(PAPER, '--quantity', 'M')[3:])
    M = kd.load(PAPER).symbolic.mass_matrix()
    for entry, expression in text.items():
        i, j = map(int, entry[2:-1].split(', '))
        read = sympy.nsimplify(expression, rational=True)
        assert sympy.expand(read - M[i, j]) == 0
    assert len(text) == 7


def test_quantities_come_in_the_order_asked_for(derive: Any) -> None:
    wanted = ['tau', 'T', 'V', 'dM', 'C*red', 'C', 'c', 'H', 'J', 'pose']
    lines = derive(PAPER, '--simplify', '--quantity', *wanted)
    titles = [line[2:].split(',')[0] for line in lines[1:] if line.startswith('#')]
    assert titles == [*wanted[:-3], 'H of frame_3', 'J of frame_3', 'pose of frame_3']
    assert 'C*red[2, 3] = 12906.875*sin(q3)*cos(q3)' in lines
    assert 'c[2] = 12906.875*q2_d**2*sin(q3)*cos(q3)' in lines


def test_gravity_is_taken(derive: Any) -> None:
    lines = derive(PAPER, '--quantity', 'g', 'V', '--simplify', '--gravity', '0', '10', '0')
    assert 'g[2] = 20425*cos(q3)' in lines
    assert 'V = 20425*sin(q3) + 46485' in lines
    assert 'g = 0' in derive(PAPER, '--quantity', 'g', '--gravity', '0', '0', '0')


def test_frame_alone_gives_its_kinematics(derive: Any) -> None:
    lines = derive(PAPER, '--frame', 'frame_2', '--simplify')
    titles = [line for line in lines[1:] if line.startswith('#')]
    assert titles == [
        '# pose of frame_2, shape (4, 4)',
        '# J of frame_2, shape (6, 3)',
        '# H of frame_2, shape (6, 9)',
    ]
    assert 'pose[1, 3] = -3.2' in lines
    assert 'J[4, 1] = -1' in lines
    assert 'H = 0' in lines


def test_symbolic_parameters_come_with_their_values(derive: Any) -> None:
    arguments = '--symbolic-parameters', '--simplify', '--gravity', '0', '9.81', '0'
    lines = derive(PAPER, '--quantity', 'g', *arguments)
    assert 'g[2] = c_boom_x*g*m_boom*cos(q3)' in lines
    values = lines[lines.index('# parameters') + 1 :]
    assert {'m_boom = 430', 'c_boom_x = 4.75', 'g = 9.81'} <= set(values)


def test_latex_is_an_equation_a_quantity(derive: Any) -> None:
    arguments = '--symbolic-parameters', '--simplify', '--latex'
    lines = derive(PAPER, '--quantity', 'C*', 'tau', '--gravity', '0', '9.81', '0', *arguments)
    assert lines[0] == '% paper_stacker, coordinates q1, q2, q3'
    (coriolis,) = (line for line in lines if line.startswith(r'\mathbf{C}^{*} = '))
    assert (
        r'\left[\begin{matrix}0 & 0 & 0 & 0 & - c_{\mathrm{boom},x} m_{\mathrm{boom}}' in coriolis
    )
    (tau,) = (line for line in lines if line.startswith(r'\boldsymbol{\tau} = '))
    assert r'\ddot{q}_{1}' in tau
    assert r'm_{\mathrm{boom}} = 430' in lines


def test_motion_as_seen_from_another_link(derive: Any) -> None:
    """The head of the paper's stacker, 12 m out on the boom, as the mast sees it."""
    lines = derive(
        *(PAPER, '--frame', 'frame_3', '--relative-to', 'frame_2', '--axes', 'frame_3'),
        *('--point', '1', '0', '0', '--quantity', 'J', 'v', 'a', '--simplify'),
    )
    seen = 'of frame_3 at 1 0 0 seen from frame_2 in the axes of frame_3'
    titles = [line for line in lines if line.startswith('# ') and 'shape' in line]
    assert titles == [f'# J {seen}, shape (6, 3)', *(f'# {x} {seen}, shape (6, 1)' for x in 'va')]
    # Only the joint between the two counts: a circle about its axis.
    entries = dict(line.split(' = ') for line in lines if ' = ' in line)
    assert {key for key in entries if key.startswith('J')} == {'J[1, 2]', 'J[5, 2]'}
    radius = sympy.sympify(entries['J[1, 2]'])
    rate, second = sympy.symbols('q3_d q3_dd')
    assert sympy.sympify(entries['a[0]']) == -radius * rate**2
    assert sympy.sympify(entries['a[1]']) == radius * second
    assert sympy.sympify(entries['v[1]']) == radius * rate


def test_a_link_without_a_quantity_of_links_is_refused(capsys: Any) -> None:
    assert main(['derive', PAPER, '--frame', 'frame_2', '--quantity', 'M', 'g']) == 1
    captured = capsys.readouterr()
    assert captured.out == ''
    assert captured.err.startswith('kron_dynamics: error: --frame frame_2 is for pose, J, H, v, a')


@pytest.mark.parametrize(
    ('arguments', 'code', 'named'),
    [
        ([PAPER, '--frame', 'nowhere'], 1, "'nowhere'"),
        ([PAPER, '--relative-to', 'nowhere'], 1, "'nowhere'"),
        ([PAPER, '--axes', 'nowhere'], 1, "'nowhere'"),
        ([PAPER, '--point', '1', 'nan', '2'], 1, 'point holds a NaN'),
        ([PAPER, '--relative-to', 'frame_1', '--quantity', 'M'], 1, 'none of which --quantity'),
        (['nowhere.urdf'], 1, "'nowhere.urdf'"),
        ([PAPER, '--quantity', 'Q'], 2, "'Q'"),
        ([], 2, 'URDF'),
    ],
)
def test_errors_are_one_line(arguments: list[str], code: int, named: str, capsys: Any) -> None:
    assert main(['derive', *arguments]) == code
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith('kron_dynamics: error: ')
    assert named in line
    assert captured.out == ''


def test_conditions_of_closed_loops(derive: Any) -> None:
    """Printed, read by SymPy and evaluated, they are the numbers of the constraints."""
    urdf = str(URDF / 'four_bar.urdf')
    file = str(URDF.parent / 'config' / 'four_bar_constraints.yaml')
    lines = derive(urdf, '--constraints', file, '--quantity', 'phi', 'A', 'dA')
    closed = kd.ConstrainedRobot.described(kd.load(urdf), file)
    names = closed.joint_names
    assert lines[0] == f'# four_bar, coordinates {", ".join(names)}'
    q, qd = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3))
    terms = closed.terms(q, qd)
    symbols = closed.robot.symbolic
    values = dict(zip((*symbols.q, *symbols.qd), (*q, *qd), strict=True))
    by_name = {str(symbol): symbol for symbol in values}
    for name, expected in (('phi', terms.phi), ('A', terms.A), ('dA', terms.A_dot)):
        found = np.zeros_like(expected)
        for line in lines:
            place, _, text = line.partition(' = ')
            if place.startswith(f'{name}['):
                where = tuple(int(k) for k in place[len(name) + 1 : -1].split(','))
                found[where] = float(sympy.sympify(text, locals=by_name).subs(values))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert [line for line in derive(urdf, '--constraints', file) if line.startswith('# phi')]
    assert main(['derive', urdf, '--quantity', 'phi']) != 0


def test_simplified_conditions_are_exact_and_short(derive: Any) -> None:
    urdf = str(URDF / 'four_bar.urdf')
    file = str(URDF.parent / 'config' / 'four_bar_constraints.yaml')
    asked = '--constraints', file, '--quantity', 'phi', 'A', 'dA'
    long, short = derive(urdf, *asked), derive(urdf, *asked, '--simplify')
    assert not any('1.0*' in line for line in (*long, *short))
    assert sum(map(len, short)) < 0.7 * sum(map(len, long))
