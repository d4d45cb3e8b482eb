# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simplification of trigonometric polynomials in bounded time.

An expression is expanded with sin^2 = 1 - cos^2, so that zeros are recognized exactly, but for
identities among multiples of an angle above 12. The candidates are the expression itself, the
result, and the result with sums of neighbouring angles as variables, which are shorter for
parallel joints. In each candidate but the first

- A - A cos^2 x        becomes  A sin^2 x,
- A cos x cos y - A sin x sin y  becomes  A cos(x + y), and so on for the four addition theorems,
- common factors are taken out and coefficients of equal sines and cosines collected;

the one with the fewest operations is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Any

import sympy

from kron_dynamics.symbolic.trigonometric import TooLarge, TrigonometricRing

# Limit of operations on terms for one expression: a few seconds.
MAX_OPERATIONS = 1_000_000
# Most terms and angles of an expression for which sums of angles are tried.
_MAX_TERMS = 200
_MAX_ANGLES = 4

# A product: the power of each factor. A sum: the coefficient of each product.
Product = frozenset[tuple[Any, int]]
Sum = dict[Product, Any]


def simplified(expression: Any, order: Sequence[Any] = ()) -> Any:
    """Return an expression, or each entry of a matrix, in a shorter form that is exactly equal.

    An expression that would take more than `MAX_OPERATIONS`, or does not commute, is returned
    unchanged.

    Args:
        expression: SymPy expression or matrix, without floats.
        order: symbols in the order of the joints, which defines neighbouring angles.
    """
    is_matrix = isinstance(expression, sympy.MatrixBase)
    entries = list(expression) if is_matrix else [expression]
    ring = TrigonometricRing(entries, lambda inner: simplified(inner, order), MAX_OPERATIONS)
    forms: dict[Any, Any] = {}
    for entry in entries:
        if not entry.is_commutative:
            forms[entry] = entry  # polynomials commute
        elif entry not in forms:
            try:
                forms[entry] = _shorter(entry, _shortest_form(ring, ring.polynomial(entry), order))
            except TooLarge:
                forms[entry] = entry
    if not is_matrix:
        return forms[expression]
    return sympy.ImmutableMatrix(*expression.shape, [forms[entry] for entry in entries])


def _shortest_form(ring: TrigonometricRing, polynomial: Any, order: Sequence[Any]) -> Any:
    forms = [_form(ring, polynomial, ring.generators)]
    if len(polynomial) <= _MAX_TERMS:
        used = [
            angle
            for angle, (s, c) in ring.angles.items()
            if angle in order and any(m[s] or m[c] for m in polynomial)
        ]
        used.sort(key=order.index)
        with suppress(TooLarge):
            for run in _runs(used):
                forms.append(_form(ring, *_with_sums(ring, polynomial, run)))
    return min(forms, key=sympy.count_ops)


def _shorter(entry: Any, form: Any) -> Any:
    """Return an entry instead of its form if it has fewer operations."""
    operations = sympy.count_ops(form)
    # The entry's parts are counted only as far as they matter: shared ones, which closed forms of
    # flexible links have, occur exponentially often. An operation has at most 4 parts.
    most = 4 * (operations + 1)
    if sum(1 for _ in islice(sympy.preorder_traversal(entry), most)) == most:
        return form
    return entry if sympy.count_ops(entry) < operations else form


def _runs(angles: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield every sequence of two or more consecutive angles."""
    if len(angles) <= _MAX_ANGLES:
        for end in range(2, len(angles) + 1):
            for start in range(end - 1):
                yield angles[start:end]


def _with_sums(
    ring: TrigonometricRing, polynomial: Any, run: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """Return a polynomial in the angles x, x + y, x + y + z ... of a run x, y, z.

    The second result is the meaning of its generators.
    """
    gens, replacements, meaning = ring.ring.gens, [], list(ring.generators)
    for k in range(1, len(run)):
        (s, c), (s_before, c_before) = ring.angles[run[k]], ring.angles[run[k - 1]]
        # Substitute y = (x + y) - x; the generators of y then stand for x + y.
        cosine = gens[c] * gens[c_before] + gens[s] * gens[s_before]
        sine = gens[s] * gens[c_before] - gens[c] * gens[s_before]
        replacements += [(gens[c], cosine), (gens[s], sine)]
        total = sum(run[: k + 1])
        meaning[s], meaning[c] = sympy.sin(total), sympy.cos(total)
    return ring.reduced(polynomial.compose(replacements)), meaning


def _form(ring: TrigonometricRing, polynomial: Any, meaning: Sequence[Any]) -> Any:
    terms = dict(polynomial.items())
    for s, c in ring.angles.values():
        _restore_squares(terms, s, c)
    total: Sum = {}
    for monomial, coefficient in terms.items():
        if coefficient:
            factors = frozenset((meaning[k], power) for k, power in enumerate(monomial) if power)
            number = sympy.Rational(int(coefficient.numerator), int(coefficient.denominator))
            # Generators of equal meaning, such as a simplified denominator, give equal products.
            total[factors] = total.get(factors, 0) + number
    total = {factors: number for factors, number in total.items() if number}
    if len(total) <= _MAX_TERMS:
        while _merge_one(total):
            pass
    return _collected(total)


def _restore_squares(terms: dict[Any, Any], s: int, c: int) -> None:
    """Replace A - A cos^2 x by A sin^2 x."""
    for monomial in sorted(terms, reverse=True):
        if monomial[c] >= 2 and monomial in terms:
            without = _changed(monomial, {c: -2})
            if terms.get(without) == -terms[monomial]:
                coefficient = terms.pop(without)
                del terms[monomial]
                turned = _changed(without, {s: 2})
                terms[turned] = terms.get(turned, 0) + coefficient


def _changed(monomial: Any, changes: dict[int, int]) -> Any:
    return tuple(power + changes.get(k, 0) for k, power in enumerate(monomial))


def _merge_one(total: Sum) -> bool:
    """Replace one pair of products by the sine or cosine of a sum; return whether there is one."""
    for product, coefficient in total.items():
        angles = [f for f, _ in product if f.func in (sympy.sin, sympy.cos)]
        angles.sort(key=sympy.default_sort_key)
        for f in angles:
            for g in angles:
                merged = _merged(total, product, coefficient, f, g)
                if merged is not None:
                    partner, factor, rest = merged
                    del total[product], total[partner]
                    sign, function = factor.as_coeff_Mul()
                    key = _times(rest, function, 1)
                    total[key] = total.get(key, 0) + sign * coefficient
                    if total[key] == 0:
                        del total[key]
                    return True
    return False


def _merged(
    total: Sum, product: Product, coefficient: Any, f: Any, g: Any
) -> tuple[Product, Any, Product] | None:
    """Find the product that combines with one that has factors f and g by an addition theorem.

    Returns:
        the partner; the sine or cosine that replaces the four factors; the common other factors.
    """
    x, y = f.args[0], g.args[0]
    if x == y or f.func is sympy.sin:
        return None
    rest = _times(_times(product, f, -1), g, -1)
    if g.func is sympy.cos:
        partner = _times(_times(rest, sympy.sin(x), 1), sympy.sin(y), 1)
        sums = {-1: sympy.cos(x + y), 1: sympy.cos(x - y)}
    else:  # cos x sin y with sin x cos y
        partner = _times(_times(rest, sympy.sin(x), 1), sympy.cos(y), 1)
        sums = {1: sympy.sin(x + y), -1: sympy.sin(y - x)}
    other = total.get(partner)
    if other is None or abs(other) != abs(coefficient):
        return None
    return partner, sums[int(sympy.sign(other * coefficient))], rest


def _times(product: Product, factor: Any, power: int) -> Product:
    powers = dict(product)
    powers[factor] = powers.get(factor, 0) + power
    return frozenset((f, p) for f, p in powers.items() if p)


def _collected(total: Sum) -> Any:
    """Return the sum as an expression, with common factors and trigonometric terms collected."""
    number, common, rest = _factored(total)
    groups: dict[Product, Sum] = {}
    for product, coefficient in rest.items():
        turning = frozenset((f, p) for f, p in product if f.func in (sympy.sin, sympy.cos))
        groups.setdefault(turning, {})[product - turning] = coefficient
    inside = sympy.Add(*(_with_coefficient(*item) for item in groups.items()))
    return sympy.Mul(number, *_powers(common), inside)


def _with_coefficient(turning: Product, coefficient: Sum) -> Any:
    number, common, rest = _factored(coefficient)
    inside = sympy.Add(*(sympy.Mul(c, *_powers(product)) for product, c in rest.items()))
    # One product of all factors: SymPy would distribute a lone number over a sum.
    return sympy.Mul(number, *_powers(turning), *_powers(common), inside)


def _factored(total: Sum) -> tuple[Any, Product, Sum]:
    """Return the number and the product that all terms share, and the sum divided by both."""
    if not total:
        return sympy.Integer(0), frozenset(), {}
    sizes = {abs(coefficient) for coefficient in total.values()}
    number = sizes.pop() if len(sizes) == 1 else sympy.Integer(1)
    if 2 * sum(bool(coefficient < 0) for coefficient in total.values()) > len(total):
        number = -number
    shared = reduce(lambda a, b: a & b, ({f for f, _ in product} for product in total))
    common = frozenset((f, min(dict(product)[f] for product in total)) for f in shared)
    rest = {}
    for product, coefficient in total.items():
        remaining = product
        for factor, power in common:
            remaining = _times(remaining, factor, -power)
        rest[remaining] = coefficient / number
    return number, common, rest


def _powers(product: Product) -> list[Any]:
    return [factor**power for factor, power in product]
