# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot 2TR in the notation of [N]: derived and printed forms, and an exact state."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import sympy
from shared.exact import rationals

import kron_dynamics as kd

URDF = Path(__file__).resolve().parents[3] / 'urdf' / 'two_tr.urdf'
M1, M2, M3, a2, Iz, g = sympy.symbols('M1 M2 M3 a2 I_z g')
_LETTERS = {
    'm_cross_slide': M1,
    'm_lift': M2,
    'm_arm': M3,
    'c_arm_x': a2,
    'I_arm_zz': Iz,
    'g': g,
}
q, qd, qdd, qddd = (
    sympy.symbols(f'q1{dots} q2{dots} q3{dots}') for dots in ('', 'd', 'dd', 'ddd')
)
# Variations of rates and accelerations, in (70) and (71), and of q3.
dqd = sympy.symbols('dq1d dq2d dq3d')
dqdd = sympy.symbols('dq1dd dq2dd dq3dd')
dq3 = sympy.Symbol('dq3')
s, c = sympy.sin(q[2]), sympy.cos(q[2])

_DOTTED = (
    *((q, 'q'), (qd, r'\dot{q}'), (qdd, r'\ddot{q}'), (qddd, r'\dddot{q}')),
    *((dqd, r'\delta \dot{q}'), (dqdd, r'\delta \ddot{q}')),
)
_LATEX = {M1: 'M_1', M2: 'M_2', M3: 'M_3', a2: 'a_2', Iz: 'I_z', dq3: r'\delta q_3'} | {
    symbols[k]: f'{letter}_{k + 1}' for symbols, letter in _DOTTED for k in range(3)
}


class Derived(NamedTuple):
    """Closed forms of the program in the notation of [N].

    Attributes:
        kinetic: E_C.
        first: E_A^(1).
        second: E_A^(2).
        forces: Q_m.
        rates: rates of Q_m.
    """

    kinetic: Any
    first: Any
    second: Any
    forces: Any
    rates: Any


@functools.cache
def derived() -> Derived:
    """Return [N] eqs. (68), (69), (72)-(78) as the program derives them."""
    robot = kd.load(URDF).symbolic.with_parameters('symbolic')
    letters = {sympy.Symbol(ours): theirs for ours, theirs in _LETTERS.items()}
    for ours, theirs in ((robot.q, q), (robot.qd, qd), (robot.qdd, qdd), (robot.qddd, qddd)):
        letters |= dict(zip(ours, theirs, strict=True))

    def in_letters(form: Any) -> Any:
        renamed = sympy.expand(sympy.sympify(form).xreplace(letters))
        return sympy.expand(renamed.replace(sympy.cos(q[2]) ** 2, 1 - sympy.sin(q[2]) ** 2))

    def column(form: Any) -> Any:
        return sympy.Matrix(form).applyfunc(in_letters)

    return Derived(
        in_letters(robot.kinetic_energy()),
        in_letters(robot.acceleration_energy()),
        in_letters(robot.second_order_acceleration_energy()),
        column(robot.inverse_dynamics()),
        column(robot.inverse_dynamics_rate()),
    )


def variation(energy: Any, names: dict[Any, Any]) -> Any:
    """Return the variation of an energy: sum of derivatives times variations of symbols."""
    return sympy.expand(sum(energy.diff(x) * change for x, change in names.items()))


# As printed, with restored dots.
_SUM = (M1 + M2 + M3, M2 + M3, M3 * a2**2)


def _half(rates: Any) -> Any:
    return sum(m * x**2 for m, x in zip(_SUM, rates, strict=True)) / 2


PRINTED = {
    '(68)': _half(qd) - M3 * a2 * s * qd[0] * qd[2] + Iz * qd[2] ** 2 / 2,
    '(69)': _half(qdd)
    - (
        M3 * a2 * qd[2] ** 2 * c * qdd[0]
        - M3 * a2 * s * qdd[0] * qdd[2]
        + (M3 * a2**2 * qd[2] ** 4 + Iz * qdd[2] ** 2 + Iz * qd[2] ** 4) / 2
    ),
    '(70)': sum(m * x * dx for m, x, dx in zip(_SUM, qd, dqd, strict=True))
    - M3 * a2 * s * (qd[2] * dqd[0] + qd[0] * dqd[2])
    - M3 * a2 * c * qd[0] * qd[2] * dq3
    + Iz * qd[2] * dqd[2],
    '(71)': sum(m * x * dx for m, x, dx in zip(_SUM, qdd, dqdd, strict=True))
    - M3 * a2 * qd[2] ** 2 * c * qdd[0] * dqdd[0]
    - M3 * a2 * s * (qdd[2] * dqdd[0] + qdd[0] * dqdd[2])
    + Iz * qdd[2] * dqdd[2],
    '(72)': _SUM[0] * qdd[0] - M3 * a2 * s * qdd[2] - M3 * a2 * qd[2] ** 2 * c,
    '(73)': _SUM[1] * (qdd[1] + g),
    '(74)': _SUM[2] * qdd[2] - M3 * a2 * s * qdd[0] + Iz * qdd[2],
    '(75)': _half(qddd)
    - (Iz + M3 * a2**2) * qd[2] ** 3 * qddd[2]
    - M3 * a2 * s * qddd[0] * qddd[2]
    + M3 * a2 * s * qddd[0] * qd[2] ** 3
    - 3 * M3 * a2 * qd[2] * c * qddd[0] * qdd[2]
    + (M3 * a2**2 * qd[2] ** 6 + 9 * M3 * a2**2 * qd[2] ** 2 * qdd[2] ** 2 + Iz * qddd[2] ** 2)
    / 2,
    '(76)': _SUM[0] * qddd[0]
    - M3 * a2 * s * qddd[2]
    - 3 * M3 * a2 * qd[2] * c * qdd[2]
    + M3 * a2 * s * qd[2] ** 3,
    '(77)': _SUM[1] * (qddd[1] + g),
    '(78)': (_SUM[2] + Iz) * qddd[2] - M3 * a2 * s * qddd[0] - M3 * a2 * c * qd[2] * qdd[0],
}


def forms() -> dict[str, Any]:
    """Return the form derived by the program for each of [N] eqs. (68)-(78)."""
    d = derived()
    by_rates = dict(zip(qd, dqd, strict=True)) | {q[2]: dq3}
    return {
        '(68)': d.kinetic,
        '(69)': d.first,
        '(70)': variation(d.kinetic, by_rates),
        '(71)': variation(d.first, dict(zip(qdd, dqdd, strict=True))),
        **{f'({72 + k})': d.forces[k] for k in range(3)},
        '(75)': d.second,
        **{f'({76 + k})': d.rates[k] for k in range(3)},
    }


def at_state(expression: Any) -> Any:
    """Return the magnitude of an expression at one state, of rational numbers."""
    numbers = dict(
        zip(
            (M1, M2, M3, a2, Iz, g),
            rationals('6', '9/2', '11/5', '11/20', '59/1000', '10'),
            strict=True,
        )
    )
    rates = ('1/2', '-1/3', '3/4', '2/5', '1/4', '-2/3', '1', '-3/2', '4/3')
    numbers |= dict(zip((*qd, *qdd, *qddd), rationals(*rates), strict=True))
    numbers |= dict(
        zip((*dqd, *dqdd, dq3), rationals(*['1/2', '1/3', '1/5'] * 2, '1/7'), strict=True)
    )
    numbers |= {s: sympy.Rational(3, 5), c: sympy.Rational(4, 5)}
    return abs(sympy.sympify(expression).xreplace(numbers))


def tex(expression: Any) -> str:
    """Return LaTeX with s_3 and c_3 for sin q_3 and cos q_3."""
    short = sympy.sympify(expression).subs({s: sympy.Symbol('s_3'), c: sympy.Symbol('c_3')})
    return str(sympy.latex(short, symbol_names=_LATEX))
