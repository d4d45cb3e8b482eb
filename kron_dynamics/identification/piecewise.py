# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Change detection: segments of rows on which piecewise constant parameters do not change."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import FloatArray, IntArray

# Decrease of the sum of squares, in variances of the noise, that justifies a change.
LEAST_SAVED = 40.0
# Relative rounding error of the sums.
ROUNDING = 1e-13
# Number of intervals of the grid on which changes are searched first.
MOST_PLACES = 160


def changes(matrix: FloatArray, effort: FloatArray) -> list[tuple[int, int]]:
    """Return the segments with constant parameters as half-open row ranges [first, last).

    The partition minimises the sum of squares plus `LEAST_SAVED` per change, by dynamic
    programming on a grid of rows that is refined around each change.

    Args:
        matrix: shape (R, n, s), in units of the noise and of the parameters' prior deviations.
        effort: shape (R, n), in units of the noise.
    """
    count, _, size = matrix.shape
    gram = np.concatenate([np.zeros((1, size, size)), np.einsum('rni,rnj->rij', matrix, matrix)])
    right = np.concatenate([np.zeros((1, size)), np.einsum('rni,rn->ri', matrix, effort)])
    gram, right = np.cumsum(gram, axis=0), np.cumsum(right, axis=0)

    def saved(begin: IntArray, end: IntArray) -> FloatArray:
        """Return the decrease of the sum of squares by separate parameters of each segment."""
        G = gram[end] - gram[begin]
        # Without any noise the unit prior would be lost to rounding.
        most = np.trace(G, axis1=1, axis2=2)
        G = G + (1.0 + ROUNDING * most)[:, None, None] * np.eye(size)
        b = right[end] - right[begin]
        return np.asarray(np.sum(b * np.linalg.solve(G, b[..., None])[..., 0], axis=1))

    grid = np.unique(np.linspace(0, count, min(count // 2, MOST_PLACES) + 1).astype(int))
    best, previous = np.zeros(len(grid)), np.zeros(len(grid), dtype=int)
    for k in range(1, len(grid)):
        total = best[:k] + saved(grid[:k], np.full(k, grid[k])) - LEAST_SAVED
        previous[k] = int(np.argmax(total))
        best[k] = total[previous[k]]
    bounds = [len(grid) - 1]
    while bounds[0]:
        bounds.insert(0, int(previous[bounds[0]]))
    rows = [int(grid[k]) for k in bounds]
    reach = int(np.ceil(count / max(len(grid) - 1, 1)))
    for k in range(1, len(rows) - 1):
        lower, upper = max(rows[k] - reach, rows[k - 1] + 1), min(rows[k] + reach, rows[k + 1] - 1)
        places = np.arange(lower, upper + 1)
        total = saved(np.full(len(places), rows[k - 1]), places)
        total += saved(places, np.full(len(places), rows[k + 1]))
        rows[k] = int(places[np.argmax(total)])
    # A change between two grid points may have been found at both: remove the changes that, after
    # the refinement, no longer save enough.
    while len(rows) > 2:
        begin, change, end = (np.array(rows[k : len(rows) - 2 + k]) for k in range(3))
        gain = saved(begin, change) + saved(change, end) - saved(begin, end)
        least = int(np.argmin(gain))
        if gain[least] >= LEAST_SAVED:
            break
        del rows[least + 1]
    return list(zip(rows[:-1], rows[1:], strict=True))
