# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise polynomials through points, and where they are greatest; by NumPy alone.

The node that moves a machine plans its references with these: SciPy takes as long to import as
all else that the node does when it starts. Coefficients have the highest power first, shape
(order, p, n), as those of SciPy's `PPoly`.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import FloatArray

# Halvings of an interval of length 1 until it is one number wide.
_HALVINGS = 53


def cubic_hermite(times: FloatArray, positions: FloatArray, velocities: FloatArray) -> FloatArray:
    """Return the coefficients, shape (4, K - 1, n), of the C1 cubics through K points.

    Args:
        times: shape (K,), s.
        positions: shape (K, n).
        velocities: shape (K, n).
    """
    h = np.diff(times)[:, np.newaxis]
    slope = np.diff(positions, axis=0) / h
    v0, v1 = velocities[:-1], velocities[1:]
    cubic = (v0 + v1 - 2.0 * slope) / h
    return np.stack((cubic / h, (slope - v0) / h - cubic, v0, positions[:-1]))


def quintic_hermite(
    times: FloatArray, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray
) -> FloatArray:
    """Return the coefficients, shape (6, K - 1, n), of the C2 quintics through K points.

    Args:
        times: shape (K,), s.
        positions: shape (K, n).
        velocities: shape (K, n).
        accelerations: shape (K, n).
    """
    h = np.diff(times)[:, np.newaxis]
    v, a = velocities[:-1], accelerations[:-1] / 2.0
    # What the quadratic of the beginning leaves of the end, over a piece of length 1.
    p1 = np.diff(positions, axis=0) - h * (v + h * a)
    v1 = h * (np.diff(velocities, axis=0) - 2.0 * h * a)
    a1 = h * h * (accelerations[1:] - 2.0 * a)
    third = 10.0 * p1 - 4.0 * v1 + a1 / 2.0
    fourth = -15.0 * p1 + 7.0 * v1 - a1
    fifth = 6.0 * p1 - 3.0 * v1 + a1 / 2.0
    return np.stack((fifth / h**5, fourth / h**4, third / h**3, a, v, positions[:-1]))


def cubic_spline(
    times: FloatArray, positions: FloatArray, first_velocity: FloatArray
) -> FloatArray:
    """Return the coefficients, shape (4, K - 1, n), of the C2 cubics that end at rest.

    Args:
        times: shape (K,), s.
        positions: shape (K, n).
        first_velocity: shape (n,).
    """
    h = np.diff(times)
    slope = np.diff(positions, axis=0) / h[:, np.newaxis]
    velocities = np.zeros_like(positions)
    velocities[0] = first_velocity
    if times.size > 2:
        # Accelerations do not step: h1 v0 + 2 (h0 + h1) v1 + h0 v2 = 3 (h1 s0 + h0 s1).
        before, after = h[:-1], h[1:]
        right = 3.0 * (after[:, np.newaxis] * slope[:-1] + before[:, np.newaxis] * slope[1:])
        right[0] -= after[0] * velocities[0]
        diagonal = 2.0 * (before + after)
        velocities[1:-1] = _tridiagonal(after, diagonal, before, right)
    return cubic_hermite(times, positions, velocities)


def _tridiagonal(
    lower: FloatArray, diagonal: FloatArray, upper: FloatArray, right: FloatArray
) -> FloatArray:
    """The solution, shape (m, n), of a system whose diagonal outweighs the others in its row.

    Elimination without pivots, in Python's floats: rows are too short for arrays to be quicker.
    lower[0] and upper[-1] do not count.
    """
    below, above = lower.tolist(), upper.tolist()
    factors, pivots = [0.0], [float(diagonal[0])]
    for k, entry in enumerate(diagonal[1:].tolist(), 1):
        factors.append(below[k] / pivots[-1])
        pivots.append(entry - factors[-1] * above[k - 1])
    columns = []
    for column in right.T.tolist():
        for k in range(1, len(pivots)):
            column[k] -= factors[k] * column[k - 1]
        column[-1] /= pivots[-1]
        for k in reversed(range(len(pivots) - 1)):
            column[k] = (column[k] - above[k] * column[k + 1]) / pivots[k]
        columns.append(column)
    return np.array(columns).T


def derivative(coefficients: FloatArray) -> FloatArray:
    """Return the coefficients of the derivative, shape (order - 1 or 1, p, n)."""
    powers = np.arange(len(coefficients) - 1.0, 0.0, -1.0)
    if not powers.size:
        return np.zeros_like(coefficients)
    return np.asarray(coefficients[:-1] * powers[:, np.newaxis, np.newaxis])


def evaluated(coefficients: FloatArray, s: FloatArray) -> FloatArray:
    """Return the values at times s after the beginnings of the pieces, shape (..., p, n)."""
    value = np.zeros_like(s)
    for coefficient in coefficients:
        value = value * s + coefficient
    return value


def stationary(coefficients: FloatArray, durations: FloatArray) -> FloatArray:
    """Return times in each piece, shape (c, p, n), with all at which it may be greatest or least.

    The ends of the piece, and the zeros of its derivative in it; others where it has fewer.

    Args:
        coefficients: of the pieces, shape (order, p, n).
        durations: of the pieces, shape (p,), s.
    """
    _, pieces, n = coefficients.shape
    h = durations[:, np.newaxis]
    # Over pieces of length 1; of all derivatives, that of the highest order first.
    chain = [coefficients * h ** np.arange(len(coefficients) - 1.0, -1.0, -1.0)[:, None, None]]
    while len(chain[-1]) > 1:
        chain.append(derivative(chain[-1]))
    found = np.stack((np.zeros((pieces, n)), np.ones((pieces, n))))
    for function in reversed(chain[1:-1]):
        # Between zeros of its own derivative a function has one zero at most.
        low, high = found[:-1], found[1:]
        rising = evaluated(function, high) > evaluated(function, low)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            right = (evaluated(function, middle) < 0.0) == rising
            low, high = np.where(right, middle, low), np.where(right, high, middle)
        ends = found[:1], found[-1:]
        found = np.concatenate((ends[0], (low + high) / 2.0, ends[1]))
    return np.asarray(found * h)
