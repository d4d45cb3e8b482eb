# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Misprints of [P], with their errors."""

from __future__ import annotations

from typing import Any

from shared.claims import PAPER, TRANSCRIPTION, Misprint, sizes_do_not_fit
from shared.derivatives import slope
from shared.exact import largest

from kron_dynamics.kinematics import (
    body_angular_velocity_gradient,
    star,
    star_matrix,
    times,
    times_matrix,
)

from .loop import Loop
from .quaternions import D, Wrist
from .tree import LINKS

ETA, DOT = r'\boldsymbol{\eta}', r'\dot{\boldsymbol{\eta}}'
SLOPE = rf'derivative of ${ETA}^*$ along $\delta\mathbf{{q}} = \dot{{\mathbf{{q}}}}$'
PRODUCTS = 'entries of the matrices'


def misprints(loop: Loop, at: Wrist) -> list[Misprint]:
    """Return the misprints in the order of the text; (A-2) repeats (B-19)."""
    return [_footnote_4(loop), _eq_41(loop), *_appendix_a(loop, at), *_appendix_b(at)]


def _footnote_4(loop: Loop) -> Misprint:
    B, u, d = loop.B, loop.u, loop.d
    rows = sizes_do_not_fit(lambda: sum(u[r] * B[r] for r in range(2)) + d)
    return Misprint(
        'footnote 4',
        r'partial velocities are the rows of $\mathbf{B}$',
        r'columns: $\dot{\mathbf{q}} = \sum u_r\,\partial\dot{\mathbf{q}}/\partial u_r + '
        r'\mathbf{d}$; those of a body are the columns of $\mathbf{T}_i$, (44)',
        PAPER,
        r'$\dot{\mathbf{q}}$',
        rows,
        largest(sum(u[r] * B[:, r] for r in range(2)) + d - loop.qd),
    )


def _eq_41(loop: Loop) -> Misprint:
    q, qd, name = loop.q, loop.qd, LINKS[3]
    gradient = body_angular_velocity_gradient(loop.model, q, qd, name)
    along = slope(lambda change: loop.bodies.spins(q + loop.B @ change, qd)[3], 0 * loop.u)
    omega = r'(\partial\boldsymbol{\omega}/\partial\mathbf{q})'
    return Misprint(
        '(41)',
        rf'$\mathbf{{B}}^T{omega}$, both sides',
        rf'${omega}\mathbf{{B}}$, or $\mathbf{{B}}^T{omega}^T$ as in (42)',
        PAPER,
        r'derivative of $\boldsymbol{\omega}$ along the loop',
        sizes_do_not_fit(lambda: loop.B.T @ gradient),
        largest(gradient @ loop.B - along),
    )


def it_holds(error: Any) -> str:
    """Return the text for an equation that holds although denied, after checking that.

    Raises:
        AssertionError: it does not hold.
    """
    assert error == 0
    return 'it holds'


def _spin(equation: str, at: Wrist, after_printed: str = '', after_right: str = '') -> Misprint:
    return Misprint(
        equation,
        rf'$2{ETA}^* \otimes {DOT}${after_printed}',
        rf'$2{ETA}^* \circledast {DOT}${after_right}',
        TRANSCRIPTION,
        r'$\tilde{\boldsymbol{\omega}}$ by $\mathbf{R}^T\dot{\mathbf{R}}$',
        largest(2 * times(at.conjugate, at.e_dot) - at.w),
        largest(2 * star(at.conjugate, at.e_dot) - at.w),
    )


def _appendix_a(loop: Loop, at: Wrist) -> list[Misprint]:
    e, dq = at.conjugate, at.e_q @ at.rates
    exact = at.conjugate_q @ at.rates
    matrix = -times_matrix(e) @ star_matrix(e) @ at.e_q - at.conjugate_q
    gradients = [
        body_angular_velocity_gradient(loop.model, loop.q, loop.qd, name) for name in LINKS
    ]
    exact_gradients = slope(lambda x: loop.bodies.spins(x, loop.qd), loop.q)
    holds = largest(matrix) + largest(gradients - exact_gradients)
    return [
        _spin('(A-2)', at, ', which repeats (B-19)', ', as in the rest of the proof'),
        Misprint(
            'proof of theorem 2',
            '(B-17) does not hold for dependent coordinates',
            r'(B-17) and (17) hold as matrices, also along variations that violate the loop',
            PAPER,
            '(B-17) and, on the loop, (17)',
            it_holds(holds),
            holds,
        ),
        Misprint(
            '(A-8)',
            rf'$-{ETA}^* \otimes ({ETA}^* \otimes \partial{ETA}/\partial\mathbf{{q}})\,'
            r'\delta\mathbf{q}$',
            rf'$-{ETA}^* \otimes ({ETA}^* \circledast \partial{ETA}/\partial\mathbf{{q}})\,'
            r'\delta\mathbf{q}$: (B-17) along $\delta\mathbf{q}$',
            TRANSCRIPTION,
            SLOPE,
            largest(-times(e, times(e, dq)) - exact),
            largest(-times(e, star(e, dq)) - exact),
        ),
    ]


def _appendix_b(at: Wrist) -> list[Misprint]:
    e = at.conjugate
    D_star, D_times = D @ star_matrix(at.e), D @ times_matrix(at.e)
    T, S = times_matrix(e) @ D, star_matrix(e) @ D
    # A quaternion of norm 2 satisfies (B-9), (B-11), (B-12) and (B-18), but not (B-13).
    long, long_dot = 2 * at.e, 2 * at.e_dot
    assert largest(star(long, at.w) / 2 - long_dot) == 0
    printed = rf'$\mathbf{{D}}\,{ETA} \otimes = {ETA}^* \otimes \mathbf{{D}}$'
    return [
        Misprint(
            '(B-16)',
            f'{printed}, the first of two equal ones',
            rf'$\mathbf{{D}}\,{ETA} \circledast = {ETA}^* \otimes \mathbf{{D}}$',
            TRANSCRIPTION,
            PRODUCTS,
            largest(D_times - T),
            largest(D_star - T),
        ),
        Misprint(
            '(B-16)',
            f'{printed}, the second',
            rf'$\mathbf{{D}}\,{ETA} \otimes = {ETA}^* \circledast \mathbf{{D}}$',
            TRANSCRIPTION,
            PRODUCTS,
            largest(D_times - T),
            largest(D_times - S),
        ),
        Misprint(
            'before (B-19)',
            'by properties 1, 2 and 4',
            'by 1 to 4: (B-13) is needed; without it a quaternion of norm 2 would be allowed',
            PAPER,
            r'$\tilde{\boldsymbol{\omega}}$',
            largest(2 * star(2 * e, long_dot) - at.w),
            largest(2 * star(e, at.e_dot) - at.w),
        ),
        _spin('(B-19)', at),
    ]
