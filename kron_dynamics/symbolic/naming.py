# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Symbols of coordinates, rates, efforts and parameters, with their names and LaTeX."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Sequence
from typing import Any

import sympy
from sympy.core.alphabets import greeks

# A joint named q1 or theta_2 is its own symbol, 1 is the index of q; so is any other name.
_MATHEMATICAL = re.compile(rf'(?:([a-zA-Z]|{"|".join(greeks)}|lambda)_?)?(\d*)')
_DOTS = (r'', r'\dot', r'\ddot', r'\dddot')
_SUFFIXES = ('', '_d', '_dd', '_ddd')
# Python and SymPy read these names as something else than a symbol.
_RESERVED = frozenset((*keyword.kwlist, *dir(builtins), *sympy.__all__))


class Naming:
    """Creates symbols with unique names, which Python and SymPy can parse, and unique LaTeX.

    Attributes:
        latex: LaTeX of every symbol created.
    """

    def __init__(self) -> None:
        """Start without any symbol."""
        self.latex: dict[Any, str] = {}

    def _free(self, name: str, suffixes: Sequence[str]) -> str:
        """Return a name that is free with each of the suffixes."""
        name = _plain(name)
        if not name.isidentifier() or any(name + suffix in _RESERVED for suffix in suffixes):
            name = f'q_{name}'
        while any(sympy.Symbol(name + suffix) in self.latex for suffix in suffixes):
            name += '_'
        return name

    def _symbol(self, name: str, latex: str) -> Any:
        """Return a symbol with a free name; it is shown by its name if its LaTeX is taken."""
        symbol = sympy.Symbol(name)
        taken = latex in self.latex.values()
        self.latex[symbol] = rf'\mathrm{{{_escaped(name)}}}' if taken else latex
        return symbol

    def coordinates(self, joints: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
        """Return symbols of coordinates and time derivatives, such as slew, slew_d, slew_dd.

        Args:
            joints: names of the joints.

        Returns:
            the symbols of the orders 0 to 3, a tuple for each.
        """
        each = [self._derivatives(joint) for joint in joints]
        return tuple(tuple(symbols[order] for symbols in each) for order in range(4))

    def _derivatives(self, joint: str) -> list[Any]:
        match = _MATHEMATICAL.fullmatch(joint)
        letter, index = match.groups() if match else ('q', rf'\mathrm{{{_escaped(joint)}}}')
        letter = sympy.latex(sympy.Symbol(letter or 'q'))
        name = self._free(joint, _SUFFIXES)
        symbols = []
        for dots, suffix in zip(_DOTS, _SUFFIXES, strict=True):
            dotted = f'{dots}{{{letter}}}' if dots else letter
            latex = f'{dotted}_{{{index}}}' if index else dotted
            symbols.append(self._symbol(f'{name}{suffix}', latex))
        return symbols

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
        latex = f'{symbol}_{{{index}}}' if index else symbol
        return self._symbol(self._free(name, _SUFFIXES[:1]), latex)


def _plain(name: str) -> str:
    """Return a name with all that cannot be in a name of Python replaced by underscores."""
    return ''.join(x if f'_{x}'.isidentifier() else '_' for x in name)


def _escaped(name: str) -> str:
    return _plain(name).replace('_', r'\_')
