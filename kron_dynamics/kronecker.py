# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix calculus in the Kronecker-product formalism; knows no robot.

Layout used everywhere (Khang's): for A(x) of shape (r, s) and x of length n, ``dA/dx`` has
shape (r, s*n) and its column ``j*n + k`` is ``d A[:, j] / d x[k]``. Then

    dA/dt = (dA/dx) (E_s (x) xdot)                                         [T] eq. (8)
    d(J qd)/dt = J qdd + (dJ/dq) (qd (x) qd)                               [T] eq. (11)

Every function takes float, SymPy or traced arrays alike: only +, -, * are used. The derivatives
take SymPy expressions, or a function and a float point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

IntArray = npt.NDArray[np.int_]


def cross(a: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return the cross product a x b of two 3-vectors, shape (3,)."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def skew(a: ScalarArray) -> ScalarArray:
    """Return the matrix a~ with ``a~ b = a x b``, shape (3, 3).  [T] eq. (15)."""
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
    a1, a2, a3 = A
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
    return A.T.reshape(-1)


def unvec(a: ScalarArray, rows: int) -> ScalarArray:
    """Return the matrix with the given number of rows whose `vec` is a, shape (rows, s)."""
    return a.reshape(-1, rows).T


def kronecker(A: ScalarArray, B: ScalarArray) -> ScalarArray:
    """Return A (x) B = [a_ij B], shape (m p, n q), of A (m, n) and B (p, q).  [T] eq. (1).

    It obeys [T] eqs. (2)-(4), (12)-(14), which are [K] eqs. (2)-(10).

    Vectors count as columns; two vectors give a vector.
    """
    if A.ndim == 1 and B.ndim == 1:
        return np.outer(A, B).reshape(-1)
    A, B = (X.reshape(-1, 1) if X.ndim == 1 else X for X in (A, B))
    product = A[:, None, :, None] * B[None, :, None, :]
    return product.reshape(A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])


def kronecker_power(A: ScalarArray, k: int) -> ScalarArray:
    """Return A (x) A (x) ... (x) A with k factors; the number 1 (as a 1 x 1 or length 1) for k=0.

    [K] eqs. (11), (12), (34).

    Args:
        A: vector, shape (n,), or matrix, shape (m, n).
        k: 0 or more.
    """
    power = np.ones((1,) * A.ndim, dtype=int)
    for _ in range(k):
        power = kronecker(power, A)
    return power


def commutation_matrix(n: int) -> IntArray:
    """Return K, shape (n*n, n*n), with ``K kron(x, y) == kron(y, x)`` for x, y of length n.

    Column (i, j) of ``A @ K`` is therefore column (j, i) of A; `swap_columns` does that without
    the matrix.
    """
    return np.eye(n * n, dtype=int).reshape(n, n, n * n).transpose(1, 0, 2).reshape(n * n, n * n)


def swap_columns(A: ScalarArray, n: int) -> ScalarArray:
    """Return A K, shape (r, n*n): column i*n + j of the result is column j*n + i of A."""
    return A.reshape(len(A), n, n).transpose(0, 2, 1).reshape(len(A), n * n)


def duplication_matrix(n: int) -> IntArray:
    """Return D, shape (n*n, n(n+1)/2), with ``kron(x, x) == D @ products``.

    The products are x_i x_j with i <= j, in the order (1,1), (1,2), ..., (1,n), (2,2), ...
    """
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    D = np.zeros((n * n, len(pairs)), dtype=int)
    for column, (i, j) in enumerate(pairs):
        D[i * n + j, column] = D[j * n + i, column] = 1
    return D


def elimination_matrix(n: int) -> IntArray:
    """Return L, shape (n(n+1)/2, n*n), with ``products == L @ kron(x, x)``.

    The left inverse of `duplication_matrix` that picks column (i, j), i <= j, of each pair.
    """
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    L = np.zeros((len(pairs), n * n), dtype=int)
    for row, (i, j) in enumerate(pairs):
        L[row, i * n + j] = 1
    return L


def contract(A: ScalarArray, x: ScalarArray, y: ScalarArray) -> ScalarArray:
    """Return ``A kron(x, y)``, shape (r,), without forming the Kronecker product.

    What turns dJ/dq into the part of [T] eq. (11) that velocities cause.

    Args:
        A: shape (r, n*m).
        x: shape (n,).
        y: shape (m,).
    """
    return A.reshape(A.shape[0], len(x), len(y)) @ y @ x


def contract_last(A: ScalarArray, x: ScalarArray) -> ScalarArray:
    """Return ``A (E_s (x) x)``, shape (r, s): what turns dA/dx into dA/dt.  [T] eq. (8).

    Args:
        A: shape (r, s*n).
        x: shape (n,).
    """
    return A.reshape(A.shape[0], -1, len(x)) @ x


def khang_derivative(A: Any, x: Any, order: int = 1) -> ScalarArray:
    """Return d^k A/dx^k of a SymPy function, exactly.  [T] (5), (9), [K] (13)-(21), (23), (25).

    Args:
        A: SymPy scalar, vector of shape (r,) or matrix of shape (r, s).
        x: n SymPy symbols.
        order: k, 1 or more.

    Returns:
        object array, shape (r, s*n^k), with r = s = 1 for a scalar and s = 1 for a vector. The
        last derivative's index runs fastest.
    """
    values = np.array(A, dtype=object)
    values = values.reshape(values.shape[0] if values.ndim else 1, -1)
    for _ in range(order):
        rows = [[entry.diff(x_k) for entry in row for x_k in x] for row in _expressions(values)]
        values = np.array(rows, dtype=object)
    return values


def khang_derivative_at(
    function: Callable[[ScalarArray], Any], x: ArrayLike, order: int = 1
) -> FloatArray:
    """Return d^k A/dx^k of a function at a point, exactly but for rounding.

    Args:
        function: a(x), built of +, -, *, / and functions that SymPy symbols take.
        x: the point, shape (n,), floats.
        order: k, 1 or more.

    Returns:
        float array of the shape that `khang_derivative` gives.
    """
    import sympy  # only here: it takes half a second

    point = np.asarray(x, dtype=np.float64)
    symbols = np.array(sympy.symbols(f'x:{len(point)}', real=True), dtype=object)
    derivative = khang_derivative(function(symbols), symbols, order)
    values = sympy.lambdify(list(symbols), derivative.tolist(), 'numpy')(*point)
    return np.array(values, dtype=np.float64)


def _expressions(values: ScalarArray) -> list[list[Any]]:
    import sympy

    return [[sympy.sympify(entry) for entry in row] for row in values]
