# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels without a compiler: what the trace says, for one state and for many."""

from __future__ import annotations

import math
import re
import tracemalloc
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_bits import assert_same_bits

from kron_dynamics import dynamics
from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.interpreted import Interpreted, emit_batch, emit_scalar
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import RobotModel, load_model

FEW, MANY = 3, 60  # states that run as Python code, as NumPy code
OPERATIONS: dict[str, Callable[..., Any]] = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
    'neg': lambda a: -a,
    'sin': np.sin,
    'cos': np.cos,
}


def node_by_node(trace: Trace, rows: list[np.ndarray]) -> list[np.ndarray]:
    """The results of a trace in the arithmetic of C, each operation on its own."""
    values: list[Any] = []
    with np.errstate(all='ignore'):
        for operation, a, b in trace.nodes:
            if operation == 'const':
                values.append(np.full(len(rows[0]), a))
            elif operation == 'input':
                values.append(rows[a][:, b].copy())
            else:
                inner = [values[k] for k in (a, b) if k is not None]
                values.append(OPERATIONS[operation](*inner))
    return [
        np.array([values[k] for k in numbers]).T.reshape(len(rows[0]), len(numbers))
        for numbers in trace.outputs
    ]


def interpreted(trace: Trace, rows: list[np.ndarray]) -> list[np.ndarray]:
    outs = [np.full((len(rows[0]), len(numbers)), 777.0) for numbers in trace.outputs]
    Interpreted(trace)(len(rows[0]), rows, outs)
    return outs


def assert_agrees(trace: Trace, rows: list[np.ndarray], rtol: float) -> None:
    for got, expected in zip(interpreted(trace, rows), node_by_node(trace, rows), strict=True):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


def sample(x: Any, y: Any) -> Any:
    """Several results: shared and repeated elements, arguments and constants among them."""
    s, c = sin(x[0]), cos(x[0])
    pair = [s * y[1] / (2.5 + c), -x[0] - c * y[0]]
    return np.array([pair, [pair[1], 7.0]]), s * c - x[2], np.array([y[0], 0.0, y[0]]), np.zeros(0)


LEAVES = st.one_of(
    st.sampled_from(['x0', 'x1', 'x2']),
    st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, 0.1, 1e-300, 1e300]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(['+', '-', '*', '/']), inner, inner),
        st.tuples(st.just('neg'), inner),
    ),
    max_leaves=30,
)
NUMBERS = st.one_of(
    st.floats(-4, 4),
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324]),
)


def compute(expression: Any, x: Any) -> Any:
    if isinstance(expression, str):
        return x[int(expression[1])]
    if isinstance(expression, float):
        return x[0] * 0 + expression  # a traced constant
    operation, *inner = expression
    return OPERATIONS[operation](*(compute(part, x) for part in inner))


@given(
    expressions=st.lists(st.lists(EXPRESSIONS, max_size=3), min_size=1, max_size=3),
    states=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=FEW),
)
@settings(max_examples=200, deadline=None)
def test_arithmetic_is_that_of_c_to_the_last_bit(expressions: Any, states: Any) -> None:
    def function(x: Any) -> Any:
        return tuple([compute(part, x) for part in parts] for parts in expressions)

    trace = Trace(function, [3])
    if not all(math.isfinite(a) for operation, a, _ in trace.nodes if operation == 'const'):
        return
    few = np.array(states)
    for rows in (few, np.resize(few, (MANY, 3))):
        for got, expected in zip(
            interpreted(trace, [rows]), node_by_node(trace, [rows]), strict=True
        ):
            assert_same_bits(got, expected)


@pytest.mark.parametrize('count', [0, 1, 2, 20, 21, 22, 4095, 4096, 4097, 8193, 10_001])
def test_any_number_of_states(count: int, rng: np.random.Generator) -> None:
    trace = Trace(sample, [3, 2])
    assert_agrees(trace, [rng.uniform(-3, 3, (count, 3)), rng.uniform(-3, 3, (count, 2))], 1e-14)


@pytest.mark.parametrize('count', [1, FEW, MANY])
@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_stay_in_their_state(count: int, value: float) -> None:
    trace = Trace(lambda x: [sin(x[0]) + x[1], cos(x[0]), x[2] / x[1], x[1] * 2], [3])
    rows = np.tile([0.5, 0.25, 1.0], (count, 1))
    rows[-1] = value, 0.0, 3.0
    with warnings.catch_warnings(), np.errstate(all='raise'):
        warnings.simplefilter('error')
        (out,) = interpreted(trace, [rows])
    np.testing.assert_array_equal(out[-1], [math.nan, math.nan, math.inf, 0.0])
    expected = [math.sin(0.5) + 0.25, math.cos(0.5), 4.0, 0.5]
    np.testing.assert_allclose(out[:-1], np.tile(expected, (count - 1, 1)), rtol=1e-15)


def test_zero_division_as_in_c() -> None:
    trace = Trace(lambda x: [x[0] / x[1], (x[0] * 0 + 2) / (x[1] * 0)], [2])
    for count in (1, MANY):
        for above, below in ((1.0, 0.0), (1.0, -0.0), (-1.0, 0.0), (0.0, 0.0)):
            (out,) = interpreted(trace, [np.tile([above, below], (count, 1))])
            with np.errstate(all='ignore'):
                quotient = np.float64(above) / np.float64(below)
            np.testing.assert_array_equal(out, np.tile([quotient, math.inf], (count, 1)))


def test_arguments_and_results_without_elements() -> None:
    trace = Trace(lambda x, y: (np.zeros((6, 0)), y[0], np.eye(2)), [0, 1])
    for count in (1, MANY):
        empty, same, eye = interpreted(trace, [np.zeros((count, 0)), np.full((count, 1), 3.0)])
        assert empty.shape == (count, 0)
        np.testing.assert_array_equal(same, np.full((count, 1), 3.0))
        np.testing.assert_array_equal(eye, np.tile([1.0, 0.0, 0.0, 1.0], (count, 1)))


def test_results_may_have_any_shape_of_the_right_length(rng: np.random.Generator) -> None:
    trace = Trace(lambda x: np.outer(x, np.sin(x)) / x[0], [3])
    for count in (1, FEW, MANY):
        rows, out = rng.uniform(1, 2, (count, 3)), np.empty((count, 3, 3))
        rows[0, 0] = 0.0  # this state is evaluated a second time
        Interpreted(trace)(count, [rows], [out])
        expected = node_by_node(trace, [rows])[0].reshape(count, 3, 3)
        np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_long_chains_need_few_rows_and_no_recursion(rng: np.random.Generator) -> None:
    def chain(x: Any) -> Any:
        total = x[0]
        for k in range(5000):
            total = total * 0.5 + x[k % 3] if k % 2 else x[1] - total
        return total

    trace = Trace(chain, [3])
    assert emit_batch(trace)[2] <= 5
    for count in (FEW, MANY):
        assert_agrees(trace, [rng.uniform(-1, 1, (count, 3))], 0.0)


@pytest.fixture(scope='module')
def panda() -> RobotModel:
    pytest.importorskip('pinocchio')
    from pinocchio_oracle import arm_text

    return load_model(arm_text('panda.urdf'))


def test_equations_of_an_arm(panda: RobotModel, rng: np.random.Generator) -> None:
    for function, arguments in ((dynamics.inverse_dynamics, 3), (dynamics.mass_matrix, 1)):
        trace = Trace(lambda *x, f=function: f(panda, *x), [panda.n] * arguments)
        for count in (FEW, MANY):
            assert_agrees(trace, list(rng.uniform(-3, 3, (arguments, count, panda.n))), 1e-12)


def test_a_batch_needs_little_more_memory_than_its_result(panda: RobotModel) -> None:
    trace = Trace(lambda q: dynamics.velocity_free_coriolis_matrix(panda, q), [panda.n])
    rows, out = [np.zeros((20_000, panda.n))], np.empty((20_000, len(trace.outputs[0])))
    evaluate = Interpreted(trace)
    tracemalloc.start()
    try:
        evaluate(len(out), rows, [out])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_threads_share_a_kernel(rng: np.random.Generator) -> None:
    trace = Trace(sample, [3, 2])
    evaluate = Interpreted(trace)

    def agrees(count: int) -> bool:
        rows = [np.full((count, 3), count / 7e3), np.full((count, 2), 0.5 - count / 9e3)]
        outs = [np.empty((count, len(numbers))) for numbers in trace.outputs]
        evaluate(count, rows, outs)
        pairs = zip(outs, node_by_node(trace, rows), strict=True)
        return all(np.allclose(got, expected, rtol=1e-13) for got, expected in pairs)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(agrees, rng.permutation(np.repeat([1, 2, 500, 4500, 9000], 12))))


def test_generated_code_is_made_of_a_closed_vocabulary() -> None:
    trace = Trace(lambda x, y: (*sample(x, y), x[0] + y[0] * 1e-9), [3, 2])
    words = set(re.findall(r'\b[A-Za-z_]\w*', emit_scalar(trace)))
    numbered = {word for word in words if re.fullmatch(r'[tuyp]\d+|x\d+(_\d+)?', word)}
    assert words - numbered == {'def', 'kron_kernel', 'state', 'sin', 'cos'}
    words = set(re.findall(r'\b[A-Za-z_]\w*', emit_batch(trace)[0]))
    numbered = {word for word in words if re.fullmatch(r'[cry]\d+|x\d+_\d+', word)}
    functions = {'add', 'subtract', 'multiply', 'divide', 'negative', 'sin', 'cos', 'copyto'}
    assert words - numbered <= {'def', 'kron_kernel', 'x', 'r', 'y'} | functions


def test_shared_operations_run_once() -> None:
    trace = Trace(lambda x: [sin(x[0]) + x[1], sin(x[0]) * x[1]], [2])
    assert (emit_scalar(trace).count('sin('), emit_batch(trace)[0].count('sin(')) == (1, 1)


def test_overflowing_constants_are_refused() -> None:
    with pytest.raises(KernelBuildError, match='overflow'):
        Interpreted(Trace(lambda x: x * math.inf, [1]))
