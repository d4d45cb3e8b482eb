# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Taylor expansion in the Kronecker formalism: (36), (41), (47)-(53) and the lemmas they need."""

from __future__ import annotations

import functools
from math import factorial
from typing import Any

import numpy as np
import pytest
import sympy

from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.kronecker import khang_derivative, kronecker, kronecker_power
from kron_dynamics.taylor import (
    expand,
    linear_value,
    linearized_product,
    mixed_term,
    taylor_value,
)

X0 = np.array([0.4, -0.7, 0.3])


def scalar(x: Any) -> Any:
    return sympy.exp(x[0]) * sympy.sin(x[1]) + x[2] * x[0]


def vector(x: Any) -> Any:
    return np.array([sympy.cos(x[0] * x[1]), x[2] / (2 + x[0])])


def matrix(x: Any) -> Any:
    return np.array(
        [
            [sympy.sin(x[0]) * x[1], x[2] ** 2, sympy.exp(x[1])],
            [x[0] * x[1] * x[2], sympy.cos(x[2] - x[0]), 1 + 0 * x[0]],
        ]
    )


def cubic(x: Any) -> Any:
    return np.array([[x[0] ** 3 - x[1], x[0] * x[1] * x[2]], [x[2] ** 2, 4 + 0 * x[0]]])


FUNCTIONS = pytest.mark.parametrize('function', [scalar, vector, matrix])


def floats(function: Any, x: Any) -> np.ndarray:
    return np.array(function(x), dtype=float)


def random_derivatives(value_shape: tuple[int, ...], n: int, order: int) -> list[np.ndarray]:
    rng = np.random.default_rng(len(value_shape) + n + order)
    m, p = (*value_shape, 1, 1)[:2]
    higher = [rng.normal(size=(m, p * n**j)) for j in range(1, order + 1)]
    return [rng.normal(size=value_shape), *higher]


@pytest.mark.parametrize('shape', [(), (1,), (4,), (1, 3), (2, 1), (3, 2)])
@pytest.mark.parametrize('n', [1, 2, 3])
def test_value_equals_the_sum_of_kronecker_products(shape: tuple[int, ...], n: int) -> None:
    """(36), (41), (47) with the products formed."""
    derivatives = random_derivatives(shape, n, 4)
    delta = np.random.default_rng(n).normal(size=n)
    m, p = (*shape, 1, 1)[:2]
    expected = derivatives[0].reshape(m, p) + sum(
        derivatives[j] @ np.kron(np.eye(p), kronecker_power(delta, j)[:, None]) / factorial(j)
        for j in range(1, 5)
    )
    actual = taylor_value(derivatives, delta)
    assert actual.shape == shape
    np.testing.assert_allclose(actual, expected.reshape(shape), rtol=1e-13, atol=1e-13)


def test_factors_in_the_other_order_are_another_thing() -> None:
    """(47) needs E_p (x) Delta, not Delta (x) E_p."""
    derivatives = random_derivatives((3, 2), 3, 1)
    delta = np.array([0.3, -1.0, 2.0])
    other = derivatives[0] + derivatives[1] @ kronecker(delta, np.eye(2))
    assert not np.allclose(taylor_value(derivatives, delta), other)


@pytest.mark.parametrize('j', [1, 2, 3])
def test_lemmas_of_the_expansion(j: int) -> None:
    """[K] (34) with E of size n^j, which the paper prints as E_n, and [K] (45)."""
    n, p = 3, 4
    delta = np.arange(1, n + 1)
    power = kronecker_power(delta, j)
    grown = kronecker(delta, np.eye(n**j, dtype=int)) @ power
    assert (grown == kronecker_power(delta, j + 1)).all()
    stacked = kronecker(np.eye(p, dtype=int), power[:, None])
    for e in np.eye(p, dtype=int):
        rows = kronecker(e[None, :], np.eye(n**j, dtype=int))
        assert (np.outer(power, e) == rows @ stacked).all()


def test_polynomials_are_reproduced() -> None:
    expansion = expand(cubic, X0, 3)
    assert expansion.order == 3
    for x in np.random.default_rng(1).uniform(-3, 3, (20, 3)):
        np.testing.assert_allclose(expansion(x), floats(cubic, x), rtol=1e-13, atol=1e-13)


def test_order_zero_is_the_value_and_more_than_needed_changes_nothing() -> None:
    assert (expand(cubic, X0, 0)(X0 + 1) == floats(cubic, X0)).all()
    assert expand(cubic, X0, 5)(X0 + 1) == pytest.approx(floats(cubic, X0 + 1), rel=1e-13)


@FUNCTIONS
@pytest.mark.parametrize('order', [0, 1, 2, 3, 4])
def test_remainder_is_one_order_higher(function: Any, order: int) -> None:
    expansion = expand(function, X0, order)
    direction = np.array([0.6, -0.5, 0.8])
    steps = np.array([0.04, 0.02])
    errors = [
        np.abs(expansion(X0 + h * direction) - floats(function, X0 + h * direction)).max()
        for h in steps
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.15)


@FUNCTIONS
def test_truncated_is_the_expansion_to_that_order(function: Any) -> None:
    long = expand(function, X0, 3)
    for order in range(4):
        x = X0 + 0.3
        assert (long.truncated(order)(x) == expand(function, X0, order)(x)).all()


@FUNCTIONS
def test_symbolic_expansion_is_sympys_series(function: Any) -> None:
    """Along a line x0 + t d, the polynomial is the series in t."""
    t, d = sympy.symbols('t d', real=True)
    point = np.array([sympy.Rational(1, 3), sympy.Integer(0), sympy.Integer(2)])
    direction = np.array([t, d * t, -2 * t])
    actual = expand(function, point, 3)(point + direction)
    expected = np.array(function(point + direction), dtype=object)
    assert actual.shape == expected.shape
    for a, b in zip(actual.flat, expected.flat, strict=True):
        series = sympy.series(b, t, 0, 4).removeO()
        assert sympy.simplify(sympy.expand(a - series)) == 0


def test_symbolic_point_may_be_symbols_in_another_order() -> None:
    a, b = sympy.symbols('a b')
    expansion = expand(lambda x: x[0] * x[1] ** 2, np.array([b, a]), 3)
    x, y = sympy.symbols('x y')
    value = expansion([x, y])
    assert value.shape == ()
    assert sympy.expand(value.item() - x * y**2) == 0


def test_symbolic_and_numeric_agree() -> None:
    exact = expand(matrix, np.array([sympy.Float(v) for v in X0]), 2)(X0 + 0.1)
    np.testing.assert_allclose(exact.astype(float), expand(matrix, X0, 2)(X0 + 0.1), rtol=1e-13)


def of_two(x: Any, y: Any) -> Any:
    return np.array(
        [[x[0] * y[1], y[0] ** 2, 1 + 0 * x[0]], [sympy.sin(x[1]) * y[2], x[0] * x[1], y[1]]]
    )


def two_variables() -> tuple[Any, ...]:
    """A, dA/dx, dA/dy, d/dx dA/dy at a point, and the point."""
    x, y = np.array(sympy.symbols('x:2')), np.array(sympy.symbols('y:3'))
    A = of_two(x, y)
    A_x, A_y = khang_derivative(A, x), khang_derivative(A, y)
    x0, y0 = np.array([0.5, -0.2]), np.array([1.1, 0.4, -0.6])
    at = dict(zip([*x, *y], [*x0, *y0], strict=True))
    values = [
        np.array(sympy.Matrix(B).subs(at), dtype=float)
        for B in (A, A_x, A_y, khang_derivative(A_y, x))
    ]
    return (*values, x0, y0)


def test_two_variables_to_the_first_order() -> None:
    """[K] (48), (50); with the mixed term of [K] (49), E of size p k, one order less."""
    A, A_x, A_y, A_yx, x0, y0 = two_variables()
    dx, dy = np.array([0.3, -0.2]), np.array([0.1, 0.4, -0.5])
    p, n, k = 3, 2, 3
    assert A_yx.shape == (2, p * k * n)
    mixed = A_yx @ np.kron(np.eye(p * k), dx[:, None]) @ np.kron(np.eye(p), dy[:, None])
    np.testing.assert_allclose(mixed_term(A_yx, dx, dy), mixed, atol=1e-15)
    with pytest.raises(ValueError, match='mismatch'):  # as printed
        A_yx @ np.kron(np.eye(p), dx[:, None])

    first = A_x @ np.kron(np.eye(p), dx[:, None]) + A_y @ np.kron(np.eye(p), dy[:, None])
    np.testing.assert_allclose(linear_value(A, A_x, A_y, dx, dy), A + first, atol=1e-15)

    # A polynomial that is linear in each variable: nothing is left out.
    exact = floats(lambda _: of_two(x0 + dx, y0 + dy), 0)
    full = linear_value(A, A_x, A_y, dx, dy) + mixed_term(A_yx, dx, dy)
    np.testing.assert_allclose(full[0, 0], exact[0, 0], atol=1e-15)
    h = 1e-4
    small = linear_value(A, A_x, A_y, h * dx, h * dy) + mixed_term(A_yx, h * dx, h * dy)
    exact = floats(lambda _: of_two(x0 + h * dx, y0 + h * dy), 0)
    assert np.abs(small - exact).max() < 10 * h**2


def test_product_with_a_variable() -> None:
    """[K] (52), and [K] (51) with its last factor y - y0."""
    A, A_x, A_y, _, x0, y0 = two_variables()
    product = linearized_product(A, A_x, y0, A_y)
    np.testing.assert_allclose(product.by_x, A_x @ np.kron(y0[:, None], np.eye(2)), atol=1e-15)
    np.testing.assert_allclose(product.by_y, A + A_y @ np.kron(y0[:, None], np.eye(3)))

    def error(h: float) -> float:
        dx, dy = h * np.array([0.3, -0.2]), h * np.array([0.1, 0.4, -0.5])
        exact = floats(lambda _: of_two(x0 + dx, y0 + dy), 0) @ (y0 + dy)
        return float(np.abs(product(dx, dy) - exact).max())

    assert error(0) == 0
    assert np.log2(error(2e-3) / error(1e-3)) == pytest.approx(2, abs=0.02)


def test_product_of_a_matrix_of_the_other_variable_alone() -> None:
    """[K] (53), symbolically: the coefficients are the derivatives of the product."""
    x, y = np.array(sympy.symbols('x:3')), np.array(sympy.symbols('y:3'))
    A = matrix(x)
    product = linearized_product(A, khang_derivative(A, x), y)
    for actual, variable in ((product.by_x, x), (product.by_y, y)):
        difference = sympy.Matrix(actual - khang_derivative(A @ y, variable))
        assert difference.expand() == sympy.zeros(*difference.shape)


def test_a_decorated_function_takes_what_its_decorator_takes() -> None:
    def powers(x: Any, factor: float) -> Any:
        return factor * x**2

    @functools.wraps(powers)
    def doubled(x: Any) -> Any:
        return powers(x, 2.0)

    assert expand(doubled, X0, 2)(X0 + 0.5) == pytest.approx(2 * (X0 + 0.5) ** 2)


def test_wrong_input_is_named() -> None:
    with pytest.raises(ParameterError, match='order is -1'):
        expand(scalar, X0, -1)
    with pytest.raises(ParameterError, match='order is 3, expected 0 to 2'):
        expand(scalar, X0, 2).truncated(3)
    with pytest.raises(ShapeError, match=r'point has shape \(\)'):
        expand(scalar, 0.5, 1)
    with pytest.raises(ParameterError, match='at least the value'):
        taylor_value([], X0)
    with pytest.raises(
        ShapeError, match=r'derivatives\[2\] has shape \(2, 3\), expected \(2, 9\)'
    ):
        taylor_value([np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3))], X0)
    with pytest.raises(ShapeError, match=r'A has shape \(2, 3\), expected \(m, 2\)'):
        linearized_product(np.zeros((2, 3)), np.zeros((2, 6)), [1.0, 2.0])
    with pytest.raises(ShapeError, match=r'A_x has shape \(2, 5\), expected \(2, 3\*n\)'):
        linearized_product(np.zeros((2, 3)), np.zeros((2, 5)), X0)
