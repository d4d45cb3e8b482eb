# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A row of the table of relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Relation:
    """An equation between Hessians.

    Attributes:
        equation: number of the equation.
        squared: largest error of the printed form times (qd (x) qd) for any qd: of the sums of
            columns (i, j) and (j, i).
        matrix: largest error of the printed form as a matrix.
        change: change that makes it exact as a matrix, LaTeX.
        exact: largest error with this change.
        otherwise: largest error if the last term is multiplied by K where it must not be, or is
            not where it must be.
    """

    equation: str
    squared: Any
    matrix: Any
    change: str
    exact: Any
    otherwise: Any
