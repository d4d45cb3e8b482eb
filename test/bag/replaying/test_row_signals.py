# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded signals at other times: lines between samples, and nothing where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.row_signals import interpolated_joints
from kron_dynamics.bag.samples import Samples

PERIOD = 0.01


@pytest.fixture
def signals(rng):
    """Two signals with the same stamps, and one of two columns with others, all with a gap."""
    stamps = [PERIOD * (np.arange(200) + rng.uniform(-0.3, 0.3, 200)) for _ in range(2)]
    stamps = [times[(times < 0.7) | (times > 0.78)] for times in stamps]
    shared = [Samples(stamps[0], rng.normal(size=len(stamps[0]))) for _ in range(2)]
    return [*shared, Samples(stamps[1], rng.normal(size=(len(stamps[1]), 2)))]


@pytest.mark.parametrize(
    ('begin', 'end'),
    [(0.0, 2.0), (-0.1, 2.1), (0.503, 0.517), (0.5, 0.503), (1.9, 2.3), (-0.05, 0.003)]
    + [(0.71, 0.76), (-0.5, -0.4), (2.4, 2.5)],
)
@pytest.mark.parametrize('count', [1, 2, 97])
def test_values_are_on_lines_between_samples_that_are_near(begin, end, count, signals):
    time = np.linspace(begin, end, count)
    found = interpolated_joints(signals, time)
    columns = [(each, each.value.reshape(len(each.time), -1)) for each in signals]
    columns = [(each, column) for each, values in columns for column in values.T]
    for got, (each, column) in zip(found.T, columns, strict=True):
        after = np.searchsorted(each.time, time).clip(1, len(each.time) - 1)
        far = (each.time[after] - each.time[after - 1] > 5.0 * each.period) | (
            (time < each.time[0] - each.period) | (time > each.time[-1] + each.period)
        )
        expected = np.where(far, np.nan, np.interp(time, each.time, column))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(('first', 'last'), [(0, 192), (0, 2), (80, 100), (190, 192)])
def test_values_at_stamps_are_those_recorded(first, last, signals):
    shared = signals[0]
    found = interpolated_joints(signals[:2], shared.time[first:last])
    for got, each in zip(found.T, signals[:2], strict=True):
        np.testing.assert_array_equal(got, each.value[first:last])


@pytest.mark.parametrize('count', [0, 1])
def test_a_signal_with_less_than_two_samples_tells_nothing(count, signals):
    short = Samples(PERIOD * np.arange(count), np.ones((count, 2)))
    found = interpolated_joints([signals[0], short], np.array([0.0, 0.5]))
    assert np.isfinite(found[:, 0]).all() and np.isnan(found[:, 1:]).all()
