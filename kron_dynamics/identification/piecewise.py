# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that change now and then: during which stretches they do not."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import FloatArray, IntArray

# A change has to save so much of the sum of squares, in units of the noise.
LEAST_SAVED = 40.0
# Rounding of sums, as a share of the largest.
ROUNDING = 1e-13
# Places between which changes are first looked for.
MOST_PLACES = 160


def changes(matrix: FloatArray, effort: FloatArray) -> list[tuple[int, int]]:
    """Return the stretches of rows during which parameters do not change, first to last row.

    The partition with the least sum of squares, where each change has to save enough of it.

    Args:
        matrix: shape (R, n, s), in units of the noise and of the parameters' prior deviations.
        effort: shape (R, n).
    """
    count, _, size = matrix.shape
    gram = np.concatenate([np.zeros((1, size, size)), np.einsum('rni,rnj->rij', matrix, matrix)])
    right = np.concatenate([np.zeros((1, size)), np.einsum('rni,rn->ri', matrix, effort)])
    gram, right = np.cumsum(gram, axis=0), np.cumsum(right, axis=0)

    def saved(begin: IntArray, end: IntArray) -> FloatArray:
        """Squares that parameters of their own save in stretches."""
        G = gram[end] - gram[begin]
        # Where there is no noise at all, rounding would leave nothing of the prior.
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
    # A change between two of the places was as good as one at each: one of them saves nothing now.
    while len(rows) > 2:
        begin, change, end = (np.array(rows[k : len(rows) - 2 + k]) for k in range(3))
        gain = saved(begin, change) + saved(change, end) - saved(begin, end)
        least = int(np.argmin(gain))
        if gain[least] >= LEAST_SAVED:
            break
        del rows[least + 1]
    return list(zip(rows[:-1], rows[1:], strict=True))
