# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of several messages, merged: those that a loop over them keeps."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.samples import DroppedSamples, Samples, merge_samples, sample_period


def by_hand(pieces, times, wanted):
    """Time and value of what is kept, and how many are the same and other than before."""
    kept, same, other = {}, 0, 0
    rows = [(k, v) for piece in pieces for k, v in zip(*piece, strict=True)]
    for k, value in sorted(rows, key=lambda row: row[0]):
        if not wanted[k]:
            continue
        known = kept.setdefault(times[k], value)
        if known is not value:
            equal = bool(np.all(known == value))
            same, other = same + equal, other + (not equal)
    return sorted(kept.items(), key=lambda row: row[0]), same, other


@pytest.mark.parametrize('columns', [(), (3,)])
@pytest.mark.parametrize('shared', [False, True])
def test_each_time_is_kept_once_and_the_others_counted(columns, shared, rng):
    count = 60
    times = rng.integers(0, 40, count) / 8.0
    wanted = rng.uniform(size=count) < (1.1 if shared else 0.8)
    value = rng.integers(0, 2, (count, *columns)).astype(float)
    if shared:  # two that both have all messages
        times = np.sort(rng.permutation(80)[:count]) / 8.0
        pieces = [(np.arange(count), value), (np.arange(count), value[::-1].copy())]
    else:
        cut = rng.permutation(count)
        pieces = [(part, value[part]) for part in (np.sort(cut[:25]), np.sort(cut[25:]))]
    dropped = DroppedSamples(duplicates=2, conflicts=3)
    found = merge_samples(pieces, times, wanted, dropped)
    kept, same, other = by_hand(pieces, times, wanted)
    np.testing.assert_array_equal(found.time, [time for time, _ in kept])
    np.testing.assert_array_equal(found.value, [each for _, each in kept])
    assert (dropped.duplicates, dropped.conflicts) == (2 + same, 3 + other)
    assert same and other


def test_samples_without_any_repetition_are_taken_as_they_are(rng):
    times, value = np.arange(5.0), rng.normal(size=5)
    dropped = DroppedSamples()
    found = merge_samples([(np.arange(5), value)], times, np.ones(5, dtype=bool), dropped)
    assert found.time is times and found.value is value
    some = merge_samples([(np.arange(5), value)], times, times != 2.0, dropped)
    np.testing.assert_array_equal(some.time, [0.0, 1.0, 3.0, 4.0])
    backwards = merge_samples([(np.arange(5), value)], -times, times >= 0.0, dropped)
    np.testing.assert_array_equal(backwards.value, value[::-1])
    assert merge_samples([], times, times >= 0.0, dropped).time.size == 0
    assert dropped == DroppedSamples()


@pytest.mark.parametrize(
    ('start', 'end', 'kept'),
    [
        (1.0, 3.0, [1, 2, 3]),
        (0.5, 3.5, [1, 2, 3]),
        (-1.0, 0.0, [0]),
        (4.0, 9.0, [4]),
        (2.1, 2.9, []),
    ],
)
def test_samples_between_two_times_have_those_at_both(start, end, kept):
    samples = Samples(np.arange(5.0), 10.0 * np.arange(5.0))
    found = samples.between(start, end)
    np.testing.assert_array_equal(found.time, kept)
    np.testing.assert_array_equal(found.value, 10.0 * np.array(kept))


def test_the_usual_period_is_that_of_either_of_two_publishers():
    single = 0.1 * np.arange(100)
    both = np.sort(np.concatenate((single, single + 1e-3)))
    assert sample_period(single) == pytest.approx(0.1)
    assert sample_period(both) == pytest.approx(0.099)
    assert Samples(both, both).period == sample_period(both)
