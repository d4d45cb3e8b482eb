# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Modes followed along a motion by their shapes, through crossings of their frequencies.

Frequencies of weakly coupled modes do not cross but repel each other, and the modes exchange
their shapes in a short time. A vibration does not follow that: if the square of the smallest
difference of the frequencies is less than the rate of that difference (Landau and Zener), it keeps
its shape. Shapes are therefore followed over few poses. In between they are interpolated and
orthonormalized, and squared frequencies are their Rayleigh quotients

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


def tracked_modes(modes: Sequence[Vibrations]) -> tuple[FloatArray, FloatArray]:
    """Return frequencies in rad/s and damping ratios of modes in constant order, (K, m) each.

    Args:
        modes: those at K poses equally spaced in time, m each, of positive stiffness. The order
            is that of the frequencies at the first pose, ascending.
    """
    exact = np.array([each.squares for each in modes])
    every = 1 << max(0, ((len(modes) - 1) // _INTERVALS).bit_length() - 1)
    while True:
        coordinates = _coordinates(modes, every)
        squares = np.einsum('kij,kj->ki', coordinates**2, exact)
        deviation = np.abs(np.sort(squares) / np.sort(exact) - 1.0).max()
        if every == 1 or deviation <= _DEVIATION:
            break
        every //= 2
    frequencies: FloatArray = np.sqrt(squares)
    shapes = np.array([each.shapes for each in modes]) @ np.swapaxes(coordinates, 1, 2)
    damping = np.array([each.damping for each in modes])
    modal = np.einsum('kai,kab,kbi->ki', shapes, damping, shapes)
    return frequencies, modal / (2.0 * frequencies)


def _coordinates(modes: Sequence[Vibrations], every: int) -> FloatArray:
    """Followed shapes in terms of the modes of each pose, orthogonal matrices, (K, m, m)."""
    from scipy.interpolate import make_interp_spline  # takes long to import

    places, shapes = _followed_shapes(modes, every)
    between = shapes
    if len(places) > 1:
        spline = make_interp_spline(places, shapes, k=min(3, len(places) - 1))
        between = spline(np.arange(len(modes)))
    overlaps = [
        shape.T @ each.mass @ each.shapes for shape, each in zip(between, modes, strict=True)
    ]
    left, _, right = np.linalg.svd(np.array(overlaps))
    coordinates: FloatArray = left @ right
    return coordinates


def _followed_shapes(modes: Sequence[Vibrations], every: int) -> tuple[list[int], FloatArray]:
    """Places among the poses, and the shapes there in constant order and sense, (L, m, m).

    Between two places there is at most one at which the match is ambiguous.
    """
    first, last = modes[0], len(modes) - 1
    # Shapes of equal frequencies are those of single coordinates, not any mixture.
    start, _ = first.in_order_of(first.coordinate_shapes())
    places, shapes = [0], [start.shapes[:, np.argsort(start.squares, kind='stable')]]
    skipped = False
    for place in [min(k, last) for k in range(every, last + every, every)]:
        found, clear = modes[place].in_order_of(shapes[-1])
        skipped = not (skipped or place == last or np.array_equal(clear, found.shapes))
        if skipped:
            continue
        sense = np.einsum('ai,ab,bi->i', shapes[-1], found.mass, found.shapes)
        shapes.append(np.where(sense < 0.0, -found.shapes, found.shapes))
        places.append(place)
    return places, np.array(shapes)
