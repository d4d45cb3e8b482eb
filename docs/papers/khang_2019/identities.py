# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sections 2 and 3 of [K]: Kronecker identities, derivatives, Taylor series, their misprints."""

from __future__ import annotations

from itertools import product
from math import factorial
from typing import Any

import numpy as np
from shared.exact import eye, largest, whole

from kron_dynamics.kronecker import khang_derivative, kronecker, kronecker_power
from kron_dynamics.taylor import expand, linear_value, linearized_product, taylor_value

from .functions import (
    DX,
    DY,
    X0,
    Y0,
    N,
    P,
    Statement,
    X,
    at_point,
    derivatives,
    matrix,
    matrix_of_two,
    remainder_order,
    scalar,
    vector,
)

ORDERS = (1, 2, 3)


def kronecker_statements() -> list[Statement]:
    """Check (6)-(10) on integer matrices, all of different sizes."""
    n, m, p = 4, 2, 3
    x, d, A = whole(n, 1, 1), whole(m, 1, 2), whole(p, m, 3)
    a, b = whole(m, 1, 4), whole(n, 1, 5)
    split = kronecker(b.T, eye(m)) @ kronecker(eye(n), a)
    return [
        Statement(
            '(6)',
            r'$(\mathbf{E}_p \otimes \mathbf{x})\mathbf{A}\mathbf{d} = '
            r'(\mathbf{A} \otimes \mathbf{E}_n)(\mathbf{d} \otimes \mathbf{x})$',
            largest(
                kronecker(eye(p), x) @ A @ d - kronecker(A, eye(n)) @ kronecker(d, x),
            ),
        ),
        Statement(
            '(7)',
            r'$\mathbf{d} \otimes \mathbf{x} = (\mathbf{d} \otimes \mathbf{E}_n)\mathbf{x}$',
            largest(kronecker(d, x) - kronecker(d, eye(n)) @ x),
        ),
        Statement(
            '(8)',
            r'$(\mathbf{E}_n \otimes \mathbf{a})\mathbf{b} = '
            r'(\mathbf{b} \otimes \mathbf{E}_m)\mathbf{a}$',
            largest(kronecker(eye(n), a) @ b - kronecker(b, eye(m)) @ a),
        ),
        Statement(
            '(9)',
            r'$\mathbf{a}\mathbf{b}^T = '
            r'(\mathbf{b}^T \otimes \mathbf{E}_m)(\mathbf{E}_n \otimes \mathbf{a})$',
            largest(split - a @ b.T),
        ),
        Statement(
            '(10)',
            r'$(\mathbf{b}^T \otimes \mathbf{E}_m)(\mathbf{E}_n \otimes \mathbf{a}) = '
            r'\mathbf{b}^T \otimes \mathbf{a}$',
            largest(split - kronecker(b.T, a)),
        ),
    ]


def derivative_statements() -> list[Statement]:
    """Check (19), (20), and (21), (23), (25), (27) and (45), each for j = 1, 2, 3."""
    C, A, B, a = whole(P, 2, 6), matrix(X), matrix(X[::-1]).T, vector(X)
    d_A, block = at_point(khang_derivative(A, X)), eye(N)
    by_rule = d_A @ kronecker(at_point(B), block) + at_point(A @ khang_derivative(B, X))
    errors: dict[str, list[Any]] = {
        '(19)': [at_point(khang_derivative(A @ B, X)) - by_rule],
        '(20)': [at_point(khang_derivative(A @ C, X)) - d_A @ kronecker(C, block)],
    }
    errors |= {number: [] for number in ('(21)', '(23)', '(25)', '(27)', '(45)')}
    for j in ORDERS:
        d_A, block = at_point(khang_derivative(A, X, j)), eye(N**j)
        product_rule = d_A @ kronecker(C, block)
        errors['(21)'].append(at_point(khang_derivative(A @ C, X, j)) - product_rule)
        rows = [eye(len(a))[:, [i]] @ at_point(khang_derivative(x, X, j)) for i, x in enumerate(a)]
        errors['(23)'].append(at_point(khang_derivative(a, X, j)) - sum(rows))
        columns = [
            at_point(khang_derivative(A[:, i], X, j)) @ kronecker(eye(P)[[i]], block)
            for i in range(P)
        ]
        errors['(25)'].append(d_A - sum(columns))
        errors['(27)'].append(np.array([_nested_sum(j) - _row(j) @ kronecker_power(DX, j)]))
        power = kronecker_power(DX.reshape(N, 1), j)
        for i in range(P):
            e_i = eye(P)[[i]]
            split = kronecker(e_i, block) @ kronecker(eye(P), power)
            errors['(45)'].append(power @ e_i - split)
    forms = {
        '(19)': r'$\frac{\partial}{\partial \mathbf{x}}(\mathbf{A}\mathbf{B}) = '
        r'\frac{\partial \mathbf{A}}{\partial \mathbf{x}}(\mathbf{B} \otimes \mathbf{E}_n) + '
        r'\mathbf{A}\frac{\partial \mathbf{B}}{\partial \mathbf{x}}$',
        '(20)': r'$\frac{\partial}{\partial \mathbf{x}}(\mathbf{A}\mathbf{C}) = '
        r'\frac{\partial \mathbf{A}}{\partial \mathbf{x}}(\mathbf{C} \otimes \mathbf{E}_n)$',
        '(21)': r'$\frac{\partial^j}{\partial \mathbf{x}^j}(\mathbf{A}\mathbf{C}) = '
        r'\frac{\partial^j \mathbf{A}}{\partial \mathbf{x}^j}'
        r'(\mathbf{C} \otimes \mathbf{E}_n^{\otimes j})$',
        '(23)': r'$\frac{\partial^j \mathbf{a}}{\partial \mathbf{x}^j} = '
        r'\sum_i \mathbf{e}_i \frac{\partial^j a_i}{\partial \mathbf{x}^j}$',
        '(25)': r'$\frac{\partial^j \mathbf{A}}{\partial \mathbf{x}^j} = '
        r'\sum_i \frac{\partial^j \mathbf{a}_i}{\partial \mathbf{x}^j}'
        r'(\mathbf{e}_i^T \otimes \mathbf{E}_{n^j})$',
        '(27)': r'$\sum_{i_1} \ldots \sum_{i_j} \frac{\partial^j \alpha}'
        r'{\partial x_{i_1} \ldots \partial x_{i_j}} \Delta_{i_1} \ldots \Delta_{i_j} = '
        r'\frac{\partial^j \alpha}{\partial \mathbf{x}^j}\boldsymbol{\Delta}^{\otimes j}$',
        '(45)': r'$\boldsymbol{\Delta}^{\otimes j}\mathbf{e}_i^T = '
        r'(\mathbf{e}_i^T \otimes \mathbf{E}_{n^j})'
        r'(\mathbf{E}_p \otimes \boldsymbol{\Delta}^{\otimes j})$',
    }
    return [
        Statement(name, form, max(largest(error) for error in errors[name]))
        for name, form in forms.items()
    ]


def _row(j: int) -> Any:
    return at_point(khang_derivative(scalar(X), X, j))[0]


def _nested_sum(j: int) -> Any:
    """Return the left-hand side of (27), summed over partial derivatives."""
    total = 0
    for indices in product(range(N), repeat=j):
        term = scalar(X)
        for i in indices:
            term = term.diff(X[i])
        total += at_point(term).item() * np.prod(DX[list(indices)])
    return total


def series() -> list[tuple[str, str, list[float], Any]]:
    """Return number, form, orders of the remainder for k = 1, 2, 3, error of the program.

    The form is summed with Kronecker powers, as printed; the program does not form these.
    """
    power = r'\boldsymbol{\Delta}^{\otimes j}'
    cases = [
        ('(36)', rf'${power}$, scalar', scalar, 1),
        ('(41)', rf'${power}$, vector', vector, 1),
        ('(47)', rf'$\mathbf{{E}}_p \otimes {power}$, matrix', matrix, P),
    ]
    rows = []
    for number, form, function, p in cases:
        orders, errors = [], []
        for k in ORDERS:
            terms = expand(function, X0, k).derivatives
            value = terms[0]

            def printed(delta: Any, terms: Any = terms, value: Any = value, p: int = p) -> Any:
                return _printed_series(terms, delta, p).reshape(value.shape)

            def rest(h: Any, printed: Any = printed, function: Any = function) -> Any:
                return function(X0 + h * DX) - printed(h * DX)

            orders.append(remainder_order(rest))
            errors.append(largest(taylor_value(terms, DX) - printed(DX)))
        rows.append((number, form, orders, max(errors)))
    return rows


def swapped_series_order() -> float:
    """Return the order of the remainder of (47), k = 3, with the factors of (E_p (x) ...) swapped.

    The sizes fit, so only the remainder shows the mistake.
    """
    terms = expand(matrix, X0, 3).derivatives
    return remainder_order(
        lambda h: matrix(X0 + h * DX) - _printed_series(terms, h * DX, P, swapped=True)
    )


def _printed_series(terms: Any, delta: Any, p: int, swapped: bool = False) -> Any:
    total = np.array(terms[0], dtype=object).reshape(-1, p)
    for j, term in enumerate(terms[1:], start=1):
        power = kronecker_power(delta.reshape(N, 1), j)
        factors = (power, eye(p)) if swapped else (eye(p), power)
        total = total + term @ kronecker(*factors) / factorial(j)
    return total


def values() -> list[tuple[str, float, Any]]:
    """Return number, order of the remainder, error of the program: (48) and (50)."""
    rows = []
    for number, function in (('(48)', lambda x, y: matrix(x)), ('(50)', matrix_of_two)):
        A, A_x, A_y = derivatives(function)

        def printed(dx: Any, dy: Any, A: Any = A, A_x: Any = A_x, A_y: Any = A_y) -> Any:
            by_x = A_x @ kronecker(eye(P), dx.reshape(N, 1))
            return A + by_x + A_y @ kronecker(eye(P), dy.reshape(P, 1))

        def rest(h: Any, printed: Any = printed, function: Any = function) -> Any:
            return function(X0 + h * DX, Y0 + h * DY) - printed(h * DX, h * DY)

        if number == '(48)':
            program = taylor_value([A, A_x], DX)
        else:
            program = linear_value(A, A_x, A_y, DX, DY)
        rows.append((number, remainder_order(rest), largest(program - printed(DX, DY))))
    return rows


def products() -> list[tuple[str, float, Any]]:
    """Return number, order of the remainder, error of the program: (52) and (53)."""
    rows = []
    for number, function in (('(52)', matrix_of_two), ('(53)', lambda x, y: matrix(x))):
        A, A_x, A_y = derivatives(function)
        program = linearized_product(A, A_x, Y0, A_y if number == '(52)' else None)

        def printed(dx: Any, dy: Any, A: Any = A, A_x: Any = A_x, A_y: Any = A_y) -> Any:
            by_y = A + A_y @ kronecker(Y0, eye(P))
            return A @ Y0 + by_y @ dy + A_x @ kronecker(Y0, eye(N)) @ dx

        def rest(h: Any, printed: Any = printed, function: Any = function) -> Any:
            x, y = X0 + h * DX, Y0 + h * DY
            return function(x, y) @ y - printed(h * DX, h * DY)

        rows.append((number, remainder_order(rest), largest(program(DX, DY) - printed(DX, DY))))
    return rows
