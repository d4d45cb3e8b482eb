# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording of an equation by evaluating it on traced scalars.

A traced scalar behaves like a float under +, -, *, /, sin, cos and tanh, and records every
operation in a `Graph`. Equal operations are recorded once (hash-consing); operations on constants
are folded, and those with zeros and ones removed.
"""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kron_dynamics.reproducible import cosine_and_sine, hyperbolic_tangent
from kron_dynamics.typing import ScalarArray

# A node is (operation, operand, operand): operands are node numbers, except for 'const' (the
# value) and 'input' (argument number, element number).
Node = tuple[str, Any, Any]

_NUMBERS = (float, int, np.floating, np.integer)
_COMMUTATIVE = frozenset('+*')
_LEAVES = frozenset(('const', 'input', 'given'))
# Numbers of the operations, whose hashes are the same in every process.
_CODES = {'+': 1, '-': 2, '*': 3, '/': 4, 'neg': 5, 'sin': 6, 'cos': 7, 'tanh': 8}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
}
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    'neg': lambda a: -a,
    'sin': lambda a: cosine_and_sine(a)[1],
    'cos': lambda a: cosine_and_sine(a)[0],
    'tanh': hyperbolic_tangent,
}


class Graph:
    """The operations recorded so far, each operand before its use."""

    def __init__(self) -> None:
        """Start empty."""
        self.nodes: list[Node] = []
        # Number of each node, and of the one that each simplified operation turned out to be.
        self._known: dict[Node, int] = {}
        self._structures: list[tuple[int, int]] = []

    def inputs(self, argument: int, size: int) -> ScalarArray:
        """Return the traced elements of an argument, object array of shape (size,)."""
        return np.array([Scalar(self, self.input(argument, i)) for i in range(size)], dtype=object)

    def input(self, argument: int, element: int) -> int:
        """Return the number of the node of an argument's element."""
        return self._add(('input', argument, element))

    def constant(self, value: float) -> int:
        """Return the number of a constant's node; -0.0 counts as 0.0."""
        return self._add(('const', float(value) + 0.0, None))

    def value(self, number: int) -> float | None:
        """Return the value of a constant node, None for any other."""
        operation, value, _ = self.nodes[number]
        return value if operation == 'const' else None

    def structure(self, number: int) -> tuple[int, int]:
        """Return depth and hash of a node's tree of operations.

        They depend only on what the node computes; its number, in contrast, depends on what else
        was recorded, and in which order.
        """
        known = self._structures
        if number >= len(known):
            # A list of its own: units are compiled in several threads, and this one may be second.
            known = [*known]
            for node in self.nodes[len(known) :]:
                known.append(_structure(node, known))
            self._structures = known
        return known[number]

    def _add(self, node: Node) -> int:
        number = self._known.get(node)
        if number is None:
            number = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def apply(self, function: str, a: int) -> int:
        """Return the node number of neg, sin, cos or tanh of a node."""
        value = self.value(a)
        if value is not None:
            return self.constant(_FUNCTIONS[function](value))
        operation, inner, other = self.nodes[a]
        if function == 'neg':
            if operation == 'neg':
                return int(inner)
            if operation == '-':
                return self._add(('-', other, inner))
        elif operation == 'neg':
            turned = self._add((function, inner, None))
            return turned if function == 'cos' else self.apply('neg', turned)
        return self._add((function, a, None))

    def combine(self, operation: str, a: int, b: int) -> int:
        """Return the node number of `a operation b`, simplified where that is exact."""
        left, right = self.nodes[a], self.nodes[b]
        x = left[1] if left[0] == 'const' else None
        y = right[1] if right[0] == 'const' else None
        if x is not None and y is not None and not (operation == '/' and y == 0.0):
            return self.constant(_ARITHMETIC[operation](x, y))
        simplified = _SIMPLIFY[operation](self, a, b, x, y)
        if simplified is not None:
            return simplified
        if operation in _COMMUTATIVE and a > b:
            a, b = b, a
        return self._add((operation, a, b))

    def negated(self, number: int) -> int | None:
        """Return the operand if the node is a negation, else None."""
        operation, inner, _ = self.nodes[number]
        return int(inner) if operation == 'neg' else None


def _structure(node: Node, known: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return depth and hash of a node's tree, from those of the nodes before it."""
    operation, a, b = node
    if operation == 'const':
        # By its bits: the hashes of -1 and -2 are equal in Python.
        return 0, int.from_bytes(struct.pack('<d', a), 'little')
    if operation == 'input':
        return 0, hash((a, b))
    parts = [known[a]] if b is None else [known[a], known[b]]
    if operation in _COMMUTATIVE:
        parts.sort()
    depth = 1 + max(below for below, _ in parts)
    return depth, hash((_CODES[operation], *(part for _, part in parts)))


def _sum(graph: Graph, a: int, b: int, x: float | None, y: float | None) -> int | None:
    if x == 0.0:
        return b
    if y == 0.0:
        return a
    if (inner := graph.negated(b)) is not None:
        return graph.combine('-', a, inner)
    if (inner := graph.negated(a)) is not None:
        return graph.combine('-', b, inner)
    return None


def _difference(graph: Graph, a: int, b: int, x: float | None, y: float | None) -> int | None:
    if y == 0.0:
        return a
    if x == 0.0:
        return graph.apply('neg', b)
    if a == b:
        return graph.constant(0.0)
    if (inner := graph.negated(b)) is not None:
        return graph.combine('+', a, inner)
    if (inner := graph.negated(a)) is not None:
        return graph.apply('neg', graph.combine('+', inner, b))
    return None


def _product(graph: Graph, a: int, b: int, x: float | None, y: float | None) -> int | None:
    if x is None and y is not None:
        a, b, x, y = b, a, y, x
    if x is not None:
        if x == 0.0:
            return graph.constant(0.0)
        if x == 1.0:
            return b
        if x == -1.0:
            return graph.apply('neg', b)
    for first, second in ((a, b), (b, a)):
        if (inner := graph.negated(first)) is not None:
            return graph.apply('neg', graph.combine('*', inner, second))
    return None


def _quotient(graph: Graph, a: int, b: int, x: float | None, y: float | None) -> int | None:
    if x == 0.0:
        return graph.constant(0.0)
    if y == 1.0:
        return a
    return None


_SIMPLIFY = {'+': _sum, '-': _difference, '*': _product, '/': _quotient}


def _operator(operation: str, swapped: bool = False) -> Callable[[Scalar, object], Any]:
    """Return an operator of `Scalar`, which takes numbers, too; swapped for a reflected one.

    Four of five operations have been recorded before, most of them by other kernels of the robot,
    so what became of an operation is looked up first.
    """
    # Numbers need names of their own, as the number 2 is not node 2.
    with_node = f'reflected {operation}' if swapped else operation
    with_number = f'{with_node} number'

    def operator(self: Scalar, other: object) -> Any:
        graph = self.graph
        if type(other) is Scalar:
            key: Node = (with_node, self.number, other.number)
        elif isinstance(other, _NUMBERS):
            key = (with_number, self.number, other)
        else:  # an array: let NumPy apply the operation element by element
            return NotImplemented
        found = graph._known.get(key)
        if found is None:
            a = self.number
            b = other.number if type(other) is Scalar else graph.constant(float(key[2]))
            found = graph.combine(operation, *((b, a) if swapped else (a, b)))
            graph._known[key] = found
        return Scalar(graph, found)

    return operator


def _function(name: str, meaning: str) -> Callable[[Scalar], Scalar]:
    """Return a function of a `Scalar`, such as its sine."""

    def function(self: Scalar) -> Scalar:
        graph = self.graph
        key = (name, self.number, None)
        found = graph._known.get(key)
        if found is None:
            found = graph._known[key] = graph.apply(name, self.number)
        return Scalar(graph, found)

    function.__doc__ = f'Return the {meaning}.'
    return function


class Scalar:
    """A traced number: a node of a graph."""

    __slots__ = ('graph', 'number')

    def __init__(self, graph: Graph, number: int) -> None:
        """Refer to a node."""
        self.graph = graph
        self.number = number

    __add__ = __radd__ = _operator('+')
    __sub__ = _operator('-')
    __rsub__ = _operator('-', swapped=True)
    __mul__ = __rmul__ = _operator('*')
    __truediv__ = _operator('/')
    __rtruediv__ = _operator('/', swapped=True)

    def __bool__(self) -> bool:
        raise TypeError('a traced number has no truth value: equations must not branch on it')

    __neg__ = _function('neg', 'negative')
    sin = _function('sin', 'sine')
    cos = _function('cos', 'cosine')
    tanh = _function('tanh', 'hyperbolic tangent')


class Trace:
    """A recorded function of arrays, with one array or several as results.

    Attributes:
        sizes: length of each argument.
        shapes: shape of each result.
        nodes: the operations that the results need, operands first.
        outputs: for each result, the node numbers of its elements, row-major.
        graph: the graph in which the operations were recorded, possibly with others.
        needed: number of each node in the graph.
        results: like outputs, but with the numbers in the graph.
    """

    def __init__(
        self, function: Callable[..., Any], sizes: Sequence[int], graph: Graph | None = None
    ) -> None:
        """Run a function once on traced arguments of the given lengths.

        If it returns a tuple, there are several results. Traces that share a graph can reuse each
        other's results; see `after`.
        """
        graph = graph or Graph()
        arguments = [graph.inputs(a, size) for a, size in enumerate(sizes)]
        returned = function(*arguments)
        results = returned if isinstance(returned, tuple) else (returned,)
        arrays = [np.asarray(result, dtype=object) for result in results]
        numbers = [
            [x.number if isinstance(x, Scalar) else graph.constant(float(x)) for x in array.flat]
            for array in arrays
        ]
        self.graph = graph
        self.results = numbers
        self.sizes = tuple(sizes)
        self.shapes = tuple(array.shape for array in arrays)
        self._left: dict[Trace, Trace | None] = {}
        self._keep({})

    def _keep(self, given: Mapping[int, int]) -> None:
        """Number the nodes that the results need; given nodes are not computed."""
        renumbered, self.nodes = _needed(self.graph.nodes, self.results, given)
        self.needed = tuple(renumbered)
        self.outputs = tuple(tuple(renumbered[k] for k in numbers) for numbers in self.results)

    @property
    def operations(self) -> int:
        """Number of arithmetic operations, sines and cosines."""
        return sum(operation not in _LEAVES for operation, _, _ in self.nodes)

    def after(self, provider: Trace) -> Trace | None:
        """Return the remaining operations when the single result of another trace is given.

        Nodes ('given', k, None) are element k of that result. The return value is None if the
        other trace has several results, other arguments, another graph or nothing in common.
        """
        if provider not in self._left:
            self._left[provider] = self._after(provider)
        return self._left[provider]

    def _after(self, provider: Trace) -> Trace | None:
        is_fit = provider.graph is self.graph and len(provider.results) == 1
        if not is_fit or provider.sizes != self.sizes[: len(provider.sizes)]:
            return None
        # Products are computed again, as a sum rounds them only once; see `fused_products`.
        nodes = self.graph.nodes
        given = {n: k for k, n in enumerate(provider.results[0]) if nodes[n][0] != '*'}
        if given.keys().isdisjoint(self.needed):
            return None
        rest = copy.copy(self)
        rest._left = {}
        rest._keep(given)
        return rest


def operands(node: Node) -> tuple[int, ...]:
    """Return the node numbers that a node reads."""
    operation, a, b = node
    if operation in _LEAVES:
        return ()
    return (a,) if b is None else (a, b)


def _needed(
    nodes: Sequence[Node], outputs: Sequence[Sequence[int]], given: Mapping[int, int]
) -> tuple[dict[int, int], list[Node]]:
    """Return the nodes that the outputs depend on, renumbered, each just before its first use.

    They are collected depth first from the outputs, so that few values are live at any time.
    Given nodes are not followed to their operands.
    """
    renumbered: dict[int, int] = {}
    kept: list[Node] = []
    waiting = [number for numbers in reversed(outputs) for number in reversed(numbers)]
    while waiting:
        number = waiting[-1]
        if number in renumbered:
            waiting.pop()
            continue
        node = nodes[number]
        operation, a, b = node
        if operation not in _LEAVES:
            if number in given:
                node = ('given', given[number], None)
            else:
                first = renumbered.get(a)
                second = None if b is None else renumbered.get(b)
                if b is not None and second is None:
                    waiting.append(b)
                if first is None:
                    waiting.append(a)
                if waiting[-1] != number:
                    continue
                node = (operation, first, second)
        waiting.pop()
        renumbered[number] = len(kept)
        kept.append(node)
    return renumbered, kept
