# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of many joints at once: against SciPy, which makes them one by one."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline, PPoly

from kron_dynamics.control.reference.polynomials import (
    control_points,
    cubic_pieces,
    derivative_of,
    highest,
    natural_spline_velocities,
    quintic_pieces,
    shifted,
    spline_velocities,
)

RNG = np.random.default_rng(7)
TIMES = np.cumsum(RNG.uniform(0.05, 1.0, 40))
STATES = RNG.normal(size=(3, 40, 3))


def power_basis(polynomial):
    """SciPy's coefficients in the order of ours."""
    return polynomial.c[::-1]


def test_cubic_pieces_are_hermites():
    q, v, _ = STATES
    found = cubic_pieces(np.diff(TIMES), (q[:-1], v[:-1]), (q[1:], v[1:]))
    expected = power_basis(CubicHermiteSpline(TIMES, q, v))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_quintic_pieces_join_position_velocity_and_acceleration():
    begin, end = ([rows[part] for rows in STATES] for part in (slice(-1), slice(1, None)))
    found = quintic_pieces(np.diff(TIMES), tuple(begin), tuple(end))
    joined = BPoly.from_derivatives(TIMES, STATES.transpose(1, 0, 2))
    expected = power_basis(PPoly.from_bernstein_basis(joined))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('count', [2, 3, 4, 40])
def test_the_spline_is_scipys(count):
    times, (q, v, _) = TIMES[:count], STATES[:, :count]
    spline = CubicSpline(times, q, bc_type=((1, v[0]), (1, np.zeros(3))))
    found = spline_velocities(times, q, v[0])
    np.testing.assert_allclose(found, spline(times, 1), rtol=1e-9, atol=1e-9)


def test_shifted_pieces_are_the_same_polynomials():
    pieces, by = RNG.normal(size=(6, 4, 2)), np.array([0.0, 0.3, -0.2, 1.5])
    moved = shifted(pieces, by)
    for k, late in enumerate(by):
        for t in (0.0, 0.7):
            powers = t ** np.arange(6)
            whole = (t + late) ** np.arange(6)
            np.testing.assert_allclose(powers @ moved[:, k], whole @ pieces[:, k], atol=1e-12)


@pytest.mark.parametrize('order', [1, 2, 4, 5, 6])
def test_highest_is_the_largest_root_of_the_derivative_or_an_end(order):
    pieces, sizes = RNG.normal(size=(order, 60, 3)), RNG.uniform(0.1, 2.0, 60)
    begins = np.concatenate(([0.0], np.cumsum(sizes)[:-1]))
    powers = sizes[:, np.newaxis] ** np.arange(order)[:, np.newaxis, np.newaxis]
    gained = np.sum((pieces * powers)[1:], axis=0)
    pieces[0, 1:] = pieces[0, 0] + np.cumsum(gained, axis=0)[:-1]  # each begins where one ends
    best, times = highest(pieces, begins, sizes)
    slopes = derivative_of(pieces)
    for joint in range(3):
        values = []
        for k, size in enumerate(sizes):
            roots = np.roots(slopes[::-1, k, joint]) if order > 2 else np.empty(0)
            inside = roots[(abs(roots.imag) < 1e-12) & (roots.real > 0) & (roots.real < size)]
            moments = np.concatenate((inside.real, [0.0, size]))
            values += list(np.polyval(pieces[::-1, k, joint], moments))
        assert best[joint] == pytest.approx(max(values), rel=1e-12)
        piece = min(int(np.searchsorted(begins, times[joint], side='right')) - 1, 59)
        attained = np.polyval(pieces[::-1, piece, joint], times[joint] - begins[piece])
        assert attained == pytest.approx(best[joint], rel=1e-6)


def test_thousands_of_pieces_are_bounded_in_turn():
    """While NumPy copies one large array no other thread runs, and commands would wait."""
    count, joints = 20_000, 6
    pieces, sizes = 0.1 * RNG.normal(size=(4, count, joints)), np.full(count, 0.5)
    begins = 0.5 * np.arange(count)
    peaks = np.array([0, 1023, 1024, 7000, 19_456, count - 1])
    pieces[:, peaks, np.arange(joints)] = np.array([[3.0], [2.0], [-4.0], [0.0]])
    tracemalloc.start()
    best, times = highest(pieces, begins, sizes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(best, 3.25, rtol=1e-12)
    np.testing.assert_allclose(times, begins[peaks] + 0.25, atol=1e-6)
    assert peak < 0.3 * pieces.nbytes


def test_of_equal_values_the_first_counts_and_one_that_is_no_number_is_told():
    pieces, begins = np.zeros((2, 3000, 2)), np.arange(3000.0)
    pieces[0, [5, 2500]] = 1.0
    best, times = highest(pieces, begins, np.ones(3000))
    np.testing.assert_array_equal(best, 1.0)
    np.testing.assert_array_equal(times, 5.0)
    for k in (5, 1500, 2999):
        spoilt = pieces.copy()
        spoilt[0, k, 1] = np.nan
        best, _ = highest(spoilt, begins, np.ones(3000))
        assert best[0] == 1.0
        assert np.isnan(best[1])


def test_a_flat_quantity_is_done_at_once():
    """A piece that is constant must not be halved for ever."""
    pieces = np.zeros((6, 5000, 2))
    pieces[0] = 0.1
    best, _ = highest(pieces, np.arange(5000.0), np.ones(5000))
    np.testing.assert_array_equal(best, [0.1, 0.1])


@pytest.mark.parametrize('count', [2, 3, 4, 9])
def test_natural_spline_is_that_of_scipy(count, rng, assert_close):
    times = np.cumsum(rng.uniform(0.2, 2.0, count))
    positions = rng.normal(size=(count, 3))
    expected = CubicSpline(times, positions, bc_type='natural')(times, 1)
    assert_close(natural_spline_velocities(times, positions), expected, 1e-12)


def test_control_points_bound_and_begin_and_end_their_pieces(rng, assert_close):
    pieces, sizes = rng.normal(size=(6, 4, 2)), rng.uniform(0.1, 2.0, 4)
    controls = control_points(pieces, sizes)
    powers = (sizes * np.linspace(0.0, 1.0, 101)[:, None]) ** np.arange(6)[:, None, None]
    values = np.einsum('osp,opn->spn', powers, pieces)
    assert_close(controls[0], values[0], 1e-12)
    assert_close(controls[-1], values[-1], 1e-11)
    assert (values <= controls.max(axis=0) + 1e-9).all()
    assert (values >= controls.min(axis=0) - 1e-9).all()
