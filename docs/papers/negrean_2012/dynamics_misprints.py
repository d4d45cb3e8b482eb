# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Misprints of sections 3 to 5 of [N], with their errors, in exact numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import PAPER, TRANSCRIPTION, Misprint
from shared.exact import rationals

from kron_dynamics.dynamics import (
    body_acceleration_energy,
    body_second_order_acceleration_energy,
)
from kron_dynamics.kinematics.motion import FrameMotion
from kron_dynamics.kronecker import cross

from .two_tr import M3, PRINTED, Derived, Iz, a2, at_state, forms, q, qd, qdd, qddd

# A body that rotates about a fixed point: w, wd, wdd, position of the centre of mass.
W, WD, WDD, R = (
    rationals(*texts)
    for texts in (
        ('1/2', '-1', '2/3'),
        ('3/4', '1/5', '-1/2'),
        ('1', '-2/5', '1/3'),
        ('1/2', '1/3', '-1/4'),
    )
)
MASS = sympy.Integer(2)
INERTIA = np.array([[3, -1, 0], [-1, 4, 1], [0, 1, 5]], dtype=object) * sympy.Rational(1, 2)
PLANAR = np.trace(INERTIA) / 2 * np.eye(3, dtype=int) - INERTIA
NONE = np.array([sympy.Integer(0)] * 3, dtype=object)


def of_bodies() -> list[Misprint]:
    """Return the misprints for one rigid body.  [N] eqs. (50), (53), (54)."""
    a = cross(WD, R) + cross(W, cross(W, R))
    energy = body_acceleration_energy(MASS, INERTIA, a, W, WD)
    about_point = INERTIA + MASS * (R @ R * np.eye(3, dtype=int) - np.outer(R, R))
    by_point = body_acceleration_energy(0, about_point, NONE, W, WD)
    turning = body_acceleration_energy(0, INERTIA, NONE, W, WD)
    field = FrameMotion((NONE, NONE, NONE), (W, WD, NONE)).field(2)
    rest = (field * (field @ PLANAR)).sum() / 2  # half the integral of the squared jerk
    square, Iw, Pw = W @ W, INERTIA @ W, PLANAR @ W
    last = square * (W @ cross(WD, Pw)) + square**2 * (W @ Iw) / 2
    spin = W @ WD
    free = 2 * square * (WD @ PLANAR @ WD) + (WD @ WD) * (W @ Pw) / 2 + last
    free += sympy.Rational(9, 2) * spin**2 * np.trace(PLANAR) - 7 * spin * (WD @ Pw)
    complete = body_second_order_acceleration_energy(0, INERTIA, NONE, W, WD, NONE)
    moment = INERTIA @ WD
    return [
        Misprint(
            '(50)',
            r'$\Delta_m = 1$, rotation: without $\frac{1}{2} M \dot{v}_C^2$',
            r'$\Delta_m = -1$ for every motion, or the inertia about the fixed point',
            PAPER,
            r'$E_A^{(1)}$ of a body that rotates about a fixed point',
            abs(turning - by_point),
            abs(energy - by_point),
        ),
        Misprint(
            '(53)',
            r'terms free of $\ddot{\omega}$: $2 \dot{\omega} (\omega I^* \dot{\omega}) \omega$ '
            'and the last two terms',
            r'$2 \omega^2 \dot{\omega} I_p \dot{\omega} + \frac{1}{2} \dot{\omega}^2 \omega I_p '
            r'\omega + \frac{9}{2} (\omega \dot{\omega})^2 \mathrm{tr} I_p - 7 (\omega '
            r'\dot{\omega})(\omega I_p \dot{\omega})$ and the last two terms',
            PAPER,
            r'$E_A^{(2)}$ with $\ddot{\omega} = 0$',
            abs(2 * spin * (W @ moment) + last - rest),
            abs(free - rest) + abs(complete - rest),
        ),
        Misprint(
            '(54)',
            r'$I^* \dot{\omega} - \omega \times I^* \dot{\omega}$',
            r'$I^* \dot{\omega} + \omega \times I^* \omega$',
            TRANSCRIPTION,
            r'derivative of $E_A^{(1)}$ by $\dot{\omega}$',
            _largest(moment - cross(W, moment) - _slope()),
            _largest(moment + cross(W, Iw) - _slope()),
        ),
    ]


def _slope() -> Any:
    """Return the derivative of E_A^(1) with respect to wd, by exact central differences."""
    half = sympy.Rational(1, 2)
    unit = np.eye(3, dtype=int)
    return np.array(
        [
            half
            * (
                body_acceleration_energy(0, INERTIA, NONE, W, WD + e)
                - body_acceleration_energy(0, INERTIA, NONE, W, WD - e)
            )
            for e in unit
        ]
    )


def of_principles(d: Derived) -> list[Misprint]:
    """Return the misprints of third-order equations, for the joint q3 of 2TR.

    [N] eqs. (62), (66), (67).
    """
    half = sympy.Rational(1, 2)
    by_jerk, by_rate = d.second.diff(qddd[2]), d.first.diff(qd[2])
    short = d.first - d.first.subs({x: 0 for x in qdd})
    rate = d.rates[2]
    energy_rate = _rate(d.first)
    return [
        Misprint(
            '(62)',
            r'$E_A^{(1)}$ without its term in $\omega^4$',
            r'$E_A^{(1)}$ complete',
            PAPER,
            r'rate of $Q_m^3$',
            at_state(by_jerk + half * short.diff(qd[2]) - rate),
            at_state(by_jerk + half * by_rate - rate),
        ),
        Misprint(
            '(66)',
            r'a bracket of derivatives of $E_C$, each at least once with respect to a coordinate: '
            r'without $I_z$, whose term in $E_C$ depends on no coordinate',
            r'$\frac{1}{2} \partial E_A^{(1)} / \partial \dot{q}_j$, which is no function of '
            r'$\mathbf{M}$',
            PAPER,
            r'terms with $I_z$ in the rate of $Q_m^3$',
            at_state(Iz * (by_jerk - rate).diff(Iz)),
            at_state(Iz * (by_jerk + half * by_rate - rate).diff(Iz)),
        ),
        Misprint(
            '(67)',
            r'$\partial \dot{E}_A^{(1)} / \partial \ddot{q}_j = \partial E_A^{(1)} / \partial '
            r'\dot{q}_j$, and likewise for higher orders',
            r'$\partial E_A^{(1)} / \partial \dot{q}_j + \frac{d}{dt} \partial E_A^{(1)} / '
            r'\partial \ddot{q}_j$',
            PAPER,
            r'$\partial \dot{E}_A^{(1)} / \partial \ddot{q}_3$',
            at_state(energy_rate.diff(qdd[2]) - by_rate),
            at_state(energy_rate.diff(qdd[2]) - by_rate - _rate(d.first.diff(qdd[2]))),
        ),
    ]


def of_two_tr() -> list[Misprint]:
    """Return the misprints of the example.  [N] eqs. (69), (71), (75), (77)."""
    right = forms()
    words = {
        '(69)': (
            r'$-[\ldots]$ around all following terms',
            r'$- M_3 a_2 \dot{q}_3^2 c_3 \ddot{q}_1 '
            r'- M_3 a_2 s_3 \ddot{q}_1 \ddot{q}_3 + \frac{1}{2}[\ldots]$',
        ),
        '(71)': (
            r'$M_3 a_2 \dot{q}_3^2 c_3 \ddot{q}_1 \delta\ddot{q}_1$',
            r'$M_3 a_2 \dot{q}_3^2 c_3 \delta\ddot{q}_1$',
        ),
        '(75)': (
            r'without the terms at right',
            r'$+ \frac{1}{2} I_z (9 \dot{q}_3^2 \ddot{q}_3^2 + \dot{q}_3^6)$',
        ),
        '(77)': (r'$(M_2 + M_3)(\dddot{q}_2 + g)$', r'$(M_2 + M_3)\dddot{q}_2$'),
    }
    put_right = {
        '(69)': PRINTED['(69)']
        - 2 * M3 * a2 * sympy.sin(q[2]) * qdd[0] * qdd[2]
        + M3 * a2**2 * qd[2] ** 4
        + Iz * (qdd[2] ** 2 + qd[2] ** 4),
        '(71)': right['(71)'],
        '(75)': PRINTED['(75)'] + Iz * (9 * qd[2] ** 2 * qdd[2] ** 2 + qd[2] ** 6) / 2,
        '(77)': PRINTED['(77)'].subs(sympy.Symbol('g'), 0),
    }
    return [
        Misprint(
            number,
            *words[number],
            PAPER,
            'the derived form',
            at_state(PRINTED[number] - right[number]),
            sympy.expand(put_right[number] - right[number]),
        )
        for number in words
    ]


def _rate(expression: Any) -> Any:
    """Return the time derivative along a motion, without terms in fourth derivatives."""
    steps = zip((*q, *qd, *qdd), (*qd, *qdd, *qddd), strict=True)
    return sum(expression.diff(x) * rate for x, rate in steps)


def _largest(values: Any) -> Any:
    return max(abs(value) for value in values)
