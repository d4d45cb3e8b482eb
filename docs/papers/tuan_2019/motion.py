# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Section 3 of [T] for the stacker with a grab, in exact numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import PAPER, TRANSCRIPTION, Misprint, sizes_do_not_fit

from kron_dynamics import kinematics
from kron_dynamics.kinematics import relative
from kron_dynamics.kronecker import (
    block_skew,
    contract_last,
    khang_derivative,
    kronecker,
    skew,
    swap_columns,
)

from .relation import Relation
from .stacker import State

A, B, C = 'frame_0', 'boom', 'frame_4'
N = 4
E, ENN = np.eye(N, dtype=int), np.eye(N * N, dtype=int)
SQUARE = r'(\dot{\mathbf{q}} \otimes \dot{\mathbf{q}})'


class Motion:
    """Jacobians, Hessians and poses at a state, in the notation of [T].

    J_Tb: of b relative to a, in axes of a. bJ_Tc: of c relative to b, in axes of a. A second
    suffix _b or _c: in axes of that frame. v, a, omega, alpha: from the program's relative frames,
    in axes of a; with a leading b: relative to b.
    """

    def __init__(self, state: State) -> None:
        """Evaluate everything."""
        self.a, self.b, self.c = A, B, C
        self.state = state
        self.model, self.q = state.robot.model, state.q
        self.square = kronecker(state.qd, state.qd)
        jacobian, hessian = relative.relative_jacobian, relative.relative_hessian
        self.J_Tb, self.J_Rb = self._halves(jacobian, B, A)
        self.J_Tc, self.J_Rc = self._halves(jacobian, C, A)
        self.bJ_Tc, self.bJ_Rc = self._halves(jacobian, C, B, A)
        self.H_Tb, self.H_Rb = self._halves(hessian, B, A)
        self.H_Tc, self.H_Rc = self._halves(hessian, C, A)
        self.bH_Tc, self.bH_Rc = self._halves(hessian, C, B, A)
        self.A_b = state.evaluated(relative.rotation_between, A, B)
        self.A_c = state.evaluated(relative.rotation_between, A, C)
        self.d = self.A_b @ state.evaluated(relative.relative_pose, C, B)[:3, 3]
        self.p_c = np.array(sympy.sympify(['3/8', '-1/2', '3/4']), dtype=object)
        self.p = self.A_c @ self.p_c
        self.J_TG = state.evaluated(kinematics.jacobian, C, self.p_c)[:3]
        self.H_TG = state.evaluated(kinematics.kinematic_hessian, C, self.p_c)[:3]
        to_c = state.robot.frame(C)
        seen_b, seen_c = state.robot.frame(B).relative_to(A), to_c.relative_to(A)
        seen_G = to_c.relative_to(A, point=list(map(float, self.p_c)))
        (_, self.omega_b), (self.a_b, self.alpha_b) = state.motion(seen_b)
        (_, self.omega_c), (self.a_c, self.alpha_c) = state.motion(seen_c)
        (self.bv_c, self.bomega_c), (self.ba_c, self.balpha_c) = state.motion(
            to_c.relative_to(B, axes=A)
        )
        self.a_G = state.motion(seen_G)[1][0]
        # Derivatives of body-axes Jacobians.
        derivative = relative.relative_jacobian_derivative
        self.H_Rb_b = self._halves(derivative, B, A, B)[1]
        self.H_Rc_c = self._halves(derivative, C, A, C)[1]
        self.bH_Rc_c = self._halves(derivative, C, B, C)[1]

    def _halves(self, function: Any, *links: str) -> tuple[Any, Any]:
        matrix = self.state.evaluated(function, *links)
        return matrix[:3], matrix[3:]


def misprints(state: State) -> list[Misprint]:
    """Return the misprints of sections 2 and 3, in the order of the text."""
    m = Motion(state)
    kinematic = [_eq_17(m), _eq_36(m), _eq_43(m), _eq_45(m)]
    return [*kinematic, _eq_83(m), _eq_85(m), *_eqs_86_to_88(m), _eq_89(m), _eq_90(m)]


def _eq_17(m: Motion) -> Misprint:
    J, qd = m.J_Tc, m.state.qd
    right = block_skew(J) @ kronecker(np.eye(3, dtype=int), qd)
    assert (J @ qd).shape != right.shape
    return Misprint(
        '(17)',
        r'$\mathbf{A}\mathbf{a} = \tilde{\mathbf{A}}(\mathbf{E}_3 \otimes \mathbf{a})$',
        r'$\widetilde{\mathbf{A}\mathbf{a}} = '
        r'\tilde{\mathbf{A}}(\mathbf{E}_3 \otimes \mathbf{a})$',
        TRANSCRIPTION,
        r'$\mathbf{A} = \mathbf{J}_{T_c}$, $\mathbf{a} = \dot{\mathbf{q}}$',
        'sizes do not fit',
        abs(skew(J @ qd) - right).max(),
    )


def _eq_36(m: Motion) -> Misprint:
    # Axes of (a) in (b): the columns of A_a^(b), so the rows of A_b^(a).
    x, y, z = rotation = kinematics.forward_kinematics(m.model, m.q, C)[:3, :3]
    dx, dy, dz = (khang_derivative(axis, m.q) for axis in rotation)
    printed = m.state.at([y @ dz, z @ dz, z @ dz])
    right = m.state.at([y @ dz, z @ dx, x @ dy])
    return Misprint(
        '(36)',
        r'rows 2, 3: $\mathbf{z}_a^T\,\partial\mathbf{z}_a/\partial\mathbf{q}$',
        r'$\mathbf{z}_a^T\,\partial\mathbf{x}_a/\partial\mathbf{q}$, '
        r'$\mathbf{x}_a^T\,\partial\mathbf{y}_a/\partial\mathbf{q}$',
        TRANSCRIPTION,
        r'$\mathbf{J}_{R_c}$',
        abs(printed - m.J_Rc).max(),
        abs(right - m.J_Rc).max(),
    )


def _eq_43(m: Motion) -> Misprint:
    rotation = kinematics.forward_kinematics(m.model, m.q, C)[:3, :3]
    A_dot = m.state.at(contract_last(khang_derivative(rotation, m.q), m.state.qd))
    relative_velocity = (m.J_TG - m.J_Tc) @ m.state.qd
    return Misprint(
        '(43)',
        r'$\mathbf{v}_b + \dot{\mathbf{A}}_b\,\mathbf{p}_b^{(a)}$',
        r'$\mathbf{v}_b + \dot{\mathbf{A}}_b\mathbf{A}_b^T\mathbf{A}_b\,\mathbf{p}_b^{(b)}$',
        TRANSCRIPTION,
        r'$\mathbf{v}_{G_c}$',
        abs(A_dot @ m.p - relative_velocity).max(),
        abs(A_dot @ m.A_c.T @ m.A_c @ m.p_c - relative_velocity).max(),
    )


def _eq_45(m: Motion) -> Misprint:
    lever = kronecker(m.p, E)
    return Misprint(
        '(45)',
        r'$\mathbf{J}_R(\mathbf{p} \otimes \mathbf{E}_n)$',
        r'$\tilde{\mathbf{J}}_R(\mathbf{p} \otimes \mathbf{E}_n)$',
        f'one {TRANSCRIPTION}',
        r'$\mathbf{J}_{TG_c}$',
        sizes_do_not_fit(lambda: m.J_Rc @ lever),
        abs(m.J_Tc + block_skew(m.J_Rc) @ lever - m.J_TG).max(),
    )


def _eq_83(m: Motion) -> Misprint:
    d, W = m.d.reshape(3, 1), skew(m.omega_b)
    right = m.a_b + skew(m.alpha_b) @ m.d + 2 * W @ m.bv_c + W @ W @ m.d + m.ba_c
    return Misprint(
        '(83)',
        r'$\tilde{\boldsymbol{\omega}}\tilde{\boldsymbol{\omega}}\,{}^b\mathbf{d}_c\,'
        r'{}^b\mathbf{d}_c$',
        r'$\tilde{\boldsymbol{\omega}}\tilde{\boldsymbol{\omega}}\,{}^b\mathbf{d}_c$',
        TRANSCRIPTION,
        r'${}^a\mathbf{a}_c$',
        sizes_do_not_fit(lambda: W @ W @ d @ d),
        abs(right - m.a_c).max(),
    )


def _eq_85(m: Motion) -> Misprint:
    W = skew(m.omega_c)
    right = m.a_c + skew(m.alpha_c) @ m.p + W @ W @ m.p
    return Misprint(
        '(85)',
        r'$\tilde{\boldsymbol{\mu}}_c\,\mathbf{p}_{G_c}$',
        r'$\tilde{\boldsymbol{\alpha}}_c\,\mathbf{p}_{G_c}$',
        TRANSCRIPTION,
        r'${}^a\mathbf{a}_{G_c}$',
        r'$\boldsymbol{\mu}$ is not defined',
        abs(right - m.a_G).max(),
    )


def _eqs_86_to_88(m: Motion) -> list[Misprint]:
    """Return misprints of three equations: without the tilde over J_R the sizes do not fit."""
    parts_88 = _parts_88(m.H_Tc, m.H_Rc, m.J_Rc, m.p)
    cases = (
        ('(86)', r'\mathbf{H}_{T_c}', m.J_Rb, m.bJ_Tc, sum(_parts_86(m)) - m.H_Tc),
        ('(87)', r'\mathbf{H}_{R_c}', m.J_Rb, m.bJ_Rc, sum(_parts_87(m)) - m.H_Rc),
        ('(88)', r'\mathbf{H}_{TG_c}', m.J_Rc, m.J_Rc, sum(parts_88) - m.H_TG),
    )
    return [
        Misprint(
            number,
            r'$\mathbf{J}_R(\mathbf{J} \otimes \mathbf{E}_n)$',
            r'$\tilde{\mathbf{J}}_R(\mathbf{J} \otimes \mathbf{E}_n)$, everywhere',
            f'one {TRANSCRIPTION}',
            rf'${letter}{SQUARE}$',
            sizes_do_not_fit(lambda J_R=J_R, J=J: J_R @ kronecker(J, E)),
            abs(difference @ m.square).max(),
        )
        for number, letter, J_R, J, difference in cases
    ]


_TILDE = r'$\mathbf{A}_b^{(c)}\,\tilde{\mathbf{J}}_{R_b}^{(b)}$, or no tilde (sizes do not fit)'
_TILDE_OVER_PRODUCT = (
    r'$\tilde{\mathbf{P}}$, $\mathbf{P} = \mathbf{A}_b^{(c)}\mathbf{J}_{R_b}^{(b)}$'
)


def _tildes(m: Motion) -> tuple[Any, Any]:
    """Return the block skew matrix as printed in (89), (90), and that of the whole product."""
    A_bc, J = m.A_c.T @ m.A_b, m.A_b.T @ m.J_Rb
    bJ = m.A_c.T @ m.bJ_Tc
    sizes_do_not_fit(lambda: A_bc @ J @ kronecker(bJ, E))
    return A_bc @ block_skew(J), block_skew(A_bc @ J)


def _eq_89(m: Motion) -> Misprint:
    expected = m.A_c.T @ m.H_Tc
    printed, right = (sum(_parts_89(m, turning)) for turning in _tildes(m))
    return Misprint(
        '(89)',
        f'{_TILDE}; no ${SQUARE}$ on either side',
        f'{_TILDE_OVER_PRODUCT}; both sides times ${SQUARE}$',
        f'{TRANSCRIPTION}; factor: {PAPER}',
        rf'$\mathbf{{H}}^{{*}}_{{T_c}}{SQUARE}$',
        abs((printed - expected) @ m.square).max(),
        abs((right - expected) @ m.square).max(),
    )


def _eq_90(m: Motion) -> Misprint:
    printed, right = (sum(_parts_90(m, turning)) for turning in _tildes(m))
    return Misprint(
        '(90)',
        _TILDE,
        _TILDE_OVER_PRODUCT,
        TRANSCRIPTION,
        rf'$\mathbf{{H}}^{{(c)}}_{{R_c}}{SQUARE}$',
        abs((printed - m.H_Rc_c) @ m.square).max(),
        abs((right - m.H_Rc_c) @ m.square).max(),
    )


def _parts_86(m: Motion) -> tuple[Any, Any, Any]:
    """Return the summands of (86): without rotation of b, Coriolis, centripetal."""
    return _transported(m.H_Tb, m.H_Rb, block_skew(m.J_Rb), m.bJ_Tc, m.d, m.bH_Tc)


def _parts_87(m: Motion) -> tuple[Any, Any, Any]:
    return m.H_Rb, m.bH_Rc, block_skew(m.J_Rb) @ kronecker(m.bJ_Rc, E)


def _parts_89(m: Motion, turning: Any) -> tuple[Any, Any, Any]:
    to_c = m.A_c.T
    H_R, bJ = to_c @ m.A_b @ m.H_Rb_b, to_c @ m.bJ_Tc
    return _transported(to_c @ m.H_Tb, H_R, turning, bJ, to_c @ m.d, to_c @ m.bH_Tc)


def _transported(
    H_T: Any, H_R: Any, turning: Any, bJ: Any, d: Any, bH: Any
) -> tuple[Any, Any, Any]:
    coriolis = 2 * turning @ kronecker(bJ, E)
    centripetal = turning @ kronecker(turning, E) @ kronecker(d, ENN)
    return H_T - skew(d) @ H_R + bH, coriolis, centripetal


def _parts_90(m: Motion, turning: Any) -> tuple[Any, Any]:
    to_c = m.A_c.T
    return to_c @ m.A_b @ m.H_Rb_b + m.bH_Rc_c, turning @ kronecker(to_c @ m.bJ_Rc, E)


def _parts_88(H_T: Any, H_R: Any, J_R: Any, p: Any) -> tuple[Any, Any]:
    turning = block_skew(J_R)
    return H_T - skew(p) @ H_R, turning @ kronecker(turning, E) @ kronecker(p, ENN)


def relations(state: State) -> list[Relation]:
    """Return (84) and (86)-(91), corrected, times (qd (x) qd) and as matrices.

    A matrix whose columns (i, j) and (j, i) cancel gives 0 times every (qd (x) qd).
    """
    m = Motion(state)

    def relation(
        number: int, parts: Any, expected: Any, change: str, exact: Any, otherwise: Any
    ) -> Relation:
        printed = sum(parts)
        return Relation(
            f'({number})',
            abs((printed - expected) + swapped(printed - expected)).max(),
            abs(printed - expected).max(),
            change,
            abs(exact - expected).max(),
            abs(otherwise - expected).max(),
        )

    error_84 = m.alpha_b + m.balpha_c + skew(m.omega_b) @ m.bomega_c - m.alpha_c
    turning = _tildes(m)[1]
    rest, coriolis, centripetal = parts_86 = _parts_86(m)
    rest = rest + (coriolis + swapped(coriolis)) / 2
    forms_86 = rest + swapped(centripetal), rest + centripetal
    parts_87 = _parts_87(m)
    parts_88 = _parts_88(m.H_Tc, m.H_Rc, m.J_Rc, m.p)
    rest, coriolis, centripetal = parts_89 = _parts_89(m, turning)
    rest = rest + (coriolis + swapped(coriolis)) / 2
    forms_89 = rest + centripetal, rest + swapped(centripetal)
    parts_90 = _parts_90(m, turning)
    parts_91 = _parts_88(m.A_c.T @ m.H_Tc, m.H_Rc_c, m.A_c.T @ m.J_Rc, m.p_c)
    half = r'$(\mathbf{E} + \mathbf{K})$ for 2'
    centripetal_too = rf'{half}; centripetal term times $\mathbf{{K}}$'
    last = r'last term times $\mathbf{K}$'
    as_is = 'none'
    vectors = 'vectors'
    return [
        Relation('(84)', abs(error_84).max(), vectors, as_is, vectors, vectors),
        relation(86, parts_86, m.H_Tc, centripetal_too, *forms_86),
        relation(87, parts_87, m.H_Rc, as_is, *_with_and_without(parts_87)[::-1]),
        relation(88, parts_88, m.H_TG, last, *_with_and_without(parts_88)),
        relation(89, parts_89, m.A_c.T @ m.H_Tc, half, *forms_89),
        relation(90, parts_90, m.H_Rc_c, last, *_with_and_without(parts_90)),
        relation(91, parts_91, m.A_c.T @ m.H_TG, as_is, *_with_and_without(parts_91)[::-1]),
    ]


def _with_and_without(parts: Any) -> tuple[Any, Any]:
    """Return the sum with the last term times K, and without K."""
    return sum(parts[:-1]) + swapped(parts[-1]), sum(parts)


def swapped(matrix: Any) -> Any:
    """Return a Hessian times K."""
    return swap_columns(matrix, N)
