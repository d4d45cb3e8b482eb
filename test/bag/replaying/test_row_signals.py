# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded signals at other times: cubics between samples, and nothing where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.row_signals import interpolated_joints
from kron_dynamics.bag.samples import Samples

PERIOD = 0.01


@pytest.fixture
def signals(rng):
    """Two signals with the same stamps, and one of two columns with others.

    All have a gap, two lost samples, and two samples almost at the same time.
    """
    stamps = [PERIOD * (np.arange(200) + rng.uniform(-0.3, 0.3, 200)) for _ in range(2)]
    for times in stamps:
        times[31] = times[30] + 0.1 * PERIOD
    stamps = [np.delete(times, [51, 52]) for times in stamps]
    stamps = [times[(times < 0.7) | (times > 0.78)] for times in stamps]
    shared = [Samples(stamps[0], rng.normal(size=len(stamps[0]))) for _ in range(2)]
    return [*shared, Samples(stamps[1], rng.normal(size=(len(stamps[1]), 2)))]


@pytest.mark.parametrize(
    ('begin', 'end'),
    [(0.0, 2.0), (-0.1, 2.1), (0.503, 0.517), (0.5, 0.503), (1.9, 2.3), (-0.05, 0.003)]
    + [(0.29, 0.35), (0.48, 0.56), (0.71, 0.76), (-0.5, -0.4), (2.4, 2.5)],
)
@pytest.mark.parametrize('count', [1, 2, 97])
def test_values_are_on_cubics_between_neighbours_and_lines_beside_gaps(begin, end, count, signals):
    time = np.linspace(begin, end, count)
    found = interpolated_joints(signals, time)
    columns = [(each, each.value.reshape(len(each.time), -1)) for each in signals]
    columns = [(each, column) for each, values in columns for column in values.T]
    for got, (each, column) in zip(found.T, columns, strict=True):
        expected = [by_hand(each, column, at) for at in time]
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)


def by_hand(each, column, at):
    after = int(np.searchsorted(each.time, at).clip(1, len(each.time) - 1))
    if not each.time[0] - each.period <= at <= each.time[-1] + each.period:
        return np.nan
    if each.time[after] - each.time[after - 1] > 5.0 * each.period:
        return np.nan
    near = slice(after - 2, after + 2)
    apart = np.diff(each.time[near]) / each.period if 2 <= after < len(each.time) - 1 else [9.0]
    if min(apart) < 0.25 or max(apart) > 2.5 or not each.time[0] <= at <= each.time[-1]:
        return np.interp(at, each.time, column)
    return np.polyfit((each.time[near] - at) / PERIOD, column[near], 3)[-1]


def test_values_of_a_motion_are_right_to_the_fourth_power_of_the_period(rng):
    """An average over the neighbours, such as a line, would always be too small at the peaks."""
    errors = []
    for period in (0.1, 0.05):
        stamps = period * (np.arange(10.0 / period) + rng.uniform(-0.1, 0.1, int(10.0 / period)))
        time = np.arange(1.0, 9.0, 0.013)
        found = interpolated_joints([Samples(stamps, np.sin(3.0 * stamps))], time)[:, 0]
        errors.append(np.sqrt(np.mean((found - np.sin(3.0 * time)) ** 2)))
    assert errors[0] < 2e-4 and errors[0] > 12.0 * errors[1]


@pytest.mark.parametrize(('first', 'last'), [(0, 190), (0, 2), (80, 100), (188, 190)])
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
