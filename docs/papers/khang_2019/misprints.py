# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Misprints of [K] outside of its example, with their errors."""

from __future__ import annotations

from shared.claims import PAPER, Misprint, sizes_do_not_fit
from shared.exact import eye, largest

from kron_dynamics.kronecker import khang_derivative, kronecker, kronecker_power
from kron_dynamics.taylor import expand, linear_value, mixed_term, taylor_value

from .functions import (
    DX,
    DY,
    X0,
    Y0,
    N,
    P,
    X,
    Y,
    at_point,
    bilinear,
    derivatives,
    linear,
    scalar,
    vector,
)


def misprints() -> list[Misprint]:
    """Return the misprints of sections 2 and 3, and a wrong equation number in section 4."""
    return [_eq_13(), _eq_34(), _eq_49(), _eq_51(), _before_62()]


def _eq_13() -> Misprint:
    row = at_point(khang_derivative(scalar(X), X))
    expected = sum(at_point(scalar(X).diff(x)).item() * d for x, d in zip(X, DX, strict=True))
    return Misprint(
        '(13), (16)',
        r'$\partial\alpha/\partial\mathbf{x} \in \mathbb{R}^n$, '
        r'$\partial^k\alpha/\partial\mathbf{x}^k \in \mathbb{R}^{n^k}$: columns',
        r'$\mathbb{R}^{1 \times n}$, $\mathbb{R}^{1 \times n^k}$: rows',
        PAPER,
        r'$\frac{\partial\alpha}{\partial\mathbf{x}}\boldsymbol{\Delta}$ of (29)',
        sizes_do_not_fit(lambda: row.T @ DX.reshape(N, 1)),
        largest(row @ DX - expected),
    )


def _eq_34() -> Misprint:
    """Check j = 2, 3: the printed form is right for j = 1."""
    first = kronecker(DX, eye(N)) @ DX - kronecker_power(DX, 2)
    assert largest(first) == 0
    errors = []
    for j in (2, 3):
        power = kronecker_power(DX, j)
        printed = sizes_do_not_fit(lambda power=power: kronecker(DX, eye(N)) @ power)
        errors.append(largest(kronecker(DX, eye(N**j)) @ power - kronecker_power(DX, j + 1)))
    return Misprint(
        '(34)',
        r'$(\boldsymbol{\Delta} \otimes \mathbf{E}_n)\boldsymbol{\Delta}^{\otimes j}$, '
        r'right for $j = 1$',
        r'$(\boldsymbol{\Delta} \otimes \mathbf{E}_{n^j})\boldsymbol{\Delta}^{\otimes j}$',
        PAPER,
        r'$\boldsymbol{\Delta}^{\otimes (j+1)}$, $j = 2, 3$',
        printed,
        max(errors),
    )


def _eq_49() -> Misprint:
    A, A_x, A_y = derivatives(bilinear)
    A_yx = at_point(khang_derivative(khang_derivative(bilinear(X, Y), Y), X))
    dx, dy = DX.reshape(N, 1), DY.reshape(P, 1)
    by_y = kronecker(eye(P), dy)
    mixed = A_yx @ kronecker(eye(P * P), dx) @ by_y
    assert largest(mixed - mixed_term(A_yx, DX, DY)) == 0
    total = linear_value(A, A_x, A_y, DX, DY) + mixed
    return Misprint(
        '(49)',
        r'last term: $\mathbf{E}_p \otimes (\mathbf{x} - \mathbf{x}_0)$',
        r'$\mathbf{E}_{pk} \otimes (\mathbf{x} - \mathbf{x}_0)$, $\mathbf{y}$ of length $k$ '
        r'(the paper has $k = n$)',
        PAPER,
        r'$\mathbf{A}(\mathbf{x}, \mathbf{y})$, linear in each',
        sizes_do_not_fit(lambda: A_yx @ kronecker(eye(P), dx) @ by_y),
        largest(total - bilinear(X0 + DX, Y0 + DY)),
    )


def _eq_51() -> Misprint:
    A, A_x, A_y = derivatives(linear)
    change = A_y @ kronecker(eye(P), DY.reshape(P, 1)) + A_x @ kronecker(eye(P), DX.reshape(N, 1))
    exact = linear(X0 + DX, Y0 + DY) @ (Y0 + DY)
    upper_lines = A @ Y0 + change @ Y0 + A @ DY
    errors = [largest(upper_lines + change @ y - exact) for y in (Y0 + DY, DY)]
    return Misprint(
        '(51)',
        r'last line: $[\ldots](\mathbf{y}_0 + (\mathbf{y} - \mathbf{y}_0))$, so '
        r'$[\ldots]\mathbf{y}_0$ is counted twice',
        r'$[\ldots](\mathbf{y} - \mathbf{y}_0)$',
        PAPER,
        r'$\mathbf{A}(\mathbf{x}, \mathbf{y})\mathbf{y}$, $\mathbf{A}$ affine',
        *errors,
    )


def _before_62() -> Misprint:
    """Check that (62) follows from (41) for vectors: (43) would need columns of g."""
    g, slope = at_point(vector(X)), at_point(khang_derivative(vector(X), X))
    by_62 = g + slope @ DX
    by_41 = taylor_value(expand(vector, X0, 1).derivatives, DX)
    columns = sizes_do_not_fit(lambda: g @ eye(P))
    return Misprint(
        'before (62)',
        '"noting (43)", the series of a column of a matrix',
        '"noting (41)", the series of a vector',
        PAPER,
        r'$\mathbf{g}$, which has no columns $\mathbf{g}\mathbf{e}_i$',
        columns,
        largest(by_62 - by_41),
    )
