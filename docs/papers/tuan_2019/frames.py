# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""(19)-(67) of [T] in exact numbers: Jacobians and Hessians against derivatives of poses."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.claims import Statement
from shared.exact import eye, largest

from kron_dynamics import kinematics
from kron_dynamics.kinematics import relative
from kron_dynamics.kronecker import contract_last, khang_derivative, kronecker, skew

from .motion import Motion


def motions(m: Motion) -> list[Statement]:
    """Check (20), (21) and (29)-(67): c relative to a, by derivatives of its pose."""
    at, q, n = m.state.at, m.q, m.model.n
    qd, qdd, E = m.state.qd, m.state.qdd, eye(n)
    pose = relative.relative_pose(m.model, q, m.c, m.a)
    A, d = pose[:3, :3], pose[:3, 3]
    A_c, dA, d_q = at(A), at(khang_derivative(A, q)), khang_derivative(d, q)
    A_dot = contract_last(dA, qd)
    x, y, z = A
    dx, dy, dz = (khang_derivative(axis, q) for axis in A)
    seen = at([y @ dz, z @ dx, x @ dy])
    x, y, z = A.T
    dx, dy, dz = (khang_derivative(axis, q) for axis in A.T)
    own = at([z @ dy, x @ dz, y @ dx])

    def halves(function: Any, axes: str, point: Any = None) -> tuple[Any, Any]:
        whole_matrix = m.state.evaluated(function, m.c, m.a, axes, point)
        return whole_matrix[:3], whole_matrix[3:]

    J_Tc, J_Rc = halves(relative.relative_jacobian, m.c)
    J_Tk, J_Rk = halves(relative.relative_jacobian, m.b)
    J_TG, _ = halves(relative.relative_jacobian, m.c, m.p_c)
    H_TG, _ = halves(relative.relative_hessian, m.a, m.p_c)
    H_star, H_turned = halves(relative.relative_hessian, m.c)
    H_Tc, H_Rc = halves(relative.relative_jacobian_derivative, m.c)
    A_bc = m.A_b.T @ m.A_c
    place_G = d + A @ m.p_c
    motion = at(kinematics.frame_acceleration(m.model, q, qd, qdd, m.c))
    velocity = at(kinematics.frame_velocity(m.model, q, qd, m.c))
    a, alpha = motion[:3], motion[3:]
    omega_c, v_c = J_Rc @ qd, J_Tc @ qd
    body_rate = J_Tc @ qdd + H_Tc @ m.square
    # Second derivatives of positions give accelerations without a Jacobian of the program.
    d_qq = at(khang_derivative(d, q, 2))
    G_q, G_qq = at(khang_derivative(place_G, q)), at(khang_derivative(place_G, q, 2))
    square = r'(\dot{\mathbf{q}} \otimes \dot{\mathbf{q}})'
    jacobian, hessian = '`relative_jacobian`', '`relative_hessian`'
    derivative = '`relative_jacobian_derivative`'
    rows = [
        ('(20)', r'$\tilde{\boldsymbol{\omega}}^{(a)} = \dot{\mathbf{A}}\mathbf{A}^T$')
        + (jacobian, skew(m.J_Rc @ qd) - A_dot @ A_c.T),
        ('(21)', r'$\tilde{\boldsymbol{\omega}}^{(c)} = \mathbf{A}^T\dot{\mathbf{A}}$')
        + (jacobian, skew(omega_c) - A_c.T @ A_dot),
        ('(29)', r'$\mathbf{J}_T^{(a)} = \partial\mathbf{d}/\partial\mathbf{q}$')
        + ('`jacobian`', m.J_Tc - at(d_q)),
        (
            '(30), (38)',
            r'$\mathbf{v} = \mathbf{J}_T\dot{\mathbf{q}}$, '
            r'$\boldsymbol{\omega} = \mathbf{J}_R\dot{\mathbf{q}}$',
        )
        + ('`frame_velocity`', velocity - np.concatenate([at(d_q) @ qd, m.J_Rc @ qd])),
        ('(31)', r'$\mathbf{J}_T^{(c)} = \mathbf{A}^T\,\partial\mathbf{d}/\partial\mathbf{q}$')
        + (jacobian, J_Tc - A_c.T @ at(d_q)),
        ('(34), (42)', r'$\mathbf{J}^{(c)} = \mathbf{A}_b^{(c)}\mathbf{J}^{(b)}$')
        + (jacobian, np.array([J_Tc - A_bc.T @ J_Tk, J_Rc - A_bc.T @ J_Rk])),
        ('(37)', r'$\mathbf{J}_R^{(a)}$ of the axes of (a) in (c)')
        + ('`rotational_jacobian`', m.J_Rc - seen),
        ('(40)', r'$\mathbf{J}_R^{(c)}$ of the axes of (c) in (a)') + (jacobian, J_Rc - own),
        (
            '(44), (67)',
            r'$\mathbf{v}_G$ and $\mathbf{H}_{TG}^{(a)}$ by derivatives of the position',
        )
        + (hessian, np.concatenate([m.J_TG - G_q, H_TG - G_qq], axis=1)),
        (
            '(47), (48)',
            r'$\mathbf{J}_{TG}^{(c)} = \mathbf{J}_T^{(c)} - \tilde{\mathbf{p}}^{(c)}'
            r'\mathbf{J}_R^{(c)} = \mathbf{A}^T\mathbf{J}_{TG}^{(a)}$',
        )
        + (jacobian, np.array([J_TG - J_Tc + skew(m.p_c) @ J_Rc, J_TG - A_c.T @ m.J_TG])),
        ('(51)', r'$\mathbf{H}_T^{(a)} = \partial^2\mathbf{d}/\partial\mathbf{q}^2$')
        + ('`kinematic_hessian`', m.H_Tc - d_qq),
        ('(52)', rf'$\mathbf{{a}} = \mathbf{{J}}_T\ddot{{\mathbf{{q}}}} + \mathbf{{H}}_T{square}$')
        + ('`frame_acceleration`', a - at(d_q) @ qdd - d_qq @ m.square),
        ('(53)', r'$\mathbf{H}_T^{(c)} = \partial\mathbf{J}_T^{(c)}/\partial\mathbf{q}$')
        + (derivative, H_Tc - at(khang_derivative(A.T @ d_q, q))),
        (
            '(54), (55)',
            r'$\dot{\mathbf{v}}^{(c)} = \mathbf{a}^{(c)} - '
            r'\tilde{\boldsymbol{\omega}}^{(c)}\mathbf{v}^{(c)}$',
        )
        + (derivative, body_rate - A_c.T @ a + skew(omega_c) @ v_c),
        (
            '(57)',
            r'$\mathbf{H}_T^{(a)} = \mathbf{A}\mathbf{H}_T^{(c)} + \frac{\partial\mathbf{A}}'
            r'{\partial\mathbf{q}}(\mathbf{J}_T^{(c)} \otimes \mathbf{E}_n)$',
        )
        + (derivative, m.H_Tc - A_c @ H_Tc - dA @ kronecker(J_Tc, E)),
        (
            '(58), (59)',
            r'$\mathbf{H}_T^{*(c)} = \mathbf{A}^T\mathbf{H}_T^{(a)}$ gives '
            r'$\mathbf{a}^{(c)}$',
        )
        + (hessian, np.array([H_star - A_c.T @ d_qq])),
        ('(60)', r'$\mathbf{H}_R^{(a)} = \partial\mathbf{J}_R^{(a)}/\partial\mathbf{q}$')
        + (
            '`kinematic_hessian`',
            m.H_Rc - at(khang_derivative(kinematics.rotational_jacobian(m.model, q, m.c), q)),
        ),
        ('(61)', r'$\mathbf{H}_R^{(c)} = \partial\mathbf{J}_R^{(c)}/\partial\mathbf{q}$')
        + (
            derivative,
            H_Rc - at(khang_derivative(A.T @ kinematics.rotational_jacobian(m.model, q, m.c), q)),
        ),
        (
            '(62)',
            rf'$\boldsymbol{{\alpha}} = \mathbf{{J}}_R\ddot{{\mathbf{{q}}}} + '
            rf'\mathbf{{H}}_R{square}$',
        )
        + ('`frame_acceleration`', alpha - m.J_Rc @ qdd - m.H_Rc @ m.square),
        (
            '(63), (64)',
            r'the same in (c): $\dot{\boldsymbol{\omega}}^{(c)} = '
            r'\boldsymbol{\alpha}^{(c)}$',
        )
        + (derivative, A_c.T @ alpha - J_Rc @ qdd - H_Rc @ m.square),
        (
            '(65)',
            rf'$\mathbf{{H}}_R^{{(c)}}{square} = \mathbf{{A}}^T\mathbf{{H}}_R^{{(a)}}'
            rf'{square}$',
        )
        + (hessian, (H_Rc - H_turned) @ m.square),
        (
            '(66)',
            rf'$\mathbf{{a}}_G = \mathbf{{J}}_{{TG}}\ddot{{\mathbf{{q}}}} + '
            rf'\mathbf{{H}}_{{TG}}{square}$',
        )
        + (hessian, G_q @ qdd + G_qq @ m.square - m.J_TG @ qdd - H_TG @ m.square),
    ]
    return [Statement(*row[:3], largest(row[3])) for row in rows]
