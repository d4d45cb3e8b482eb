# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Many states at once, one a lane: every width, every rest of a batch, every length of vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from long_runs import some_of

from kron_dynamics import dynamics
from kron_dynamics.elementary import cos, sin
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import load_model

pytestmark = pytest.mark.usefixtures('lanes')
# Narrower than a vector, of whole squares, with a rest; every rest of a batch.
WIDTHS = [*range(1, 21), 33]
COUNTS = [*range(20), 1000]


def row(x: Any, y: Any, width: int) -> list[Any]:
    """Whole numbers, exact in any order of operations: arguments and constants among them."""
    kinds = [
        lambda k: x[k % 3] * (k + 1) + y[k % 2],
        lambda k: x[k % 3] * y[k % 2] - k,
        lambda k: y[k % 2],
        lambda k: float(k),
        lambda k: x[1] + x[2],
    ]
    return [kinds[k % 5](k) for k in range(width)]


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.arange(5.0 * count).reshape(count, 5) - 7
    return numbers[:, :3], numbers[:, 3:] ** 2


def rows(x: np.ndarray, y: np.ndarray, width: int) -> np.ndarray:
    columns = [np.broadcast_to(column, len(x)) for column in row(x.T, y.T, width)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))


def test_results_of_every_width_in_batches_of_every_length(emitted: Any) -> None:
    unit = emitted([Trace(lambda x, y, n=n: row(x, y, n), [3, 2]) for n in WIDTHS], lanes=True)
    for count in COUNTS:
        x, y = states(count)
        for k, width in enumerate(WIDTHS):
            np.testing.assert_array_equal(unit(k, x, y)[0], rows(x, y, width), str((count, width)))


def test_several_results_of_several_widths(emitted: Any) -> None:
    widths = [3, 1, 0, 9, 17, 8]
    unit = emitted([Trace(lambda x, y: tuple(row(x, y, n) for n in widths), [3, 2])], lanes=True)
    for count in COUNTS:
        x, y = states(count)
        for result, width in zip(unit(0, x, y), widths, strict=True):
            np.testing.assert_array_equal(result, rows(x, y, width), str((count, width)))


def test_results_that_need_no_argument(emitted: Any) -> None:
    values = np.arange(9.0) - 4
    unit = emitted(
        [
            Trace(lambda x: (values, np.zeros((0, 3)), 5.0), [2]),
            Trace(lambda: values.reshape(3, 3), []),
            Trace(lambda x: np.zeros(0), [0]),
        ],
        lanes=True,
    )
    for count in COUNTS:
        matrix, none, number = unit(0, np.zeros((count, 2)))
        np.testing.assert_array_equal(matrix, np.tile(values, (count, 1)))
        np.testing.assert_array_equal(number, np.full((count, 1), 5.0))
        assert none.shape == (count, 0)
        assert unit(2, np.zeros((count, 0)))[0].shape == (count, 0)
    np.testing.assert_array_equal(unit(1)[0], [values])


def waves(x: Any) -> list[Any]:
    """Each result depends on one or two of the arguments."""
    return [sin(x[0]) / (2 + cos(x[1])), cos(x[1] + 1) * 3, sin(x[2] * 2) - x[2], x[1], x[0] * 0.5]


DEPENDS = np.array([[1, 0, 0, 0, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 0]], dtype=bool)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_in_its_state_and_its_results(
    bad: float, emitted: Any, rng: np.random.Generator
) -> None:
    unit = emitted([Trace(waves, [3])], lanes=True)
    x = rng.uniform(-3, 3, (19, 3))
    (good,) = unit(0, x)
    for state in range(19):
        for element in range(3):
            spoilt = x.copy()
            spoilt[state, element] = bad
            (result,) = unit(0, spoilt)
            hit = np.zeros(result.shape, dtype=bool)
            hit[state] = DEPENDS[element]
            assert not np.isfinite(result[hit]).any()
            # The others may take the sine another way, which is as exact.
            np.testing.assert_allclose(result[~hit], good[~hit], rtol=2e-15, atol=1e-15)


def test_huge_angles_leave_their_neighbours_alone(emitted: Any, rng: np.random.Generator) -> None:
    unit = emitted([Trace(waves, [3])], lanes=True)
    x = rng.uniform(-3, 3, (19, 3))
    for state, huge in zip(range(19), np.geomspace(1e6, 1e300, 19), strict=True):
        far = x.copy()
        far[state] = huge, -huge, huge / 3
        expected = [waves(angles.tolist()) for angles in far]
        np.testing.assert_allclose(unit(0, far)[0], expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize('name', some_of(['spatial_3r', 'branched', 'rail_boom'], ['rail_boom']))
def test_a_batch_is_the_single_states(
    name: str, emitted: Any, robot_text: Any, rng: np.random.Generator
) -> None:
    model = load_model(robot_text(name))
    functions = {dynamics.inverse_dynamics: 3, dynamics.mass_matrix: 1}
    traces = [
        Trace(lambda *values, f=function: f(model, *values), [model.n] * count)
        for function, count in functions.items()
    ]
    one_by_one, together = emitted(traces), emitted(traces, lanes=True)
    arguments = rng.uniform(-3, 3, (3, 203, model.n))
    arguments[0, 50:70:3] *= 1e6  # some so far away that the C library takes their sines
    for k, trace in enumerate(traces):
        values = arguments[: len(trace.sizes)]
        (batch,) = together(k, *values)
        (singles,) = one_by_one(k, *values)
        np.testing.assert_array_equal(batch, singles)


def test_a_state_has_the_same_bits_wherever_it_stands(
    emitted: Any, robot_text: Any, rng: np.random.Generator
) -> None:
    model = load_model(robot_text('spatial_3r'))
    unit = emitted([Trace(lambda q: dynamics.gravity_vector(model, q), [3])], lanes=True)
    q = rng.uniform(-3, 3, (43, 3))
    (batch,) = unit(0, q)
    for start in range(43):
        for stop in (start + 1, 43):
            np.testing.assert_array_equal(unit(0, q[start:stop])[0], batch[start:stop])
