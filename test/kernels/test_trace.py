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

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.emit import emit_c, emit_numpy
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.kinematics.scalars import cos, sin

OPERATIONS: dict[str, Callable[..., Any]] = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
    'neg': lambda a: -a,
    'sin': sin,
    'cos': cos,
}


def evaluate(trace: Trace, *arguments: Any) -> np.ndarray:
    """The numbers a trace stands for, one node after the other."""
    values: list[float] = []
    for operation, a, b in trace.nodes:
        if operation == 'const':
            values.append(a)
        elif operation == 'input':
            values.append(float(arguments[a][b]))
        elif b is None:
            values.append(OPERATIONS[operation](values[a]))
        else:
            values.append(OPERATIONS[operation](values[a], values[b]))
    return np.array([values[number] for number in trace.outputs]).reshape(trace.shape)


def recorded(function: Callable[..., Any], size: int = 3) -> list[Any]:
    """Operations of a function of one argument, arithmetic ones only."""
    nodes = Trace(function, [size]).nodes
    return [operation for operation, _, _ in nodes if operation not in ('const', 'input')]


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


def test_operands_come_before_their_use() -> None:
    trace = Trace(lambda x: np.outer(x, sin(x[0]) * x), [3])
    for number, (operation, a, b) in enumerate(trace.nodes):
        if operation not in ('const', 'input'):
            assert a < number
            assert b is None or b < number


def test_arrays_of_traced_scalars_obey_numpy(rng: np.random.Generator) -> None:
    A, x = rng.normal(size=(2, 3)), rng.normal(size=3)

    def function(v: Any) -> Any:
        return (A @ v + v[0] * np.ones(2) - np.array([1.0, 2.0]) / v[1])[::-1]

    trace = Trace(function, [3])
    assert trace.shape == (2,)
    np.testing.assert_allclose(evaluate(trace, x), function(x), rtol=1e-14)


def test_several_arguments_and_a_scalar_result() -> None:
    trace = Trace(lambda x, y: x[1] * y[0], [2, 1])
    assert (trace.shape, trace.sizes) == ((), (2, 1))
    assert evaluate(trace, [3.0, 4.0], [5.0]) == 20.0


def test_results_without_any_traced_scalar() -> None:
    np.testing.assert_array_equal(evaluate(Trace(lambda x: np.eye(2), [1]), [0.0]), np.eye(2))


def test_strangers_are_refused() -> None:
    with pytest.raises(TypeError):
        Trace(lambda x: [x[0] + 'one'], [1])


LEAVES = st.one_of(
    st.sampled_from(['x0', 'x1', 'x2']),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2, -3, 0.1, 1e-3]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
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


@given(expressions=st.lists(EXPRESSIONS, min_size=1, max_size=4), data=st.data())
@settings(max_examples=300)
def test_traced_expressions_give_exactly_the_floats(expressions: Any, data: Any) -> None:
    number = st.floats(-4, 4).map(lambda value: round(value, 2))
    x = data.draw(st.tuples(number, number, number))
    try:
        expected = [compute(expression, x) for expression in expressions]
    except ZeroDivisionError:
        assume(False)
    trace = Trace(lambda v: [compute(expression, v) for expression in expressions], [3])
    # Every rule is exact: not even the last digit may differ.
    np.testing.assert_array_equal(evaluate(trace, x), expected)


def test_branching_on_a_traced_number_is_refused() -> None:
    with pytest.raises(TypeError, match='truth value'):
        Trace(lambda x: x if x[0] else -x, [1])


def test_overflowing_constants_are_refused() -> None:
    trace = Trace(lambda x: x * float('inf'), [1])
    for emit in (emit_c, emit_numpy):
        with pytest.raises(KernelBuildError, match='overflow'):
            emit(trace)
