# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Segments made ready for vibrations, whenever they begin, and windows that are made of them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.vibrating_machines import STACKER
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.vibration.predicted_modes import predicted_modes
from kron_dynamics.bag.vibration.record_windows import record_windows
from kron_dynamics.bag.vibration.vibration_records import VibrationRecord

pytestmark = pytest.mark.interpreted

TIP = 'bucket_wheel'
FREQUENCY, NOISE = 2.0, 5.0
RIGID = STACKER.robot(bends=False)


def record_of(period: float, count: int, tip: tuple[int, ...] = (), start: float = 100.0):
    """The machine in slow motion, with white noise on efforts; the tip at some samples alone."""
    time = start + period * np.arange(count)
    noise = NOISE * np.random.default_rng(1).standard_normal((count, 3))
    swing = np.outer(np.sin(0.3 * (time - start)), [0.5, 0.02, 0.01])
    rates = 0.3 * np.outer(np.cos(0.3 * (time - start)), [0.5, 0.02, 0.01])
    q = np.array(STACKER.pose) + swing
    columns = [tuple(Samples(time, column) for column in each.T) for each in (q, rates, noise)]
    segment = JointSegment(0, float(time[0]), float(time[-1]), *columns)
    shaken = Samples(time[list(tip)], np.ones((len(tip), 6)))
    return VibrationRecord(RIGID, TIP, segment, columns[2], shaken, FREQUENCY)


@pytest.mark.parametrize('start', [0.0, 100.0])
def test_it_has_the_samples_of_its_segment_whenever_that_begins(start):
    record = record_of(0.01, 400, start=start)
    assert (record.count, record.long_enough) == (400, True)
    np.testing.assert_allclose(record.effort_noise, NOISE, rtol=0.1)


def test_two_samples_are_a_line_and_one_is_nothing():
    assert np.isfinite(record_of(0.01, 400, tip=(0, 399)).tip_noise).all()
    assert np.isnan(record_of(0.01, 400, tip=(0,)).tip_noise).all()


def test_samples_are_not_connected_across_a_gap():
    tip = (*range(0, 400, 2), *range(500, 800, 2))
    record = record_of(0.01, 800, tip=tip)
    known = np.isfinite(record.rows(0, 800).tip).all(axis=1)
    far = 3 * record.reach
    assert known[far : 398 - far].all() and known[500 + far : 800 - far].all()
    assert not known[399:500].any()


def test_windows_reach_up_to_twice_the_modes_where_the_sampling_lets():
    robot = STACKER.robot()
    omega = predicted_modes(robot, np.array(STACKER.pose), TIP).omega
    for period, highest in ((0.02, 2.0 * omega.max()), (0.25, 2.0 * np.pi * 0.45 / 0.25)):
        record = record_of(period, int(300.0 / period))
        windows, _ = record_windows(robot, TIP, [record], [0, 1], slice(3))
        spacing = windows.lines[1] - windows.lines[0]
        assert 0.0 < highest - windows.lines[-1] <= spacing * 1.001
        assert windows.count > 3
        # Of sums of as many samples as a window has.
        length = 2.0 * np.pi / spacing / period
        expected = np.sqrt(length) * record.effort_noise
        np.testing.assert_allclose(windows.channel_noise, expected, rtol=1e-6)
