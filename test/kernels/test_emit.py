# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generated code: what it may hold, and that it says what the trace says."""

from __future__ import annotations

import re
import string
from typing import Any

import numpy as np
import pytest

from kron_dynamics import dynamics
from kron_dynamics.elementary import cos, sin
from kron_dynamics.kernels import emit
from kron_dynamics.kernels.emit import cost, emit_c, emit_lanes, has_lanes, providers
from kron_dynamics.kernels.interpreted import Interpreted, emit_batch, emit_scalar
from kron_dynamics.kernels.prelude import prelude
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.model import RobotModel, load_model

CONSTANTS = [0.1, -0.1, 1 / 3, 1e22, -1e-300, 5e-324, 1.7976931348623157e308, 123456789.0]
PRELUDE = prelude()


def sample(x: Any, y: Any) -> Any:
    return [sin(x[0]) * y[1] / (2.5 + cos(x[1])), -x[0], 0.1 * y[0] - x[1], 7.0]


def several(x: Any, y: Any) -> Any:
    """More angles than `sample`, sums among them, and what it has."""
    angles = np.append(x, [x[0] + y[0], 2 * x[1] - y[1], -y[1]])
    waves = np.array([sin(angle) + cos(angle) for angle in angles])
    return np.outer(waves, sample(x, y)), waves @ waves, np.zeros(0), [y[0], 2.0, y[0]]


def words(code: str) -> set[str]:
    """All identifiers of a text, numbers in them left out; 1e-300 has none."""
    found = re.findall(r'(?<![\w.])[A-Za-z_]\w*', code)
    return {re.sub(r'\d+', '#', word) for word in found}


def kernels(source: str) -> str:
    assert source.startswith(PRELUDE)
    return source.removeprefix(PRELUDE)


def test_generated_code_is_made_of_a_closed_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, '_WORTH_A_CALL', 1)
    graph = Graph()
    traces = [Trace(function, [2, 2], graph) for function in (sample, several)]
    assert providers(traces) == {1: 0}
    code = kernels(emit_c(traces))
    lanes = kernels(emit_lanes(traces))
    common = {
        *('kernel_#', 'count', 'in', 'out', 'k', 'x#', 'y#', 't#', 's#', 'c#'),
        *('void', 'static', 'ptrdiff_t', 'const', 'double', 'restrict', 'for'),
    }
    assert words(code) == common | {
        *('kernel_#_one', 'inline', 'given', 'sines#', 'cosines#'),
        *('sincos_one', 'sincos_four', 'fma_double'),
    }
    assert words(lanes) == common | {
        *('kernel_#_many', 'wide', 'LANES', 'z#', 'u#', 'v#', 'if', 'return', 'sizeof'),
        *('sincos_wide', 'fma_wide', 'GATHER', 'same_wide', 'scatter', 'fill_up', 'memcpy'),
    }
    for text in (code, lanes):  # no quotes, no escapes, no directives
        assert set(text) <= {*string.ascii_letters, *string.digits, *'_ \n+-*/=<&.,;()[]{}'}


def test_code_without_a_compiler_has_its_own_vocabulary() -> None:
    trace = Trace(several, [2, 2])
    assert words(emit_scalar(trace)) == {
        *('def', 'kron_kernel', 'state', 'sin', 'cos'),
        *('x#', 'y#', 'x#_#', 't#', 'u#', 'p#'),
    }
    assert words(emit_batch(trace)[0]) == {
        *('def', 'kron_kernel', 'x', 'y', 'r', 'x#_#', 'y#', 'r#', 'c#'),
        *('sin', 'cos', 'add', 'subtract', 'multiply', 'divide', 'negative', 'copyto'),
    }


def test_any_number_of_angles_have_the_sines_and_cosines_of_each_alone(
    emitted: Any, rng: np.random.Generator
) -> None:
    """One to nine angles: whole vectors, and each number of angles that is left over."""
    x = rng.uniform(-3, 3, (2, 9))
    counts = range(1, 10)

    def of_several(count: int) -> Any:
        return lambda x: [f(angle) for angle in x[:count] for f in (sin, cos)]

    unit = emitted([Trace(of_several(count), [9]) for count in counts])
    each = np.array([np.ravel([[np.sin(a), np.cos(a)] for a in row]) for row in x])
    for k, count in enumerate(counts):
        (got,) = unit(k, x)
        np.testing.assert_allclose(got, each[:, : 2 * count], rtol=0, atol=4e-16)
        np.testing.assert_array_equal(got, unit(8, x)[0][:, : 2 * count])


def test_constants_arrive_with_every_digit(emitted: Any) -> None:
    trace = Trace(lambda x: CONSTANTS, [1])
    for count in (1, 40):
        rows, out = np.zeros((count, 1)), np.zeros((count, len(CONSTANTS)))
        Interpreted(trace)(count, [rows], [out])
        units = emitted([trace]), emitted([trace], lanes=True)
        for result in (out, *(array for unit in units for array in unit(0, rows))):
            np.testing.assert_array_equal(result, np.tile(CONSTANTS, (count, 1)))


def test_operands_that_are_constants_arrive_with_every_digit(emitted: Any) -> None:
    trace = Trace(lambda x: [x[0] * value for value in CONSTANTS], [1])
    for lanes in (False, True):
        (result,) = emitted([trace], lanes=lanes)(0, np.ones((43, 1)))
        np.testing.assert_array_equal(result, np.tile(CONSTANTS, (43, 1)))


@pytest.mark.parametrize('function', [sample, several])
def test_compiled_and_interpreted_code_agree(
    function: Any, emitted: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    x, y = rng.uniform(-3, 3, (2, 43, 2))
    trace = Trace(function, [2, 2])
    outs = [np.zeros((43, len(numbers))) for numbers in trace.outputs]
    Interpreted(trace)(43, [x, y], outs)
    each = [function(*rows) for rows in zip(x, y, strict=True)]
    each = each if isinstance(each[0], tuple) else [(one,) for one in each]
    for lanes in (False, True):
        for r, result in enumerate(emitted([trace], lanes=lanes)(0, x, y)):
            assert_close(result, outs[r])
            assert_close(result, [np.ravel(one[r]) for one in each])


def sines_of_sines(x: Any, y: Any) -> Any:
    """As of the angles of closed loops; many at each depth, which a vector of them serves."""
    inner = [sin(x[0] * k + y[1]) for k in range(1, 10)]
    middle = [cos(2 * a + x[1] * y[0] * inner[0]) for a in inner]
    return [sin(a * b) + cos(y[0]) + a for a, b in zip(inner, middle, strict=True)]


def test_sines_of_sines(emitted: Any, rng: np.random.Generator, assert_close: Any) -> None:
    assert 'sincos' in kernels(emit_c([Trace(lambda x: sin(x[0] * cos(0.0)), [1])]))
    x, y = rng.uniform(-3, 3, (2, 43, 2))
    trace = Trace(sines_of_sines, [2, 2])
    expected = [sines_of_sines(*rows) for rows in zip(x, y, strict=True)]
    for lanes in (False, True):
        (result,) = emitted([trace], lanes=lanes)(0, x, y)
        assert_close(result, expected)


def test_division_by_zero_is_no_error(emitted: Any) -> None:
    trace = Trace(lambda x: [x[0] / 0.0, 1 / (x[0] - x[0]), -3 / (x[0] * 0) + x[0]], [1])
    for lanes in (False, True):
        (result,) = emitted([trace], lanes=lanes)(0, np.ones((19, 1)))
        np.testing.assert_array_equal(result, np.tile([np.inf, np.inf, -np.inf], (19, 1)))


def test_wide_results_are_computed_one_state_at_a_time() -> None:
    for width in (1, 100, 101, 400):
        trace = Trace(lambda x, width=width: [x[0] * k for k in range(width)], [1])
        assert has_lanes(trace) == (width <= 100)
    assert not has_lanes(Trace(lambda x: ([x[0]] * 60, [x[0]] * 41), [1]))  # over all results


def test_functions_are_named_by_the_place_of_their_trace(emitted: Any) -> None:
    unit = emitted([Trace(lambda x, k=k: x * (k + 2), [2]) for k in range(3)])
    for k in range(3):
        np.testing.assert_array_equal(unit(k, [[3.0, 5.0]])[0], [[3.0 * (k + 2), 5.0 * (k + 2)]])


def arm(joints: int) -> RobotModel:
    """An arm that has nothing parallel and nothing zero."""
    parts = ['<link name="0"/>']
    for k in range(1, joints + 1):
        parts.append(
            f'<link name="{k}"><inertial><origin xyz="0.1 0.0{k} 0.2" rpy="0 0.{k} 0"/>'
            f'<mass value="{k}"/><inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" '
            f'iyz="0.03"/></inertial></link><joint name="{k}" type="continuous">'
            f'<parent link="{k - 1}"/><child link="{k}"/><axis xyz="{k % 3} 1 {k % 2}"/>'
            f'<origin xyz="0.1 0.2 0.3" rpy="0.{k} 0 1.2"/></joint>'
        )
    return load_model(f'<robot name="arm">{"".join(parts)}</robot>')


CORIOLIS = {
    dynamics.coriolis_matrix: 2,
    dynamics.velocity_free_coriolis_matrix: 1,
    dynamics.mass_matrix_derivative: 1,
}


def coriolis_traces(model: RobotModel) -> list[Trace]:
    graph = Graph()
    return [
        Trace(lambda *values, f=function: f(model, *values), [model.n] * count, graph)
        for function, count in CORIOLIS.items()
    ]


def test_what_holds_most_of_anothers_work_is_called_by_it() -> None:
    traces = coriolis_traces(arm(7))
    assert providers(traces) == {0: 1, 2: 1}  # C and dM/dq call C*
    assert providers(coriolis_traces(arm(2))) == {}  # too small to be worth it
    assert providers(traces[1:]) == {1: 0}
    assert providers(traces[::2]) == {}
    code = kernels(emit_c(traces))
    # The one that is called comes first, and is seen by the compiler twice at most.
    assert code.index('void kernel_1_one') < code.index('void kernel_0_one')
    assert code.count('kernel_1_one(x0, given);') == 2
    assert cost(traces) < 0.6 * sum(cost([trace]) for trace in traces)


def test_traces_of_several_graphs_serve_nobody() -> None:
    model = arm(7)
    alone = [coriolis_traces(model)[k] for k in range(3)]
    assert providers(alone) == {}


def test_who_is_called_calls_nobody(monkeypatch: pytest.MonkeyPatch, emitted: Any) -> None:
    monkeypatch.setattr(emit, '_WORTH_A_CALL', 1)
    graph = Graph()

    def powers(count: int) -> Trace:
        return Trace(lambda x: [(x[0] + 1) * (x[0] + 2) + k for k in range(count)], [1], graph)

    traces = [powers(4), powers(8), powers(12)]
    serving = providers(traces)
    assert serving
    assert not set(serving) & set(serving.values())
    unit = emitted(traces)
    for k, trace in enumerate(traces):
        (result,) = unit(k, np.full((11, 1), 3.0))
        np.testing.assert_array_equal(result, [20.0 + np.arange(len(trace.outputs[0]))] * 11)


def test_calls_change_no_number(
    monkeypatch: pytest.MonkeyPatch, emitted: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    model = arm(5)
    traces = coriolis_traces(model)
    calling = emitted(traces)
    q, qd = rng.uniform(-2, 2, (2, 11, model.n))
    for k, (function, count) in enumerate(CORIOLIS.items()):
        rows = (q, qd)[:count]
        (result,) = calling(k, *rows)
        expected = [np.ravel(function(model, *values)) for values in zip(*rows, strict=True)]
        assert_close(result, expected, rel=1e-13)
    monkeypatch.setattr(emit, 'providers', lambda traces: {})
    alone = emitted(traces[:1])
    assert 'given' not in kernels(alone.source)
    assert_close(calling(0, q, qd)[0], alone(0, q, qd)[0], rel=1e-14)


def test_cost_is_the_number_of_statements() -> None:
    narrow = Trace(lambda x: [x[0] * k + x[1] for k in range(2, 50)], [2])
    wide = Trace(lambda x: [x[0] * k + x[1] for k in range(2, 150)], [2])
    assert cost([narrow]) == narrow.operations
    assert cost([wide]) == wide.operations
    assert cost([narrow, wide]) == cost([narrow]) + cost([wide])
    assert cost([]) == 0
