# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""(1)-(18) of [T], checked in exact numbers on general matrices and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from khang_2019.functions import DX, X0, N, P, X, at_point, matrix
from shared.claims import Statement
from shared.exact import eye, largest, whole

from kron_dynamics.kronecker import (
    block_skew,
    contract,
    contract_last,
    khang_derivative,
    kronecker,
    skew,
    unvec,
    vec,
)


def products() -> list[Statement]:
    """Check (1)-(4), (7), (10) and (12)-(18) on integer matrices of different sizes."""
    A, B, C, D = whole(2, 3, 1), whole(4, 2, 2), whole(3, 2, 3), whole(2, 5, 4)
    x, y, d, a = whole(4, 1, 5), whole(3, 1, 6), whole(2, 1, 7), whole(3, 1, 8)
    by_blocks = np.block([[entry * B for entry in row] for row in A.tolist()])
    Q, R = whole(5, 6, 9), whole(3, 4, 10)
    E, rows = eye(4), whole(3, 2, 11)
    zero, (r1, r2, r3) = 0 * rows[:1], rows[:, None]
    blocks = np.block([[zero, -r3, r2], [r3, zero, -r1], [-r2, r1, zero]])
    cross = np.cross(a[:, 0], R.T).T
    spread = kronecker(d, eye(12)) @ kronecker(y, x)
    return [
        Statement(
            '(1)',
            r'$\mathbf{A} \otimes \mathbf{B} = [a_{ij}\mathbf{B}]$',
            '`kronecker`',
            largest(kronecker(A, B) - by_blocks),
        ),
        Statement(
            '(2)',
            r'$(\mathbf{A} \otimes \mathbf{B}) \otimes \mathbf{C} = '
            r'\mathbf{A} \otimes (\mathbf{B} \otimes \mathbf{C})$',
            '`kronecker`',
            largest(kronecker(kronecker(A, B), C) - kronecker(A, kronecker(B, C))),
        ),
        Statement(
            '(3)',
            r'$(\mathbf{A} \otimes \mathbf{B})^T = \mathbf{A}^T \otimes \mathbf{B}^T$',
            '`kronecker`',
            largest(kronecker(A, B).T - kronecker(A.T, B.T)),
        ),
        Statement(
            '(4)',
            r'$(\mathbf{A} \otimes \mathbf{B})(\mathbf{C} \otimes \mathbf{D}) = '
            r'(\mathbf{A}\mathbf{C}) \otimes (\mathbf{B}\mathbf{D})$',
            '`kronecker`',
            largest(kronecker(A, B) @ kronecker(C, D) - kronecker(A @ C, B @ D)),
        ),
        Statement(
            '(7), (10)',
            r'$\mathrm{vec}(\mathbf{A}\mathbf{X}\mathbf{B}) = '
            r'(\mathbf{B}^T \otimes \mathbf{A})\,\mathrm{vec}(\mathbf{X})$',
            '`vec`',
            largest(vec(B @ A @ C) - kronecker(C.T, B) @ vec(A))
            + largest(unvec(np.concatenate(A.T), 2) - A),
        ),
        Statement(
            '(12)',
            r'$(\mathbf{E}_p \otimes \mathbf{x})\mathbf{A}\mathbf{d} = '
            r'(\mathbf{A} \otimes \mathbf{E}_n)(\mathbf{d} \otimes \mathbf{x})$',
            '`kronecker`',
            largest(kronecker(eye(3), x) @ C @ d - kronecker(C, E) @ kronecker(d, x)),
        ),
        Statement(
            '(13)',
            r'$\mathbf{d} \otimes \mathbf{x} = (\mathbf{d} \otimes \mathbf{E}_n)\mathbf{x}$',
            '`kronecker`',
            largest(kronecker(d, x) - kronecker(d, E) @ x),
        ),
        Statement(
            '(14)',
            r'$(\mathbf{E}_p \otimes \mathbf{x})\mathbf{A}(\mathbf{E}_r \otimes \mathbf{y})'
            r'\mathbf{d} = (\mathbf{A} \otimes \mathbf{E}_n)(\mathbf{d} \otimes \mathbf{E}_{nm})'
            r'(\mathbf{y} \otimes \mathbf{x})$',
            '`kronecker`',
            largest(
                kronecker(eye(5), x) @ Q @ kronecker(eye(2), y) @ d - kronecker(Q, E) @ spread
            ),
        ),
        Statement(
            '(15)',
            r'$\tilde{\mathbf{a}}\mathbf{b} = \mathbf{a} \times \mathbf{b}$',
            '`skew`',
            largest(skew(a[:, 0]) @ R - cross),
        ),
        Statement(
            '(16)',
            r'$\tilde{\mathbf{A}}$ of the rows $\boldsymbol{\alpha}_i^T$',
            '`block_skew`',
            largest(block_skew(rows) - blocks),
        ),
        Statement(
            '(18)',
            r'$\tilde{\mathbf{a}}\mathbf{A} = -\tilde{\mathbf{A}}(\mathbf{a} \otimes '
            r'\mathbf{E}_m)$',
            '`block_skew`',
            largest(skew(a[:, 0]) @ R + block_skew(R) @ kronecker(a, E)),
        ),
    ]


def derivatives() -> list[Statement]:
    """Check (5), (8), (9) and (11) on rational functions at a point, in exact numbers."""
    A, B = matrix(X), matrix(X[::-1]).T
    J = A[:, :N]
    t = sympy.Symbol('t')
    acceleration = DX[::-1]
    path = dict(zip(X, X0 + DX * t + acceleration * t**2 / 2, strict=True))

    def along(form: Any) -> Any:
        moved = [sympy.sympify(e).xreplace(path) for e in np.ravel(form)]
        return np.array(moved, dtype=object).reshape(np.shape(form))

    def rate(form: Any) -> Any:
        slopes = [sympy.sympify(e).diff(t).xreplace({t: sympy.S.Zero}) for e in np.ravel(form)]
        return np.array(slopes, dtype=object).reshape(np.shape(form))

    d_A = at_point(khang_derivative(A, X))
    one_by_one = np.array([[a.diff(x) for a in row for x in X] for row in A])
    by_rule = d_A @ kronecker(at_point(B), eye(N)) + at_point(A @ khang_derivative(B, X))
    velocity = along(J) @ (DX + acceleration * t)
    d_J = at_point(khang_derivative(J, X))
    return [
        Statement(
            '(5)',
            r'$\partial\mathbf{A}/\partial\mathbf{x} = '
            r'[\partial\mathbf{a}_1/\partial\mathbf{x}, \ldots]$',
            '`khang_derivative`',
            largest(d_A - at_point(one_by_one)),
        ),
        Statement(
            '(8)',
            r'$\dot{\mathbf{A}} = \frac{\partial\mathbf{A}}{\partial\mathbf{x}}'
            r'(\mathbf{E}_s \otimes \dot{\mathbf{x}})$',
            '`contract_last`',
            largest(rate(along(A)) - d_A @ kronecker(eye(P), DX.reshape(N, 1)))
            + largest(rate(along(A)) - contract_last(d_A, DX)),
        ),
        Statement(
            '(9)',
            r'$\frac{\partial(\mathbf{A}\mathbf{B})}{\partial\mathbf{x}} = '
            r'\frac{\partial\mathbf{A}}{\partial\mathbf{x}}(\mathbf{B} \otimes \mathbf{E}_n) + '
            r'\mathbf{A}\frac{\partial\mathbf{B}}{\partial\mathbf{x}}$',
            '`khang_derivative`',
            largest(at_point(khang_derivative(A @ B, X)) - by_rule),
        ),
        Statement(
            '(11)',
            r'$\frac{d}{dt}(\mathbf{J}\dot{\mathbf{q}}) = \mathbf{J}\ddot{\mathbf{q}} + '
            r'\frac{\partial\mathbf{J}}{\partial\mathbf{q}}'
            r'(\dot{\mathbf{q}} \otimes \dot{\mathbf{q}})$',
            '`contract`',
            largest(rate(velocity) - at_point(J) @ acceleration - d_J @ kronecker(DX, DX))
            + largest(d_J @ kronecker(DX, DX) - contract(d_J, DX, DX)),
        ),
    ]
