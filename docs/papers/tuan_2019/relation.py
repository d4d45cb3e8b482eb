# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a line of the table of relations says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Relation:
    """An equation between Hessians.

    Attributes:
        equation: its number.
        squared: largest error of the printed form times (qd (x) qd) for every qd: of both its
            columns (i, j) and (j, i) together.
        matrix: largest error of the printed form as a matrix.
        change: what makes it exact as a matrix, LaTeX.
        exact: largest error of that.
        otherwise: the same where the term that may need K has it when it must not, and has it
            not when it must.
    """

    equation: str
    squared: Any
    matrix: Any
    change: str
    exact: Any
    otherwise: Any
