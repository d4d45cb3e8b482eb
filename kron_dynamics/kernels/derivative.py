# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exact derivatives of recorded functions, forward: operation by operation with its tangents."""

from __future__ import annotations

from collections.abc import Mapping

from kron_dynamics.kernels.trace import Graph, Trace

Tangents = Mapping[int, int]  # of a node: direction -> node of the derivative, where it is not 0


def derivative(trace: Trace, argument: int) -> Trace:
    """Return the trace of dA/dx for the only result A and an argument x, shape (*A.shape, n).

    The derivative's index runs fastest: reshaped to (r, s n) for A of shape (r, s) this is Khang's
    layout, column j*n + k being d A[:, j] / d x[k].  [K] eq. (15).

    Args:
        trace: of a function with one result.
        argument: number of the argument x.
    """
    size = trace.sizes[argument]
    graph = trace.graph
    seeds = {
        graph.input(argument, element): {element: graph.constant(1.0)} for element in range(size)
    }
    (shape,) = trace.shapes
    tangents = _tangents(trace, seeds)
    zero = graph.constant(0.0)
    numbers = [tangents[k].get(d, zero) for k in trace.results[0] for d in range(size)]
    return trace.with_results([numbers], [(*shape, size)], trace.sizes)


def directional_derivative(trace: Trace) -> Trace:
    """Return the trace of dA/dx_1 v_1 + dA/dx_2 v_2 + ..., of the shapes of the results A.

    Its arguments are those of the function, then a direction v of each of them. With the time
    derivatives of the arguments for directions it is dA/dt.

    Args:
        trace: of any function.
    """
    graph, count = trace.graph, len(trace.sizes)
    seeds = {
        graph.input(a, element): {0: graph.input(count + a, element)}
        for a, size in enumerate(trace.sizes)
        for element in range(size)
    }
    tangents = _tangents(trace, seeds)
    zero = graph.constant(0.0)
    numbers = [[tangents[k].get(0, zero) for k in result] for result in trace.results]
    return trace.with_results(numbers, trace.shapes, (*trace.sizes, *trace.sizes))


def _tangents(trace: Trace, seeds: Mapping[int, Tangents]) -> dict[int, Tangents]:
    """Tangents of every node that the results need, by its number in the graph."""
    graph = trace.graph
    tangents: dict[int, Tangents] = {}
    for number in trace.needed:
        operation, a, b = graph.nodes[number]
        if operation == 'const':
            tangents[number] = {}
        elif operation == 'input':
            tangents[number] = seeds.get(number, {})
        elif b is None:
            slope = _slope(graph, operation, a, number)
            tangents[number] = {d: graph.combine('*', slope, t) for d, t in tangents[a].items()}
        else:
            tangents[number] = _of_two(graph, operation, (a, b, number), tangents[a], tangents[b])
    return tangents


def _slope(graph: Graph, operation: str, a: int, result: int) -> int:
    """Derivative of a function of one node."""
    if operation == 'neg':
        return graph.constant(-1.0)
    if operation == 'sin':
        return graph.apply('cos', a)
    if operation == 'cos':
        return graph.apply('neg', graph.apply('sin', a))
    square = graph.combine('*', result, result)  # tanh' = 1 - tanh^2
    return graph.combine('-', graph.constant(1.0), square)


def _of_two(
    graph: Graph, operation: str, nodes: tuple[int, int, int], of_a: Tangents, of_b: Tangents
) -> Tangents:
    a, b, result = nodes
    zero = graph.constant(0.0)
    made = {}
    for direction in dict.fromkeys((*of_a, *of_b)):
        da, db = of_a.get(direction, zero), of_b.get(direction, zero)
        if operation == '*':
            first, second = graph.combine('*', da, b), graph.combine('*', a, db)
            made[direction] = graph.combine('+', first, second)
        elif operation == '/':
            change = graph.combine('-', da, graph.combine('*', result, db))
            made[direction] = graph.combine('/', change, b)
        else:
            made[direction] = graph.combine(operation, da, db)
    return made
