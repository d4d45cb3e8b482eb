# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Products that are rounded once, with their sum: which, and that nothing else decides it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from same_bits import assert_same_bits

from kron_dynamics import dynamics
from kron_dynamics.elementary import sin
from kron_dynamics.kernels import emit
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.model import load_model

# a b is 1 - e, exactly, and 1 if it is rounded.
A, B, E = 1 + 2.0**-40, 1 - 2.0**-40, 2.0**-80
SUMS: dict[str, tuple[Callable[..., Any], float, list[float]]] = {
    'ab + c': (lambda a, b, c: [a * b + c], -1.0, [-E]),
    'c + ab': (lambda a, b, c: [c + a * b], -1.0, [-E]),
    'ab - c': (lambda a, b, c: [a * b - c], 1.0, [-E]),
    'c - ab': (lambda a, b, c: [c - a * b], 1.0, [E]),
    '-ab + c': (lambda a, b, c: [-(a * b) + c], 1.0, [E]),
    '-ab - c': (lambda a, b, c: [-(a * b) - c], -1.0, [E]),
    'with a constant': (lambda a, b, c: [a * b - 1.0], 0.0, [-E]),
    'of a constant': (lambda a, b, c: [A * b + c], -1.0, [-E]),
    'also a result': (lambda a, b, c: [a * b, a * b + c], -1.0, [1.0, -E]),
    'also a factor': (lambda a, b, c: [a * b * c, a * b + c], -1.0, [-1.0, -E]),
    'in two sums': (lambda a, b, c: [a * b + c, c * 2 + a * b], -1.0, [-E, -1.0 - E]),
    'twice': (lambda a, b, c: [a * b + a * b], 0.0, [2.0]),
    'of sums': (lambda a, b, c: [(a + 0.5 * c) * (b + c) - E], 0.0, [1.0 - 2 * E]),
}


@pytest.mark.parametrize('in_lanes', [False, True])
def test_products_are_rounded_with_their_sums(emitted: Any, lanes: int, in_lanes: bool) -> None:
    """Where the processor can; that of two numbers in a vector, compiled for, cannot."""
    unit = emitted([Trace(lambda x, f=f: f(*x), [3]) for f, _, _ in SUMS.values()], lanes=in_lanes)
    for k, (name, (function, c, once)) in enumerate(SUMS.items()):
        expected = function(A, B, c) if lanes == 2 else once
        for got in unit(k, np.tile([A, B, c], (9, 1)))[0]:
            np.testing.assert_array_equal(got, expected, name)


def test_of_two_products_the_deeper_one_is_fused(emitted: Any, lanes: int) -> None:
    """Whatever was recorded before: its operands are the last to be known."""

    def deep(x: Any) -> Any:
        return (x[0] - x[2]) * x[1]

    def shallow(x: Any) -> Any:
        return x[0] * x[1]

    parts = [
        lambda x: [shallow(x) - deep(x)],
        lambda x: [deep(x) - shallow(x)],
        lambda x: [deep(x)],
        lambda x: [shallow(x)],
    ]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        graph = Graph()
        unit = emitted([Trace(parts[k], [3], graph) for k in order])
        found = {k: float(unit(place, [[A, B, 0.0]])[0][0, 0]) for place, k in enumerate(order)}
        lost = 0.0 if lanes == 2 else E
        assert (found[0], found[1]) == (lost, -lost)


def test_the_order_of_recording_decides_nothing(emitted: Any, rng: Any) -> None:
    """Not even between products that differ only in constants."""
    pairs = [(lambda x, k=k: (x[0] + k) * x[1]) for k in (-1.0, -2.0, 1.0, 0.5, 1 / 3)]
    x = rng.uniform(-1, 1, (50, 2))
    found = []
    for order in (1, -1):
        graph = Graph()
        Trace(lambda x, pairs=pairs[::order]: [f(x) for f in pairs], [2], graph)
        traces = [Trace(lambda x: [f(x) + g(x) for f in pairs for g in pairs], [2], graph)]
        found.append(emitted(traces)(0, x)[0])
    np.testing.assert_array_equal(*found)


def test_a_result_has_the_same_bits_alone_and_beside_others(
    emitted: Any, robot_text: Any, rng: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where its function calls that of another result: the derivative of M calls C*."""
    model = load_model(robot_text('spatial_3r'))
    q = rng.uniform(-3, 3, (20, model.n))
    quantities = [
        dynamics.velocity_free_coriolis_matrix,
        dynamics.mass_matrix_derivative,
    ]

    def trace(quantity: Any, graph: Graph | None = None) -> Trace:
        return Trace(lambda q: quantity(model, q), [model.n], graph)

    alone = [emitted([trace(quantity)])(0, q)[0] for quantity in quantities]
    monkeypatch.setattr(emit, '_WORTH_A_CALL', 1)
    for order in ([0, 1], [1, 0]):
        graph = Graph()
        traces = [trace(quantities[k], graph) for k in order]
        assert emit.providers(traces)
        unit = emitted(traces)
        for place, k in enumerate(order):
            np.testing.assert_array_equal(unit(place, q)[0], alone[k])


def test_zeros_have_the_same_sign_where_another_kernel_computes_them(
    emitted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A negated fused sum is 0 minus it: as a result of its own, and as one that is given."""

    def sums(x: Any) -> list[Any]:
        return [x[0] * x[1] + x[2], x[0] + x[2], x[1]]

    def negatives(x: Any) -> list[Any]:
        return [-sums(x)[0], -sums(x)[1], x[1] - sums(x)[0] * x[2]]

    x = np.array([[a, b, c] for a in (0.0, -0.0) for b in (0.0, -0.0, 1.0) for c in (0.0, -0.0)])
    alone = emitted([Trace(negatives, [3])])(0, x)[0]
    monkeypatch.setattr(emit, '_WORTH_A_CALL', 0)
    graph = Graph()
    traces = [Trace(sums, [3], graph), Trace(negatives, [3], graph)]
    assert emit.providers(traces) == {1: 0}
    assert_same_bits(emitted(traces)(1, x)[0], alone)


def test_units_emitted_by_several_threads_do_not_change_each_other(robot_text: Any) -> None:
    """Threads that take turns as often as Python can look at one graph at the same time."""
    model = load_model(robot_text('spatial_3r'))
    quantities = [(dynamics.mass_matrix, 1), (dynamics.coriolis_vector, 2)]
    quantities += [(dynamics.inverse_dynamics, 3), (dynamics.forward_dynamics, 3)]

    def traces() -> list[Trace]:
        graph = Graph()
        return [
            Trace(lambda *state, f=f: f(model, *state), [model.n] * count, graph)
            for f, count in quantities
        ]

    def emitted_alone(trace: Trace) -> str:
        return emit.emit_c([trace])

    alone = list(map(emitted_alone, traces()))
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            for _ in range(8):
                assert list(pool.map(emitted_alone, traces())) == alone
    finally:
        sys.setswitchinterval(usual)


def test_loops_fuse_them_too(emitted: Any, robot_text: Any) -> None:
    model = load_model(robot_text('spatial_3r'))

    def function(staged: Any, x: Any) -> Any:
        results = x * 0.0
        for k in staged.coordinates():
            results[k] = x[k] * x[k] - 1.0 + sin(0.0 * x[k])
        return results

    trace = LoopTrace(function, model, [3])
    source = emit.emit_c([trace])
    assert source.count('fma_double(t') == source.count('fma_wide(t') == 1
