# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fundamental matrices of xdot = A(t) x, by Gauss collocation with three nodes per step.

The method has order 6. It preserves quadratic invariants, so numerical damping does not shift the
stability boundary of an undamped system. All nodes lie inside the step, so coefficients may jump
at the edges between steps.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from kron_dynamics.typing import FloatArray

ORDER = 6
NODES = np.array([0.5 - sqrt(15) / 10, 0.5, 0.5 + sqrt(15) / 10])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18
# Butcher matrix: row i integrates the interpolation polynomial of the stages from 0 to node i.
STAGES = np.array(
    [
        [5 / 36, 2 / 9 - sqrt(15) / 15, 5 / 36 - sqrt(15) / 30],
        [5 / 36 + sqrt(15) / 24, 2 / 9, 5 / 36 - sqrt(15) / 24],
        [5 / 36 + sqrt(15) / 30, 2 / 9 + sqrt(15) / 15, 5 / 36],
    ]
)
# Steps solved at once, which bounds the memory for their matrices.
CHUNK = 256


def node_times(edges: FloatArray) -> FloatArray:
    """Return the times at which the scheme needs A, shape (3 k,), s.

    Args:
        edges: times between the k steps, with start and end, shape (k + 1,), s.
    """
    return np.asarray((edges[:-1, None] + np.diff(edges)[:, None] * NODES).ravel())


def fundamental_matrix(
    sample: Callable[[FloatArray], FloatArray], edges: FloatArray
) -> FloatArray:
    """Return Phi with x(last edge) = Phi x(first edge), shape (m, m).

    Args:
        sample: function of times, shape (k,), that returns A, shape (k, m, m), 1/s.
        edges: times between the steps, with start and end, shape (steps + 1,), s.
    """
    parts = []
    for first in range(0, len(edges) - 1, CHUNK):
        piece = edges[first : first + CHUNK + 1]
        parts.append(_product(_step_matrices(sample(node_times(piece)), np.diff(piece))))
    return _product(np.stack(parts))


def _step_matrices(A: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the fundamental matrix of each step, shape (k, m, m).

    Args:
        A: state matrices at the nodes, shape (3 k, m, m), 1/s.
        lengths: lengths of the steps, shape (k,), s.
    """
    k, m = len(lengths), A.shape[-1]
    hA = lengths[:, None, None, None] * A.reshape(k, 3, m, m)
    # The stages' slopes: S_i = h A_i (1 + sum_j a_ij S_j).
    coupling = np.einsum('ij,kipq->kipjq', STAGES, hA).reshape(k, 3 * m, 3 * m)
    slopes = np.linalg.solve(np.eye(3 * m) - coupling, hA.reshape(k, 3 * m, m))
    return np.asarray(np.eye(m) + np.einsum('i,kipq->kpq', WEIGHTS, slopes.reshape(k, 3, m, m)))


def _product(factors: FloatArray) -> FloatArray:
    """Return the product of matrices (k, m, m), the last one leftmost; pairwise, for speed."""
    while len(factors) > 1:
        even = len(factors) // 2 * 2
        with np.errstate(over='ignore', invalid='ignore'):  # the caller checks for NaN and Inf
            pairs = factors[1::2] @ factors[:even:2]
        factors = np.concatenate([pairs, factors[even:]])
    return np.asarray(factors[0])
