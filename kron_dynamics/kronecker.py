# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix calculus in the Kronecker-product formalism; knows no robot.

Layout used everywhere (Khang's): for A(x) of shape (r, s) and x of length n, ``dA/dx`` has
shape (r, s*n) and its column ``j*n + k`` is ``d A[:, j] / d x[k]``. Then

    dA/dt = (dA/dx) (E_s (x) xdot)                                         [T] eq. (8)
    d(J qd)/dt = J qdd + (dJ/dq) (qd (x) qd)                               [T] eq. (11)

Every function takes float, SymPy or traced arrays alike: only +, -, * are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from kron_dynamics.typing import ScalarArray


def cross(a: ScalarArray, b: ScalarArray) -> ScalarArray:
    """Return the cross product a x b of two 3-vectors, shape (3,)."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def skew(a: ScalarArray) -> ScalarArray:
    """Return the matrix a~ with ``a~ b = a x b``, shape (3, 3).  [T] after eq. (15)."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def block_skew(A: ScalarArray) -> ScalarArray:
    """Return the block skew matrix of A.  [T] eq. (16).

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
    """Return the columns of A, shape (r, s), stacked into a vector, shape (r*s,).  [T] eq. (7)."""
    return A.T.reshape(-1)


def commutation_matrix(n: int) -> ScalarArray:
    """Return K, shape (n*n, n*n), with ``K kron(x, y) == kron(y, x)`` for x, y of length n.

    Column (i, j) of ``A @ K`` is therefore column (j, i) of A.
    """
    K = np.zeros((n * n, n * n))
    for i in range(n):
        for j in range(n):
            K[i * n + j, j * n + i] = 1.0
    return K


def contract(A: ScalarArray, x: ScalarArray, y: ScalarArray) -> ScalarArray:
    """Return ``A kron(x, y)``, shape (r,), without forming the Kronecker product.

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


def khang_derivative(A: Any, x: Any) -> ScalarArray:
    """Return dA/dx of a SymPy matrix function, exactly.  [T] eq. (5), [K] eq. (15).

    Args:
        A: SymPy matrix or object array of expressions, shape (r, s).
        x: n SymPy symbols.

    Returns:
        object array, shape (r, s*n); column ``j*n + k`` is ``d A[:, j] / d x[k]``.
    """
    A = np.array(A, dtype=object)
    r, s = A.shape
    out = np.empty((r, s * len(x)), dtype=object)
    for i in range(r):
        for j in range(s):
            for k, x_k in enumerate(x):
                out[i, j * len(x) + k] = sympy.diff(A[i, j], x_k)  # an entry may be a number
    return out
