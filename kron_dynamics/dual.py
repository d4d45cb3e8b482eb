# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exact derivatives of any function of numbers, forward: numbers that carry their derivatives.

A function is called once with numbers that know their partial derivatives, and every operation
hands these on by the rules of differentiation. Values and derivatives stay in the number system
that the function is called with: floats, SymPy expressions, traced scalars, or such numbers
again, so that derivatives may be nested. A trace of a derivative is the trace of a function that
calls `jacobian_of`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kron_dynamics.elementary import cos, sin, tanh
from kron_dynamics.typing import ScalarArray

Partials = Mapping[int, Any]  # by index of the variable, where it is not 0

# Of nested derivatives the inner one begins later: its numbers wrap those of the outer one.
_levels = itertools.count()


class Dual:
    """A number with its partial derivatives.

    Attributes:
        value: the number.
        partials: its derivatives by the index of the variable; those left out are 0.
        level: tells the variables of nested derivatives apart.
    """

    __slots__ = ('level', 'partials', 'value')

    def __init__(self, value: Any, partials: Partials, level: int) -> None:
        """Put a value and its derivatives together."""
        self.value = value
        self.partials = partials
        self.level = level

    def _made(self, value: Any, partials: Partials) -> Dual:
        return Dual(value, partials, self.level)

    def _times(self, slope: Any) -> dict[int, Any]:
        return {k: slope * x for k, x in self.partials.items()}

    def __add__(self, other: object) -> Any:
        return _combined(_total, self, other)

    def __radd__(self, other: object) -> Any:
        return _combined(_total, other, self)

    def __sub__(self, other: object) -> Any:
        return _combined(_difference, self, other)

    def __rsub__(self, other: object) -> Any:
        return _combined(_difference, other, self)

    def __mul__(self, other: object) -> Any:
        return _combined(_product, self, other)

    def __rmul__(self, other: object) -> Any:
        return _combined(_product, other, self)

    def __truediv__(self, other: object) -> Any:
        return _combined(_quotient, self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _combined(_quotient, other, self)

    def __pow__(self, exponent: int) -> Any:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return 1 / self**-exponent
        power: Any = 1  # by products: traced scalars know no other way
        for _ in range(exponent):
            power = power * self
        return power

    def __neg__(self) -> Dual:
        return self._made(-self.value, _negative(self.partials))

    def __bool__(self) -> bool:
        raise TypeError('a number with derivatives has no truth value: no branching on it')

    def sin(self) -> Dual:
        """Return the sine."""
        return self._made(sin(self.value), self._times(cos(self.value)))

    def cos(self) -> Dual:
        """Return the cosine."""
        return self._made(cos(self.value), self._times(-sin(self.value)))

    def tanh(self) -> Dual:
        """Return the hyperbolic tangent."""
        value = tanh(self.value)
        return self._made(value, self._times(1 - value * value))


def _combined(rule: Callable[[Dual, Dual], Dual], a: object, b: object) -> Any:
    """The result of a rule for two numbers, at least one of them with derivatives."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return NotImplemented  # NumPy goes through the elements
    level = max(x.level for x in (a, b) if isinstance(x, Dual))
    # To the variables of the inner function those of the outer one are constants.
    first, second = (
        x if isinstance(x, Dual) and x.level == level else Dual(x, {}, level) for x in (a, b)
    )
    return rule(first, second)


def _total(a: Dual, b: Dual) -> Dual:
    return Dual(a.value + b.value, _sum(a.partials, b.partials), a.level)


def _difference(a: Dual, b: Dual) -> Dual:
    return Dual(a.value - b.value, _sum(a.partials, _negative(b.partials)), a.level)


def _product(a: Dual, b: Dual) -> Dual:
    return Dual(a.value * b.value, _sum(a._times(b.value), b._times(a.value)), a.level)


def _quotient(a: Dual, b: Dual) -> Dual:
    value = a.value / b.value
    changes = _sum(a.partials, _negative(b._times(value)))
    return Dual(value, {k: x / b.value for k, x in changes.items()}, a.level)


def _sum(first: Partials, second: Partials) -> dict[int, Any]:
    total = dict(first)
    for k, x in second.items():
        total[k] = total[k] + x if k in total else x
    return total


def _negative(partials: Partials) -> dict[int, Any]:
    return {k: -x for k, x in partials.items()}


def jacobian_of(function: Callable[[ScalarArray], Any], x: Any) -> tuple[ScalarArray, ScalarArray]:
    """Return a function's value and its derivative at x, exact but for rounding.

    The derivative's index runs fastest: reshaped to (r, s n) for A of shape (r, s) the second
    result is Khang's layout, column j*n + k being d A[:, j] / d x[k].  [K] eq. (15).

    Args:
        function: a(x), of +, -, *, /, powers with whole exponents, and the functions of
            `kron_dynamics.elementary` or NumPy's of the same names. What else it computes with
            may be of any number system that goes together with that of x.
        x: the point, shape (n,).

    Returns:
        A of shape (...) and dA/dx of shape (..., n), in the number system of x; units of A, and
        of A by those of x.
    """
    level = next(_levels)
    variables = np.array([Dual(value, {k: 1}, level) for k, value in enumerate(x)], dtype=object)
    results = np.asarray(function(variables), dtype=object)
    values = np.empty(results.shape, dtype=object)
    derivatives = np.zeros((*results.shape, len(variables)), dtype=object)
    for place in np.ndindex(results.shape):
        result: Any = results[place]
        is_variable = isinstance(result, Dual) and result.level == level
        values[place] = result.value if is_variable else result
        for k, partial in result.partials.items() if is_variable else ():
            derivatives[(*place, k)] = partial
    return _plain(values), _plain(derivatives)


def _plain(array: ScalarArray) -> ScalarArray:
    """An array of floats where all entries are plain numbers."""
    is_plain = all(isinstance(x, (float, int, np.integer)) for x in array.flat)
    return array.astype(np.float64) if is_plain else array
