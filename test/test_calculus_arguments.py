# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the matrix calculus refuses: shapes, orders and kinds, each in one line by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from kron_dynamics import dual, dynamics, elementary, kinematics, kronecker, taylor
from kron_dynamics.exceptions import (
    ArgumentTypeError,
    KronDynamicsError,
    NonFiniteError,
    ParameterError,
    ShapeError,
)

A23, A26, X3 = np.ones((2, 3)), np.ones((2, 6)), np.ones(3)
X, Y = sympy.symbols('x y')
LINEAR = taylor.linearized_product(A23, A26, X3)
EXPANSION = taylor.expand(lambda x: x[0] * x[1], [1.0, 2.0], 1)
OF_TWO = taylor.expand(lambda x, y: x[0] * y[1], ([1.0], [2.0, 3.0]), 1)

REFUSED: list[tuple[Callable[[], Any], type[KronDynamicsError], str]] = [
    (lambda: kronecker.cross(X3, np.ones(4)), ShapeError, r'b has shape (4,), expected (3,)'),
    (lambda: kronecker.cross('abc', X3), ArgumentTypeError, "a is 'abc', expected numbers"),
    (lambda: kronecker.skew([1, 2, 3, 4]), ShapeError, 'a has shape (4,), expected (3,)'),
    (lambda: kronecker.skew([1, 2]), ShapeError, 'a has shape (2,), expected (3,)'),
    (lambda: kronecker.skew([1, 2, None]), ArgumentTypeError, 'a is or holds None'),
    (lambda: kronecker.skew([True, False, True]), ArgumentTypeError, 'a is or holds'),
    (lambda: kronecker.skew([1j, 2, 3]), ArgumentTypeError, 'a is or holds'),
    (lambda: kronecker.skew(np.ma.array(X3, mask=[0, 1, 0])), ArgumentTypeError, 'masked'),
    (lambda: kronecker.block_skew(np.ones((4, 2))), ShapeError, 'A has shape (4, 2)'),
    (lambda: kronecker.block_skew(X3), ShapeError, 'A has shape (3,), expected (3, n)'),
    (lambda: kronecker.vec(X3), ShapeError, 'A has shape (3,), expected (m, n)'),
    (lambda: kronecker.vec([[1, 2], [3]]), ShapeError, 'A is [[1, 2], [3]], whose parts differ'),
    (lambda: kronecker.unvec(X3, 2), ShapeError, 'a has shape (3,), expected (2*s,)'),
    (lambda: kronecker.unvec(X3, 0), ParameterError, 'rows is 0, expected 1 or more'),
    (lambda: kronecker.unvec(X3, 1.5), ArgumentTypeError, 'rows is 1.5, expected a whole number'),
    (lambda: kronecker.kronecker(A23, 2.0), ShapeError, 'B has shape (), expected a vector'),
    (lambda: kronecker.kronecker(np.ones((2, 2, 2)), A23), ShapeError, 'A has shape (2, 2, 2)'),
    (lambda: kronecker.kronecker_power(X3, -1), ParameterError, 'k is -1, expected 0 or more'),
    (lambda: kronecker.kronecker_power(X3, True), ArgumentTypeError, 'k is True'),
    (lambda: kronecker.commutation_matrix(0), ParameterError, 'n is 0, expected 1 or more'),
    (lambda: kronecker.duplication_matrix(-2), ParameterError, 'n is -2, expected 1 or more'),
    (lambda: kronecker.elimination_matrix('3'), ArgumentTypeError, "n is '3'"),
    (lambda: kronecker.swap_columns(A26, 2), ShapeError, 'A has shape (2, 6), expected (m, 4)'),
    (lambda: kronecker.contract(A26, X3, X3), ShapeError, 'expected (m, 9)'),
    (lambda: kronecker.contract(A26, [[1]], X3), ShapeError, 'x has shape (1, 1)'),
    (lambda: kronecker.contract_last(A26, np.ones(4)), ShapeError, 'expected (r, s*4)'),
    (lambda: kronecker.contract_last(A26, []), ShapeError, 'x has shape (0,)'),
    (lambda: kronecker.khang_derivative(X**2, [X], -1), ParameterError, 'order is -1'),
    (lambda: kronecker.khang_derivative(X**2, [X], 0), ParameterError, 'order is 0, expected 1'),
    (lambda: kronecker.khang_derivative(X**2, [X], 1.0), ArgumentTypeError, 'order is 1.0'),
    (lambda: kronecker.khang_derivative(X**2, [1.0]), ArgumentTypeError, 'x holds'),
    (lambda: kronecker.khang_derivative(X**2, X), ShapeError, 'x has shape ()'),
    (lambda: kronecker.khang_derivative('x**2', [X]), ArgumentTypeError, "A is 'x**2'"),
    (lambda: kronecker.khang_derivative([[[X]]], [X]), ShapeError, 'A has shape (1, 1, 1)'),
    (lambda: kronecker.khang_derivative_at(len, X3, 0), ParameterError, 'order is 0'),
    (lambda: kronecker.khang_derivative_at(3, X3), ArgumentTypeError, 'function is 3'),
    (lambda: kronecker.khang_derivative_at(lambda x: x, 1.0), ShapeError, 'x has shape ()'),
    (
        lambda: kronecker.khang_derivative_at(lambda x: x, [1.0, math.nan]),
        NonFiniteError,
        'x holds a NaN',
    ),
    (
        lambda: kronecker.khang_derivative_at(lambda x: x[0] * X, [1.0]),
        ArgumentTypeError,
        'function gives',
    ),
    (
        lambda: kronecker.khang_derivative_at(lambda x: np.ones((1, 1, 1)) * x[0], [1.0]),
        ShapeError,
        'function gives shape (1, 1, 1)',
    ),
    (lambda: dual.jacobian_of(None, X3), ArgumentTypeError, 'function is None, expected a func'),
    (lambda: dual.jacobian_of(lambda x: x, A23), ShapeError, 'x has shape (2, 3), expected (n,)'),
    (lambda: dual.jacobian_of(lambda x: x, ['a']), ArgumentTypeError, 'x is or holds'),
    (lambda: dual.jacobian_of(lambda x: None, X3), ArgumentTypeError, 'function(x) is or holds'),
    (lambda: dual.jacobian_of(lambda x: [x, x[:2]], X3), ShapeError, 'function(x) is'),
    (lambda: dual.jacobian_of(lambda x: math.sin(x[0]), X3), ArgumentTypeError, 'elementary'),
    (lambda: dual.jacobian_of(lambda x: np.exp(x), X3), ArgumentTypeError, 'dual numbers lack'),
    (lambda: dual.jacobian_of(lambda x: x if x[0] else -x, X3), ArgumentTypeError, 'truth value'),
    (
        lambda: dual.jacobian_of(lambda x: max(x[0], 0), X3),
        ArgumentTypeError,
        'cannot be compared',
    ),
    (
        lambda: dual.jacobian_of(lambda x: -x if x[0] == 1 else x, X3),
        ArgumentTypeError,
        'compared',
    ),
    (
        lambda: dual.jacobian_of(lambda x: -x if x[0] != 1 else x, X3),
        ArgumentTypeError,
        'compared',
    ),
    (lambda: dual.jacobian_of(lambda x: x[0] ** 0.5, X3), ArgumentTypeError, 'expected +, -, *,'),
    (lambda: dual.jacobian_of(lambda x: abs(x[0]), X3), ArgumentTypeError, 'expected +, -, *, /'),
    (lambda: dual.jacobian_of(lambda x: float(x[0]), X3), ArgumentTypeError, 'expected +, -, *,'),
    (lambda: dual.jacobian_of(lambda x: np.arctan2(*x[:2]), X3), ArgumentTypeError, 'expected +'),
    (lambda: dual.derivatives_of(lambda x: x, X3, -1), ParameterError, 'order is -1'),
    (lambda: dual.jacobian_of(lambda x: 1 / x[0], [0.0, 2.0]), ParameterError, 'divides by zero'),
    (
        lambda: dual.jacobian_of(lambda x: 10**400 * x[0], [1.0]),
        ParameterError,
        'range of float64',
    ),
    (lambda: dual.jacobian_of(lambda x: 10**400, [1.0]), ParameterError, 'range of float64'),
    (lambda: taylor.expand(lambda x: x[:0], X3, 1), ShapeError, 'function gives shape (0,)'),
    (lambda: taylor.expand(lambda x: x[:0], X3, 0), ShapeError, 'function gives shape (0,)'),
    (lambda: taylor.expand(lambda x: x[:0], [X], 1), ShapeError, 'function(x) has shape (0,)'),
    (lambda: taylor.expand(lambda x: x, ([[1.0], [2.0, 3.0]],), 1), ShapeError, 'differ in shape'),
    (lambda: taylor.expand(lambda x: 1 / x, [0.0, 1.0], 0), NonFiniteError, 'function is NaN or'),
    (lambda: taylor.expand(lambda x: x**700, [10.0], 1), NonFiniteError, 'function is NaN or'),
    (
        lambda: taylor.expand(lambda x: x[0] ** 308 * 10, [9.9], 1),
        NonFiniteError,
        'derivative 1 of function is NaN or infinite at x',
    ),
    (lambda: taylor.expand(lambda: X3, X3, 1), ArgumentTypeError, 'a point of 1 vectors'),
    (lambda: taylor.expand(lambda x, y: x, X3, 1), ArgumentTypeError, 'a point of 1 vectors'),
    (lambda: elementary.sin('pi'), ArgumentTypeError, "the argument of sin is 'pi'"),
    (lambda: elementary.cos(X3), ArgumentTypeError, 'the argument of cos is'),
    (lambda: elementary.tanh(None), ArgumentTypeError, 'the argument of tanh is None'),
    (lambda: elementary.sin(True), ArgumentTypeError, 'the argument of sin is True'),
    (lambda: elementary.sin(object()), ArgumentTypeError, 'expected one number'),
    (lambda: taylor.expand(3, X3, 1), ArgumentTypeError, 'function is 3, expected a function'),
    (lambda: taylor.expand(lambda x: x, X3, 1.0), ArgumentTypeError, 'order is 1.0'),
    (lambda: taylor.expand(lambda x: x, 'x', 1), ArgumentTypeError, "point is 'x'"),
    (lambda: taylor.expand(lambda x: x, A23, 1), ShapeError, 'point has shape (2, 3)'),
    (lambda: taylor.expand(lambda x: math.sin(x[0]), X3, 1), ArgumentTypeError, 'elementary'),
    (lambda: taylor.expand(lambda x, y: x, (X3, 1.0), 1), ShapeError, 'point[1] has shape ()'),
    (lambda: taylor.expand(lambda x: x, [math.nan], 1), NonFiniteError, 'point holds a NaN'),
    (lambda: EXPANSION(2.0), ShapeError, 'x has shape (), expected (2,)'),
    (lambda: EXPANSION([1.0, 2.0, 3.0]), ShapeError, 'x has shape (3,), expected (2,)'),
    (lambda: EXPANSION([1.0], [2.0]), ShapeError, 'got 2 vectors, expected 1'),
    (lambda: OF_TWO([1.0, 2.0, 3.0]), ShapeError, 'got 1 vectors, expected 2'),
    (lambda: OF_TWO([1.0], [2.0]), ShapeError, 'x[1] has shape (1,), expected (2,)'),
    (lambda: EXPANSION.truncated('1'), ArgumentTypeError, "order is '1'"),
    (lambda: taylor.taylor_value(3.0, X3), ArgumentTypeError, 'derivatives is 3.0'),
    (lambda: taylor.taylor_value([1.0, X3], 'x'), ArgumentTypeError, "delta is 'x'"),
    (lambda: taylor.linear_value(A23, A26, A26, [1.0], [1.0]), ShapeError, 'A_x has shape (2, 6)'),
    (lambda: taylor.mixed_term(A26, [1.0, 2.0], [1.0, 2.0]), ShapeError, 'A_yx has shape (2, 6)'),
    (lambda: LINEAR([1.0], X3), ShapeError, 'dx has shape (1,), expected (2,)'),
    (lambda: taylor.linearized_product(A23, A26, X3, A26), ShapeError, 'A_y has shape (2, 6)'),
]


E1, AXIS = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])
SCREW = kinematics.Screw.turning(AXIS, X3)
REFUSED += [
    (lambda: kinematics.conjugate_derivative(E1, None), ArgumentTypeError, 'derivative is'),
    (
        lambda: kinematics.conjugate_derivative(E1, X3),
        ShapeError,
        'derivative has shape (3,), expected (4, n) or (4,)',
    ),
    (lambda: kinematics.rotation_exponential_rate(AXIS, 1, None), ArgumentTypeError, 'rate is'),
    (lambda: kinematics.rotation_exponential_rate(AXIS, 1, X3), ShapeError, 'rate has shape (3,)'),
    (lambda: kinematics.rotation_exponential_rate(AXIS, X3, 1), ShapeError, 'angle has shape'),
    (lambda: kinematics.screw_exponential(None, 1.0), ArgumentTypeError, 'screw is None'),
    (lambda: kinematics.screw_exponential(SCREW, X3), ShapeError, 'position has shape (3,)'),
    (lambda: kinematics.screw_exponential(SCREW, '1'), ArgumentTypeError, "position is '1'"),
    (lambda: kinematics.screw_exponential_derivatives(SCREW, 1, 2), ShapeError, 'rates is 2'),
    (
        lambda: kinematics.screw_exponential_derivatives(SCREW, 1, [None]),
        ArgumentTypeError,
        'rates is or holds None',
    ),
    (
        lambda: kinematics.Screw.turning(AXIS, X3, None),
        ArgumentTypeError,
        'pitch is or holds None',
    ),
    (lambda: kinematics.Screw.turning(AXIS, X3, X3), ShapeError, 'pitch has shape (3,)'),
    (
        lambda: dynamics.reduced_coriolis_matrix(A23),
        ShapeError,
        'C has shape (2, 3), expected (2, 4)',
    ),
    (lambda: dynamics.reduced_coriolis_matrix(None), ArgumentTypeError, 'C is or holds None'),
]


@pytest.mark.parametrize('case', REFUSED, ids=lambda case: case[2])
def test_refused_by_name_in_one_line(case: Any) -> None:
    call, kind, words = case
    with pytest.raises(kind, match=re.escape(words)) as caught:
        call()
    assert '\n' not in str(caught.value)


def test_lists_and_whole_numbers_pass() -> None:
    assert (kronecker.skew([1, 2, 3]) @ [1, 2, 3] == 0).all()
    assert kronecker.vec([[1, 2], [3, 4]]).tolist() == [1, 3, 2, 4]
    assert kronecker.unvec([1, 3, 2, 4], np.int8(2)).tolist() == [[1, 2], [3, 4]]
    assert kronecker.kronecker([[1, 2]], [3]).tolist() == [[3, 6]]
    assert kronecker.khang_derivative([X * Y], (X, Y)).tolist() == [[Y, X]]
    assert kronecker.khang_derivative(sympy.Matrix([[X * Y]]), [X]).tolist() == [[Y]]


@pytest.mark.parametrize('kind', [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_whole_numbers_do_not_wrap_around(kind: Any) -> None:
    """Every kind of them gives what floats give."""
    whole = np.array([3, 100, 2], dtype=kind)

    def results(x: Any, A: Any, H: Any) -> list[Any]:
        products = kronecker.cross(x, x[::-1]), kronecker.kronecker(A, x)
        powers = kronecker.skew(x), kronecker.kronecker_power(x, 12)
        return [*products, *powers, kronecker.contract(H, x, x), taylor.taylor_value([x, A, H], x)]

    given = [whole, np.full((3, 3), 7, dtype=kind), np.full((3, 9), 11, dtype=kind)]
    for found, expected in zip(
        results(*given), results(*(A.astype(float) for A in given)), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    exact = taylor.taylor_value([X, [X * Y, Y, 1]], whole)
    assert exact == X + 3 * X * Y + 100 * Y + 2
    assert not exact.item().atoms(sympy.Float)


@pytest.mark.parametrize('largest', [2**31, 2**40, 2**62, -(2**63)])
def test_products_of_large_whole_numbers_are_those_of_floats(largest: int) -> None:
    row = np.array([[largest, largest // 3, largest // 5]])

    def results(A: Any) -> list[Any]:
        x, H = A[0], np.tile(A, (2, 3))
        products = [kronecker.cross(x, x[::-1]), kronecker.kronecker(x, x)]
        contracted = [kronecker.contract(H, x, x), kronecker.contract_last(H, x)]
        product = taylor.linearized_product(H[:, :3], H, x, H)
        of_x = [
            product.value,
            product.by_x,
            product.by_y,
            product(x, x),
            taylor.mixed_term(H, x, x),
        ]
        return [kronecker.kronecker(A, A.T), *products, *contracted, *of_x]

    for found, expected in zip(results(row), results(row.astype(float)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_products_of_small_whole_numbers_stay_whole() -> None:
    x, largest = np.array([1, -2, 3]), np.array([2**59 + 1, 0, 0])
    assert kronecker.cross(x, x + 1).tolist() == [-5, 2, 3]
    assert kronecker.contract_last(np.array([largest]), x).tolist() == [[2**59 + 1]]
    assert kronecker.kronecker(largest, x).dtype == np.int64


def test_derivatives_at_whole_numbers_are_those_at_floats() -> None:
    for order in range(3):
        whole = dual.derivatives_of(lambda x: x**-2, np.array([1, 2]), order)
        floats = dual.derivatives_of(lambda x: x**-2, [1.0, 2.0], order)
        np.testing.assert_equal(whole, floats)


@pytest.mark.parametrize('order', [0, 1])
def test_an_expansion_shares_no_array_with_its_function(order: int) -> None:
    kept: list[Any] = []

    def function(x: Any) -> Any:
        kept.append(x)
        x[1] = 2 * x[1]
        return x

    expansion = taylor.expand(function, [1.0, 2.0], order)
    kept[0][:] = 7.0
    assert expansion.point.tolist() == [1.0, 2.0]
    assert expansion([1.0, 2.0]).tolist() == [1.0, 4.0]


def test_taylor_polynomials_of_whole_numbers_do_not_overflow() -> None:
    value = taylor.taylor_value([1, [0], [4 * 10**18]], [5])
    np.testing.assert_allclose(value, 1 + 4e18 * 25 / 2)


@pytest.mark.parametrize('number', [1, np.int64(1), np.float32(1), np.uint8(1), 1.0])
def test_elementary_functions_of_any_float_are_floats(number: Any) -> None:
    """Of a whole number of NumPy they were SymPy's expressions."""
    for function in (elementary.sin, elementary.cos, elementary.tanh):
        value = function(number)
        assert type(value) is float
        assert value == getattr(math, function.__name__)(1)
    assert math.isnan(elementary.sin(math.inf))
    assert elementary.sin(sympy.pi / 6) == sympy.Rational(1, 2)
