# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sections 4 and 5 of [T]: Coriolis matrices, Table 2, (103), (106), (107)."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import PAPER, TRANSCRIPTION, Misprint

from kron_dynamics import dynamics, kinematics

from .stacker import (
    C2,
    C3,
    PRODUCTS,
    S2,
    S3,
    D,
    I2x,
    I2y,
    I3x,
    I3y,
    I3z,
    P,
    State,
    a3,
    in_letters,
    l3,
    m3,
)

# Misprinted entries, corrected.
H_29 = a3 * S3
M_22 = I2y + (m3 * l3**2 + I3y) * C3**2 + I3x * S3**2
M_33 = m3 * l3**2 + I3z
_SC, _CS = P * S2 * C3 / 2, P * C2 * S3 / 2
ROW_2 = [0, -_SC, -_CS, _SC, 0, -2 * D * S3 * C3, _CS, 0, 0]
ROW_2_IN_PRINT = [0, -_SC, -_CS, 0, -2 * D * S3 * C3, _CS, 0, 0]


def misprints(state: State, symbolic: Any) -> list[Misprint]:
    """Return the misprints of sections 4 and 5, in the order of the text.

    Args:
        state: the state for the evaluation.
        symbolic: the stacker with symbolic parameters.
    """
    M = in_letters(symbolic.mass_matrix())
    H = in_letters(symbolic.frame('frame_3').kinematic_hessian())
    C_star = in_letters(symbolic.evaluate(dynamics.lagrange_velocity_free_matrix, symbolic.q))

    def error(expression: Any, derived: Any) -> Any:
        return abs(state.at([expression - derived])[0])

    return [
        _table_2(state),
        Misprint(
            '(103)',
            r'entry (2, 9): $a_3 \sin q$',
            r'$a_3 \sin q_3$',
            TRANSCRIPTION,
            r'read as $q_2$; $\mathbf{H}_{T_3}$',
            error(a3 * S2, H[1, 8]),
            error(H_29, H[1, 8]),
        ),
        Misprint(
            '(106)',
            r'entry (2, 2): $I_{2y} + (m_3 l_3^2 + I_y) c_3^2 + I_x s_3^2$',
            r'$I_{2y} + (m_3 l_3^2 + I_{3y}) C_3^2 + I_{3x} S_3^2$',
            TRANSCRIPTION,
            r'read as $I_{2y}$, $I_{2x}$; $\mathbf{M}$',
            error(I2y + (m3 * l3**2 + I2y) * C3**2 + I2x * S3**2, M[1, 1]),
            error(M_22, M[1, 1]),
        ),
        Misprint(
            '(106)',
            r'entry (3, 3): $m_3 l_3^2 I_{3z}$',
            r'$m_3 l_3^2 + I_{3z}$',
            TRANSCRIPTION,
            r'$\mathbf{M}$',
            error(m3 * l3**2 * I3z, M[2, 2]),
            error(M_33, M[2, 2]),
        ),
        _eq_107(state, C_star),
    ]


def right_but(state: State) -> list[Misprint]:
    """Return what is correct as printed, but without a property that one may expect."""
    return [_eq_97(state)]


def _eq_97(state: State) -> Misprint:
    model, q, qd = state.robot.model, state.q, state.qd
    M_dot = dynamics.mass_matrix_derivative(model, q).reshape(3, 3, 3) @ qd
    errors = []
    for coriolis in (dynamics.lagrange_coriolis_matrix, dynamics.coriolis_matrix):
        defect = state.at(M_dot - 2 * coriolis(model, q, qd))
        errors.append(abs(defect + defect.T).max() / 2)
    return Misprint(
        '(97)',
        r'$\mathbf{C} = \dot{\mathbf{M}} - \frac{1}{2}\mathbf{N}^T$: '
        r'$\dot{\mathbf{M}} - 2\mathbf{C}$ is not skew-symmetric',
        r'$\mathbf{C}$ of Christoffel symbols, $\frac{1}{2}(\dot{\mathbf{M}} + \mathbf{N} - '
        r'\mathbf{N}^T)$: it is',
        PAPER,
        r'symmetric part of $\dot{\mathbf{M}} - 2\mathbf{C}$',
        *errors,
    )


def _table_2(state: State) -> Misprint:
    """Compare M_12 for both positions of the boom's centre of mass with m3 l3 C2 C3."""
    model = state.robot.model
    tip = model.frame('frame_3').translation
    expected = state.at([m3 * l3 * C2 * C3])[0]
    errors = []
    for lever in (a3 - l3, l3 - a3):
        point = np.array([lever, 0, 0]).astype(object)
        J = kinematics.jacobian(model, state.q, 'frame_3', state.at(point))[:3]
        assert tip[1] == tip[2] == 0
        M_12 = model.bodies[2].mass * (J[:, 0] @ J[:, 1])
        errors.append(abs(state.at([M_12])[0] - expected))
    return Misprint(
        'Table 2',
        r'$\mathbf{p}_{G_3} = [a_3 - l_3, 0, 0]^T$',
        r'$[l_3 - a_3, 0, 0]^T$',
        PAPER,
        r'$M_{12} = m_3 l_3 C_2 C_3$ of (106)',
        *errors,
    )


def _eq_107(state: State, C_star: Any) -> Misprint:
    assert len(ROW_2_IN_PRINT) == 8
    derived = list(C_star.row(1))
    errors = []
    for row in ([*ROW_2_IN_PRINT, 0], ROW_2):
        entries = [sympy.sympify(x).xreplace(PRODUCTS) for x in row]
        errors.append(abs(state.at(np.array(entries) - np.array(derived))).max())
    return Misprint(
        '(107)',
        'row 2 has 8 entries',
        r'9 entries; the fourth, $+\frac{1}{2} P S_2 C_3$, is missing',
        TRANSCRIPTION,
        r'with a zero appended; $\mathbf{C}^{*}$',
        *errors,
    )
