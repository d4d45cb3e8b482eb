# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Taylor expansion of functions of a vector in the Kronecker-product formalism.

With derivatives in the layout of `kron_dynamics.kronecker` and Delta = x - x0, shape (n,),

    A(x) = sum over j of 1/j! (d^j A/dx^j)(E_p (x) Delta^(x)j)                  [K] eq. (47)

for A of shape (m, p); vectors are matrices of one column, eq. (41), scalars matrices of one entry,
eq. (36). No Kronecker power is formed: the derivatives are contracted with one factor Delta at a
time (Horner's rule).

Every function takes float and SymPy arrays alike. A function of x and y is expanded to any order
as a function of the one vector (x, y); only the first order has functions of its own for two
variables.

    expand(robot.mass_matrix, q0, 3)                        M(q) to the third order
    expand(robot.inverse_dynamics, (q0, qd0, qdd0), 2)      tau(q, qd, qdd) to the second
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.arguments import finite_array
from kron_dynamics.exceptions import ArgumentTypeError, ParameterError, ShapeError
from kron_dynamics.kronecker import contract_last, khang_derivative, khang_derivatives_at
from kron_dynamics.messages import shown
from kron_dynamics.scalar_arguments import (
    at_least,
    factors,
    function_of_numbers,
    in_blocks,
    matrix,
    scalars,
    vector,
)
from kron_dynamics.typing import ArrayLike, ScalarArray


def taylor_value(derivatives: Sequence[Any], delta: ArrayLike) -> ScalarArray:
    """Return the Taylor polynomial of given derivatives.  [K] (27), (36), (41), (45), (47), (48).

    Args:
        derivatives: the value at x0, a scalar, shape (m,) or (m, p), then d^j/dx^j at x0 for
            j = 1, ..., k, shape (m, p*n^j), with m = p = 1 for a scalar and p = 1 for a vector.
        delta: x - x0, shape (n,).

    Returns:
        array of the value's shape, () for a scalar; unit of the value.

    Raises:
        ParameterError: derivatives is empty.
        ShapeError: a derivative has another shape.
    """
    if not isinstance(derivatives, Sequence):
        raise ArgumentTypeError(f'derivatives is {shown(derivatives)}, expected a list of arrays')
    if not derivatives:
        raise ParameterError('derivatives is empty, expected at least the value at x0')
    names = [f'derivatives[{j}]' for j in range(len(derivatives))]
    return _value(derivatives, vector(delta, 'delta'), names)


def _value(derivatives: Sequence[Any], delta: ScalarArray, names: Sequence[str]) -> ScalarArray:
    value = _function_value(derivatives[0], names[0])
    m, p = _matrix(value).shape
    if delta.dtype.kind == 'i' and all(np.asarray(A).dtype != object for A in derivatives):
        delta = delta.astype(np.float64)  # powers of integers soon exceed 64 bits
    total: Any = 0
    for j in range(len(derivatives) - 1, -1, -1):
        # Here total has the shape of the derivative of order j + 1.
        if j + 1 < len(derivatives):
            total = contract_last(total, delta) / (j + 1)
        term = _matrix(scalars(derivatives[j], names[j]))
        total = total + _checked(term, (m, p * len(delta) ** j), names[j])
    return np.asarray(total).reshape(value.shape)


@dataclass(frozen=True, slots=True, eq=False)
class TaylorExpansion:
    """A Taylor polynomial about a point; call it with x.

    Attributes:
        point: x0, shape (n,); for a function of several vectors these, concatenated.
        derivatives: the value and the derivatives at x0, as `taylor_value` takes them.
        lengths: lengths of the function's vectors, with sum n; None if there is only one.
    """

    point: ScalarArray
    derivatives: tuple[ScalarArray, ...]
    lengths: tuple[int, ...] | None = None

    @property
    def order(self) -> int:
        """Highest power of x - x0."""
        return len(self.derivatives) - 1

    def __call__(self, *x: ArrayLike) -> ScalarArray:
        """Return the polynomial, with the shape () / (m,) / (m, p) of A.

        Args:
            x: the function's arguments: one vector, shape (n,), or each of several.

        Raises:
            ArgumentTypeError: x holds no numbers.
            ShapeError: x has another shape, or there are more or fewer vectors.
        """
        lengths = self.lengths or (len(self.point),)
        if len(x) != len(lengths):
            raise ShapeError(f'got {len(x)} vectors, expected {len(lengths)}: those of the point')
        names = ['x'] if self.lengths is None else [f'x[{k}]' for k in range(len(x))]
        parts = map(vector, x, names, lengths)
        return taylor_value(self.derivatives, np.concatenate(list(parts)) - self.point)

    def truncated(self, order: int) -> TaylorExpansion:
        """Return the expansion of the same function to a lower order, 0 or more.

        Raises:
            ArgumentTypeError: order is not a whole number.
            ParameterError: order is negative, or higher than this one's.
        """
        order = at_least(order, 'order', 0)
        if order > self.order:
            raise ParameterError(f'order is {order}, expected 0 to {self.order}')
        return TaylorExpansion(self.point, self.derivatives[: order + 1], self.lengths)


def expand(
    function: Callable[..., Any], point: ArrayLike | tuple[ArrayLike, ...], order: int
) -> TaylorExpansion:
    """Return the Taylor expansion of a function, exact but for rounding.  [K] (36), (41), (47).

    All derivatives at floats come from one call of the function with dual numbers. A function of
    several vectors is expanded in all of them together, with Delta the concatenation of their
    deviations.

    Args:
        function: a compiled method of a robot or a frame, such as ``robot.mass_matrix`` or
            ``robot.frame('tool0').jacobian``, whose equation is expanded. Or A(x), a scalar,
            shape (m,) or (m, p), composed of +, -, *, /, whole powers, and sin, cos, tanh of
            `kron_dynamics.elementary` or of NumPy; functions of SymPy work, too, but take much
            longer.
        point: x0, shape (n,): floats for a numeric expansion, SymPy expressions for a symbolic
            one; for a function of several vectors a tuple of them.
        order: highest power of x - x0, 0 or more.

    Raises:
        ArgumentTypeError: the function is not callable, takes another number of vectors, uses an
            operation that dual numbers do not have, or returns several arrays; x0 holds no
            numbers; the order is not a whole number.
        NonFiniteError: x0, A(x0) or a derivative holds a NaN or an infinity.
        ParameterError: the order is negative, or the function divides by zero.
        ShapeError: x0 is not a vector or a tuple of vectors, or does not fit the function, or
            A(x0) is empty.
    """
    order = at_least(order, 'order', 0)
    # A kernel takes only floats; the equation it was compiled from takes any number system.
    given = function_of_numbers(function, 'function')
    equation: Callable[..., Any] = getattr(given, 'equation', given)
    lengths: tuple[int, ...] | None = None
    parts: list[ScalarArray] = []
    if isinstance(point, tuple) and any(scalars(x, 'point').ndim for x in point):
        parts = [vector(part, f'point[{k}]') for k, part in enumerate(point)]
        lengths = tuple(map(len, parts))
    else:
        parts = [vector(point, 'point')]
    _fits(given, parts)
    x0 = np.concatenate(parts)

    def of_one_vector(x: ScalarArray) -> Any:
        result = equation(x) if lengths is None else equation(*np.split(x, _ends(lengths)))
        if hasattr(result, '_fields'):
            raise ArgumentTypeError(
                f'function returns several arrays, {", ".join(result._fields)}, expected one'
            )
        return result

    if x0.dtype == object:
        return TaylorExpansion(x0, _symbolic(of_one_vector, x0, order), lengths)
    x0 = finite_array(x0, 'point')
    return TaylorExpansion(x0, khang_derivatives_at(of_one_vector, x0, order), lengths)


def _ends(lengths: tuple[int, ...]) -> list[int]:
    """Return the indices at which to split concatenated vectors of these lengths."""
    return list(itertools.accumulate(lengths))[:-1]


def _fits(function: Callable[..., Any], parts: Sequence[ScalarArray]) -> None:
    """Raise if there are too many or few vectors, or a kernel's have other lengths."""
    expected = getattr(function, 'lengths', None)
    if expected is None:
        try:
            inspect.signature(function, follow_wrapped=False).bind(*parts)
        except ValueError:  # some functions in C have no signature
            pass
        except TypeError as error:
            raise ArgumentTypeError(
                f'function does not take a point of {len(parts)} vectors: {error}'
            ) from None
    elif [length for _, length in expected] != [len(x) for x in parts]:
        taken = ', '.join(f'{name} ({length},)' for name, length in expected)
        got = ', '.join(f'({len(x)},)' for x in parts)
        raise ShapeError(f'point has vectors of shape {got}, expected those of {taken}')


def _symbolic(
    function: Callable[[ScalarArray], Any], x0: ScalarArray, order: int
) -> tuple[ScalarArray, ...]:
    """Return the value and the derivatives at a point of SymPy expressions."""
    import sympy  # imported here because it takes half a second

    # Differentiate with respect to new symbols: x0 may hold numbers or repeat a symbol.
    symbols = np.array([sympy.Dummy(f'x{k}', real=True) for k in range(len(x0))], dtype=object)
    replacement = dict(zip(symbols, x0, strict=True))
    current = _function_value(function(symbols), 'function(x)')
    derivatives = []
    for j in range(order + 1):
        current = current if j == 0 else khang_derivative(current, symbols)
        at_x0 = [sympy.sympify(entry).xreplace(replacement) for entry in current.flat]
        derivatives.append(np.array(at_x0, dtype=object).reshape(current.shape))
    return tuple(derivatives)


def linear_value(
    A: ArrayLike, A_x: ArrayLike, A_y: ArrayLike, dx: ArrayLike, dy: ArrayLike
) -> ScalarArray:
    """Return A(x, y) to the first order in both variables.  [K] eq. (50).

    Args:
        A: value at (x0, y0), a scalar, shape (m,) or (m, p).
        A_x: dA/dx there, shape (m, p*n).
        A_y: dA/dy there, shape (m, p*k).
        dx: x - x0, shape (n,).
        dy: y - y0, shape (k,).

    Returns:
        array of the shape of A, () for a scalar.

    Raises:
        ArgumentTypeError: an argument holds no numbers.
        ShapeError: an argument has another shape.
    """
    along_x = _value((A, A_x), vector(dx, 'dx'), ('A', 'A_x'))
    along_y = _value((A, A_y), vector(dy, 'dy'), ('A', 'A_y'))
    return np.asarray(along_x + along_y - scalars(A, 'A'))


def mixed_term(A_yx: ArrayLike, dx: ArrayLike, dy: ArrayLike) -> ScalarArray:
    """Return the term of A(x, y) that is linear in each variable.  [K] eq. (49), last term.

    (d/dx dA/dy)(E_pk (x) dx)(E_p (x) dy): the first identity has the size p k of the matrix dA/dy
    that is differentiated; the paper's E_p (x) dx has the wrong dimensions.

    Args:
        A_yx: d/dx of dA/dy at (x0, y0), shape (m, p*k*n), the index of x fastest.
        dx: x - x0, shape (n,).
        dy: y - y0, shape (k,).

    Returns:
        shape (m, p), with p = 1 for a vector and m = p = 1 for a scalar.

    Raises:
        ArgumentTypeError: an argument holds no numbers.
        ShapeError: an argument has another shape.
    """
    dx, dy = vector(dx, 'dx'), vector(dy, 'dy')
    mixed = in_blocks(A_yx, 'A_yx', len(dx) * len(dy))
    return contract_last(contract_last(mixed, dx), dy)


class LinearizedProduct(NamedTuple):
    """A(x, y) y to the first order: ``value + by_x @ (x - x0) + by_y @ (y - y0)``.

    Attributes:
        value: A(x0, y0) y0, shape (m,).
        by_x: shape (m, n).
        by_y: shape (m, p).
    """

    value: ScalarArray
    by_x: ScalarArray
    by_y: ScalarArray

    def __call__(self, dx: ArrayLike, dy: ArrayLike) -> ScalarArray:
        """Return the product, shape (m,), at x0 + dx, y0 + dy.

        Raises:
            ArgumentTypeError: an argument holds no numbers.
            ShapeError: an argument has another shape than (n,) and (p,).
        """
        dx = vector(dx, 'dx', self.by_x.shape[1])
        dy = vector(dy, 'dy', self.by_y.shape[1])
        # Half of the range for the value, and a quarter for each product.
        (value,) = factors(self.value, terms=2)
        by_x, dx = factors(self.by_x, dx, terms=4 * len(dx))
        by_y, dy = factors(self.by_y, dy, terms=4 * len(dy))
        return np.asarray(value + by_x @ dx + by_y @ dy)


def linearized_product(
    A: ArrayLike, A_x: ArrayLike, y: ArrayLike, A_y: ArrayLike | None = None
) -> LinearizedProduct:
    """Return A(x, y) y to the first order in both variables.  [K] eqs. (51)-(53).

    A y + (A + dA/dy (y (x) E_p)) (y' - y) + dA/dx (y (x) E_n) (x' - x), evaluated at (x0, y0):
    eq. (51) without its repeated terms.

    Args:
        A: shape (m, p), at (x0, y0).
        A_x: dA/dx there, shape (m, p*n).
        y: y0, shape (p,).
        A_y: dA/dy there, shape (m, p*p), with p the length of y; None if A does not depend on y.

    Raises:
        ArgumentTypeError: an argument holds no numbers.
        ShapeError: A is not a matrix with a column for each entry of y, or a derivative has
            another shape.
    """
    y = vector(y, 'y')
    A = matrix(A, 'A', columns=len(y))
    by_y = A
    if A_y is not None:
        by_y = A + _contract_first(matrix(A_y, 'A_y', columns=len(y) ** 2), y, len(A), 'A_y')
    A, y = factors(A, y, terms=2 * len(y))  # twice: by_y is a sum
    return LinearizedProduct(A @ y, _contract_first(A_x, y, len(A), 'A_x'), by_y)


def _contract_first(A_x: ArrayLike, y: ScalarArray, rows: int, name: str) -> ScalarArray:
    """Return ``A_x (y (x) E_n)``, shape (rows, n), of A_x, shape (rows, p*n)."""
    A_x = scalars(A_x, name)
    if A_x.ndim != 2 or len(A_x) != rows or A_x.shape[1] % len(y):
        raise ShapeError(f'{name} has shape {A_x.shape}, expected ({rows}, {len(y)}*n)')
    A_x, y = factors(A_x, y, terms=2 * len(y))
    return np.asarray(A_x.reshape(rows, len(y), -1).transpose(0, 2, 1) @ y)


def _function_value(value: object, name: str) -> ScalarArray:
    """Return a function's result, a scalar, a vector or a matrix, as an array."""
    array = scalars(value, name)
    if array.ndim > 2 or not array.size:
        raise ShapeError(f'{name} has shape {array.shape}, expected (), (m,) or (m, p)')
    return array


def _matrix(A: ScalarArray) -> ScalarArray:
    return A.reshape(A.shape[0] if A.ndim else 1, -1)


def _checked(A: ScalarArray, shape: tuple[int, int], name: str) -> ScalarArray:
    # Derivatives of a scalar, or of one row, may be given as a vector.
    A = A.reshape(1, -1) if shape[0] == 1 else A
    if A.shape != shape:
        raise ShapeError(f'{name} has shape {A.shape}, expected {shape}')
    return A
