# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Forward-mode automatic differentiation with dual numbers.

A function is called once with dual numbers, which carry their partial derivatives; every
operation propagates these by the rules of differentiation, exactly but for rounding. Values and
derivatives stay in the number system of the argument: floats, SymPy expressions, traced scalars,
or dual numbers again, so that derivatives can be nested. To compile a derivative, trace a
function that calls `jacobian_of`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kron_dynamics.elementary import cos, sin, tanh
from kron_dynamics.exceptions import (
    ArgumentTypeError,
    KronDynamicsError,
    ParameterError,
    ShapeError,
)
from kron_dynamics.scalar_arguments import at_least, function_of_numbers, scalars
from kron_dynamics.typing import ScalarArray

Partials = Mapping[int, Any]  # nonzero partial derivatives by index of the variable

# Numbers of nested derivatives. The inner derivative starts later and has the higher level; its
# dual numbers wrap those of the outer one.
_levels = itertools.count()

_ONE = 1  # derivative of a variable with respect to itself
_CONSTANT: Partials = {}
# Differentiation rule; arguments are value and partials of both operands, and their level.
Rule = Callable[[Any, Partials, Any, Partials, int], 'Dual']


def _total(a: Any, da: Partials, b: Any, db: Partials, level: int) -> Dual:
    return Dual(a + b, _sum(da, db), level)


def _difference(a: Any, da: Partials, b: Any, db: Partials, level: int) -> Dual:
    return Dual(a - b, _sum(da, _negative(db)) if db else da, level)


def _product(a: Any, da: Partials, b: Any, db: Partials, level: int) -> Dual:
    changes = _times(da, b) if da else {}
    if db:
        others = _times(db, a)
        if not changes:
            changes = others
        else:
            for k, change in others.items():
                changes[k] = changes[k] + change if k in changes else change
    return Dual(a * b, changes, level)


def _quotient(a: Any, da: Partials, b: Any, db: Partials, level: int) -> Dual:
    value = a / b
    changes = _sum(da, _negative(_times(db, value))) if db else da
    return Dual(value, {k: x / b for k, x in changes.items()}, level)


def _times(partials: Partials, slope: Any) -> dict[int, Any]:
    # Without exact zeros, of which matrices are full: zeros would be carried along to the end.
    if type(slope) is not float and is_exact_zero(slope):
        return {}
    return {k: slope if x is _ONE else slope * x for k, x in partials.items()}


def is_exact_zero(value: Any) -> bool:
    """Return whether a value is the integer 0 or SymPy's."""
    return (type(value) is int or getattr(value, 'is_Number', False)) and not value


def _sum(first: Partials, second: Partials) -> Partials:
    if not second:
        return first
    if not first:
        return second
    total = dict(first)
    for k, x in second.items():
        total[k] = total[k] + x if k in total else x
    return total


def _negative(partials: Partials) -> dict[int, Any]:
    return {k: -x for k, x in partials.items()}


def _operator(rule: Rule) -> Callable[[Dual, object], Any]:
    """Return an operator of `Dual`, which takes constants, too."""

    def operator(self: Dual, other: object) -> Any:
        level = self.level
        if type(other) is Dual:
            if other.level == level:
                return rule(self.value, self.partials, other.value, other.partials, level)
            # Dual numbers of an outer derivative are constants for the variables of the inner one.
            if other.level > level:
                return rule(self, _CONSTANT, other.value, other.partials, other.level)
        elif isinstance(other, np.ndarray):
            return NotImplemented  # lets NumPy apply the operator element by element
        return rule(self.value, self.partials, other, _CONSTANT, level)

    return operator


def _reflected(rule: Rule) -> Callable[[Dual, object], Any]:
    """Return an operator of `Dual` for a first operand that is none."""

    def operator(self: Dual, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return rule(other, _CONSTANT, self.value, self.partials, self.level)

    return operator


class Dual:
    """A dual number: a value with its partial derivatives.

    Attributes:
        value: the number.
        partials: its derivatives by the index of the variable; those left out are 0.
        level: distinguishes the variables of nested derivatives.
    """

    __slots__ = ('level', 'partials', 'value')

    def __init__(self, value: Any, partials: Partials, level: int) -> None:
        """Combine a value with its derivatives."""
        self.value = value
        self.partials = partials
        self.level = level

    def _changed(self, value: Any, slope: Any) -> Dual:
        return Dual(value, _times(self.partials, slope), self.level)

    __add__ = _operator(_total)
    __radd__ = _reflected(_total)
    __sub__ = _operator(_difference)
    __rsub__ = _reflected(_difference)
    __mul__ = _operator(_product)
    __rmul__ = _reflected(_product)
    __truediv__ = _operator(_quotient)
    __rtruediv__ = _reflected(_quotient)

    def __pow__(self, exponent: int) -> Any:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return 1 / self**-exponent
        power: Any = 1  # by multiplication: traced scalars have no power operator
        for _ in range(exponent):
            power = power * self
        return power

    def __neg__(self) -> Dual:
        return Dual(-self.value, _negative(self.partials), self.level)

    def __bool__(self) -> bool:
        raise ArgumentTypeError(
            'a dual number has no truth value: functions must not branch on it'
        )

    def _not_compared(self, other: object) -> bool:
        raise ArgumentTypeError(
            'dual numbers cannot be compared: functions must not branch on them'
        )

    __lt__ = __le__ = __gt__ = __ge__ = _not_compared
    __eq__ = __ne__ = _not_compared
    __hash__ = object.__hash__

    def sin(self) -> Dual:
        """Return the sine."""
        return self._changed(sin(self.value), cos(self.value))

    def cos(self) -> Dual:
        """Return the cosine."""
        return self._changed(cos(self.value), -sin(self.value))

    def tanh(self) -> Dual:
        """Return the hyperbolic tangent."""
        value = tanh(self.value)
        return self._changed(value, 1 - value * value)


def jacobian_of(function: Callable[[ScalarArray], Any], x: Any) -> tuple[ScalarArray, ScalarArray]:
    """Return a function's value and its derivative at x, exact but for rounding.

    The index of x is last. For A of shape (r, s), reshaping dA/dx to (r, s n) gives Khang's
    layout: column j*n + k is d A[:, j] / d x[k].  [K] eq. (15).

    Args:
        function: A(x), composed of +, -, *, /, powers with whole exponents, and sin, cos, tanh of
            `kron_dynamics.elementary` or of NumPy. Constants in it may be of any number system
            that is compatible with that of x.
        x: the point, shape (n,).

    Returns:
        A of shape (...) and dA/dx of shape (..., n), in the number system of x; units of A, and
        of A by those of x.

    Raises:
        ArgumentTypeError: the function is not callable or uses an operation that dual numbers do
            not have; x holds no numbers.
        ParameterError: the function divides by zero, or has whole numbers beyond float64.
        ShapeError: x is not a vector, or parts of A differ in shape.
    """
    x = scalars(x, 'x')
    if x.ndim != 1:
        raise ShapeError(f'x has shape {x.shape}, expected (n,)')
    function_of_numbers(function, 'function')
    level = next(_levels)
    # Floats: powers of integers soon exceed their range.
    numbers = x.astype(np.float64).tolist() if x.dtype != object else x
    variables = np.empty(len(x), dtype=object)
    variables[:] = [Dual(value, {k: _ONE}, level) for k, value in enumerate(numbers)]
    results = _results(function, variables)
    values = np.empty(results.shape, dtype=object)
    derivatives = np.zeros((*results.shape, len(variables)), dtype=object)
    rows = derivatives.reshape(-1, len(variables))
    for place, result in enumerate(results.flat):
        if type(result) is Dual and result.level == level:
            values.flat[place] = result.value
            for k, partial in result.partials.items():
                rows[place, k] = partial
        else:
            values.flat[place] = result
    if x.dtype == object:
        return values, derivatives
    return _plain(values), _plain(derivatives)


def derivatives_of(
    function: Callable[[ScalarArray], Any], x: Any, order: int
) -> list[ScalarArray]:
    """Return a function's value and its derivatives at x up to an order, from one call of it.

    Args:
        function: A(x), as for `jacobian_of`.
        x: the point, shape (n,).
        order: k, 0 or more.

    Returns:
        list of the j-th derivatives, j = 0, ..., k, each of shape (..., n, ..., n) with j axes of
        length n, the index of the last differentiation last, in the number system of x.

    Raises:
        ArgumentTypeError: as for `jacobian_of`.
        ParameterError: the order is negative, or the function divides by zero.
        ShapeError: as for `jacobian_of`.
    """
    order, x = at_least(order, 'order', 0), scalars(x, 'x')
    x = x.astype(np.float64) if x.dtype.kind == 'i' else x  # for negative powers
    function_of_numbers(function, 'function')
    shape: tuple[int, ...] = ()

    def of_order(j: int, point: ScalarArray) -> ScalarArray:
        """Return the value and all derivatives up to the j-th, flattened and concatenated."""
        nonlocal shape
        if j == 0:
            value = _results(function, point)
            shape = value.shape
            return value.reshape(-1)
        lower, slopes = jacobian_of(lambda inner: of_order(j - 1, inner), point)
        # Only derivatives of the highest order, which are last, need to be differentiated.
        highest = math.prod(shape) * len(point) ** (j - 1)
        return np.concatenate([lower, slopes[len(lower) - highest :].reshape(-1)])

    flat, derivatives, start = of_order(order, x), list[ScalarArray](), 0
    for j in range(order + 1):
        full = (*shape, *[len(x)] * j)
        derivatives.append(_plain(flat[start : start + math.prod(full)].reshape(full)))
        start += math.prod(full)
    return derivatives


def without_derivatives(values: ScalarArray) -> tuple[ScalarArray, int]:
    """Return the innermost values of dual numbers, shape (...), and the depth of their nesting.

    Args:
        values: shape (...), of any number system; plain numbers have depth 0.
    """
    times = 0
    while values.dtype == object and any(isinstance(x, Dual) for x in values.flat):
        inner = [x.value if isinstance(x, Dual) else x for x in values.flat]
        stripped = np.empty(len(inner), dtype=object)
        stripped[:] = inner
        values, times = _plain(stripped.reshape(values.shape)), times + 1
    return values, times


def _results(function: Callable[[ScalarArray], Any], variables: ScalarArray) -> ScalarArray:
    """Return a function's result as an array; explain operations that dual numbers lack."""
    try:
        results = function(variables)
    except ZeroDivisionError as error:
        raise ParameterError(f'function divides by zero at x ({error})') from error
    except OverflowError as error:
        raise _beyond_range(error) from error
    except (TypeError, AttributeError) as error:
        # Words in the messages of Python, NumPy and math for an operation that Dual lacks.
        unknown = any(words in str(error) for words in ('ufunc', 'must be real number', "'Dual'"))
        if isinstance(error, KronDynamicsError) or not unknown:
            raise
        raise ArgumentTypeError(
            'function uses an operation that dual numbers lack, expected +, -, *, /, whole '
            f'powers, and sin, cos, tanh of kron_dynamics.elementary or NumPy ({error})'
        ) from error
    return scalars(results, 'function(x)').astype(object)


def _plain(array: ScalarArray) -> ScalarArray:
    """Return an array of floats if all entries are plain numbers, else the array itself."""
    if array.dtype != object:
        return array
    kinds = set(map(type, array.flat))
    is_plain = all(issubclass(kind, (float, int, np.integer)) for kind in kinds)
    try:
        return array.astype(np.float64) if is_plain else array
    except OverflowError as error:
        raise _beyond_range(error) from error


def _beyond_range(error: OverflowError) -> ParameterError:
    return ParameterError(f'function exceeds the range of float64 at x ({error})')
