# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions as polynomials in sines, cosines and symbols, in a canonical form.

Sines have a power of at most 1 (sin^2 = 1 - cos^2), and so do square roots, so that an expression
is zero exactly if its polynomial is. Only high multiples of an angle, such as those of joints that
mimic another one, are angles of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sympy
from sympy.polys.domains import QQ
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

# Sines of higher multiples are no polynomials of those of the angle: that of cos 12 x has
# coefficients of 7e3, but that of cos 100 x of 1e37, which leave no digit of floats.
_HIGHEST_MULTIPLE = 12


class TooLarge(Exception):  # noqa: N818  # internal: always caught
    """The polynomial would take more operations than allowed."""


class TrigonometricRing:
    """Ring of polynomials in the sines, cosines, symbols and other atoms of some expressions.

    Attributes:
        angles: indices of the generators of its sine and cosine, by angle.
        generators: the expression that each generator stands for.
    """

    def __init__(
        self, expressions: Iterable[Any], inner: Callable[[Any], Any], max_operations: int
    ) -> None:
        """Find the generators.

        Args:
            expressions: SymPy expressions without floats.
            inner: simplifies the arguments of other functions, and denominators.
            max_operations: limit of operations on terms for one polynomial.
        """
        self._inner = inner
        self._max_operations = max_operations
        self._operations = 0
        self._opaque: dict[Any, Any] = {}
        self._expanded: dict[Any, Any] = {}
        angles, others = self._find(expressions)
        self.generators = [f(angle) for angle in angles for f in (sympy.sin, sympy.cos)] + others
        self.angles = {angle: (2 * k, 2 * k + 1) for k, angle in enumerate(angles)}
        names = [f'x{k}' for k in range(len(self.generators))] or ['x']
        self.ring = PolyRing(names, QQ, lex)
        self._number = {item: k for k, item in enumerate(self.generators)}
        # Replacements of the squares of generators.
        self._squares = {s: 1 - self.ring.gens[c] ** 2 for s, c in self.angles.values()}
        for item in others:
            if _is_square_root(item):
                self._squares[self._number[item]] = self.ring(QQ(int(item.base)))
        self._known: dict[Any, Any] = {}

    def _find(self, expressions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
        """Return the angles of sines and cosines, and all other generators."""
        angles: dict[Any, None] = {}
        others: dict[Any, None] = {}
        seen = set()
        waiting = list(expressions)
        while waiting:
            node = waiting.pop()
            if node in seen or node.is_Rational:
                continue
            seen.add(node)
            if node.func in (sympy.sin, sympy.cos):
                expanded = _expanded(node)
                if expanded != node:
                    self._expanded[node] = expanded
                    waiting.append(expanded)
                else:
                    angles[node.args[0]] = None
            elif node.is_Add or node.is_Mul:
                waiting.extend(node.args)
            elif node.is_Pow and node.exp.is_Integer and node.exp > 0:
                waiting.append(node.base)
            elif _is_square_root(node):
                others.update(dict.fromkeys(map(sympy.sqrt, sympy.factorint(node.base))))
            elif node.is_Pow and node.exp.is_Integer:
                self._opaque[node] = 1 / self._inner(node.base)
                others[self._opaque[node]] = None
            elif node.args and all(isinstance(item, sympy.Expr) for item in node.args):
                self._opaque[node] = node.func(*map(self._inner, node.args))
                others[self._opaque[node]] = None
            else:
                others[node] = None
        key = sympy.default_sort_key
        return sorted(angles, key=key), sorted(others, key=key)

    def polynomial(self, expression: Any) -> Any:
        """Return the polynomial of an expression, in canonical form.

        Raises:
            TooLarge: the expansion takes more operations than allowed.
        """
        self._operations = 0
        return self._convert(expression)

    def _convert(self, node: Any) -> Any:
        if node not in self._known:
            self._known[node] = self._convert_new(node)
        return self._known[node]

    def _convert_new(self, node: Any) -> Any:
        if node.is_Rational:
            return self.ring(QQ(int(node.p), int(node.q)))
        if node.is_Add:
            return self._sum([self._convert(term) for term in node.args])
        if node.is_Mul:
            product = self.ring.one
            for factor in sorted(map(self._convert, node.args), key=len):
                product = self.multiply(product, factor)
            return product
        if node in self._expanded:
            return self._convert(self._expanded[node])
        if node in self._opaque:
            item = self._opaque[node]
            power = -node.exp if node.is_Pow and node.exp.is_Integer else 1
            return self._power(self._convert_generator(item), int(power))
        if node.is_Pow and node.exp.is_Integer:
            return self._power(self._convert(node.base), int(node.exp))
        if _is_square_root(node):
            product = self.ring.one
            for prime, power in sympy.factorint(node.base).items():
                root = self._convert_generator(sympy.sqrt(prime))
                product = self.multiply(product, self._power(root, power))
            return product
        return self._convert_generator(node)

    def _convert_generator(self, item: Any) -> Any:
        return self.ring.gens[self._number[item]]

    def _power(self, base: Any, exponent: int) -> Any:
        power = self.ring.one
        for _ in range(exponent):
            power = self.multiply(power, base)
        return power

    def multiply(self, a: Any, b: Any) -> Any:
        """Return the product of two polynomials, in canonical form.

        Raises:
            TooLarge: the polynomial being built takes more operations than allowed.
        """
        self._spend(len(a) * len(b))
        return self.reduced(a * b)

    def _sum(self, polynomials: Iterable[Any]) -> Any:
        total = self.ring.zero.copy()
        for polynomial in polynomials:
            self._spend(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] = total.get(monomial, QQ(0)) + coefficient
        total.strip_zero()
        return total

    def _spend(self, operations: int) -> None:
        self._operations += operations
        if self._operations > self._max_operations:
            raise TooLarge

    def reduced(self, polynomial: Any) -> Any:
        """Return a polynomial with the squares of sines and square roots replaced."""
        squared = {k for monomial in polynomial for k in self._squares if monomial[k] > 1}
        for k in sorted(squared):
            by_power: dict[int, Any] = {}
            for monomial, coefficient in polynomial.items():
                rest = (*monomial[:k], monomial[k] % 2, *monomial[k + 1 :])
                by_power.setdefault(monomial[k] // 2, self.ring.zero.copy())[rest] = coefficient
            parts = []
            for power, part in by_power.items():
                square = self._squares[k] ** power
                self._spend(len(part) * len(square))
                parts.append(part * square)
            polynomial = self._sum(parts)
        return polynomial


def _expanded(node: Any) -> Any:
    """Return a sine or cosine of an integer combination of symbols in terms of their own."""
    terms = [term.as_coeff_Mul() for term in sympy.Add.make_args(node.args[0])]
    if not all(number.is_Integer and item.is_Symbol for number, item in terms):
        return node
    alone = {
        sympy.Dummy(): number * item for number, item in terms if abs(number) > _HIGHEST_MULTIPLE
    }
    kept = (number * item for number, item in terms if abs(number) <= _HIGHEST_MULTIPLE)
    return sympy.expand_trig(node.func(sympy.Add(*kept, *alone))).xreplace(alone)


def _is_square_root(node: Any) -> bool:
    return bool(
        node.is_Pow and node.exp == sympy.Rational(1, 2) and node.base.is_Integer and node.base > 0
    )
