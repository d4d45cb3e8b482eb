# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Misprints of section 2 of [N], with their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm
from shared.claims import PAPER, TRANSCRIPTION, Misprint
from shared.derivatives import rate
from shared.exact import largest

from kron_dynamics.kinematics import orientation_axes, rotation_exponential, zero_pose
from kron_dynamics.kronecker import skew

from . import angles
from .arm import JOINTS, Arm
from .exponentials import printed, rotation, shift, squares, translation
from .motion import Matrices, derivatives, jacobian_by_poses

ORDERED = 'the product of the exponentials in this order'
# Set for the rows about exponentials of sums; other sets give similar errors.
SET = 'zyx'


def misprints(arm: Arm) -> list[Misprint]:
    """Return the misprints in the order of the text."""
    return [
        *_translations(arm),
        _whole_sum(arm),
        _eq_9(arm),
        _turning_sum(arm),
        *_columns(arm),
        _eq_20(arm),
        *_linear(arm),
        *_orientation(),
    ]


def of_sum(matrices: Any) -> Any:
    """Return the exponential of a sum, literally, in floats."""
    return expm(np.array(sum(matrices), dtype=float))


def apart(found: Any, exact: Any) -> float:
    """Return the largest difference of floats from exact numbers."""
    return float(abs(np.asarray(found - np.array(exact, dtype=float), dtype=float)).max())


def _translations(arm: Arm) -> list[Misprint]:
    rows = []
    own = r'\bar{k}_i\bar{k}_i^T'
    for slides, kind, as_printed in (
        (False, 'revolute', rf'I_3 q_i + \{{\bar{{k}}_i\times\}}(1 - c) + {own}(q_i - s)'),
        (True, 'prismatic', rf'I_3 q_i + {own} q_i'),
    ):
        joints = [k for k in range(arm.n) if JOINTS[k][0] == slides]
        errors = [
            largest([form(arm, k) @ arm.screws[k].linear - translation(arm, k) for k in joints])
            for form in (printed, squares)
        ]
        rows.append(
            Misprint(
                '(6)',
                rf'$\{{{as_printed}\}}\bar{{v}}_i$, for {kind} joints',
                r'$\{\bar{k}_i\times\}^2$ for $\bar{k}_i\bar{k}_i^T$; or $I_3 s(q_i^*)$ for '
                r'$I_3 q_i$',
                PAPER,
                'pose of the link',
                *errors,
            )
        )
    return rows


def _whole_sum(arm: Arm) -> Misprint:
    literal = of_sum([s.matrix * x for s, x in zip(arm.screws, arm.q, strict=True)])
    pose, R = arm.pose(0), rotation(arm, 0, arm.n)
    turned, moved = R @ arm.home[:3, :3], R @ arm.home[:3, 3] + shift(arm, arm.n)
    return Misprint(
        '(8), (10)',
        r'$e^{\sum A_j q_j}$',
        ORDERED,
        PAPER,
        'pose of the tool',
        apart(literal @ arm.home.astype(float), pose),
        largest(moved - pose[:3, 3]) + largest(turned - pose[:3, :3]),
    )


def _eq_9(arm: Arm) -> Misprint:
    n = arm.n - 1
    place = arm.pose(0, f'link{n}')[:3, 3]
    rest = rotation(arm, 0, n) @ zero_pose(arm.model, f'link{n}')[:3, 3]
    return Misprint(
        '(9)',
        r'$\sum_{j=0}^{i}$, which ends with $\bar{b}_{i+1}$',
        r'$\sum_{j=0}^{i-1}$',
        PAPER,
        f'position of link {n}',
        largest(shift(arm, n + 1) + rest - place),
        largest(shift(arm, n) + rest - place),
    )


def _turning_sum(arm: Arm) -> Misprint:
    last = arm.n - 1
    exact = arm.pose(0, f'link{last}')[:3, :3] @ _home(arm, last).T
    literal = of_sum([skew(arm.screws[k].angular) * arm.q[k] for k in range(last)])
    return Misprint(
        '(11), (14), (18)',
        r'$e^{\sum\{\bar{k}_j\times\}q_j^*}$',
        ORDERED,
        PAPER,
        r'$ME(V_{i1})$ of the last joint by poses',
        apart(literal, exact),
        largest(rotation(arm, 0, last) - exact),
    )


def _home(arm: Arm, link: int) -> Any:
    return zero_pose(arm.model, f'link{link}')[:3, :3]


class EarlyMatrices(Matrices):
    """The matrices with the products of (14) starting at m = i - 1, and delta_m = 1."""

    def turned(self, first: int, stop: int) -> Any:
        """Return the ordered product of rotations, shape (3, 3)."""
        begins_early = 0 < first <= stop < self.n
        return super().turned(first - 1 if begins_early else first, stop)


def _columns(arm: Arm) -> list[Misprint]:
    exact = jacobian_by_poses(arm)
    right = Matrices(arm, arm.q)
    other = [right.product(i) @ right.column(i, arm.n - 1) for i in range(arm.n)]
    error = largest(right.jacobian() - exact)
    return [
        Misprint(
            '(14)',
            r'products of $ME(V_{i32})$ from $m = i - 1$, with an undefined $\delta_m$, '
            'here 1',
            r'from $m = i$: $I_3$ for $k = i$',
            PAPER,
            r'derivatives of the pose by $\bar{\theta}$',
            largest(EarlyMatrices(arm, arm.q).jacobian() - exact),
            error,
        ),
        Misprint(
            '(16)',
            r'$\Delta_i\bar{k}_j$; here with $j = n$',
            r'$\Delta_i\bar{k}_i$',
            PAPER,
            r'derivatives of the pose by $\bar{\theta}$',
            largest(np.column_stack(other) - exact),
            error,
        ),
    ]


def _eq_20(arm: Arm) -> Misprint:
    qd, qdd, qddd = arm.rates
    as_printed: Any = 0
    right: Any = 0
    for j, screw in enumerate(arm.screws):
        V, V1, V2 = derivatives(lambda t, j=j: Matrices(arm, arm.along(t)).turned(0, j), 3)
        k = screw.angular
        as_printed = as_printed + (V * qdd[j] + V1 * qd[j] + V1 * qdd[j] + V2 * qd[j]) @ k
        right = right + (V * qddd[j] + 2 * V1 * qdd[j] + V2 * qd[j]) @ k
    exact = derivatives(arm.spin, 3)[2]
    return Misprint(
        '(20)',
        r'$V\ddot{q} + \dot{V}\dot{q}$ in the first sum',
        r'$V\dddot{q} + \dot{V}\ddot{q}$',
        TRANSCRIPTION,
        r'$\ddot{\bar{\omega}}$ by poses',
        largest(as_printed - exact),
        largest(right - exact),
    )


def _linear(arm: Arm) -> list[Misprint]:
    qd, qdd, qddd = arm.rates
    partly: list[Any] = [0, 0]
    right: list[Any] = [0, 0]
    for j in range(arm.n):

        def product(t: Any, j: int = j) -> Any:
            return Matrices(arm, arm.along(t)).product(j)[:3]

        def column(t: Any, j: int = j) -> Any:
            matrices = Matrices(arm, arm.along(t))
            return (matrices.product(j) @ matrices.column(j))[:3]

        M = Matrices(arm, arm.q).column(j)
        P, P1, P2 = (each @ M for each in derivatives(product, 3))
        J, J1, J2 = derivatives(column, 3)
        partly[0] = partly[0] + P * qdd[j] + P1 * qd[j]
        partly[1] = partly[1] + P * qdd[j] + P1 * qd[j] + P2 * qd[j]
        right[0] = right[0] + J * qdd[j] + J1 * qd[j]
        right[1] = right[1] + J * qddd[j] + 2 * J1 * qdd[j] + J2 * qd[j]
    exact = derivatives(lambda t: arm.pose(t)[:3, 3], 4)[2:]
    P, M = r'\prod ME\{J_{jk}\}', r'M_{jV}'
    return [
        Misprint(
            '(22)',
            rf'$\frac{{d}}{{dt}}\{{{P}\}}\,{M}$',
            rf'$\frac{{d}}{{dt}}\{{{P}\,{M}\}}$: ${M}$ contains $\bar{{b}}_k(q_k)$',
            PAPER,
            r'$\dot{\bar{v}}$ by poses',
            largest(partly[0] - exact[0]),
            largest(right[0] - exact[0]),
        ),
        Misprint(
            '(23)',
            rf'$\{{{P}\}}{M}\,\ddot{{q}} + \frac{{d}}{{dt}}\{{{P}\}}{M}\,\dot{{q}} + '
            rf'\frac{{d^2}}{{dt^2}}\{{{P}\}}{M}\,\dot{{q}}$',
            rf'${P}\,{M}\,\dddot{{q}} + 2\frac{{d}}{{dt}}\{{{P}\,{M}\}}\ddot{{q}} + '
            rf'\frac{{d^2}}{{dt^2}}\{{{P}\,{M}\}}\dot{{q}}$',
            TRANSCRIPTION,
            r'$\ddot{\bar{v}}$ by poses',
            largest(partly[1] - exact[1]),
            largest(right[1] - exact[1]),
        ),
    ]


def _orientation() -> list[Misprint]:
    A, B, C = orientation_axes(SET).T
    three = [skew(axis) * x for axis, x in zip((A, B, C), angles.ANGLES, strict=True)]
    R = angles.turns(SET, angles.ANGLES)
    R_A, R_B = (rotation_exponential(a, x) for a, x in zip((A, B), angles.ANGLES, strict=False))
    exact = angles.transfer(SET, angles.ANGLES)[:, 2]
    rates = rate(lambda t: angles.transfer(SET, angles.moved(t)[0]))[:, 2]

    def literal(t: float) -> Any:
        values = angles.moved(t)[0]
        return of_sum([skew(axis) * x for axis, x in zip((A, B), values, strict=False)]) @ C

    h = 2.0**-10
    sloped = (8 * (literal(h) - literal(-h)) - (literal(2 * h) - literal(-2 * h))) / (12 * h)
    a, b = angles.RATES[:2]
    right = a * skew(A) @ R_A @ R_B @ C + R_A @ (b * skew(B)) @ R_B @ C
    both = r'e^{\{\bar{A}\times\}\alpha_A + \{\bar{B}\times\}\beta_B}'
    return [
        Misprint(
            '(33)',
            r'$e^{\{\bar{A}\times\}\alpha_A + \{\bar{B}\times\}\beta_B + '
            r'\{\bar{C}\times\}\gamma_C}$',
            ORDERED,
            PAPER,
            f'$R$ of the set {SET}',
            apart(of_sum(three), R),
            largest(R_A @ R_B @ rotation_exponential(C, angles.ANGLES[2]) - R),
        ),
        Misprint(
            '(38)',
            rf'$\{{{both}\}}\,\bar{{C}}$',
            r'$R_A R_B\bar{C}$, as in the preceding line',
            PAPER,
            r'derivative of $R$ by $\gamma_C$',
            apart(literal(0.0), exact),
            largest(R_A @ R_B @ C - exact),
        ),
        Misprint(
            '(45)',
            rf'$\frac{{d}}{{dt}}\{{{both}\,\bar{{C}}\}}$',
            r'the last line, $\{\bar{A}\times\}\dot{\alpha}_A R_A R_B\bar{C} + '
            r'R_A\{\bar{B}\times\}\dot{\beta}_B R_B\bar{C}$',
            PAPER,
            r'derivative of the third column of ${}^0J_\Omega$ along a motion',
            apart(sloped, rates),
            largest(right - rates),
        ),
    ]
