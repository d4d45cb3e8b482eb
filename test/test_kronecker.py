# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the matrix calculus, and its layout against the reference vectors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import sympy
from public_vectors import cases_of

from kron_dynamics.kronecker import (
    block_skew,
    commutation_matrix,
    contract,
    contract_last,
    cross,
    khang_derivative,
    skew,
    vec,
)


def column(x: np.ndarray) -> np.ndarray:
    return x[:, None]


def test_cross_is_numpys(rng: np.random.Generator, assert_close: Any) -> None:
    a, b = rng.normal(size=(2, 3))
    assert_close(cross(a, b), np.cross(a, b))


def test_skew_times_vector_is_cross_product(rng: np.random.Generator, assert_close: Any) -> None:
    # [T] eq. (15)
    a, b = rng.normal(size=(2, 3))
    assert_close(skew(a) @ b, np.cross(a, b))
    np.testing.assert_array_equal(skew(a), -skew(a).T)


@pytest.mark.parametrize('case', cases_of('block_skew'), ids=lambda case: case['id'])
def test_block_skew_matches_reference_vectors(case: Any) -> None:
    np.testing.assert_array_equal(
        block_skew(np.array(case['inputs']['A'])), case['expected']['block_skew']
    )


def test_block_skew_spreads_the_tilde_over_the_whole_product(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, a = rng.normal(size=(3, 4)), rng.normal(size=4)
    # [T] eq. (17): (A a)~ = bs(A) (E_3 (x) a)
    assert_close(skew(A @ a), block_skew(A) @ np.kron(np.eye(3), column(a)))


def test_skew_times_matrix_is_minus_block_skew(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, a = rng.normal(size=(3, 4)), rng.normal(size=3)
    # [T] eq. (18): a~ A = - bs(A) (a (x) E_m)
    assert_close(skew(a) @ A, -block_skew(A) @ np.kron(column(a), np.eye(4)))


def test_block_skew_columns_are_cross_products(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, B = rng.normal(size=(2, 3, 4))
    product = block_skew(A) @ np.kron(B, np.eye(4))
    for i in range(4):
        for j in range(4):
            assert_close(product[:, i * 4 + j], np.cross(A[:, j], B[:, i]))


def test_vec_of_product_is_kronecker_times_vec(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, X, B = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    # [T] eq. (10): vec(A X B) = (B^T (x) A) vec X
    assert_close(vec(A @ X @ B), np.kron(B.T, A) @ vec(X))


def test_commutation_matrix_swaps_kronecker_factors(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(2, 4))
    K = commutation_matrix(4)
    np.testing.assert_array_equal(K @ np.kron(x, y), np.kron(y, x))
    np.testing.assert_array_equal(K @ K, np.eye(16))


def test_commutation_matrix_swaps_column_pairs(rng: np.random.Generator) -> None:
    A = rng.normal(size=(2, 9))
    swapped = A.reshape(2, 3, 3).transpose(0, 2, 1).reshape(2, 9)
    np.testing.assert_array_equal(A @ commutation_matrix(3), swapped)


def test_contract_is_multiplication_by_kronecker_product(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, x, y = rng.normal(size=(5, 12)), rng.normal(size=3), rng.normal(size=4)
    assert_close(contract(A, x, y), A @ np.kron(x, y))


def test_contract_last_is_multiplication_by_identity_kronecker_x(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A, x = rng.normal(size=(5, 12)), rng.normal(size=3)
    assert_close(contract_last(A, x), A @ np.kron(np.eye(4), column(x)))


def test_contract_and_contract_last_agree(rng: np.random.Generator, assert_close: Any) -> None:
    A, x, y = rng.normal(size=(5, 16)), rng.normal(size=4), rng.normal(size=4)
    assert_close(contract_last(A, y) @ x, contract(A, x, y))


@pytest.mark.parametrize('case', cases_of('khang_derivative'), ids=lambda case: case['id'])
def test_khang_derivative_matches_reference_vectors(case: Any, assert_close: Any) -> None:
    x = sympy.symbols('x1:4')
    A = matrix_of(case['inputs']['A'])
    first = khang_derivative(A, x)
    second = khang_derivative(first, x)
    values = dict(zip(x, case['inputs']['x'], strict=True))

    def evaluated(expressions: Any) -> np.ndarray:
        rows = np.array(expressions, dtype=object)
        return np.array([[float(sympy.sympify(e).subs(values)) for e in row] for row in rows])

    Delta = np.array(case['inputs']['Delta'])
    A0, dA, d2A = evaluated(A), evaluated(first), evaluated(second)
    assert_close(A0, case['expected']['A'])
    assert_close(dA, case['expected']['dA'])
    assert_close(d2A, case['expected']['d2A'])
    # [K] eq. (47): A(x + D) = A + dA/dx (E (x) D) + 1/2 d2A/dx2 (E (x) D (x) D) + ...
    taylor1 = A0 + contract_last(dA, Delta)
    taylor2 = taylor1 + 0.5 * contract_last(d2A, np.kron(Delta, Delta))
    assert_close(taylor1, case['expected']['taylor1'])
    assert_close(taylor2, case['expected']['taylor2'])


def matrix_of(text: str) -> sympy.Matrix:
    """'[[x1 x2, sin x3],[x1^2, x2 cos x1]]' as a SymPy matrix."""
    text = re.sub(r'\b(sin|cos) (x\d)', r'\1(\2)', text).replace('^', '**')
    text = re.sub(r'(x\d) (?=x|sin|cos)', r'\1*', text)
    names = {'x1': None, 'x2': None, 'x3': None}
    return sympy.Matrix(sympy.sympify(text, locals={k: sympy.Symbol(k) for k in names}))


def test_time_derivative_of_a_product_in_khangs_layout() -> None:
    # [T] eqs. (8), (9): d(AB)/dx = dA/dx (B (x) E_n) + A dB/dx, and (E_n (x) B) is wrong.
    x = sympy.symbols('x1:3')
    A = sympy.Matrix([[x[0] ** 2, x[0] * x[1], 1], [sympy.sin(x[1]), x[0], x[1]]])
    B = sympy.Matrix([[x[1], 1], [x[0] * x[1], x[0]], [2, x[1] ** 3]])
    left = sympy.Matrix(khang_derivative(A * B, x))
    E = sympy.eye(2)
    dA, dB = sympy.Matrix(khang_derivative(A, x)), sympy.Matrix(khang_derivative(B, x))
    assert (left - (dA * sympy.kronecker_product(B, E) + A * dB)).expand() == sympy.zeros(2, 4)
    wrong = dA * sympy.kronecker_product(E, B) + A * dB
    assert (left - wrong).expand() != sympy.zeros(2, 4)
