# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Periodic coefficients: Mathieu's and Meissner's equations, Liouville's formula."""

from __future__ import annotations

from math import cos, cosh, exp, pi, sin
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.special import mathieu_a, mathieu_b

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.stability import FloquetAnalysis, floquet_analysis, monodromy_matrix
from kron_dynamics.stability.collocation import ORDER, fundamental_matrix

ONE = np.eye(1)
ZERO = np.zeros((1, 1))


def matrices(rows: list[list[Any]]) -> np.ndarray:
    """A of shape (k, m, m), of entries that are numbers or arrays (k,)."""
    return np.moveaxis(np.array([np.broadcast_arrays(*sum(rows, []))]), -1, 0).reshape(
        -1, len(rows), len(rows)
    )


def mathieu(delta: float, eps: float, damping: float = 0.0, **options: Any) -> FloquetAnalysis:
    """Xdd + damping xd + (delta + 2 eps cos 2 t) x = 0."""

    def A(t: np.ndarray) -> np.ndarray:
        return matrices([[0 * t, 1], [-delta - 2 * eps * np.cos(2 * t), -damping]])

    return floquet_analysis(A, pi, vectorized=True, **options)


def coupled(t: np.ndarray) -> np.ndarray:
    """Three states, dense, a trace that varies; period 2."""
    w = pi * t
    return matrices(
        [
            [np.sin(w) - 0.3, 1.0 + np.cos(w), 0.4],
            [-2.0 + np.cos(2 * w), -0.5 * np.cos(w) ** 2, np.sin(w)],
            [0.2, np.sin(2 * w), 0.1 - np.exp(np.cos(w))],
        ]
    )


@pytest.mark.parametrize('q', [0.3, 1.0, 2.5])
@pytest.mark.parametrize(
    ('curve', 'r'), [(mathieu_a, 0), *((c, r) for r in (1, 2, 3) for c in (mathieu_b, mathieu_a))]
)
def test_the_trace_is_two_on_mathieus_characteristic_curves(q: float, curve: Any, r: int) -> None:
    trace = np.trace(mathieu(curve(r, q), q).monodromy)
    assert trace == pytest.approx(2 * (-1) ** r, abs=1e-8)


@pytest.mark.parametrize('q', [0.3, 1.0, 2.5])
def test_stable_and_unstable_sides_of_mathieus_curves(q: float) -> None:
    # Below a_0 the solutions grow, between b_r and a_r too; the sign of eps is a phase.
    edges = [mathieu_a(0, q)]
    for r in (1, 2, 3):
        edges += [mathieu_b(r, q), mathieu_a(r, q)]
    for k, edge in enumerate(edges):
        step = 1e-3 * min(1.0, *(abs(edge - other) for other in edges if other != edge))
        for side in (-1, 1):
            stable = (k % 2 == 0) == (side > 0)
            for eps in (q, -q):
                found = mathieu(edge + side * step, eps)
                assert found.is_stable() == stable
                assert (abs(np.trace(found.monodromy)) < 2) == stable
                assert not found.is_stable(-1e-6), 'undamped: no decay'
                if stable:
                    assert abs(found.stability_margin) < 1e-8
                else:
                    assert found.stability_margin < -1e-6


def test_damping_moves_mathieus_exponents_as_it_should() -> None:
    # x = exp(-c t/2) z turns the damped equation into an undamped one with delta - c^2/4.
    c = 0.16
    for delta in (0.9, 1.2, 2.3):
        damped = mathieu(delta, 0.3, c)
        plain = mathieu(delta - c**2 / 4, 0.3)
        assert damped.stability_margin == pytest.approx(plain.stability_margin + c / 2, abs=1e-8)
    assert not mathieu(0.9, 0.3, c).is_stable()
    assert mathieu(2.3, 0.3, c).is_stable(-1e-3)
    assert mathieu(2.3, 0.3, -c).stability_margin == pytest.approx(-c / 2, abs=1e-8)


def test_exponents_of_constant_coefficients_are_eigenvalues() -> None:
    M = np.array([[2.0, 0.3], [0.3, 1.0]])
    D = np.array([[0.4, 0.1], [-0.2, 0.3]])  # gyroscopic terms too
    K = np.array([[90.0, -12.0], [-12.0, 40.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    eigenvalues = np.sort_complex(np.linalg.eigvals(A))
    assert np.abs(eigenvalues.imag).max() < pi / 0.3
    for system in ((M, D, K), (lambda t: M, lambda t: D, lambda t: K), lambda t: A):
        found = floquet_analysis(system, 0.3, start=1.7)
        np.testing.assert_allclose(found.monodromy, expm(0.3 * A), rtol=0, atol=1e-10)
        np.testing.assert_allclose(np.sort_complex(found.exponents), eigenvalues, rtol=1e-9)
        assert found.stability_margin == pytest.approx(-eigenvalues.real.max(), rel=1e-7)
    # A longer period leaves the imaginary parts modulo 2 pi/T.
    slow = floquet_analysis((M, D, K), 3.0)
    turns = (np.sort(slow.multipliers) - np.sort(np.exp(3.0 * eigenvalues))) / slow.spectral_radius
    assert np.abs(turns).max() < 1e-9
    assert np.abs(slow.exponents.imag).max() <= pi / 3.0


def test_liouvilles_formula() -> None:
    times = 2 * np.arange(64) / 64  # the trapezoidal rule is spectrally exact for a period
    trace = np.trace(coupled(times), axis1=1, axis2=2).mean() * 2
    phi = monodromy_matrix(coupled, 2.0, vectorized=True)
    assert np.linalg.det(phi) == pytest.approx(exp(trace), rel=1e-10)


def test_against_an_integrator_and_one_by_one_sampling() -> None:
    def slope(t: float, x: np.ndarray) -> np.ndarray:
        return (coupled(np.array([t]))[0] @ x.reshape(3, 3)).ravel()

    end = solve_ivp(slope, (0.4, 2.4), np.eye(3).ravel(), 'DOP853', rtol=1e-12, atol=1e-13).y
    for options in ({'vectorized': True}, {'vectorized': False}):
        system = coupled if options['vectorized'] else lambda t: coupled(np.array([t]))[0]
        phi = monodromy_matrix(system, 2.0, start=0.4, **options)
        np.testing.assert_allclose(phi, end[:, -1].reshape(3, 3), rtol=0, atol=1e-10)


def test_multipliers_do_not_depend_on_the_phase() -> None:
    expected = floquet_analysis(coupled, 2.0, vectorized=True).multipliers
    assert (np.diff(np.abs(expected)) <= 1e-12).all()
    for start in (0.37, -1.1, 12.9):
        found = floquet_analysis(coupled, 2.0, vectorized=True, start=start)
        np.testing.assert_allclose(found.multipliers, expected, rtol=0, atol=1e-9)


def test_order_of_the_scheme_and_what_it_conserves() -> None:
    exact = monodromy_matrix(coupled, 2.0, vectorized=True, tolerance=1e-13)
    errors = [
        np.abs(fundamental_matrix(coupled, np.linspace(0, 2, steps + 1)) - exact).max()
        for steps in (16, 32, 64)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, ORDER, atol=0.3)
    # Without damping the area in phase space stays, however coarse the steps.
    coarse = fundamental_matrix(
        lambda t: matrices([[0 * t, 1], [-3 - np.cos(2 * t), 0]]), np.linspace(0, pi, 4)
    )
    assert np.linalg.det(coarse) == pytest.approx(1.0, abs=1e-13)


def test_more_steps_than_one_chunk() -> None:
    edges = np.linspace(0, 2, 700)
    exact = monodromy_matrix(coupled, 2.0, vectorized=True, tolerance=1e-13)
    np.testing.assert_allclose(fundamental_matrix(coupled, edges), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize('start', [0.0, 0.2, 0.6, 0.7, -3.4, 1e3 + 0.1])
def test_meissners_equation_has_jumps(start: float) -> None:
    # w^2 = 9 for 0.6 s, then -1 for 0.4 s: the trace is known in closed form.
    w = 3.0
    trace = 2 * cos(0.6 * w) * cosh(0.4) + (1 / w - w) * sin(0.6 * w) * np.sinh(0.4)

    def stiffness(t: float) -> np.ndarray:
        return np.array([[w**2 if t % 1.0 < 0.6 else -1.0]])

    system = (ONE, ZERO, stiffness)
    phi = monodromy_matrix(system, 1.0, breaks=[0.0, 2.6], start=start)
    assert np.trace(phi) == pytest.approx(trace, abs=1e-9)
    with pytest.raises(ParameterError, match='give the times of jumps as breaks'):
        monodromy_matrix(system, 1.0, start=start - 0.01, max_steps=128)


def test_numbers_of_very_different_size_are_all_exact() -> None:
    # Positions in 1e-6 of velocities: the error is that of balanced states.
    w = 1e6
    phi = monodromy_matrix(lambda t: [[0, 1], [-(w**2), 0]], 1e-6)
    np.testing.assert_allclose(phi, [[cos(1), sin(1) / w], [-w * sin(1), cos(1)]], rtol=1e-10)
