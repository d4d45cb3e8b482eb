# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Appendices A and B of [P]: quaternions of a wrist of three skew joints, in exact numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import Check
from shared.derivatives import axial, rate, slope
from shared.exact import eye, largest, rationals

from kron_dynamics.elementary import cos, sin
from kron_dynamics.kinematics import (
    body_angular_velocity,
    conjugate,
    conjugate_derivative,
    quaternion_rate,
    rotation_of,
    star,
    star_matrix,
    times,
    times_matrix,
)
from kron_dynamics.kinematics.quaternion import CONJUGATION
from kron_dynamics.kronecker import skew

D = CONJUGATION
AXES = tuple(rationals(*axis.split()) for axis in ('1 0 0', '0 3/5 4/5', '12/25 3/5 -16/25'))
Q = np.array([2 * sympy.atan(x) for x in rationals('3/4', '-5/12', '8/15')], dtype=object)
QD = rationals('1/2', '-2/3', '3/4')
# Quaternions of any norm: the products of (B-9)-(B-16) do not require rotations.
ANY = rationals('1/2', '-2', '3', '5/3'), rationals('4', '1/3', '-1', '2'), rationals(*'1234')
HALF = sympy.Rational(1, 2)
UNITS = 'ijk1'
# Hamilton's rules: sign and unit of the product of two units.
RULES = {'ij': (1, 'k'), 'jk': (1, 'i'), 'ki': (1, 'j')}
RULES |= {pair[::-1]: (-1, unit) for pair, (_, unit) in RULES.items()}
RULES |= {2 * unit: (-1, '1') for unit in 'ijk'}
RULES |= {pair: (1, unit) for unit in UNITS for pair in (f'1{unit}', f'{unit}1')}


def wrist(q: Any) -> Any:
    """Return the quaternion of the successive rotations, by half angles."""
    e = np.array([0, 0, 0, 1])
    for axis, angle in zip(AXES, q, strict=True):
        half = angle * HALF
        e = star(e, np.array([*(sin(half) * axis), cos(half)], dtype=object))
    return e


def turns(q: Any) -> Any:
    """Return the rotation matrix of the same rotations, by Rodrigues' formula."""
    R = eye(3)
    for axis, angle in zip(AXES, q, strict=True):
        s, c, K = sin(angle * HALF), cos(angle * HALF), skew(axis)
        R = R @ (eye(3) + 2 * s * c * K + 2 * s * s * (K @ K))
    return R


def hamilton(first: Any, second: Any) -> Any:
    """Return the product of two quaternions by Hamilton's rules for the units."""
    product = np.zeros(4, dtype=object)
    for a, x in zip(UNITS, first, strict=True):
        for b, y in zip(UNITS, second, strict=True):
            sign, unit = RULES[a + b]
            product[UNITS.index(unit)] += sign * x * y
    return product


class Wrist:
    """The wrist at a state, with the quantities of the appendices.

    Attributes:
        rates: qd.
        e: quaternion.
        e_q: derivative of e with respect to q.
        e_dot: rate of e.
        e_dot_q: derivative of e_dot with respect to q.
        conjugate: conjugate of e.
        conjugate_q: derivative of the conjugate with respect to q.
        R: rotation matrix, by Rodrigues' formula.
        w: [omega; 0], by R^T dR/dt.
        w_q: derivative of w with respect to q.
        J: derivative of w with respect to the rates.
        J_dot: rate of J.
        base: omega in base axes, by dR/dt R^T.
    """

    def __init__(self) -> None:
        """Compute all attributes by exact differentiation."""
        self.rates = QD
        self.e, self.e_q = wrist(Q), slope(wrist, Q)
        self.e_dot = self.e_q @ QD
        self.e_dot_q = slope(lambda q: slope(wrist, q) @ QD, Q)
        self.conjugate = np.array([-1, -1, -1, 1]) * self.e
        self.conjugate_q = slope(lambda q: np.array([-1, -1, -1, 1]) * wrist(q), Q)
        self.R = turns(Q)
        self.w = augmented(Q, QD)
        self.w_q = slope(lambda q: augmented(q, QD), Q)
        self.J = slope(lambda rates: augmented(Q, rates), QD)
        self.J_dot = rate(
            lambda t: slope(lambda rates: augmented(Q + QD * t, rates), QD),
        )
        self.base = axial(rate(lambda t: turns(Q + QD * t)) @ self.R.T)


def augmented(q: Any, qd: Any) -> Any:
    """Return [omega; 0] from R^T dR/dt."""
    omega = axial(turns(q).T @ rate(lambda t: turns(q + qd * t)))
    return np.array([*omega, omega[0] * 0], dtype=object)


def statements(at: Wrist) -> list[Check]:
    """Check the appendices, with misprints corrected."""
    return [*_proof(at), *_products(at), *_derivatives(at)]


def _proof(at: Wrist) -> list[Check]:
    e, w, J = at.conjugate, at.w, at.J
    S, T = star_matrix(e), times_matrix(e)
    by_conjugate = times_matrix(at.e_dot)
    slope_dot = rate(lambda t: slope(wrist, Q + QD * t))  # of de/dq
    half = (star_matrix(w) - times_matrix(w)) / 2
    lines = [
        2 * S @ at.e_dot_q + 2 * by_conjugate @ at.conjugate_q,
        2 * S @ slope_dot - 2 * by_conjugate @ T @ S @ at.e_q,
        2 * S @ rate(lambda t: star_matrix(wrist(Q + QD * t)) @ _jacobian(Q + QD * t)) / 2
        - 2 * times_matrix(times(at.e_dot, e)) @ S @ star_matrix(at.e) @ J / 2,
        S @ (star_matrix(at.e_dot) @ J + star_matrix(at.e) @ at.J_dot) - times_matrix(w) @ J / 2,
        star_matrix(w) @ J / 2 + at.J_dot - times_matrix(w) @ J / 2,
        at.J_dot + half @ J,
    ]
    cross = np.zeros((4, 4), dtype=object)
    cross[:3, :3] = skew(w[:3])
    corollary = slope(lambda q: axial(rate(lambda t: turns(q + QD * t)) @ turns(q).T), Q)
    base = slope(lambda qd: axial(rate(lambda t: turns(Q + qd * t)) @ at.R.T), QD)
    base_dot = rate(lambda t: _base_jacobian(Q + QD * t))
    w_ = r'\tilde{\boldsymbol{\omega}}'
    return [
        Check(
            '(A-2), (B-19)',
            rf'${w_} = 2\dot{{\boldsymbol{{\eta}}}} \otimes \boldsymbol{{\eta}}^* = '
            r'2\boldsymbol{\eta}^* \circledast \dot{\boldsymbol{\eta}}$',
            '`kinematics.body_angular_velocity`',
            r'$\mathbf{R}^T\dot{\mathbf{R}}$ by Rodrigues',
            largest(2 * times(at.e_dot, e) - w)
            + largest(2 * star(e, at.e_dot) - w)
            + largest(body_angular_velocity(at.e, at.e_dot) - w[:3]),
        ),
        Check(
            'to (A-3)',
            'each line of the proof of theorem 1',
            '`kinematics.star`, `kinematics.times`',
            r'derivative of $\mathbf{R}^T\dot{\mathbf{R}}$ with respect to $\mathbf{q}$',
            largest([line - at.w_q for line in lines]),
        ),
        Check(
            '(A-3)',
            rf'$\frac{{1}}{{2}}([{w_}\circledast] - [{w_}\otimes]) = '
            r'\mathrm{diag}([\boldsymbol{\omega}\times], 0)$',
            '`kinematics.star_matrix`, `kinematics.times_matrix`',
            r'$\boldsymbol{\omega}\times$',
            largest(half - cross),
        ),
        Check(
            '(A-5)',
            rf'$\partial{w_}/\partial\dot{{\mathbf{{q}}}} = '
            r'2\boldsymbol{\eta}^* \circledast \partial\boldsymbol{\eta}/\partial\mathbf{q}$',
            '`kinematics.star_matrix`',
            r'$\mathbf{R}^T\dot{\mathbf{R}}$ by Rodrigues',
            largest(2 * S @ at.e_q - J),
        ),
        Check(
            '(A-6)',
            r'in base axes $\partial\boldsymbol{\omega}/\partial\mathbf{q} = '
            r'\dot{\mathbf{J}}_\omega - [\boldsymbol{\omega}\times]\mathbf{J}_\omega$, '
            rf'${w_} = 2\dot{{\boldsymbol{{\eta}}}} \circledast \boldsymbol{{\eta}}^*$',
            '`kinematics.star`',
            r'derivative of $\dot{\mathbf{R}}\mathbf{R}^T$ with respect to $\mathbf{q}$',
            largest(base_dot - skew(at.base) @ base - corollary)
            + largest(2 * star(at.e_dot, e)[:3] - at.base),
        ),
    ]


def _jacobian(q: Any) -> Any:
    return slope(lambda rates: augmented(q, rates), QD)


def _base_jacobian(q: Any) -> Any:
    return slope(lambda qd: axial(rate(lambda t: turns(q + qd * t)) @ turns(q).T), QD)


def _products(at: Wrist) -> list[Check]:
    a, b, c = ANY
    one = np.array([0, 0, 0, 1])
    other = wrist(Q[::-1])
    matrices = [star_matrix(a) @ b - hamilton(a, b), times_matrix(a) @ b - hamilton(b, a)]
    units = [
        operation(first, second) - one
        for operation in (star, times)
        for first, second in ((at.e, conjugate(at.e)), (conjugate(at.e), at.e))
    ]
    swapped = [
        D @ star_matrix(a) - times_matrix(conjugate(a)) @ D,
        D @ times_matrix(a) - star_matrix(conjugate(a)) @ D,
    ]
    star_, times_ = r'\circledast', r'\otimes'
    e1, e2, e3 = (rf'\boldsymbol{{\eta}}_{k}' for k in (1, 2, 3))
    return [
        Check(
            '(B-9)',
            rf'$\mathbf{{Q}}_3 = \mathbf{{Q}}_1\mathbf{{Q}}_2$: ${e3} = {e1} {star_} {e2} = '
            rf'{e2} {times_} {e1}$',
            '`kinematics.star`, `kinematics.times`, `kinematics.rotation_of`',
            "rotation matrices by Rodrigues' formula",
            largest(rotation_of(star(at.e, other)) - at.R @ turns_of(other))
            + largest(rotation_of(at.e) - at.R)
            + largest(star(at.e, other) - times(other, at.e)),
        ),
        Check(
            '(B-10)',
            rf'$[\boldsymbol{{\eta}}{star_}]$ and $[\boldsymbol{{\eta}}{times_}]$',
            '`kinematics.star_matrix`, `kinematics.times_matrix`',
            r"Hamilton's rules for $i$, $j$, $k$",
            largest(matrices),
        ),
        Check(
            '(B-11), (B-12)',
            rf'$({e1} {star_} {e2}) {star_} {e3} = {e1} {star_} ({e2} {star_} {e3})$, the same '
            rf'with ${times_}$',
            '`kinematics.star`, `kinematics.times`',
            'each other',
            largest(star(star(a, b), c) - star(a, star(b, c)))
            + largest(times(times(a, b), c) - times(a, times(b, c))),
        ),
        Check(
            '(B-13)',
            rf'$\boldsymbol{{\eta}} {star_} \boldsymbol{{\eta}}^* = [0, 0, 0, 1]^T$, and the '
            'three other products, for unit quaternions',
            '`kinematics.conjugate`',
            '$[0, 0, 0, 1]^T$',
            largest(units),
        ),
        Check(
            '(B-16)',
            rf'$\mathbf{{D}}[\boldsymbol{{\eta}}{star_}] = [\boldsymbol{{\eta}}^*{times_}]'
            rf'\mathbf{{D}}$ and $\mathbf{{D}}[\boldsymbol{{\eta}}{times_}] = '
            rf'[\boldsymbol{{\eta}}^*{star_}]\mathbf{{D}}$',
            '`kinematics.star_matrix`, `kinematics.times_matrix`',
            'each other',
            largest(swapped),
        ),
    ]


def turns_of(quaternion: Any) -> Any:
    """Return the matrix of x -> e x e*, by Hamilton's rules."""
    columns = []
    for axis in eye(3):
        turned = hamilton(hamilton(quaternion, [*axis, 0]), conjugate(quaternion))
        columns.append(turned[:3])
    return np.array(columns).T


def _derivatives(at: Wrist) -> list[Check]:
    eta = r'\boldsymbol{\eta}'
    return [
        Check(
            '(B-14), (B-15)',
            rf'$\partial{eta}^*/\partial\mathbf{{q}} = -\mathbf{{D}}\,\partial{eta}/'
            r'\partial\mathbf{q}$',
            '`kinematics.quaternion.CONJUGATION`',
            rf'derivative of ${eta}^*$',
            largest(-D @ at.e_q - at.conjugate_q),
        ),
        Check(
            '(B-17)',
            rf'$\partial{eta}^*/\partial\mathbf{{q}} = -{eta}^* \otimes ({eta}^* \circledast '
            rf'\partial{eta}/\partial\mathbf{{q}})$',
            '`kinematics.conjugate_derivative`',
            rf'derivative of ${eta}^*$',
            largest(conjugate_derivative(at.e, at.e_q) - at.conjugate_q),
        ),
        Check(
            '(A-8)',
            rf'$(\partial{eta}^*/\partial\mathbf{{q}})\,\delta\mathbf{{q}} = -{eta}^* \otimes '
            rf'({eta}^* \circledast \partial{eta}/\partial\mathbf{{q}})\,\delta\mathbf{{q}}$',
            '`kinematics.conjugate_derivative`',
            rf'derivative of ${eta}^*$ along $\delta\mathbf{{q}}$',
            largest(conjugate_derivative(at.e, at.e_q @ QD) - at.conjugate_q @ QD),
        ),
        Check(
            '(B-18)',
            rf'$\dot{{{eta}}} = \frac{{1}}{{2}}\tilde{{\boldsymbol{{\omega}}}} \otimes {eta} = '
            rf'\frac{{1}}{{2}}{eta} \circledast \tilde{{\boldsymbol{{\omega}}}}$',
            '`kinematics.quaternion_rate`',
            r'$\mathbf{R}^T\dot{\mathbf{R}}$ by Rodrigues',
            largest(quaternion_rate(at.e, at.w[:3]) - at.e_dot)
            + largest(times(at.w, at.e) / 2 - at.e_dot),
        ),
    ]
