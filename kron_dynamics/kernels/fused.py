# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of the products that are rounded once, together with their sum (fused multiply-add).

The generated code names these products. Were the choice the compiler's, the last bits of a result
would depend on the compiler, its options and the code around an equation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from kron_dynamics.kernels.trace import Node, operands


class FusedSum(NamedTuple):
    """A sum with a fused product: a * b + c, with the signs of a difference.

    Attributes:
        a: node number of the first factor.
        b: node number of the second factor.
        c: node number of the other operand of the sum.
        negates_product: whether the product is subtracted.
        negates_rest: whether the other operand is subtracted.
    """

    a: int
    b: int
    c: int
    negates_product: bool
    negates_rest: bool


class FusedProducts(NamedTuple):
    """The products of a trace that are computed in their sums.

    Attributes:
        sums: by node number, the sums and differences that compute a product.
        products: node numbers of the products that need no statement of their own.
        given: node numbers of results of another kernel that are such sums there.
    """

    sums: dict[int, FusedSum]
    products: set[int]
    given: Collection[int] = ()


def fused_products(
    nodes: Sequence[Node],
    computed: Iterable[int],
    kept: Collection[int],
    priority: Callable[[int], Any],
) -> FusedProducts:
    """Return the products to fuse: one in every sum that has any.

    A product that others read, too, is also computed alone: a fused sum takes no longer than
    another. So the choice depends on the sum alone.

    Args:
        nodes: the operations, operands first.
        computed: numbers of the nodes to compute, without those that only read memory.
        kept: numbers of nodes that others than nodes read.
        priority: of two products in a sum, the one with the larger key is fused.
    """
    sums: dict[int, FusedSum] = {}
    read, products = set(kept), set[int]()
    for number in computed:
        candidates = products_in(nodes, number)
        if not candidates:
            read.update(operands(nodes[number]))
            continue
        product = max(candidates, key=priority)
        products.add(product)
        sums[number] = _fused(nodes, number, product)
        read.add(sums[number].c)
    return FusedProducts(sums, products - read)


def products_in(nodes: Sequence[Node], number: int) -> list[int]:
    """Return the products of which one is fused if a node is a sum; none for other nodes."""
    operation, a, b = nodes[number]
    if operation not in ('+', '-') or a == b:
        return []
    return [k for k in (a, b) if nodes[k][0] == '*']


def _fused(nodes: Sequence[Node], number: int, product: int) -> FusedSum:
    operation, left, right = nodes[number]
    _, a, b = nodes[product]
    is_difference = operation == '-'
    if left == product:
        return FusedSum(a, b, right, False, is_difference)
    return FusedSum(a, b, left, is_difference, False)


def multiply_add(
    real: str, fused: FusedProducts, number: int, operand: Callable[[int], str]
) -> str:
    """Return the C text of a sum with a fused product.

    Args:
        real: the type, 'double', 'float' or 'wide'.
        fused: the fused products of the trace.
        number: node number of the sum.
        operand: the text of a node's value.
    """
    a, b, c, negates_product, negates_rest = fused.sums[number]
    first = negated(fused, a, operand(a)) if negates_product else operand(a)
    last = negated(fused, c, operand(c)) if negates_rest else operand(c)
    return f'fma_{real}({first}, {operand(b)}, {last})'


def negated(fused: FusedProducts, number: int, text: str) -> str:
    """Return the C text of a negated value.

    Of the negative of a fused sum gcc makes one instruction that gives a zero another sign.
    """
    is_sum = number in fused.sums or number in fused.given
    return f'(0 - {text})' if is_sum else f'-{text}'
