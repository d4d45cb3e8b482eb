# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SymPy expressions as a number system whose products with exact zeros cost nothing.

Matrices of the equations are full of zeros. SymPy examines whether an expression may be infinite
before it multiplies it by 0, which takes longer than all other operations of a robot's equations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from kron_dynamics.dual import is_exact_zero

_OPERANDS = (sympy.Expr, int, float, np.generic)


class SymbolicScalar:
    """A finite SymPy expression in an equation.

    Results that are numbers are SymPy's own. SymPy takes scalars as their expressions, and their
    attributes are those of the expressions.

    Attributes:
        expression: the expression, not a number.
    """

    __slots__ = ('expression',)
    # Leaves operations between SymPy's objects and these to the operators below.
    _op_priority = 1000.0

    def __init__(self, expression: Any) -> None:
        """Wrap an expression."""
        self.expression = expression

    def _sympy_(self) -> Any:
        return self.expression

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        return getattr(self.expression, name)

    def __add__(self, other: Any) -> Any:
        return self if is_exact_zero(other) else _result(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self if is_exact_zero(other) else _result(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self if is_exact_zero(other) else _result(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if is_exact_zero(other) else _result(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return sympy.S.Zero if is_exact_zero(other) else _result(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return sympy.S.Zero if is_exact_zero(other) else _result(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _result(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return sympy.S.Zero if is_exact_zero(other) else _result(operator.truediv, other, self)

    def __pow__(self, exponent: Any) -> Any:
        return _result(operator.pow, self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return _result(operator.pow, base, self)

    def __neg__(self) -> SymbolicScalar:
        return SymbolicScalar(-self.expression)

    def __abs__(self) -> Any:
        return _scalar(abs(self.expression))

    def __eq__(self, other: object) -> bool:
        return bool(self.expression == other)

    def __hash__(self) -> int:
        return hash(self.expression)

    def sin(self) -> Any:
        """Return the sine."""
        return _scalar(sympy.sin(self.expression))

    def cos(self) -> Any:
        """Return the cosine."""
        return _scalar(sympy.cos(self.expression))

    def sqrt(self) -> Any:
        """Return the square root."""
        return _scalar(sympy.sqrt(self.expression))

    def tanh(self) -> Any:
        """Return the hyperbolic tangent."""
        return _scalar(sympy.tanh(self.expression))


def symbolic_scalars(values: Any) -> list[Any]:
    """Return numbers and expressions, with the expressions as scalars."""
    return [_scalar(x) if isinstance(x, sympy.Expr) else x for x in values]


def _scalar(expression: Any) -> Any:
    return expression if expression.is_Number else SymbolicScalar(expression)


def _result(operation: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    """Return a sum and so on; arrays and dual numbers apply their own rules, of their entries."""
    expressions = [x.expression if type(x) is SymbolicScalar else x for x in (first, second)]
    if not all(isinstance(x, _OPERANDS) for x in expressions):
        return NotImplemented
    return _scalar(operation(*expressions))
