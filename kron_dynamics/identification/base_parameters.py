# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: the minimal set of combinations that the efforts of a robot depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.identification.least_squares import EMPTY_COLUMN, LeastSquares
from kron_dynamics.typing import FloatArray

# Diagonal elements of R below this share of the largest count as zero if no rank is given.
STRUCTURAL_RANK_TOLERANCE = 1e-9
# Coefficients of combinations below this magnitude are rounding errors.
NEGLIGIBLE = 1e-7


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The r combinations of p parameters that a regressor depends on.

    Attributes:
        columns: indices of the parameter that leads each combination, increasing, shape (r,).
        combination: shape (r, p): base parameters are ``combination @ parameters``, and the
            regressor is ``regressor[:, columns] @ combination``.
    """

    columns: tuple[int, ...]
    combination: FloatArray

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    def names(self, parameter_names: Sequence[str]) -> tuple[str, ...]:
        """Return each base parameter as a sum of parameter names, shape (r,)."""
        return tuple(_sum_of(row, parameter_names) for row in self.combination)


def base_parameters(matrix: FloatArray, rank: int | None = None) -> BaseParameters:
    """Return the base parameters of a regressor, by QR with column pivoting.

    Among equally good pivots the first column is kept.

    Args:
        matrix: regressor rows at states that excite all base parameters, shape (..., p).
        rank: number of base parameters, that of a least-squares solution; None counts the pivots
            above rounding errors.
    """
    from scipy.linalg import qr, solve_triangular  # takes long to import

    A = matrix.reshape(-1, matrix.shape[-1])
    triangle = np.linalg.qr(A, mode='r')
    scale = np.linalg.norm(triangle, axis=0)
    shortest = STRUCTURAL_RANK_TOLERANCE if rank is None else EMPTY_COLUMN
    scale[scale <= shortest * scale.max(initial=0.0)] = np.inf
    scaled = triangle / scale
    _, pivoted, order = qr(scaled, pivoting=True, mode='economic')
    sizes = np.abs(np.diag(pivoted))
    if rank is None:
        largest = sizes.max(initial=0.0)
        rank = int(np.count_nonzero(sizes > STRUCTURAL_RANK_TOLERANCE * largest))
    kept = np.sort(order[:rank])
    # Express all columns by the kept ones, in increasing order.
    Q, R = np.linalg.qr(scaled[:, kept])
    combination = solve_triangular(R, Q.T @ scaled)
    combination *= np.where(np.isfinite(scale), scale, 0.0) / scale[kept, None]
    combination[:, kept] = np.eye(rank)
    combination[np.abs(combination) < NEGLIGIBLE] = 0.0
    return BaseParameters(tuple(map(int, kept)), combination)


def identified_base(matrix: FloatArray, found: LeastSquares) -> BaseParameters:
    """Return the base parameters that a least-squares solution determines.

    They are those of the weighted rows, as many as the rank of the solution. The covariance of
    other combinations is 0 although nothing is known of them, such as the friction of a joint
    without efforts.

    Args:
        matrix: regressor of the solution, shape (R, n, p).
        found: the solution.
    """
    return base_parameters(matrix * found.scales[..., None], found.rank)


def _sum_of(row: FloatArray, names: Sequence[str]) -> str:
    parts = []
    for k in map(int, np.flatnonzero(row)):
        factor = f'{abs(row[k]):.4g} ' if abs(abs(row[k]) - 1.0) > NEGLIGIBLE else ''
        sign = '-' if row[k] < 0 else '+'
        parts.append(f'{sign} {factor}{names[k]}')
    return ' '.join(parts).removeprefix('+ ')
