# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Theorems (1)-(18) of the Kronecker calculus over random shapes, on floats and on SymPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from kron_dynamics.kronecker import (
    block_skew,
    commutation_matrix,
    contract,
    contract_last,
    duplication_matrix,
    elimination_matrix,
    khang_derivative,
    khang_derivative_at,
    kronecker,
    kronecker_power,
    skew,
    swap_columns,
    unvec,
    vec,
)

sizes = st.integers(1, 4)
seeds = st.integers(0, 2**16)
systems = st.sampled_from(['float', 'sympy'])


def random_array(seed: int, number: str, *shape: int) -> np.ndarray:
    """Small integers: exact in both number systems, so equality is equality."""
    values = np.random.default_rng([seed, *shape]).integers(-4, 5, shape)
    if number == 'float':
        return values.astype(float)
    return np.array([sympy.Integer(int(v)) for v in values.flat], dtype=object).reshape(shape)


def equal(actual: Any, expected: Any) -> None:
    assert actual.shape == expected.shape
    assert all(a == b for a, b in zip(actual.flat, expected.flat, strict=True))


def same_polynomials(left: Any, right: Any) -> bool:
    """Whether tables of polynomials with whole coefficients agree in every coefficient."""
    pairs = [*zip(map(sympy.sympify, left.flat), map(sympy.sympify, right.flat), strict=True)]
    symbols = set().union(*(a.free_symbols | b.free_symbols for a, b in pairs))
    if not symbols:
        return all(a == b for a, b in pairs)
    numbers, *_ = sympy.ring(sorted(symbols, key=str), sympy.ZZ)
    return all(numbers.from_expr(a) == numbers.from_expr(b) for a, b in pairs)


def identity(n: int) -> np.ndarray:
    return np.eye(n, dtype=int)


@given(m=sizes, n=sizes, p=sizes, q=sizes, r=sizes, seed=seeds, number=systems)
def test_products_of_kronecker_products(
    m: int, n: int, p: int, q: int, r: int, seed: int, number: str
) -> None:
    """[T] (1)-(4), [K] (2)-(5)."""
    A, B = random_array(seed, number, m, n), random_array(seed + 1, number, p, q)
    C, D = random_array(seed + 2, number, n, r), random_array(seed + 3, number, q, m)
    block = kronecker(A, B)[p * (m - 1) :, q * (n - 1) :]
    equal(block, A[-1, -1] * B)
    equal(kronecker(A, B) @ kronecker(C, D), kronecker(A @ C, B @ D))
    equal(kronecker(A, B).T, kronecker(A.T, B.T))
    equal(kronecker(kronecker(A, B), C), kronecker(A, kronecker(B, C)))


@given(r=sizes, s=sizes, p=sizes, seed=seeds, number=systems)
def test_vec_of_a_product(r: int, s: int, p: int, seed: int, number: str) -> None:
    """[T] (7), (10), and unvec undoes vec."""
    A, X = random_array(seed, number, r, s), random_array(seed + 1, number, s, p)
    B = random_array(seed + 2, number, p, r)
    equal(vec(A @ X @ B), kronecker(B.T, A) @ vec(X))
    equal(unvec(vec(X), s), X)


@given(n=sizes, m=sizes, p=sizes, seed=seeds, number=systems)
def test_exchange_of_vectors_and_matrices(n: int, m: int, p: int, seed: int, number: str) -> None:
    """[T] (12), (13), [K] (6), (7)."""
    x, A = random_array(seed, number, n), random_array(seed + 1, number, p, m)
    d = random_array(seed + 2, number, m)
    left = kronecker(identity(p), x[:, None]) @ (A @ d)
    equal(left, kronecker(A, identity(n)) @ kronecker(d, x))
    equal(kronecker(d, x), kronecker(d[:, None], identity(n)) @ x)


@given(n=sizes, m=sizes, p=sizes, r=sizes, seed=seeds, number=systems)
def test_exchange_of_two_vectors(n: int, m: int, p: int, r: int, seed: int, number: str) -> None:
    """[T] (14): (E_p (x) x) A (E_r (x) y) d = (A (x) E_n)(d (x) E_nm)(y (x) x)."""
    x, y = random_array(seed, number, n), random_array(seed + 1, number, m)
    A, d = random_array(seed + 2, number, p, r * m), random_array(seed + 3, number, r)
    left = kronecker(identity(p), x[:, None]) @ (A @ (kronecker(identity(r), y[:, None]) @ d))
    spread = kronecker(d[:, None], identity(n * m)) @ kronecker(y, x)
    equal(left, kronecker(A, identity(n)) @ spread)


@given(m=sizes, n=sizes, seed=seeds, number=systems)
def test_block_skew(m: int, n: int, seed: int, number: str) -> None:
    """[T] (16)-(18), the tilde of (17) over the product, and what turns block skew matrices."""
    A, a = random_array(seed, number, 3, m), random_array(seed + 1, number, m)
    equal(skew(A @ a), block_skew(A) @ kronecker(identity(3), a[:, None]))
    b = random_array(seed + 2, number, 3)
    equal(skew(b) @ A, -block_skew(A) @ kronecker(b[:, None], identity(m)))
    B = random_array(seed + 3, number, 3, n)
    columns = block_skew(A) @ kronecker(B, identity(m))
    equal(columns[:, -1], skew(A[:, -1]) @ B[:, -1])


@given(n=sizes, seed=seeds, number=systems)
def test_commutation_duplication_elimination(n: int, seed: int, number: str) -> None:
    x, y = random_array(seed, number, n), random_array(seed + 1, number, n)
    A = random_array(seed + 2, number, 2, n * n)
    equal(commutation_matrix(n) @ kronecker(x, y), kronecker(y, x))
    equal(A @ commutation_matrix(n), swap_columns(A, n))
    products = np.array([x[i] * x[j] for i in range(n) for j in range(i, n)])
    equal(duplication_matrix(n) @ products, kronecker_power(x, 2))
    equal(elimination_matrix(n) @ kronecker_power(x, 2), products)
    equal(elimination_matrix(n) @ duplication_matrix(n), identity(len(products)))


@given(n=st.integers(1, 3), k=st.integers(0, 3), seed=seeds, number=systems)
def test_kronecker_powers(n: int, k: int, seed: int, number: str) -> None:
    """[K] (11), (12)."""
    x, A = random_array(seed, number, n), random_array(seed + 1, number, 2, n)
    assert kronecker_power(x, k).shape == (n**k,)
    equal(kronecker_power(A @ x, k), kronecker_power(A, k) @ kronecker_power(x, k))


def polynomials(seed: int, shape: tuple[int, ...], x: Any) -> np.ndarray:
    """Polynomials of degree three in x, one an entry, each of about half of all monomials."""
    generator = np.random.default_rng(seed)
    monomials = [1, *x, *(a * b for a in x for b in x), *(a**3 for a in x)]
    size = (int(np.prod(shape)), len(monomials))
    coefficients = generator.integers(-3, 4, size) * generator.integers(0, 2, size)
    return (coefficients.astype(object) @ np.array(monomials, object)).reshape(shape)


shapes = {'r': st.integers(1, 3), 's': st.integers(1, 3), 'n': st.integers(1, 3)}


@given(**shapes, seed=seeds)
def test_time_derivative_of_a_matrix(r: int, s: int, n: int, seed: int) -> None:
    """[T] (8): dA/dt = (dA/dx)(E_s (x) xdot)."""
    t = sympy.Symbol('t')
    x = sympy.symbols(f'x:{n}')
    rates = [sympy.Symbol(f'v{k}') for k in range(n)]
    A = polynomials(seed, (r, s), x)
    motion = dict(zip(x, [a + v * t for a, v in zip(x, rates, strict=True)], strict=True))
    moved = np.array([sympy.sympify(e).xreplace(motion) for e in A.flat])
    left = np.array([e.diff(t).subs(t, 0) for e in moved]).reshape(r, s)
    right = khang_derivative(A, x) @ kronecker(identity(s), np.array(rates)[:, None])
    assert same_polynomials(left, right)


@settings(max_examples=8)
@given(r=st.integers(1, 2), n=shapes['n'], seed=seeds)
def test_acceleration_of_a_jacobian(r: int, n: int, seed: int) -> None:
    """[T] (11): d(J qd)/dt = J qdd + (dJ/dq)(qd (x) qd), along q(t) whose rates change."""
    t, q = sympy.Symbol('t'), sympy.symbols(f'q:{n}')
    start, qd, qdd = (random_array(seed + k, 'sympy', n) for k in range(3))
    J = polynomials(seed, (r, n), q)

    def at(array: np.ndarray, point: Any) -> np.ndarray:
        values = dict(zip(q, point, strict=True))
        flat = [sympy.sympify(e).xreplace(values) for e in array.flat]
        return np.array(flat, dtype=object).reshape(array.shape)

    velocity = at(J, start + qd * t + qdd * t**2 / 2) @ (qd + qdd * t)
    left = np.array([sympy.sympify(v).diff(t).xreplace({t: sympy.S.Zero}) for v in velocity])
    dJ = at(khang_derivative(J, q), start)
    equal(left, at(J, start) @ qdd + dJ @ kronecker(qd, qd))
    equal(left, at(J, start) @ qdd + contract(dJ, qd, qd))


@given(**shapes, p=st.integers(1, 3), seed=seeds)
def test_product_rule(r: int, s: int, n: int, p: int, seed: int) -> None:
    """[T] (9), [K] (19): d(AB)/dx = (dA/dx)(B (x) E_n) + A dB/dx."""
    x = sympy.symbols(f'x:{n}')
    A, B = polynomials(seed, (r, s), x), polynomials(seed + 1, (s, p), x)
    left = khang_derivative(A @ B, x)
    right = khang_derivative(A, x) @ kronecker(B, identity(n)) + A @ khang_derivative(B, x)
    assert same_polynomials(left, right)


@given(**shapes, m=st.integers(1, 2), seed=seeds)
def test_chain_rule(r: int, s: int, n: int, m: int, seed: int) -> None:
    """dA(y(x))/dx = (dA/dy)(E_s (x) dy/dx)."""
    x, y = sympy.symbols(f'x:{n}'), sympy.symbols(f'y:{m}')
    A, inner = polynomials(seed, (r, s), y), polynomials(seed + 1, (m,), x)
    values = dict(zip(y, inner, strict=True))

    def inserted(table: np.ndarray) -> np.ndarray:
        flat = [sympy.sympify(e).xreplace(values) for e in table.flat]
        return np.array(flat, dtype=object).reshape(table.shape)

    left = khang_derivative(inserted(A), x)
    right = inserted(khang_derivative(A, y)) @ kronecker(identity(s), khang_derivative(inner, x))
    assert same_polynomials(left, right)


def test_derivatives_of_scalars_are_rows_and_of_vectors_columns() -> None:
    """[K] (13), (14), (16), (17): shapes 1 x n^k and r x n^k."""
    x = sympy.symbols('x:3')
    assert khang_derivative(x[0] * x[1] * x[2], x).shape == (1, 3)
    assert khang_derivative(x[0] ** 3, x, order=3).shape == (1, 27)
    assert khang_derivative(x[0] ** 3, x, order=3)[0, 0] == 6
    assert khang_derivative([x[0], x[1] * x[2]], x, order=2).shape == (2, 9)


def test_last_index_is_the_last_derivative() -> None:
    """[T] (5), [K] (15), (18): d/dx_j (d/dx_i A) stands at i*n + j of each column's block."""
    x = sympy.symbols('x:2')
    second = khang_derivative(x[0] ** 2 * x[1], x, order=2)
    assert list(second[0]) == [2 * x[1], 2 * x[0], 2 * x[0], 0]
    mixed = khang_derivative(khang_derivative(x[0] ** 2 * x[1], x[:1]), x[1:])
    assert mixed[0, 0] == 2 * x[0]


@pytest.mark.parametrize('order', [1, 2, 3])
def test_derivatives_at_a_point_are_those_of_the_expressions(order: int) -> None:
    def function(x: Any) -> Any:
        return [[x[0] ** 3 * x[1], x[1] ** 2], [x[0] * x[1], x[0] + 2.0]]

    point = np.array([0.7, -1.3])
    got = khang_derivative_at(function, point, order)
    symbols = sympy.symbols('a b')
    exact = khang_derivative(function(symbols), symbols, order)
    values = dict(zip(symbols, point, strict=True))
    expected = [[float(sympy.sympify(e).subs(values)) for e in row] for row in exact]
    np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_float_derivative_contracts_to_the_time_derivative() -> None:
    def function(x: Any) -> Any:
        return np.array([[x[0] * x[1], x[1] ** 3], [1.0 / (2.0 + x[0] ** 2), x[0]]])

    point, rates, h = np.array([0.4, 0.9]), np.array([1.2, -0.5]), 1e-5
    along = function(point + h * rates) - function(point - h * rates)
    got = contract_last(khang_derivative_at(function, point), rates)
    np.testing.assert_allclose(got, along / (2 * h), atol=1e-8)
