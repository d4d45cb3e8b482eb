# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms as SymPy matrices with exact entries and readable output."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from kron_dynamics.symbolic.exact import exact_number
from kron_dynamics.symbolic.simplification import simplified
from kron_dynamics.typing import ScalarArray

_SHOWN_DIGITS = 15  # as in `exact_number`
_LONGEST_FRACTION = 10, 5  # fractions with a numerator and denominator below these are kept


def exact_expression(expression: Any, known: dict[Any, Any] | None = None) -> Any:
    """Return an expression in which every float is replaced by its exact decimal.

    Args:
        expression: SymPy expression or number.
        known: memo of subexpressions and their results, extended by this call; share it among
            expressions with common subexpressions.
    """
    expression = sympy.sympify(expression)
    exact = {} if known is None else known
    # SymPy's `xreplace` visits shared subexpressions once per occurrence, which is exponentially
    # often in the closed forms of flexible links.
    waiting = [expression]
    while waiting:
        part = waiting[-1]
        missing = [] if part in exact else [x for x in part.args if x not in exact]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if part in exact:
            continue
        if isinstance(part, sympy.Float):
            exact[part] = exact_number(float(part))
            continue
        arguments = [exact[x] for x in part.args]
        same = all(new is old for new, old in zip(arguments, part.args, strict=True))
        exact[part] = part if same else part.func(*arguments)
    return exact[expression]


def presentable(expression: Any) -> Any:
    """Return an expression or matrix with fractions shown as decimals, except simple ones.

    Decimals have at most 15 digits; this is for output only.
    """
    numerator, denominator = _LONGEST_FRACTION
    return expression.xreplace(
        {
            number: _decimal(number)
            for number in expression.atoms(sympy.Rational)
            if not number.is_Integer and not (abs(number.p) < numerator and number.q < denominator)
        }
    )


def _decimal(number: Any) -> Any:
    shown = exact_number(float(number))
    return shown if shown.is_Integer else sympy.Float(shown, _SHOWN_DIGITS)


class SymbolicMatrix(sympy.ImmutableDenseMatrix):  # type: ignore[misc]  # SymPy has no types
    """A closed form: a SymPy matrix of exact entries that prints with readable numbers.

    Attributes:
        notation: LaTeX of the symbols, coordinates first. Matrices computed from this one have
            none and print SymPy's names; use `SymbolicRobot.latex` for those.
    """

    notation: Mapping[Any, str] = MappingProxyType({})

    @classmethod
    def of(cls, array: ScalarArray, notation: Mapping[Any, str]) -> SymbolicMatrix:
        """Return an array of expressions, shape (r, c) or (r,), as a matrix, vectors as columns.

        Args:
            array: SymPy expressions and numbers.
            notation: LaTeX of the symbols.
        """
        known: dict[Any, Any] = {}
        rows = [
            [exact_expression(entry, known) for entry in row]
            for row in array.reshape(len(array), -1)
        ]
        matrix = cls(rows)
        matrix.notation = notation
        return matrix

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with the notation."""
        return type(self).of, (np.array(self.tolist(), dtype=object), dict(self.notation))

    def simplified(self) -> SymbolicMatrix:
        """Return the matrix with each entry simplified; see `simplified`."""
        matrix = type(self)(simplified(self, tuple(self.notation)).tolist())
        matrix.notation = self.notation
        return matrix

    def latex(self) -> str:
        """Return LaTeX, with joint names as indices of q."""
        return latex(self, self.notation)

    def __str__(self) -> str:
        rows = (', '.join(map(plain, self.row(i))) for i in range(self.rows))
        return 'Matrix([\n' + ',\n'.join(f'[{row}]' for row in rows) + '])'

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f'$\\displaystyle {self.latex()}$'


def plain(expression: Any) -> str:
    """Return an expression as a string that Python and SymPy can parse."""
    return str(sympy.sstr(presentable(expression), full_prec=False))


def latex(expression: Any, notation: Mapping[Any, str]) -> str:
    """Return LaTeX of an expression or matrix.

    Args:
        expression: SymPy expression or matrix.
        notation: LaTeX of the symbols.
    """
    if isinstance(expression, sympy.MatrixBase):
        expression = sympy.ImmutableMatrix(expression)
    shown = presentable(expression)
    return str(sympy.latex(shown, symbol_names=dict(notation), fold_func_brackets=True))
