# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions and matrices of exact numbers for checks of the statements of [K]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
import sympy
from shared.exact import largest, rationals

from kron_dynamics.kronecker import khang_derivative

N, P = 2, 3
X = np.array(sympy.symbols('x1:3'), dtype=object)
Y = np.array(sympy.symbols('y1:4'), dtype=object)


@dataclass(frozen=True)
class Statement:
    """An equation that holds as printed.

    Attributes:
        equation: number of the equation.
        form: the equation, LaTeX.
        error: largest error, exact.
    """

    equation: str
    form: str
    error: Any


X0, Y0 = rationals('1/2', '-1/3'), rationals('2/3', '1/5', '-1')
DX, DY = rationals('1/7', '-3/5'), rationals('1/4', '2/3', '-1/2')


def scalar(x: Any) -> Any:
    """Return alpha(x), not a polynomial, so that series of every order have a remainder."""
    return 1 / (3 + 2 * x[0] - x[1]) + x[0] * x[1] ** 2


def vector(x: Any) -> Any:
    """Return a(x), shape (2,)."""
    return np.array([scalar(x), x[0] / (2 + x[0] * x[1])], dtype=object)


def matrix(x: Any) -> Any:
    """Return A(x), shape (2, 3)."""
    rows = [
        [scalar(x), x[1] ** 3, 1 / (2 - x[1])],
        [x[0] / (2 + x[0] * x[1]), x[0] * x[1], x[0] ** 2 / (3 + x[1])],
    ]
    return np.array(rows, dtype=object)


def matrix_of_two(x: Any, y: Any) -> Any:
    """Return A(x, y), shape (2, 3)."""
    rows = [
        [x[0] * y[0] / (2 + y[1]), y[2] ** 2 - x[1], y[0] * y[1]],
        [x[1] / (3 + y[2]), y[1] * x[0] ** 2, 1 / (4 + x[0] + y[0])],
    ]
    return np.array(rows, dtype=object)


def bilinear(x: Any, y: Any) -> Any:
    """Return A(x, y), shape (2, 3), linear in each variable: (49) is exact."""
    rows = [
        [x[0] * y[0] + x[1] * y[1], 2 * y[2] - x[1], x[1] * y[0] - 3],
        [x[1] * y[2], 1 + y[1] - x[0] * y[2], x[0] * y[1] + x[0]],
    ]
    return np.array(rows, dtype=object)


def linear(x: Any, y: Any) -> Any:
    """Return A(x, y), shape (2, 3), affine: the starting expression of (51) is exact."""
    rows = [
        [x[0] + y[0], 2 * y[2] - x[1], y[1] - 3],
        [x[1] - y[2], 1 + y[1] - x[0], 4 * x[0] + y[0]],
    ]
    return np.array(rows, dtype=object)


def at_point(expressions: Any) -> Any:
    """Return the values of expressions in x and y at (x0, y0), in the same shape."""
    values = {**dict(zip(X, X0, strict=True)), **dict(zip(Y, Y0, strict=True))}
    array = np.array(expressions, dtype=object)
    numbers = [sympy.sympify(entry).xreplace(values) for entry in array.flat]
    return np.array(numbers, dtype=object).reshape(array.shape)


def derivatives(function: Any) -> tuple[Any, Any, Any]:
    """Return A, dA/dx and dA/dy of A(x, y) at (x0, y0)."""
    A = function(X, Y)
    return at_point(A), at_point(khang_derivative(A, X)), at_point(khang_derivative(A, Y))


def remainder_order(remainder: Callable[[Any], Any]) -> float:
    """Return the order in h of a remainder, from its values at h = 2^-20 and 2^-21."""
    h = sympy.Rational(1, 2**20)
    return log2(largest(remainder(h)) / largest(remainder(h / 2)))
