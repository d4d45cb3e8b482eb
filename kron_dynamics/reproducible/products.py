# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproducible matrix products, norms and integer powers, and rounding to nine digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kron_dynamics.typing import ArrayLike, FloatArray


def product(A: ArrayLike, B: ArrayLike) -> FloatArray:
    """Return A B, shape (..., n, m), or (..., n).

    Args:
        A: matrices, shape (..., n, k).
        B: matrices, shape (..., k, m), or one vector, shape (k,).
    """
    left, right = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if right.ndim == 1:
        return np.asarray(np.add.reduce(left * right, axis=-1))
    return np.asarray(np.add.reduce(left[..., :, None] * right[..., None, :, :], axis=-2))


def inner(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of two vectors, shape (k,) each."""
    return float(np.add.reduce(a * b))


def norm(vector: ArrayLike) -> float:
    """Return the Euclidean norm of a vector, shape (k,)."""
    values = np.asarray(vector, dtype=np.float64)
    return math.sqrt(inner(values, values))


def power(x: Any, exponent: int) -> Any:
    """Return an integer power, 0 or more, of a float or an array."""
    value = 1.0 if exponent == 0 else x
    for _ in range(exponent - 1):
        value = value * x
    return value


def rounded(values: FloatArray, scale: ArrayLike) -> FloatArray:
    """Return values rounded to nine decimals relative to a scale, which removes rounding errors.

    It makes initial guesses of iterations identical on every computer.

    Args:
        values: an array.
        scale: positive, broadcast to the shape of the values.
    """
    # Powers of ten, unlike powers of two, keep values that were given with few decimals.
    tens = np.power(10.0, 9 - np.floor(np.log10(np.asarray(scale, dtype=np.float64))))
    return np.asarray(np.rint(values * tens) / tens + 0.0)
