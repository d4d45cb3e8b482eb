# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Envelopes of long series keep every peak."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron_dynamics.bag.outputs.page.envelope import Envelope


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 90), min_size=1, max_size=4),
    piece=st.integers(1, 40),
    most=st.integers(2, 50),
    seed=st.integers(0, 99),
)
def test_points_are_extremes_of_the_samples_they_stand_for(lengths, piece, most, seed):
    random = np.random.default_rng(seed)
    envelope = Envelope(most)
    segments = []
    for length in lengths:
        values = random.normal(size=(length, 3))
        values[random.random(values.shape) < 0.2] = np.nan
        time = random.random() + np.arange(length) * 0.5
        segments.append((time, values))
        envelope.begin_segment()
        for first in range(0, length, piece):
            envelope.add(time[first : first + piece], values[first : first + piece])
    drawn, width = envelope.finish(), envelope.samples_per_point
    assert len(drawn) == len(segments)
    for part, (time, values) in zip(drawn, segments, strict=True):
        starts = range(0, len(time), width)
        assert np.array_equal(part.time, time[::width])
        for bound, extreme in ((part.low, np.fmin), (part.high, np.fmax)):
            expected = [extreme.reduce(values[start : start + width]) for start in starts]
            np.testing.assert_array_equal(bound, expected)
    assert sum(len(part.time) for part in drawn) <= max(most, 2 * len(lengths))


@pytest.mark.parametrize('count', [16, 17])
def test_there_are_no_fewer_points_than_needed(count):
    envelope = Envelope(16)
    envelope.begin_segment()
    envelope.add(np.arange(count, dtype=float), np.zeros((count, 1)))
    assert envelope.samples_per_point == (1 if count == 16 else 2)
