# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise polynomials by NumPy alone against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly

from kron_dynamics.control.reference import polynomials


def points(count: int, n: int = 3, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    times = np.cumsum(10.0 ** rng.uniform(-2.0, 1.0, count))
    return times, *rng.normal(size=(3, count, n))


@pytest.mark.parametrize('count', [2, 3, 4, 50])
def test_the_spline_is_scipys(count: int) -> None:
    times, q, qd, _ = points(count)
    expected = CubicSpline(times, q, bc_type=((1, qd[0]), (1, np.zeros(3))))
    found = polynomials.cubic_spline(times, q, qd[0])
    np.testing.assert_allclose(found, expected.c, rtol=1e-9, atol=1e-9 * np.abs(expected.c).max())


@pytest.mark.parametrize('count', [2, 3, 50])
def test_hermite_pieces_are_scipys(count: int) -> None:
    times, q, qd, qdd = points(count)
    cubic = CubicHermiteSpline(times, q, qd).c
    np.testing.assert_allclose(polynomials.cubic_hermite(times, q, qd), cubic, rtol=1e-8)
    derivatives = np.stack((q, qd, qdd), axis=1)
    quintic = PPoly.from_bernstein_basis(BPoly.from_derivatives(times, derivatives)).c
    found = polynomials.quintic_hermite(times, q, qd, qdd)
    np.testing.assert_allclose(found, quintic, rtol=1e-7)


@settings(max_examples=60, deadline=None)
@given(order=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_no_value_within_a_piece_is_beyond_those_at_the_stationary_times(
    order: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(order, 4, 2))
    durations = 10.0 ** rng.uniform(-2.0, 1.0, 4)
    times = polynomials.stationary(coefficients, durations)
    assert (times >= 0.0).all()
    assert (times <= durations[:, None]).all()
    values = polynomials.evaluated(coefficients, times)
    grid = np.linspace(0.0, 1.0, 500)[:, None, None] * durations[:, None] * np.ones(2)
    between = polynomials.evaluated(coefficients, grid)
    rounding = 1e-12 * np.abs(between).max(axis=0)
    assert (between.max(axis=0) <= values.max(axis=0) + rounding).all()
    assert (between.min(axis=0) >= values.min(axis=0) - rounding).all()


def test_every_zero_of_the_derivative_is_found() -> None:
    # (s - 0.1)(s - 0.4)(s - 0.5)(s - 0.9), integrated; touching zero counts for nothing.
    quantity = np.polyint(np.poly([0.1, 0.4, 0.5, 0.9]))
    times = polynomials.stationary(quantity[:, None, None], np.array([1.0])).ravel()
    np.testing.assert_allclose(times, [0.0, 0.1, 0.4, 0.5, 0.9, 1.0], atol=1e-14)
