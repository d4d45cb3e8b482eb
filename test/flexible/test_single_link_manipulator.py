# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Khang's flexible manipulator: (63)-(71), the public vectors, Southwell's stiffening."""

from __future__ import annotations

from math import cos, nan, sin
from typing import Any

import numpy as np
import pytest
import sympy
from public_vectors import cases_of

from kron_dynamics.exceptions import ModelError, NonFiniteError
from kron_dynamics.flexible import Beam, SingleLinkManipulator
from kron_dynamics.kronecker import khang_derivative
from kron_dynamics.taylor import linearized_product

CASES = cases_of('flexible_link')
# What the vectors call the integrals of `BeamIntegrals`.
INTEGRALS = {'X_l': 'tip_deflection', 'dX_l': 'tip_slope'}


def close(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    """To a relative tolerance of the largest entry."""
    expected = np.array(expected, dtype=float)
    assert actual.shape == expected.shape
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def beam_of(p: dict[str, Any]) -> Beam:
    tip = (p['m_E'], p['J_E']) if p['modes'] == 'clamped_tip' else (0.0, 0.0)
    return Beam(p['l'], p['EI'], p['rhoA'], *tip)


def link_of(p: dict[str, Any]) -> SingleLinkManipulator:
    modes = beam_of(p).modes(p['n'])
    return SingleLinkManipulator(modes, p['J_1'], p['m_E'], p['J_E'], p['g'])


@pytest.fixture(params=CASES, ids=lambda case: case['id'])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(request.param)


def test_there_are_vectors() -> None:
    assert len(CASES) >= 3


@pytest.mark.parametrize(('form', 'geometric'), [('as_printed', False), ('geometric', True)])
def test_vectors_of_the_linearized_equations(
    case: dict[str, Any], form: str, geometric: bool
) -> None:
    p, expected = case['inputs']['params'], case['expected'][form]
    state = p['q_a'], p['qd_a'], p['qdd_a']
    linear = link_of(p).linearized(*state, geometric_stiffness=geometric)
    close(linear.M, expected['M_L'], 1e-12)
    close(linear.D, expected['D_L'])
    close(linear.K, expected['K_L'], 1e-12)
    close(linear.h, expected['h_L_without_tau'], 1e-12)
    driven = link_of(p).linearized(*state, geometric_stiffness=geometric, torque=3.0)
    close(driven.h - linear.h, [3.0] + [0.0] * p['n'])


def test_vectors_of_the_integrals(case: dict[str, Any]) -> None:
    link = link_of(case['inputs']['params'])
    for name, values in case['expected']['integrals'].items():
        close(getattr(link.integrals, INTEGRALS.get(name, name)), values, 1e-12)


def test_vectors_of_the_modes(case: dict[str, Any]) -> None:
    p, expected = case['inputs']['params'], case['expected']
    modes = beam_of(p).modes(3)
    close(modes.beta_l, expected['beta_l'], 1e-14)
    close(modes.sigma, expected['sigma'], 1e-13)
    close(modes.natural_frequencies, expected['natural_frequencies_rad_s'], 1e-13)
    close(modes.shapes([p['l'] / 2])[: p['n'], 0], expected['X_at_half'], 1e-13)


def test_equations_68_to_71_as_printed() -> None:
    """[K] (68)-(71), one mode, in the letters of the paper; m_OE = mu L, mu = rho A in (71)."""
    L, mu, EI, J1, mE, g, tau = 1.3, 0.9, 14.0, 0.08, 0.45, 9.81, 2.5
    q, qd, qdd = 0.6, 2.3, -1.1
    modes = Beam(L, EI, mu).modes(1)
    beta, sigma = modes.beta_l[0] / L, modes.sigma[0]
    D1, C1, X1, m11, k11 = 2 / beta**2, 2 * sigma / beta, 2.0, L, beta**4 * L
    mOE = mu * L
    M = [
        [J1 + mE * L**2 + mOE * L**2 / 3, mu * D1 + mE * L * X1],
        [mE * L * X1 + mu * D1, mE * X1**2 + mu * m11],
    ]
    side = -mE * g * X1 * sin(q) - mu * g * sin(q) * C1
    K = [
        [-mE * g * L * sin(q) - mOE * g * L * sin(q) / 2, side],
        [side, -mE * qd**2 * X1**2 - mu * qd**2 * m11 + EI * k11],
    ]
    h = [
        tau - M[0][0] * qdd - mE * g * L * cos(q) - mOE * g * L * cos(q) / 2,
        -M[1][0] * qdd - mE * g * X1 * cos(q) - mu * g * cos(q) * C1,
    ]
    link = SingleLinkManipulator(modes, J1, mE, gravity=g)
    linear = link.linearized(q, qd, qdd, torque=tau, geometric_stiffness=False)
    close(linear.M, M, 1e-13)
    close(linear.D, np.zeros((2, 2)))
    close(linear.K, K, 1e-13)
    close(linear.h, h, 1e-13)


@pytest.mark.parametrize('geometric', [False, True])
def test_linearization_of_the_nonlinear_equations(geometric: bool) -> None:
    """[K] (54), (55), (60)-(67) from Lagrange's equations of the link, two modes.

    Each point of the link is at (x - u, w) with the foreshortening u = 1/2 int w'^2, or u = 0.
    """
    link = SingleLinkManipulator(Beam(1.3, 14.0, 0.9, 0.45, 0.03).modes(2), 0.08, 0.45, 0.03)
    of, L, mu, g = link.integrals, 1.3, 0.9, 9.81
    q, e1, e2, qd, v1, v2 = sympy.symbols('q e1 e2 qd v1 v2')
    e, v = sympy.Matrix([e1, e2]), sympy.Matrix([v1, v2])
    s, sd = np.array([q, e1, e2]), np.array([qd, v1, v2])
    S, T, N, m, k = (sympy.Matrix(A) for A in (of.S, of.T, of.N, of.m, of.k))
    D, C, X, dX = (sympy.Matrix(a) for a in (of.D, of.C, of.tip_deflection, of.tip_slope))
    u_S, u_T, u_N = ((e.T * A * e)[0] / 2 if geometric else 0 for A in (S, T, N))
    w, wd = e.dot(X), v.dot(X)
    # To the second order in e, which is what an exact linearization needs: int x u = e'Se/2,
    # int u = e'Te/2, u(L) = e'Ne/2.
    square = mu * (L**3 / 3 - 2 * u_S + (e.T * m * e)[0]) + 0.45 * (L**2 - 2 * L * u_N + w**2)
    across = mu * D.dot(v) + 0.45 * L * wd
    kinetic = (
        (0.08 + square) * qd**2 / 2
        + across * qd
        + (mu * (v.T * m * v)[0] + 0.45 * wd**2) / 2
        + 0.03 * (qd + v.dot(dX)) ** 2 / 2
    )
    height = sympy.sin(q) * (mu * (L**2 / 2 - u_T) + 0.45 * (L - u_N))
    height += sympy.cos(q) * (mu * C.dot(e) + 0.45 * w)
    potential = g * height + 14 * (e.T * k * e)[0] / 2

    M = np.array(sympy.hessian(kinetic, list(sd)), dtype=object)
    M_s = khang_derivative(M, s)
    # C of the Christoffel symbols: 1/2 (dM_ij/ds_k + dM_ik/ds_j - dM_jk/ds_i) sd_k.
    d = M_s.reshape(3, 3, 3)
    C_matrix = (d + d.transpose(0, 2, 1) - d.transpose(2, 1, 0)) @ sd / 2
    gravity = np.array([potential.diff(c) for c in s])
    C_s, C_sd = khang_derivative(C_matrix, s), khang_derivative(C_matrix, sd)

    state = (-1.2, 4.0, 2.0)
    at = {q: state[0], qd: state[1], e1: 0, e2: 0, v1: 0, v2: 0}

    def number(A: Any) -> np.ndarray:
        return np.array(sympy.Matrix(A).subs(at), dtype=float)

    sdd = np.array([state[2], 0.0, 0.0])
    inertia = linearized_product(number(M), number(M_s), sdd)
    coriolis = linearized_product(number(C_matrix), number(C_s), number(sd)[:, 0], number(C_sd))
    linear = link.linearized(*state, geometric_stiffness=geometric)
    close(linear.M, number(M), 1e-13)
    close(linear.D + 1, coriolis.by_y + 1, 1e-13)
    close(linear.K, inertia.by_x + coriolis.by_x + number(khang_derivative(gravity, s)), 1e-13)
    close(linear.h, -(number(gravity)[:, 0] + inertia.value + coriolis.value), 1e-13)


def test_turning_stiffens_the_link_by_southwells_coefficient() -> None:
    """omega^2 = omega_0^2 + (S_11/m_11 - 1) qd^2 within the plane; the printed form softens."""
    link = SingleLinkManipulator(Beam(1.3, 14.0, 0.9).modes(1), 0.1, gravity=0.0)
    assert link.integrals.S[0, 0] / link.integrals.m[0, 0] == pytest.approx(1.19334, abs=5e-6)
    square = link.modes.natural_frequencies[0] ** 2
    for qd in (5.0, 20.0):
        for geometric, coefficient in ((True, 1.193336374108 - 1), (False, -1.0)):
            linear = link.linearized(0.0, qd, 0.0, geometric_stiffness=geometric)
            ratio = linear.K[1, 1] / linear.M[1, 1]
            assert ratio == pytest.approx(square + coefficient * qd**2, rel=1e-11)


def test_impossible_links_and_states_are_refused() -> None:
    modes = Beam(1.0, 1.0, 1.0).modes(1)
    with pytest.raises(ModelError, match="root is 'pinned', expected 'clamped'"):
        SingleLinkManipulator(Beam(1.0, 1.0, 1.0, root='pinned').modes(1))
    with pytest.raises(ModelError, match='hub_inertia is -1'):
        SingleLinkManipulator(modes, -1.0)
    with pytest.raises(ModelError, match='tip_mass is nan'):
        SingleLinkManipulator(modes, tip_mass=nan)
    with pytest.raises(ModelError, match='gravity is nan'):
        SingleLinkManipulator(modes, gravity=nan)
    with pytest.raises(NonFiniteError, match='qd is nan'):
        SingleLinkManipulator(modes).linearized(0.0, nan, 0.0)
