# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix calculus in the Kronecker-product formalism, independent of robots.

Layout used everywhere (Khang's): for A(x) of shape (r, s) and x of length n, ``dA/dx`` has
shape (r, s*n) and its column ``j*n + k`` is ``d A[:, j] / d x[k]``. Then

    dA/dt = (dA/dx) (E_s (x) xdot)                                         [T] eq. (8)
    d(J qd)/dt = J qdd + (dJ/dq) (qd (x) qd)                               [T] eq. (11)

Every function takes float, SymPy or traced arrays and lists alike: only +, -, * are used. The
derivatives take SymPy expressions, or a function and a float point. Anything but an array of
numbers raises `ArgumentTypeError`, a wrong shape `ShapeError`, a number out of range
`ParameterError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kron_dynamics.arguments import finite_array
from kron_dynamics.dual import derivatives_of
from kron_dynamics.exceptions import ArgumentTypeError, NonFiniteError, ShapeError
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
from kron_dynamics.typing import ArrayLike, FloatArray, IntArray, ScalarArray


def cross(a: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return the cross product a x b of two 3-vectors, shape (3,)."""
    a, b = factors(vector(a, 'a', 3), vector(b, 'b', 3), terms=2)
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def skew(a: ScalarArray) -> ScalarArray:
    """Return the matrix a~ with ``a~ b = a x b``, shape (3, 3).  [T] eq. (15)."""
    a = vector(a, 'a', 3)
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def block_skew(A: ScalarArray) -> ScalarArray:
    """Return the block skew matrix of A.  [T] eqs. (16)-(18).

    Args:
        A: shape (3, m), rows a1, a2, a3.

    Returns:
        shape (3, 3*m): [0, -a3, a2; a3, 0, -a1; -a2, a1, 0], so that
        ``skew(A @ a) == block_skew(A) @ kron(E_3, a)`` ([T] eq. (17), with the tilde over the
        whole product).
    """
    a1, a2, a3 = matrix(A, 'A', 3)
    zero = 0 * a1
    return np.array(
        [
            np.concatenate([zero, -a3, a2]),
            np.concatenate([a3, zero, -a1]),
            np.concatenate([-a2, a1, zero]),
        ]
    )


def vec(A: ScalarArray) -> ScalarArray:
    """Return the columns of A, shape (r, s), stacked into one, shape (r*s,).  [T] (7), (10)."""
    return matrix(A, 'A').T.reshape(-1)


def unvec(a: ScalarArray, rows: int) -> ScalarArray:
    """Return the matrix with the given number of rows whose `vec` is a, shape (rows, s)."""
    a, rows = vector(a, 'a'), at_least(rows, 'rows', 1)
    if len(a) % rows:
        raise ShapeError(f'a has shape {a.shape}, expected ({rows}*s,)')
    return a.reshape(-1, rows).T


def kronecker(A: ScalarArray, B: ScalarArray) -> ScalarArray:
    """Return A (x) B = [a_ij B], shape (m p, n q), of A (m, n) and B (p, q).  [T] eq. (1).

    It obeys [T] eqs. (2)-(4), (12)-(14), which are [K] eqs. (2)-(10).

    Vectors count as columns; two vectors give a vector.
    """
    A, B = factors(_factor(A, 'A'), _factor(B, 'B'))
    if A.ndim == 1 and B.ndim == 1:
        return np.outer(A, B).reshape(-1)
    A, B = (X.reshape(-1, 1) if X.ndim == 1 else X for X in (A, B))
    product = A[:, None, :, None] * B[None, :, None, :]
    return product.reshape(A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])


def _factor(A: ScalarArray, name: str) -> ScalarArray:
    A = scalars(A, name)
    if A.ndim not in (1, 2):
        raise ShapeError(f'{name} has shape {A.shape}, expected a vector (n,) or a matrix (m, n)')
    return A


def kronecker_power(A: ScalarArray, k: int) -> ScalarArray:
    """Return A (x) A (x) ... (x) A with k factors; for k = 0, 1 of shape (1,) or (1, 1).

    [K] eqs. (11), (12), (34).

    Args:
        A: vector, shape (n,), or matrix, shape (m, n). Integers become floats.
        k: 0 or more.
    """
    A = _factor(A, 'A')
    if A.dtype.kind == 'i':
        A = A.astype(np.float64)  # powers of integers soon exceed 64 bits
    power = np.ones((1,) * A.ndim, dtype=int)
    for _ in range(at_least(k, 'k', 0)):
        power = kronecker(power, A)
    return power


def commutation_matrix(n: int) -> IntArray:
    """Return K, shape (n*n, n*n), with ``K kron(x, y) == kron(y, x)`` for x, y of length n.

    Column (i, j) of ``A @ K`` is therefore column (j, i) of A; `swap_columns` does that without
    the matrix.
    """
    n = at_least(n, 'n', 1)
    return np.eye(n * n, dtype=int).reshape(n, n, n * n).transpose(1, 0, 2).reshape(n * n, n * n)


def swap_columns(A: ScalarArray, n: int) -> ScalarArray:
    """Return A K, shape (r, n*n): column i*n + j of the result is column j*n + i of A."""
    n = at_least(n, 'n', 1)
    A = matrix(A, 'A', columns=n * n)
    return A.reshape(len(A), n, n).transpose(0, 2, 1).reshape(len(A), n * n)


def duplication_matrix(n: int) -> IntArray:
    """Return D, shape (n*n, n(n+1)/2), with ``kron(x, x) == D @ products``.

    The products are x_i x_j with i <= j, in the order (1,1), (1,2), ..., (1,n), (2,2), ...
    """
    n = at_least(n, 'n', 1)
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    D = np.zeros((n * n, len(pairs)), dtype=int)
    for column, (i, j) in enumerate(pairs):
        D[i * n + j, column] = D[j * n + i, column] = 1
    return D


def elimination_matrix(n: int) -> IntArray:
    """Return L, shape (n(n+1)/2, n*n), with ``products == L @ kron(x, x)``.

    This left inverse of `duplication_matrix` selects entry (i, j), i <= j, of each pair.
    """
    n = at_least(n, 'n', 1)
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    L = np.zeros((len(pairs), n * n), dtype=int)
    for row, (i, j) in enumerate(pairs):
        L[row, i * n + j] = 1
    return L


def contract(A: ScalarArray, x: ScalarArray, y: ScalarArray) -> ScalarArray:
    """Return ``A kron(x, y)``, shape (r,), without forming the Kronecker product.

    With A = dJ/dq and x = y = qd, it is the velocity term of [T] eq. (11).

    Args:
        A: shape (r, n*m).
        x: shape (n,).
        y: shape (m,).
    """
    x, y = vector(x, 'x'), vector(y, 'y')
    A = matrix(A, 'A', columns=len(x) * len(y))
    A, x, y = factors(A, x, y, terms=len(x) * len(y))
    return A.reshape(A.shape[0], len(x), len(y)) @ y @ x


def contract_last(A: ScalarArray, x: ScalarArray) -> ScalarArray:
    """Return ``A (E_s (x) x)``, shape (r, s); of dA/dx and xdot it is dA/dt.  [T] eq. (8).

    Args:
        A: shape (r, s*n).
        x: shape (n,).
    """
    x = vector(x, 'x')
    A, x = factors(in_blocks(A, 'A', len(x)), x, terms=len(x))
    return A.reshape(A.shape[0], -1, len(x)) @ x


def khang_derivative(A: Any, x: Any, order: int = 1) -> ScalarArray:
    """Return d^k A/dx^k of a SymPy function, exactly.  [T] (5), (9), [K] (13)-(21), (23), (25).

    Args:
        A: SymPy scalar, vector of shape (r,) or matrix of shape (r, s).
        x: n SymPy symbols.
        order: k, 1 or more.

    Returns:
        object array, shape (r, s*n^k), with r = s = 1 for a scalar and s = 1 for a vector. The
        index of the last differentiation runs fastest.

    Raises:
        ArgumentTypeError: A holds no expressions, or x no symbols.
        ShapeError: A has more than two axes, or x is not a vector.
        ParameterError: the order is below 1.
    """
    order, values = at_least(order, 'order', 1), scalars(A, 'A')
    if values.ndim > 2:
        raise ShapeError(f'A has shape {values.shape}, expected (), (r,) or (r, s)')
    variables = vector(x, 'x')
    for variable in variables:
        if not getattr(variable, '_diff_wrt', False):
            raise ArgumentTypeError(f'x holds {shown(variable)}, expected SymPy symbols')
    values = values.reshape(values.shape[0] if values.ndim else 1, -1)
    for _ in range(order):
        rows = [
            [entry.diff(x_k) for entry in row for x_k in variables] for row in _expressions(values)
        ]
        values = np.array(rows, dtype=object)
    return values


def khang_derivative_at(
    function: Callable[[ScalarArray], Any], x: ArrayLike, order: int = 1
) -> FloatArray:
    """Return d^k A/dx^k of a function at a point, exactly but for rounding.

    Args:
        function: A(x), as for `khang_derivatives_at`.
        x: the point, shape (n,), floats.
        order: k, 1 or more.

    Returns:
        float array of the shape that `khang_derivative` gives.

    Raises:
        ArgumentTypeError: the function uses an operation that dual numbers do not have.
        NonFiniteError: A(x) or a derivative holds a NaN or an infinity.
        ShapeError: x is not a vector, or A(x) is empty or has more than two axes.
        ParameterError: the order is below 1, or the function divides by zero.
    """
    return khang_derivatives_at(function, x, at_least(order, 'order', 1))[-1]


def khang_derivatives_at(
    function: Callable[[ScalarArray], Any], x: ArrayLike, order: int
) -> tuple[FloatArray, ...]:
    """Return A and its derivatives up to d^k A/dx^k at a point, exactly but for rounding.

    Args:
        function: A(x), a scalar, shape (r,) or (r, s), composed of +, -, *, /, powers with whole
            exponents, and sin, cos, tanh of `kron_dynamics.elementary` or of NumPy. Functions of
            SymPy work, too, but take seconds instead of milliseconds.
        x: the point, shape (n,), floats.
        order: k, 0 or more.

    Returns:
        the value in its own shape, then for j = 1, ..., k float arrays of the shape that
        `khang_derivative` gives.

    Raises:
        ArgumentTypeError: the function uses an operation that dual numbers do not have.
        NonFiniteError: A(x) or a derivative holds a NaN or an infinity.
        ShapeError: x is not a vector, or A(x) is empty or has more than two axes.
        ParameterError: the order is negative, or the function divides by zero.
    """
    function_of_numbers(function, 'function')
    order, point = at_least(order, 'order', 0), vector(finite_array(x, 'x'), 'x')
    try:
        with np.errstate(all='ignore'):  # what is not finite is refused below
            arrays = derivatives_of(function, point.copy(), order)
    except ValueError as error:
        # SymPy's functions raise SympifyError for dual numbers; SymPy is imported by then.
        if type(error).__name__ != 'SympifyError':
            raise
        arrays = _by_symbols(function, point, order)
    try:
        value, *higher = (np.array(A, dtype=np.float64) for A in arrays)
    except TypeError:
        raise ArgumentTypeError(
            f'function gives {shown(arrays[0])} at floats, expected numbers'
        ) from None
    if value.ndim > 2 or not value.size:
        raise ShapeError(f'function gives shape {value.shape}, expected (), (r,) or (r, s)')
    for k, array in enumerate((value, *higher)):
        if not np.isfinite(array).all():
            what = f'derivative {k} of function' if k else 'function'
            raise NonFiniteError(f'{what} is NaN or infinite at x, expected finite numbers')
    rows = value.shape[0] if value.ndim else 1
    return value, *(A.reshape(rows, -1) for A in higher)


def _by_symbols(
    function: Callable[[ScalarArray], Any], point: FloatArray, order: int
) -> list[ScalarArray]:
    """Return the derivatives of a function that uses SymPy's functions, as SymPy numbers."""
    import sympy

    symbols = np.array([sympy.Dummy(f'x{k}', real=True) for k in range(len(point))], dtype=object)
    arrays = [scalars(function(symbols), 'function(x)')]
    for _ in range(order):
        arrays.append(khang_derivative(arrays[-1], symbols))
    at_point = dict(zip(symbols, map(sympy.Float, point), strict=True))
    return [_at(A, at_point) for A in arrays]


def _at(A: ScalarArray, point: Mapping[Any, Any]) -> ScalarArray:
    values = np.empty(A.shape, dtype=object)
    values.flat[:] = [entry.xreplace(point).evalf() for row in _expressions(A) for entry in row]
    return values


def _expressions(values: ScalarArray) -> list[list[Any]]:
    import sympy  # imported here because it takes half a second

    rows = values.reshape(len(values) if values.ndim else 1, -1)
    return [[sympy.sympify(entry, strict=True) for entry in row] for row in rows]
