# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the tracer: the same numbers from fewer operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.emit import emit_c
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Graph, Trace, operands

OPERATIONS: dict[str, Callable[..., Any]] = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
    'neg': lambda a: -a,
    'sin': sin,
    'cos': cos,
}


LEAVES = ('const', 'input', 'given')


def results(trace: Trace, *arguments: Any, given: Any = ()) -> list[np.ndarray]:
    """The numbers a trace stands for, one node after the other."""
    values: list[float] = []
    for operation, a, b in trace.nodes:
        if operation == 'const':
            values.append(a)
        elif operation == 'input':
            values.append(float(arguments[a][b]))
        elif operation == 'given':
            values.append(float(given[a]))
        elif b is None:
            values.append(OPERATIONS[operation](values[a]))
        else:
            values.append(OPERATIONS[operation](values[a], values[b]))
    return [
        np.array([values[k] for k in numbers], dtype=float).reshape(shape)
        for numbers, shape in zip(trace.outputs, trace.shapes, strict=True)
    ]


def evaluate(trace: Trace, *arguments: Any, given: Any = ()) -> np.ndarray:
    """The only result of a trace."""
    (result,) = results(trace, *arguments, given=given)
    return result


def recorded(function: Callable[..., Any], size: int = 3) -> list[Any]:
    """Operations of a function of one argument, arithmetic ones only."""
    return arithmetic(Trace(function, [size]))


def arithmetic(trace: Trace) -> list[str]:
    return [operation for operation, _, _ in trace.nodes if operation not in LEAVES]


def test_operations_with_zero_and_one_vanish() -> None:
    def function(x: Any) -> Any:
        turned = -x[0]
        return [x[0] + 0, 0 + x[0], x[0] - 0, x[0] * 1, 1 * x[0], x[0] / 1, -turned]

    assert recorded(function) == []
    np.testing.assert_array_equal(evaluate(Trace(function, [3]), [1.7, 0, 0]), np.full(7, 1.7))


def test_products_with_zero_and_differences_of_equals_are_zero() -> None:
    trace = Trace(lambda x: [x[0] * 0, 0.0 * x[1], x[0] - x[0], 0 / x[1]], [3])
    assert trace.operations == 0
    np.testing.assert_array_equal(evaluate(trace, [1.0, 2.0, 3.0]), np.zeros(4))


def test_constants_are_folded() -> None:
    trace = Trace(lambda x: [x[0] * 0 + 2.0, (x[0] * 0 + 3) / 4], [1])
    assert trace.operations == 0
    np.testing.assert_array_equal(evaluate(trace, [9.0]), [2.0, 0.75])


def test_equal_operations_are_recorded_once() -> None:
    assert recorded(lambda x: [x[0] * x[1], x[1] * x[0], x[0] * x[1]]) == ['*']
    assert recorded(lambda x: [x[0] + x[1], x[1] + x[0]]) == ['+']
    assert recorded(lambda x: [x[0] - x[1], x[1] - x[0]]) == ['-', '-']
    assert recorded(lambda x: [sin(x[0]), sin(x[0])]) == ['sin']


def test_negations_move_out_of_the_way() -> None:
    assert recorded(lambda x: [x[0] + -x[1]]) == ['-']
    assert recorded(lambda x: [-x[0] + x[1]]) == ['-']
    assert recorded(lambda x: [x[0] - -x[1]]) == ['+']
    assert recorded(lambda x: [-(x[0] - x[1])]) == ['-']
    assert recorded(lambda x: [-x[0] * -x[1]]) == ['*']
    assert recorded(lambda x: [cos(-x[0])]) == ['cos']
    assert recorded(lambda x: [sin(-x[0]) + x[1]]) == ['sin', '-']


def test_what_no_output_needs_is_dropped() -> None:
    def function(x: Any) -> Any:
        sin(x[0]) * x[1]
        return [x[2] + 1]

    trace = Trace(function, [3])
    assert trace.operations == 1
    assert {operation for operation, _, _ in trace.nodes} == {'input', 'const', '+'}


def assert_operands_come_first(trace: Trace) -> None:
    for number, node in enumerate(trace.nodes):
        assert all(k < number for k in operands(node))


def test_operands_come_before_their_use() -> None:
    assert_operands_come_first(Trace(lambda x: np.outer(x, sin(x[0]) * x), [3]))


def test_operands_of_a_node_are_what_it_reads() -> None:
    trace = Trace(lambda x: [sin(x[1] * x[0]) + 2], [2])
    at = {operation: number for number, (operation, _, _) in enumerate(trace.nodes)}
    a, b = operands(trace.nodes[at['*']])
    assert {trace.nodes[a], trace.nodes[b]} == {('input', 0, 0), ('input', 0, 1)}
    assert operands(trace.nodes[at['sin']]) == (at['*'],)
    assert set(operands(trace.nodes[at['+']])) == {at['sin'], at['const']}
    assert all(operands((operation, 5, 6)) == () for operation in LEAVES)


def test_each_operation_stands_just_before_its_first_use() -> None:
    def function(x: Any) -> Any:
        products = [x[k] * x[k + 1] for k in range(4)]  # all of them are recorded first
        return [product - 1 for product in products]

    trace = Trace(function, [5])
    assert arithmetic(trace) == ['*', '-'] * 4
    for number, node in enumerate(trace.nodes):
        if node[0] not in LEAVES:
            assert max(operands(node)) == number - 1
    # Results in their order, each with what it alone needs.
    assert trace.outputs == (tuple(k for k, node in enumerate(trace.nodes) if node[0] == '-'),)


def test_few_values_wait_for_their_use() -> None:
    def function(x: Any) -> Any:
        level = list(x)
        while len(level) > 1:  # a tree of sums, recorded level by level
            level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
        return level

    trace = Trace(function, [64])
    last = {k: number for number, node in enumerate(trace.nodes) for k in operands(node)}
    waiting = [
        sum(made <= number < last.get(made, number) for made in range(number + 1))
        for number in range(len(trace.nodes))
    ]
    assert max(waiting) == 7  # one a level; level by level it would be 64


def test_arrays_of_traced_scalars_obey_numpy(rng: np.random.Generator) -> None:
    A, x = rng.normal(size=(2, 3)), rng.normal(size=3)

    def function(v: Any) -> Any:
        return (A @ v + v[0] * np.ones(2) - np.array([1.0, 2.0]) / v[1])[::-1]

    trace = Trace(function, [3])
    assert trace.shapes == ((2,),)
    np.testing.assert_allclose(evaluate(trace, x), function(x), rtol=1e-14)


def test_several_arguments_and_a_scalar_result() -> None:
    trace = Trace(lambda x, y: x[1] * y[0], [2, 1])
    assert (trace.shapes, trace.sizes) == (((),), (2, 1))
    assert evaluate(trace, [3.0, 4.0], [5.0]) == 20.0


def test_results_without_any_traced_scalar() -> None:
    np.testing.assert_array_equal(evaluate(Trace(lambda x: np.eye(2), [1]), [0.0]), np.eye(2))


def test_strangers_are_refused() -> None:
    with pytest.raises(TypeError):
        Trace(lambda x: [x[0] + 'one'], [1])


OPERANDS = st.one_of(
    st.sampled_from(['x0', 'x1', 'x2']),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2, -3, 0.1, 1e-3]),
)
EXPRESSIONS = st.recursive(
    OPERANDS,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(['+', '-', '*', '/']), inner, inner),
        st.tuples(st.sampled_from(['neg', 'sin', 'cos']), inner),
    ),
    max_leaves=25,
)


def compute(expression: Any, x: Any) -> Any:
    """An expression tree on floats or on traced scalars."""
    if isinstance(expression, str):
        return x[int(expression[1])]
    if isinstance(expression, (int, float)):
        return float(expression)
    operation, *inner = expression
    value = OPERATIONS[operation](*(compute(part, x) for part in inner))
    if isinstance(value, float):
        assume(math.isfinite(value))
    return value


NUMBERS = st.floats(-4, 4).map(lambda value: round(value, 2))
STATES = st.tuples(NUMBERS, NUMBERS, NUMBERS)
LISTS = st.lists(EXPRESSIONS, min_size=1, max_size=4)


def compute_all(expressions: Any, x: Any) -> Any:
    return [compute(expression, x) for expression in expressions]


def expected(expressions: Any, x: Any) -> Any:
    try:
        return compute_all(expressions, x)
    except ZeroDivisionError:
        assume(False)


@given(expressions=LISTS, x=STATES)
@settings(max_examples=12 * settings.default.max_examples)
def test_traced_expressions_give_exactly_the_floats(expressions: Any, x: Any) -> None:
    numbers = expected(expressions, x)
    trace = Trace(lambda v: compute_all(expressions, v), [3])
    # Every rule is exact: not even the last digit may differ.
    np.testing.assert_array_equal(evaluate(trace, x), numbers)
    assert_operands_come_first(trace)


@given(first=LISTS, second=LISTS, both=st.booleans(), x=STATES)
@settings(max_examples=12 * settings.default.max_examples)
def test_what_is_left_after_another_trace_gives_exactly_the_floats(
    first: Any, second: Any, both: bool, x: Any
) -> None:
    second = [*second, ('*', first[0], second[-1]), *(first if both else ())]
    given, numbers = expected(first, x), expected(second, x)
    graph = Graph()
    provider = Trace(lambda v: compute_all(first, v), [3], graph)
    trace = Trace(lambda v: compute_all(second, v), [3], graph)
    np.testing.assert_array_equal(evaluate(provider, x), given)
    np.testing.assert_array_equal(evaluate(trace, x), numbers)
    rest = trace.after(provider)
    if rest is None:  # nothing in common
        products = {k for k in provider.results[0] if graph.nodes[k][0] == '*'}
        assert (set(provider.results[0]) - products).isdisjoint(trace.needed)
        return
    np.testing.assert_array_equal(evaluate(rest, x, given=given), numbers)
    assert_operands_come_first(rest)
    assert rest.operations <= trace.operations


def test_branching_on_a_traced_number_is_refused() -> None:
    with pytest.raises(TypeError, match='truth value'):
        Trace(lambda x: x if x[0] else -x, [1])


def test_overflowing_constants_are_refused() -> None:
    trace = Trace(lambda x: x * float('inf'), [1])
    with pytest.raises(KernelBuildError, match='overflow'):
        emit_c([trace])
    with pytest.raises(KernelBuildError, match='overflow'):
        Interpreted(trace)


def test_a_tuple_means_several_results() -> None:
    trace = Trace(lambda x: (x[0] * x[1], [[x[0], 3.0]], np.zeros((0, 2)), [x[0] * x[1]]), [2])
    assert trace.shapes == ((), (1, 2), (0, 2), (1,))
    assert [len(numbers) for numbers in trace.outputs] == [1, 2, 0, 1]
    assert trace.outputs[0] == trace.outputs[3]
    assert trace.operations == 1
    product, pair, none, again = results(trace, [5.0, 7.0])
    assert (product, again) == (35.0, [35.0])
    np.testing.assert_array_equal(pair, [[5.0, 3.0]])
    assert none.shape == (0, 2)


def test_a_tuple_of_one_is_one_result() -> None:
    trace = Trace(lambda x: (x,), [2])
    assert trace.shapes == ((2,),)
    np.testing.assert_array_equal(evaluate(trace, [5.0, 7.0]), [5.0, 7.0])


def star(x: Any) -> Any:
    """Operations, an argument and a constant."""
    return [sin(x[0]) / x[1], sin(x[0]) / x[1] + x[2], x[2], 4.0]


def product(x: Any, y: Any) -> Any:
    """Little more."""
    a, b, c, d = star(x)
    return [b * y[0] - c, a, d, y[1] / cos(x[0])]


def test_traces_of_one_graph_record_what_they_share_once() -> None:
    graph = Graph()
    first = Trace(star, [3], graph)
    count = len(graph.nodes)
    again = Trace(star, [3], graph)
    assert len(graph.nodes) == count
    assert (again.nodes, again.outputs) == (first.nodes, first.outputs)
    second = Trace(product, [3, 2], graph)
    assert arithmetic(second).count('sin') == 1
    # Each has what it needs and no more, as if it were alone.
    assert sorted(arithmetic(second)) == sorted(arithmetic(Trace(product, [3, 2])))
    assert first.operations == 3
    x, y = [0.3, -2.0, 5.0], [1.5, 0.25]
    np.testing.assert_array_equal(evaluate(first, x), star(x))
    np.testing.assert_array_equal(evaluate(second, x, y), product(x, y))


def test_what_another_trace_gives_is_not_computed_again() -> None:
    graph = Graph()
    provider, trace = Trace(star, [3], graph), Trace(product, [3, 2], graph)
    nodes, outputs = list(trace.nodes), trace.outputs
    rest = trace.after(provider)
    assert rest is not None
    assert sorted(arithmetic(rest)) == ['*', '-', '/', 'cos']
    assert rest.operations == 4
    # Arguments and constants are at hand anyhow.
    assert {node for node in rest.nodes if node[0] == 'given'} == {
        ('given', 0, None),
        ('given', 1, None),
    }
    assert (rest.sizes, rest.shapes) == (trace.sizes, trace.shapes)
    x, y = [0.3, -2.0, 5.0], [1.5, 0.25]
    np.testing.assert_array_equal(evaluate(rest, x, y, given=star(x)), product(x, y))
    # The trace itself is as it was.
    assert (trace.nodes, trace.outputs, trace.operations) == (nodes, outputs, 7)


def test_nothing_is_left_of_the_same_results() -> None:
    graph = Graph()
    rest = Trace(star, [3], graph).after(Trace(star, [3], graph))
    assert rest is not None
    assert rest.operations == 0
    assert evaluate(rest, [1.0, 2.0, 3.0], given=[10, 20, 30, 40]).tolist() == [10, 20, 3, 4]


def test_products_that_are_given_are_computed_again() -> None:
    """A sum rounds them only once, whoever computes it."""
    graph = Graph()
    provider = Trace(lambda x: [x[0] * x[1], x[0] / x[1]], [2], graph)
    rest = Trace(lambda x: [x[0] * x[1] + 1.0, x[0] / x[1] + 1.0], [2], graph).after(provider)
    assert rest is not None
    assert sorted(arithmetic(rest)) == ['*', '+', '+']
    assert evaluate(rest, [5.0, 7.0], given=[10, 20]).tolist() == [36.0, 21.0]


def test_strangers_results_are_no_help() -> None:
    graph = Graph()
    stranger = Trace(lambda x: [x[0] * 5, x[1] / 7], [3], graph)
    assert Trace(star, [3], graph).after(stranger) is None


def test_several_results_are_helped_by_one() -> None:
    graph = Graph()
    provider = Trace(star, [3], graph)
    rest = Trace(lambda x: (star(x)[0] * 2, star(x)[1]), [3], graph).after(provider)
    assert rest is not None
    assert results(rest, [0.0] * 3, given=[10, 20, 0, 0]) == [20.0, 20.0]


def test_only_traces_that_can_help_are_asked() -> None:
    graph = Graph()
    trace = Trace(product, [3, 2], graph)
    helpers = {
        'another graph': Trace(star, [3]),
        'another length': Trace(star, [4], graph),
        'other lengths': Trace(lambda y, x: star(x), [2, 3], graph),
        'more arguments': Trace(lambda x, y, z: star(x), [3, 2, 1], graph),
        'several results': Trace(lambda x: (star(x)[0], star(x)[1]), [3], graph),
    }
    assert {name: trace.after(helper) for name, helper in helpers.items()} == dict.fromkeys(
        helpers
    )
    for sizes in ([3], [3, 2]):
        assert trace.after(Trace(lambda x, *y: star(x), sizes, graph)) is not None
