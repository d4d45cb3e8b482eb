# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums, rates and thinned rows taken block by block are those of NumPy over the whole."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics.bag.replaying.rate_sums import RateSums
from kron_dynamics.bag.replaying.run_sums import Moments
from kron_dynamics.bag.replaying.thinned_rows import LEAST_DISTANCE, ThinnedRows

STEP, JOINTS = 0.02, 3
WIDTHS = (0.06, 0.1, 0.06)  # 3, 5 and 3 rows


@pytest.fixture
def segments(rng):
    """Two segments whose first joint has efforts now and then, and the last one none."""
    found = []
    for number, count in ((0, 83), (1, 40)):
        recorded = rng.normal(size=(count, JOINTS))
        recorded[rng.uniform(size=count) < 0.2, 0] = np.nan
        recorded[:, 2] = np.nan
        found.append(
            SimpleNamespace(
                segment=number,
                time=100.0 * number + STEP * np.arange(count),
                valid=rng.uniform(size=count) < 0.9,
                position=rng.normal(size=(count, JOINTS)),
                velocity=rng.normal(size=(count, JOINTS)),
                deflection=rng.normal(size=(count, 2)),
                deflection_rate=rng.normal(size=(count, 2)),
                acceleration=rng.normal(size=(count, JOINTS)),
                recorded=recorded,
                recomputed=rng.normal(size=(count, JOINTS)),
                tip_recomputed=rng.normal(size=(count, 6)),
            )
        )
    return found


def in_blocks(segments, size):
    for each in segments:
        for first in range(0, len(each.time), size):
            rows = slice(first, first + size)
            cut = {
                name: value[rows]
                for name, value in vars(each).items()
                if isinstance(value, np.ndarray)
            }
            yield SimpleNamespace(segment=each.segment, **cut)


def rates_of(segments, name, column, apart):
    """Rates of a signal whose both ends are valid, NaN with them."""
    found = []
    for each in segments:
        signal = getattr(each, name)[:, column]
        both = each.valid[apart:] & each.valid[:-apart]
        found.append(((signal[apart:] - signal[:-apart]) / (apart * STEP))[both])
    return np.concatenate(found)


@pytest.mark.parametrize('size', [1, 2, 7, 1000])
def test_rates_do_not_depend_on_blocks(segments, size):
    sums = RateSums(WIDTHS, STEP)
    assert sums.apart == [3, 5, 3]
    for block in in_blocks(segments, size):
        sums.add(block)
    np.testing.assert_array_equal(sums.is_recorded, [True, True, False])
    for k, apart in enumerate(sums.apart):
        recorded = rates_of(segments, 'recorded', k, apart)
        recomputed = rates_of(segments, 'recomputed', k, apart)
        for moments, rates in (
            (sums.jerk, rates_of(segments, 'acceleration', k, apart)),
            (sums.recorded, recorded),
            (sums.recomputed, recomputed),
            (sums.compared, np.where(np.isfinite(recorded), recomputed, np.nan)),
        ):
            known = rates[np.isfinite(rates)]
            assert moments.count[k] == known.size
            if not known.size:
                assert np.isnan([moments.rms(k), moments.largest(k)]).all()
                continue
            assert moments.rms(k) == pytest.approx(np.sqrt(np.mean(known**2)))
            assert moments.largest(k) == pytest.approx(np.abs(known).max())
    tip = np.column_stack([rates_of(segments, 'tip_recomputed', k, 5) for k in range(6)])
    for place, rows in enumerate((slice(3), slice(3, 6))):
        sizes = np.linalg.norm(tip[:, rows], axis=1)
        assert sums.tip.rms(place) == pytest.approx(np.sqrt(np.mean(sizes**2)))
        assert sums.tip.largest(place) == pytest.approx(sizes.max())


@pytest.mark.parametrize('size', [1, 2, 7, 1000])
def test_thinned_rows_are_means_of_whole_groups(segments, size):
    thinned = ThinnedRows(STEP)
    stride = thinned.stride
    assert (stride - 1) * STEP < LEAST_DISTANCE <= stride * STEP
    assert ThinnedRows(LEAST_DISTANCE / 5.0).stride == 5
    assert ThinnedRows(1.0).stride == 1
    for block in in_blocks(segments, size):
        thinned.add(block)
    for each, found in zip(segments, thinned.segments(), strict=True):
        groups = len(each.time) // stride

        def means(values, groups=groups):
            return values[: groups * stride].reshape(groups, stride, -1).mean(axis=1)

        np.testing.assert_allclose(found.time, means(each.time)[:, 0])
        np.testing.assert_allclose(found.position, means(each.position))
        np.testing.assert_allclose(found.velocity, means(each.velocity))
        np.testing.assert_allclose(found.deflection, means(each.deflection))
        np.testing.assert_allclose(found.deflection_rate, means(each.deflection_rate))
        np.testing.assert_allclose(found.effort, means(each.recorded))
        np.testing.assert_array_equal(found.valid, means(each.valid)[:, 0] == 1.0)
    thinned.keep([1])
    (last,) = thinned.segments()
    np.testing.assert_allclose(last.time[0], segments[1].time[:stride].mean())


def test_moments_of_parts_are_those_of_the_whole(rng):
    values, known = rng.normal(3.0, 1.0, (50, 2)), rng.uniform(size=(50, 2)) < 0.7
    parts = [Moments(3), Moments(3)]
    table = np.column_stack([values, np.zeros(50)])
    counts = np.column_stack([known, np.zeros(50, dtype=bool)])
    parts[0].add(table[:20].copy(), counts[:20])
    parts[1].add(table[20:].copy(), counts[20:])
    parts[1].add(np.empty((0, 3)))
    for order in (parts, parts[::-1]):
        both = order[0].joined(order[1])
        for k in range(2):
            own = values[known[:, k], k]
            assert both.mean(k) == pytest.approx(own.mean())
            assert both.rms(k) == pytest.approx(np.sqrt(np.mean(own**2)))
            assert both.largest(k) == np.abs(own).max()
        assert np.isnan([both.mean(2), both.rms(2), both.largest(2)]).all()
    whole = Moments(2)
    whole.add(-values)
    assert whole.mean(1) == pytest.approx(-values[:, 1].mean())
    assert whole.largest(1) == np.abs(values[:, 1]).max()
