# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Floats that are the same on all computers, and others that are rounded otherwise."""

from __future__ import annotations

import random
from math import copysign, inf
from typing import Any

import numpy as np

from kron_dynamics.reproducible import cosine_and_sine, hyperbolic_tangent, power

_EPSILON = 2.0**-52


class ReproducibleNumber:
    """A float whose arithmetic is bit-identical on all computers, without BLAS and C library.

    Arrays of it are object arrays, whose products NumPy computes entry by entry.
    """

    __slots__ = ('value',)

    def __init__(self, value: float) -> None:
        """Take a float."""
        self.value = value

    def sin(self) -> ReproducibleNumber:
        """Return the sine."""
        return type(self)(cosine_and_sine(self.value)[1])

    def cos(self) -> ReproducibleNumber:
        """Return the cosine."""
        return type(self)(cosine_and_sine(self.value)[0])

    def tanh(self) -> ReproducibleNumber:
        """Return the hyperbolic tangent."""
        return type(self)(hyperbolic_tangent(self.value))

    def __float__(self) -> float:
        return self.value

    def __neg__(self) -> ReproducibleNumber:
        return type(self)(-self.value)

    def __add__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(self.value + value)

    def __sub__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(self.value - value)

    def __rsub__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(value - self.value)

    def __mul__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(self.value * value)

    def __truediv__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(_quotient(self.value, value))

    def __rtruediv__(self, other: Any) -> Any:
        value = _value(other)
        return NotImplemented if value is None else type(self)(_quotient(value, self.value))

    def __pow__(self, exponent: int) -> Any:
        return type(self)(power(self.value, exponent))

    __radd__, __rmul__ = __add__, __mul__


def _value(number: Any) -> float | None:
    """Return a number as a float; None for other types of scalars."""
    if isinstance(number, ReproducibleNumber):
        return number.value
    return float(number) if isinstance(number, (int, float, np.number)) else None


def _quotient(a: float, b: float) -> float:
    """Return a / b as NumPy's floats do: a division by zero gives an infinity or NaN."""
    return a / b if b != 0.0 else a * copysign(inf, b)


def rounded_otherwise() -> type[ReproducibleNumber]:
    """Return a class of numbers of which each is off by one rounding, up or down at random.

    What results differ by is what rounding may do to them, at about.
    """
    drawn = random.Random(1)

    class Rounded(ReproducibleNumber):
        __slots__ = ()

        def __init__(self, value: float) -> None:
            super().__init__(value + value * (_EPSILON if drawn.random() < 0.5 else -_EPSILON))

    return Rounded
