# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numerical examples of the flexible link: links of the public vectors, modes, stability."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
import sympy
from shared.claims import PAPER, Misprint

from kron_dynamics.flexible import Beam, LinearizedLink, SingleLinkManipulator
from kron_dynamics.typing import FloatArray

from . import link as letters

VECTORS = Path(__file__).resolve().parents[3] / 'test' / 'vectors' / 'public_vectors.json'
SPEEDS = (0.0, 2.0, 4.0, 6.0, 8.0, 8.5, 10.0, 15.0, 20.0)
MODES = (1, 2, 3)


@dataclass(frozen=True)
class Case:
    """A link and a state of its hub.

    Attributes:
        name: id of the vector.
        parameters: parameters by the names of the vector.
    """

    name: str
    parameters: dict[str, Any]

    @property
    def shapes(self) -> str:
        """Beam whose modes are used, in words."""
        with_tip = self.parameters['modes'] == 'clamped_tip'
        return 'the beam with its tip' if with_tip else 'the beam without a tip'

    def link(self, modes: int) -> SingleLinkManipulator:
        """Return the link with another number of modes."""
        p = self.parameters
        tip = (p['m_E'], p['J_E']) if p['modes'] == 'clamped_tip' else (0.0, 0.0)
        beam = Beam(p['l'], p['EI'], p['rhoA'], *tip)
        return SingleLinkManipulator(beam.modes(modes), p['J_1'], p['m_E'], p['J_E'], p['g'])

    def linearized(self, modes: int, geometric_stiffness: bool) -> LinearizedLink:
        """Return the linearized equations at the state."""
        p = self.parameters
        state = p['q_a'], p['qd_a'], p['qdd_a']
        return self.link(modes).linearized(*state, geometric_stiffness=geometric_stiffness)

    def in_letters(self) -> dict[Any, Any]:
        """Return the values of the paper's symbols, for one mode and no torque."""
        p, of = self.parameters, self.link(1).integrals
        names = {'l': 'l', 'rhoA': 'rhoA', 'EI': 'EI', 'J_1': 'J_1', 'm_E': 'm_E', 'g': 'g'}
        names |= {'q': 'q_a', 'qd': 'qd_a', 'qdd': 'qdd_a'}
        values = {getattr(letters, ours): p[theirs] for ours, theirs in names.items()}
        values |= {letters.D_1: of.D[0], letters.C_1: of.C[0], letters.X_1: of.tip_deflection[0]}
        for name in 'mkSTN':
            values[getattr(letters, f'{name}_11')] = getattr(of, name)[0, 0]
        return {**values, letters.tau: 0.0}


def load_cases() -> list[Case]:
    """Return the links of the public vectors."""
    cases = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    return [
        Case(case['id'], case['inputs']['params'])
        for case in cases
        if case['kind'] == 'flexible_link'
    ]


def misprints(case: Case) -> list[Misprint]:
    """Return the misprints of section 4, evaluated for a link with a tip mass."""
    rigid, printed = letters.linearized(False), letters.printed()
    M_22 = printed.M[1, 1]
    return [
        Misprint(
            '(54)',
            r'$\mathbf{s} = [q_a, w]^T$',
            r'$\mathbf{s} = [q_a, q_e]^T$ as in (59), $w(x, t) = X_1(x)\,q_e(t)$',
            PAPER,
            r'read as $w(l, t)$; $M_{22}$ of (68)',
            _error(M_22 / letters.X_1**2 - rigid.M[1, 1], case),
            _error(M_22 - rigid.M[1, 1], case),
        )
    ]


def right_but(case: Case) -> list[Misprint]:
    """Return what is correct for the paper's model but incomplete for an inextensible link."""
    derived, printed = letters.linearized(True), letters.printed()
    tension = letters.rhoA * letters.S_11 + letters.m_E * letters.l * letters.N_11
    weight = letters.rhoA * letters.T_11 + letters.m_E * letters.N_11
    geometric = letters.qd**2 * tension - letters.g * sympy.sin(letters.q) * weight
    difference = printed.K[1, 1] - derived.K[1, 1]
    return [
        Misprint(
            '(69)',
            r'$K_{22}$ of a link whose points keep their $x$, so that bending lengthens it',
            r'inextensible link: $+\,\dot{q}^2(\rho A S_{11} + m_E l N_{11}) - '
            r'g \sin q\,(\rho A T_{11} + m_E N_{11})$, the axial force',
            PAPER,
            r'$K_{22}$ of the inextensible link',
            _error(difference, case),
            _error(difference + geometric, case),
        )
    ]


def _error(difference: Any, case: Case) -> float:
    # Expanded before numbers are inserted, so that 0 is exactly 0.
    return abs(float(sympy.expand(difference).subs(case.in_letters())))


def mode_rows(case: Case) -> list[tuple[int, float, float, float, float]]:
    """Return number, beta l, sigma, natural frequency and Southwell's coefficient S/m."""
    link = case.link(max(MODES))
    modes, of = link.modes, link.integrals
    columns = modes.beta_l, modes.sigma, modes.natural_frequencies, np.diag(of.S) / np.diag(of.m)
    return [(j, *map(float, row)) for j, row in enumerate(zip(*columns, strict=True), start=1)]


def critical_speed(link: SingleLinkManipulator, geometric_stiffness: bool) -> float | None:
    """Return the speed at which a horizontal link loses its stiffness, rad/s; None if never.

    K = K_0 - qd^2 R loses its definiteness at the largest eigenvalue of R v = K_0 v / qd^2.
    """
    at_rest, turning = (_stiffness(link, qd, geometric_stiffness) for qd in (0.0, 1.0))
    largest = scipy.linalg.eigh(at_rest - turning, at_rest, eigvals_only=True)[-1]
    # Smaller eigenvalues are rounding errors.
    return 1 / sqrt(largest) if largest > 1e-12 else None


def squared_frequency(link: SingleLinkManipulator, qd: float, geometric_stiffness: bool) -> float:
    """Return the lowest omega^2 of a horizontal link with prescribed motion of the hub."""
    stiffness = _stiffness(link, qd, geometric_stiffness)
    inertia = link.linearized(0.0, qd, 0.0).M[1:, 1:]
    return float(scipy.linalg.eigh(stiffness, inertia, eigvals_only=True)[0])


def _stiffness(link: SingleLinkManipulator, qd: float, geometric_stiffness: bool) -> FloatArray:
    # At q = 0 gravity is perpendicular to the link and does not contribute.
    return link.linearized(0.0, qd, 0.0, geometric_stiffness=geometric_stiffness).K[1:, 1:]
