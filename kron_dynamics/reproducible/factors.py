# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Eigenvectors and triangular factors of symmetric matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kron_dynamics.typing import FloatArray

# Limit of Jacobi sweeps; the iteration converges quadratically after a few.
_SWEEPS = 30


def symmetric_eigen(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ascending eigenvalues, shape (n,), and eigenvectors as columns, shape (n, n).

    Jacobi's method with rotations of disjoint pairs of rows, scheduled as a round-robin
    tournament: n - 1 rounds rotate each pair once.

    Args:
        A: symmetric, shape (n, n).

    Raises:
        LinAlgError: a number is NaN or infinite.
    """
    n = len(A)
    if not np.isfinite(A).all():
        raise np.linalg.LinAlgError('the matrix holds a number that is not finite')
    size = n + n % 2
    work, vectors = np.zeros((size, size)), np.eye(size)
    work[:n, :n] = A
    order = np.arange(size)
    for _ in range(_SWEEPS):
        off = np.abs(work - np.diag(work.diagonal())).max(initial=0.0)
        if off <= 1e-18 * np.abs(work).max(initial=0.0):
            break
        for _ in range(size - 1):
            _rotate(work, vectors, order[: size // 2], order[: size // 2 - 1 : -1])
            order = np.concatenate([order[:1], order[-1:], order[1:-1]])
    # The row of zeros that pads an odd size is not mixed with others.
    values, vectors = work.diagonal()[:n], vectors[:n, :n]
    rising = np.argsort(values, kind='stable')
    return values[rising], vectors[:, rising]


def lower_factor(A: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor L with L L^T = A, shape (n, n).

    Args:
        A: symmetric and positive definite, shape (n, n).

    Raises:
        LinAlgError: A is not positive definite.
    """
    L = np.array(A, dtype=np.float64)
    for k in range(len(L)):
        if not L[k, k] > 0.0:
            raise np.linalg.LinAlgError('the matrix is not positive definite')
        L[k:, k] /= math.sqrt(L[k, k])
        L[k + 1 :, k + 1 :] -= np.outer(L[k + 1 :, k], L[k + 1 :, k])
    return np.tril(L)


def solved_lower(L: FloatArray, B: FloatArray) -> FloatArray:
    """Return X with L X = B, shape (n, m), for a lower triangular L, shape (n, n)."""
    X = np.array(B, dtype=np.float64)
    for k in range(len(L)):
        X[k] /= L[k, k]
        X[k + 1 :] -= np.outer(L[k + 1 :, k], X[k])
    return X


def _rotate(work: FloatArray, vectors: FloatArray, p: Any, q: Any) -> None:
    """Zero the entries (p, q) of a symmetric matrix by rotations of disjoint pairs of rows."""
    between = work[p, q]
    turning = np.where(between == 0.0, 1.0, between)
    slope = (work[q, q] - work[p, p]) / (2.0 * turning)
    # The slope is limited so that its square does not overflow; the rotation is then negligible.
    tangent = np.where(slope < 0.0, -1.0, 1.0) / (
        np.abs(slope) + np.sqrt(1.0 + np.minimum(np.abs(slope), 1e150) ** 2)
    )
    tangent = np.where(between == 0.0, 0.0, tangent)
    c = 1.0 / np.sqrt(1.0 + tangent * tangent)
    s = tangent * c
    for table in (work.T, work, vectors.T):  # columns, rows, and columns of the vectors
        first, second = table[p].copy(), table[q].copy()
        table[p] = c[:, None] * first - s[:, None] * second
        table[q] = s[:, None] * first + c[:, None] * second
    work[p, q] = work[q, p] = 0.0
