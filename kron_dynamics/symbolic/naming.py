# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Symbols of coordinates, rates, efforts and parameters, with their names and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sympy
from sympy.core.alphabets import greeks

# A joint named q1 or theta_2 is its own symbol; any other name becomes an index of q.
_MATHEMATICAL = re.compile(rf'([a-zA-Z]|{"|".join(greeks)}|lambda)_?(\d*)')
_DOTS = (r'', r'\dot', r'\ddot', r'\dddot')


class Naming:
    """Creates symbols with unique names, and records their LaTeX.

    Attributes:
        latex: LaTeX of every symbol created.
    """

    def __init__(self) -> None:
        """Start without any symbol."""
        self.latex: dict[Any, str] = {}

    def _symbol(self, name: str, latex: str) -> Any:
        name = _plain(name)
        while sympy.Symbol(name) in self.latex:
            name += '_'
        symbol = sympy.Symbol(name)
        self.latex[symbol] = latex
        return symbol

    def coordinates(self, joints: Sequence[str], order: int = 0) -> tuple[Any, ...]:
        """Return symbols of coordinates or their time derivatives, such as slew, slew_d, slew_dd.

        Args:
            joints: names of the joints.
            order: of the time derivative, 0 to 3.
        """
        suffix = f'_{"d" * order}' if order else ''
        symbols = []
        for joint in joints:
            match = _MATHEMATICAL.fullmatch(joint)
            letter, index = match.groups() if match else ('q', rf'\mathrm{{{_escaped(joint)}}}')
            letter = sympy.latex(sympy.Symbol(letter))
            dotted = f'{_DOTS[order]}{{{letter}}}' if order else letter
            latex = f'{dotted}_{{{index}}}' if index else dotted
            symbols.append(self._symbol(f'{joint}{suffix}', latex))
        return tuple(symbols)

    def quantity(self, letter: str, owner: str = '', component: str = '', order: int = 0) -> Any:
        """Return the symbol of a quantity of a link or joint, such as I_boom_xx, tau_luff_d.

        Args:
            letter: letter of the quantity.
            owner: name of the link or joint.
            component: index letters.
            order: of the time derivative, 0 to 3.
        """
        name = '_'.join(part for part in (letter, owner, component, 'd' * order) if part)
        index = ','.join(
            part for part in (rf'\mathrm{{{_escaped(owner)}}}' if owner else '', component) if part
        )
        symbol = sympy.latex(sympy.Symbol(letter))
        symbol = f'{_DOTS[order]}{{{symbol}}}' if order else symbol
        return self._symbol(name, f'{symbol}_{{{index}}}' if index else symbol)


def _plain(name: str) -> str:
    """Return a name with all but letters, digits and underscores replaced by underscores."""
    return re.sub(r'\W', '_', name)


def _escaped(name: str) -> str:
    return _plain(name).replace('_', r'\_')
