# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of exact numbers, and their largest magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy


def rationals(*texts: str) -> Any:
    """Return a vector of exact numbers."""
    return np.array([sympy.Rational(text) for text in texts], dtype=object)


def whole(rows: int, columns: int, seed: int) -> Any:
    """Return a matrix of integers without a pattern, shape (rows, columns)."""
    k = np.arange(1, rows * columns + 1)
    return ((k * k * (seed + 2) + 5 * k * seed + seed) % 19 - 9).reshape(rows, columns)


def eye(n: int) -> Any:
    """Return E_n with integer entries, so that products with it stay exact."""
    return np.eye(n, dtype=int)


def largest(difference: Any) -> Any:
    """Return the largest magnitude in an array."""
    return max(abs(entry) for entry in np.array(difference, dtype=object).flat)
