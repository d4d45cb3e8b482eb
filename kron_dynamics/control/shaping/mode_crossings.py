# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Modes followed along a motion by their shapes, through crossings of their frequencies.

Frequencies of weakly coupled modes do not cross but repel each other, and the modes exchange
their shapes in a short time. A vibration does not follow that: if the square of the smallest
difference of the frequencies is less than the rate of that difference (Landau and Zener), it keeps
its shape. Shapes are therefore followed between widely spaced poses, so that a quick exchange of
shapes is stepped over. In between they are interpolated and orthonormalized, and squared
frequencies are their Rayleigh quotients

.. math:: \omega_i^2 = \phi_i^T K \phi_i, \quad \phi_i^T M \phi_j = \delta_{ij}

whose errors are of second order in the errors of the shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.typing import FloatArray

# Least number of intervals between the poses over which shapes are followed, and the relative
# deviation of squared frequencies from those of the modes of a pose above which it is doubled.
_INTERVALS = 32
_DEVIATION = 0.04


def tracked_modes(
    modes: Sequence[Vibrations], times: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return frequencies in rad/s and damping ratios of modes in constant order, (K, m) each.

    Args:
        modes: those at K poses, m each, of positive stiffness. The order is that of the
            frequencies at the first pose, ascending.
        times: times of the poses, shape (K,), s, ascending.
        shares: their places from 0 to 1, shape (K,), ascending: multiples of some 1/2^k. Shapes
            are followed over those that are multiples of 1/32, if needed of 1/64, 1/128, ...
    """
    exact = np.array([each.squares for each in modes])
    intervals = _INTERVALS
    while True:
        taken = np.flatnonzero(shares * intervals % 1.0 == 0.0)
        coordinates = _coordinates(modes, times, taken.tolist())
        squares = np.einsum('kij,kj->ki', coordinates**2, exact)
        deviation = np.abs(np.sort(squares) / np.sort(exact) - 1.0).max()
        if len(taken) == len(modes) or deviation <= _DEVIATION:
            break
        intervals *= 2
    frequencies: FloatArray = np.sqrt(squares)
    shapes = np.array([each.shapes for each in modes]) @ np.swapaxes(coordinates, 1, 2)
    damping = np.array([each.damping for each in modes])
    modal = np.einsum('kai,kab,kbi->ki', shapes, damping, shapes)
    return frequencies, modal / (2.0 * frequencies)


def _coordinates(
    modes: Sequence[Vibrations], times: FloatArray, taken: Sequence[int]
) -> FloatArray:
    """Followed shapes in terms of the modes of each pose, orthogonal matrices, (K, m, m)."""
    from scipy.interpolate import make_interp_spline  # takes long to import

    places, shapes = _followed_shapes(modes, taken)
    between = shapes
    if len(places) > 1:
        spline = make_interp_spline(times[places], shapes, k=min(3, len(places) - 1))
        between = spline(times)
    overlaps = [
        shape.T @ each.mass @ each.shapes for shape, each in zip(between, modes, strict=True)
    ]
    left, _, right = np.linalg.svd(np.array(overlaps))
    coordinates: FloatArray = left @ right
    return coordinates


def _followed_shapes(
    modes: Sequence[Vibrations], taken: Sequence[int]
) -> tuple[list[int], FloatArray]:
    """Places among the poses, and the shapes there in constant order and sense, (L, m, m).

    Of the places to take, one at which the match is ambiguous is left out, never two in a row.
    """
    first = modes[taken[0]]
    # Shapes of equal frequencies are those of single coordinates, not any mixture.
    start, _ = first.in_order_of(first.coordinate_shapes())
    places, shapes = [taken[0]], [start.shapes[:, np.argsort(start.squares, kind='stable')]]
    skipped = False
    for place in taken[1:]:
        found, clear = modes[place].in_order_of(shapes[-1])
        skipped = not (skipped or place == taken[-1] or np.array_equal(clear, found.shapes))
        if skipped:
            continue
        sense = np.einsum('ai,ab,bi->i', shapes[-1], found.mass, found.shapes)
        shapes.append(np.where(sense < 0.0, -found.shapes, found.shapes))
        places.append(place)
    return places, np.array(shapes)
