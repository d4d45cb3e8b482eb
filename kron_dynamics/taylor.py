# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Taylor expansion of functions of a vector in the Kronecker-product formalism; knows no robot.

With derivatives in the layout of `kron_dynamics.kronecker` and Delta = x - x0, shape (n,),

    A(x) = sum over j of 1/j! (d^j A/dx^j)(E_p (x) Delta^(x)j)                  [K] eq. (47)

for A of shape (m, p); vectors are matrices of one column, eq. (41), scalars matrices of one entry,
eq. (36). No Kronecker power is formed: each factor Delta is contracted as soon as it is met, and
powers share their leading factors (Horner's rule).

Every function takes float and SymPy arrays alike. A function of x and y is expanded to any order
as a function of the one vector (x, y); what is special about two variables is the first order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.kronecker import contract_last, khang_derivative, khang_derivative_at
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
        ParameterError: there is not even the value.
        ShapeError: a derivative has another shape.
    """
    if not len(derivatives):
        raise ParameterError('derivatives is empty, expected at least the value at x0')
    delta = _vector(delta, 'delta')
    value = np.asarray(derivatives[0])
    m, p = _matrix(value).shape
    total: Any = 0
    for j in range(len(derivatives) - 1, -1, -1):
        # Here total has the shape of the derivative of order j + 1 before its last Delta is met.
        if j + 1 < len(derivatives):
            total = contract_last(total, delta) / (j + 1)
        term = _matrix(np.asarray(derivatives[j]))
        total = total + _checked(term, (m, p * len(delta) ** j), f'derivatives[{j}]')
    return np.asarray(total).reshape(value.shape)


@dataclass(frozen=True, slots=True, eq=False)
class TaylorExpansion:
    """A Taylor polynomial about a point; call it with x.

    Attributes:
        point: x0, shape (n,).
        derivatives: the value at x0 and the derivatives there, as `taylor_value` takes them.
    """

    point: ScalarArray
    derivatives: tuple[ScalarArray, ...]

    @property
    def order(self) -> int:
        """Highest power of x - x0."""
        return len(self.derivatives) - 1

    def __call__(self, x: ArrayLike) -> ScalarArray:
        """Return the polynomial at x, shape (n,), with the shape () / (m,) / (m, p) of A."""
        return taylor_value(self.derivatives, np.asarray(x) - self.point)

    def truncated(self, order: int) -> TaylorExpansion:
        """Return the expansion of the same function to a lower order, 0 or more."""
        if not 0 <= order <= self.order:
            raise ParameterError(f'order is {order}, expected 0 to {self.order}')
        return TaylorExpansion(self.point, self.derivatives[: order + 1])


def expand(
    function: Callable[[ScalarArray], Any], point: ArrayLike, order: int
) -> TaylorExpansion:
    """Return the Taylor expansion of a function.  [K] eqs. (36), (41), (47).

    Args:
        function: a(x), a scalar, a vector or a matrix, built of +, -, *, / and SymPy functions.
        point: x0, shape (n,): floats for a numeric expansion, SymPy expressions for a symbolic
            one.
        order: highest power of x - x0, 0 or more.

    Raises:
        ParameterError: the order is negative.
        ShapeError: x0 is not a vector.
    """
    if order < 0:
        raise ParameterError(f'order is {order}, expected 0 or more')
    x0 = _vector(point, 'point')
    if x0.dtype != object:
        x0 = x0.astype(np.float64)
        value = np.array(function(x0), dtype=np.float64)
        floats = [khang_derivative_at(function, x0, j) for j in range(1, order + 1)]
        return TaylorExpansion(x0, (value, *floats))
    import sympy  # only here: it takes half a second

    # Derivatives are taken at symbols of our own: x0 may hold numbers or repeat a symbol.
    symbols = np.array([sympy.Dummy(f'x{k}', real=True) for k in range(len(x0))], dtype=object)
    replacement = dict(zip(symbols, x0, strict=True))
    current = np.array(function(symbols), dtype=object)
    derivatives = []
    for j in range(order + 1):
        current = current if j == 0 else khang_derivative(current, symbols)
        at_x0 = [sympy.sympify(entry).xreplace(replacement) for entry in current.flat]
        derivatives.append(np.array(at_x0, dtype=object).reshape(current.shape))
    return TaylorExpansion(x0, tuple(derivatives))


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
    """
    return np.asarray(taylor_value((A, A_x), dx) + taylor_value((A, A_y), dy) - np.asarray(A))


def mixed_term(A_yx: ArrayLike, dx: ArrayLike, dy: ArrayLike) -> ScalarArray:
    """Return the term of A(x, y) that is linear in each variable.  [K] eq. (49), last term.

    (d/dx dA/dy)(E_pk (x) dx)(E_p (x) dy), with the size p k of the matrix dA/dy that is
    differentiated; the paper's E_p (x) dx does not fit.

    Args:
        A_yx: d/dx of dA/dy at (x0, y0), shape (m, p*k*n), the index of x fastest.
        dx: x - x0, shape (n,).
        dy: y - y0, shape (k,).

    Returns:
        shape (m, p), with p = 1 for a vector and m = p = 1 for a scalar.
    """
    return contract_last(
        contract_last(_matrix(np.asarray(A_yx)), _vector(dx, 'dx')), _vector(dy, 'dy')
    )


@dataclass(frozen=True, slots=True, eq=False)
class LinearizedProduct:
    """A(x, y) y to the first order: ``value + by_x @ (x - x0) + by_y @ (y - y0)``.

    Attributes:
        value: a(x0, y0) y0, shape (m,).
        by_x: shape (m, n).
        by_y: shape (m, p).
    """

    value: ScalarArray
    by_x: ScalarArray
    by_y: ScalarArray

    def __call__(self, dx: ArrayLike, dy: ArrayLike) -> ScalarArray:
        """Return the product, shape (m,), at x0 + dx, y0 + dy."""
        return np.asarray(self.value + self.by_x @ np.asarray(dx) + self.by_y @ np.asarray(dy))


def linearized_product(
    A: ArrayLike, A_x: ArrayLike, y: ArrayLike, A_y: ArrayLike | None = None
) -> LinearizedProduct:
    """Return A(x, y) y to the first order in both variables.  [K] eqs. (51)-(53).

    A y + (A + dA/dy (y (x) E_p)) (y' - y) + dA/dx (y (x) E_n) (x' - x), everything at (x0, y0):
    eq. (51) without its repeated terms.

    Args:
        A: shape (m, p), at (x0, y0).
        A_x: dA/dx there, shape (m, p*n).
        y: y0, shape (p,).
        A_y: dA/dy there, shape (m, p*p), with p the length of y; None if A does not depend on y.

    Raises:
        ShapeError: a is no matrix with a column for each entry of y, or a derivative does not fit.
    """
    A, y = np.asarray(A), _vector(y, 'y')
    if A.ndim != 2 or A.shape[1] != len(y):
        raise ShapeError(f'A has shape {A.shape}, expected (m, {len(y)}), as y has {len(y)}')
    by_y = A if A_y is None else A + _contract_first(A_y, y, len(A), 'A_y')
    return LinearizedProduct(A @ y, _contract_first(A_x, y, len(A), 'A_x'), by_y)


def _contract_first(A_x: ArrayLike, y: ScalarArray, rows: int, name: str) -> ScalarArray:
    """Return ``A_x (y (x) E_n)``, shape (rows, n), of A_x, shape (rows, p*n)."""
    A_x = np.asarray(A_x)
    if A_x.ndim != 2 or len(A_x) != rows or A_x.shape[1] % len(y):
        raise ShapeError(f'{name} has shape {A_x.shape}, expected ({rows}, {len(y)}*n)')
    return np.asarray(A_x.reshape(rows, len(y), -1).transpose(0, 2, 1) @ y)


def _vector(x: ArrayLike, name: str) -> ScalarArray:
    x = np.asarray(x)
    if x.ndim != 1 or not len(x):
        raise ShapeError(f'{name} has shape {x.shape}, expected (n,) with n of 1 or more')
    return x


def _matrix(A: ScalarArray) -> ScalarArray:
    return A.reshape(A.shape[0] if A.ndim else 1, -1)


def _checked(A: ScalarArray, shape: tuple[int, int], name: str) -> ScalarArray:
    # The derivatives of a scalar may come as the row's entries alone.
    A = A.reshape(1, -1) if shape[0] == 1 else A
    if A.shape != shape:
        raise ShapeError(f'{name} has shape {A.shape}, expected {shape}')
    return A
