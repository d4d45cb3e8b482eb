# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the equations need of a number: floats, SymPy expressions and traced scalars alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy

from kron_dynamics.typing import ArrayLike, ScalarArray


def as_scalars(values: ArrayLike) -> ScalarArray:
    """Return values, same shape, as floats, or as objects where they are no plain numbers."""
    array = np.asarray(values)
    return array if array.dtype == object else array.astype(np.float64)


def zeros_like(values: ArrayLike, shape: tuple[int, ...]) -> ScalarArray:
    """Return zeros of a shape in the number system of values."""
    return np.zeros(shape, dtype=as_scalars(values).dtype)


def sin(x: Any) -> Any:
    """Return the sine of x in the number system of x."""
    return _apply('sin', x)


def cos(x: Any) -> Any:
    """Return the cosine of x in the number system of x."""
    return _apply('cos', x)


def tanh(x: ScalarArray) -> ScalarArray:
    """Return the hyperbolic tangent of each element, same shape, floats or SymPy expressions."""
    if x.dtype != object:
        return np.asarray(np.tanh(x))
    return np.array([_apply('tanh', element) for element in x.flat]).reshape(x.shape)


def _apply(name: str, x: Any) -> Any:
    if isinstance(x, (float, int)):
        return getattr(math, name)(x)
    if isinstance(x, sympy.Basic):
        return getattr(sympy, name)(x)
    return getattr(x, name)()
