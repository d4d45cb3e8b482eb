# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectorised piecewise polynomials: interpolation of end states, shift, exact extrema, splines.

Coefficients are lowest power first, shape (order, p, n): p pieces of n joints, each in the time
since its start. Array operations process all pieces at once, so that thousands of points take
milliseconds.
"""

from __future__ import annotations

import functools
from math import comb

import numpy as np

from kron_dynamics.typing import FloatArray

# Allowed gap between the upper bound and the extremum found, relative to the largest coefficient.
_GAP = 1e-14
_MOST_HALVINGS = 60
# Pieces per operation.
_CHUNK = 1024

# Position, velocity and acceleration, each (p, n), at one end of every piece.
States = tuple[FloatArray, FloatArray, FloatArray]


def chunks(pieces: int) -> list[slice]:
    """Return the ranges of pieces to process in one operation, so that other threads can run."""
    return [slice(k, k + _CHUNK) for k in range(0, pieces, _CHUNK)]


def cubic_pieces(
    sizes: FloatArray, begin: tuple[FloatArray, FloatArray], end: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Return the cubic pieces, shape (4, p, n), between positions and velocities, (p, n) each.

    Args:
        sizes: durations of the pieces, shape (p,), s.
        begin: (q, qd) at their starts.
        end: (q, qd) at their ends.
    """
    h = sizes[:, np.newaxis]
    (q0, v0), (q1, v1) = begin, end
    slope = (q1 - q0) / h
    bend = (v0 + v1 - 2.0 * slope) / h
    return np.stack((q0, v0, (slope - v0) / h - bend, bend / h))


def quintic_pieces(sizes: FloatArray, begin: States, end: States) -> FloatArray:
    """Return the quintic pieces, shape (6, p, n), between states.

    Args:
        sizes: durations of the pieces, shape (p,), s.
        begin: (q, qd, qdd), (p, n) each, at their starts.
        end: (q, qd, qdd) at their ends.
    """
    h = sizes[:, np.newaxis]
    (q0, v0, a0), (q1, v1, a1) = begin, end
    way = q1 - q0
    return np.stack(
        (
            q0,
            v0,
            0.5 * a0,
            (20.0 * way - (8.0 * v1 + 12.0 * v0) * h - (3.0 * a0 - a1) * h**2) / (2.0 * h**3),
            (-30.0 * way + (14.0 * v1 + 16.0 * v0) * h + (3.0 * a0 - 2.0 * a1) * h**2)
            / (2.0 * h**4),
            (12.0 * way - 6.0 * (v1 + v0) * h - (a0 - a1) * h**2) / (2.0 * h**5),
        )
    )


def derivative_of(pieces: FloatArray) -> FloatArray:
    """Return the derivative of pieces, shape (order - 1, p, n)."""
    return pieces[1:] * np.arange(1.0, len(pieces))[:, np.newaxis, np.newaxis]


def shifted(pieces: FloatArray, by: FloatArray) -> FloatArray:
    """Return the coefficients of pieces whose starts are moved later by times (p,), s."""
    order = len(pieces)
    powers = powers_of(by, order)[..., np.newaxis]
    moved = np.zeros_like(pieces)
    for k in range(order):
        for j in range(k, order):
            moved[k] += comb(j, k) * pieces[j] * powers[j - k]
    return moved


def powers_of(bases: FloatArray, order: int) -> FloatArray:
    """Return the powers 0 to order - 1 of p numbers, shape (order, p)."""
    powers = np.ones((order, len(bases)))
    for k in range(1, order):  # several times as fast as `**`
        np.multiply(powers[k - 1], bases, out=powers[k])
    return powers


def highest(
    pieces: FloatArray, begins: FloatArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the largest value of each joint over all pieces, and its time, shape (n,) each.

    Args:
        pieces: shape (order, p, n), p at least 1.
        begins: start times of the pieces, shape (p,), s.
        sizes: durations of the pieces, shape (p,), s.
    """
    return _of_signs(pieces, begins, sizes, (1.0,))[0]


def lowest_and_highest(
    pieces: FloatArray, begins: FloatArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return each joint's smallest value, its time, the largest and its time, shape (n,) each.

    Arguments as for `highest`.
    """
    (lowest, lowest_time), top = _of_signs(pieces, begins, sizes, (-1.0, 1.0))
    return -lowest, lowest_time, *top


def _of_signs(
    pieces: FloatArray, begins: FloatArray, sizes: FloatArray, signs: tuple[float, ...]
) -> list[tuple[FloatArray, FloatArray]]:
    """`highest` of the pieces times each sign."""
    found = []
    for chunk in chunks(len(begins)):
        controls = control_points(pieces[:, chunk], sizes[chunk])
        both = [controls if sign > 0.0 else -controls for sign in signs]
        found.append([_highest(each, begins[chunk], sizes[chunk]) for each in both])
    joints = np.arange(pieces.shape[2])
    results = []
    for rows in zip(*found, strict=True):
        values, times = (np.array(each) for each in zip(*rows, strict=True))
        first = values.argmax(axis=0), joints
        results.append((values[first], times[first]))
    return results


def control_points(pieces: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the control points of pieces in Bernstein form, shape (order, p, n).

    The smallest and the largest control point of a piece are bounds of it.
    """
    order = len(pieces)
    scaled = pieces * powers_of(sizes, order)[..., np.newaxis]
    return np.tensordot(_to_bernstein(order - 1), scaled, axes=1)


def _highest(
    controls: FloatArray, begins: FloatArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """`highest` of a chunk of pieces, given by their control points, by branch and bound.

    The control points in Bernstein form bound a piece. Pieces whose bound exceeds the largest
    value found so far are bisected until none is left.
    """
    ends = np.concatenate((controls[0], controls[-1]))  # (2 p, n)
    where = ends.argmax(axis=0)
    best = ends[where, np.arange(ends.shape[1])]
    times = np.concatenate((begins, begins + sizes))[where]
    # One axis after the other is several times as fast as two at once.
    gap = _GAP * np.abs(controls).max(axis=0).max(axis=0)
    piece, joint = np.nonzero(controls.max(axis=0) > best + gap)
    points = controls[:, piece, joint]  # (order, m)
    begin, size = begins[piece], sizes[piece]
    for _ in range(_MOST_HALVINGS):
        if not joint.size:
            break
        left, right = halves(points)
        size = 0.5 * size
        middle = begin + size
        np.maximum.at(best, joint, right[0])
        reached = right[0] >= best[joint]
        times[joint[reached]] = middle[reached]
        points = np.concatenate((left, right), axis=1)
        begin, size = np.concatenate((begin, middle)), np.concatenate((size, size))
        joint = np.concatenate((joint, joint))
        open_ = points.max(axis=0) > best[joint] + gap[joint]
        points, begin, size, joint = points[:, open_], begin[open_], size[open_], joint[open_]
    return best, times


def halves(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the control points of both halves of pieces (de Casteljau), each (order, m)."""
    left, right = np.empty_like(points), np.empty_like(points)
    for k in range(len(points)):
        left[k], right[-1 - k] = points[0], points[-1]
        points = 0.5 * (points[:-1] + points[1:])
    return left, right


@functools.cache
def _to_bernstein(degree: int) -> FloatArray:
    return np.array(
        [[comb(i, k) / comb(degree, k) for k in range(degree + 1)] for i in range(degree + 1)]
    )


def spline_velocities(
    times: FloatArray, positions: FloatArray, first_velocity: FloatArray
) -> FloatArray:
    """Return the velocities, shape (K, n), of the clamped C2 cubic spline through K points.

    Without SciPy, whose import would take as long as the rest of a node's start.

    Args:
        times: shape (K,), s.
        positions: shape (K, n).
        first_velocity: shape (n,); the last velocity is 0.
    """
    h = np.diff(times)
    slope = np.diff(positions, axis=0) / h[:, np.newaxis]
    velocities = np.zeros_like(positions)
    velocities[0] = first_velocity
    if times.size > 2:
        # Continuous accelerations: h1 v0 + 2 (h0 + h1) v1 + h0 v2 = 3 (h1 s0 + h0 s1).
        before, after = h[:-1], h[1:]
        right = 3.0 * (after[:, np.newaxis] * slope[:-1] + before[:, np.newaxis] * slope[1:])
        right[0] -= after[0] * velocities[0]
        diagonal = 2.0 * (before + after)
        velocities[1:-1] = _tridiagonal(after, diagonal, before, right)
    return velocities


def natural_spline_velocities(times: FloatArray, positions: FloatArray) -> FloatArray:
    """Return the velocities, shape (K, n), of the natural cubic spline through K points.

    Args:
        times: shape (K,) of 2 or more, s.
        positions: shape (K, n).
    """
    h = np.diff(times)
    slope = np.diff(positions, axis=0) / h[:, np.newaxis]
    before, after = h[:-1], h[1:]
    right = np.empty_like(positions)
    right[0], right[-1] = 3.0 * slope[0], 3.0 * slope[-1]
    right[1:-1] = 3.0 * (after[:, np.newaxis] * slope[:-1] + before[:, np.newaxis] * slope[1:])
    diagonal = np.concatenate(([2.0], 2.0 * (before + after), [2.0]))
    lower, upper = np.concatenate(([0.0], after, [1.0])), np.concatenate(([1.0], before, [0.0]))
    return _tridiagonal(lower, diagonal, upper, right)


def _tridiagonal(
    lower: FloatArray, diagonal: FloatArray, upper: FloatArray, right: FloatArray
) -> FloatArray:
    """The solution, shape (m, n), of a diagonally dominant tridiagonal system.

    Thomas algorithm without pivoting, in Python floats: n is too small for arrays to be faster.
    lower[0] and upper[-1] are ignored.
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
