# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Signals on an even grid, moving sums, noise and resolution."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.resampling import convolve, noise_level, on_grid, resolution
from kron_dynamics.bag.samples import Samples

STEP = 0.01
TIME = np.arange(600) * STEP


def test_samples_on_the_grid_are_taken_as_they_are():
    signal = 600.0 + np.random.default_rng(1).standard_normal(600)
    found, bridged = on_grid(Samples(TIME + 3e-9, signal), TIME, STEP)
    assert np.array_equal(found, signal) and not bridged.any()


def test_jitter_is_undone_to_the_fourth_power_of_the_distance():
    rng = np.random.default_rng(2)
    errors = []
    for step in (0.02, 0.01):
        time = np.arange(0.0, 6.0, step)
        stamps = time + step * rng.uniform(-0.3, 0.3, len(time))
        found, _ = on_grid(Samples(stamps, np.sin(3 * stamps)), time, step)
        errors.append(np.abs(found - np.sin(3 * time))[2:-2].max())
    assert errors[1] < 1e-7
    assert errors[0] / errors[1] > 8.0


def test_missing_samples_are_bridged_and_told():
    gaps = [1, 2, 3, 400, 401, 402, 596, 597, 598]
    kept = np.delete(np.arange(600), [200, *gaps])
    found, bridged = on_grid(Samples(TIME[kept], np.sin(TIME[kept])), TIME, STEP)
    assert np.flatnonzero(bridged).tolist() == gaps
    np.testing.assert_allclose(found, np.sin(TIME), atol=1e-6)


def test_gaps_much_shorter_than_the_window_are_none():
    kept = np.delete(np.arange(600), [100, 101, 102, *range(300, 305)])
    samples = Samples(TIME[kept], np.sin(TIME[kept]))
    for window, missing in ((0.2, [100, 101, 102, *range(300, 305)]), (0.4, range(300, 305))):
        _, bridged = on_grid(samples, TIME, STEP, window)
        assert np.flatnonzero(bridged).tolist() == list(missing)


@pytest.mark.parametrize('width', [(), (2,)])
def test_outside_of_its_samples_a_signal_is_held_and_bridged(width):
    noise = 1e-3 * np.random.default_rng(5).standard_normal((100, *width))
    samples = Samples(2.0 + TIME[:100] + 0.3 * STEP, noise)
    found, bridged = on_grid(samples, TIME, STEP, window=5.0)
    first, last = samples.time[[0, -1]]
    before, after = first - TIME > 2.5 * STEP, TIME - last > 2.5 * STEP
    assert np.array_equal(bridged, before | after)
    assert np.all(found[before] == noise[0]) and np.all(found[after] == noise[-1])
    found, bridged = on_grid(Samples(np.empty(0), noise[:0]), TIME, STEP)
    assert found.shape == (600, *width) and np.isnan(found).all() and bridged.all()


def test_samples_almost_at_the_same_time_count_as_one():
    rng = np.random.default_rng(3)
    twice = np.sort(np.concatenate([TIME, TIME + 1e-5]))
    noise = 1e-3 * rng.standard_normal(len(twice))
    found, _ = on_grid(Samples(twice, noise), TIME + 0.3 * STEP, STEP)
    assert np.abs(found).max() < 5e-3


def test_moving_sums_are_those_of_numpy_at_any_offset():
    rng = np.random.default_rng(4)
    signal, weights = rng.standard_normal((900, 2)), rng.standard_normal(41)
    found = convolve(1e6 + signal, weights)
    assert np.isnan(found[:20]).all() and np.isnan(found[-20:]).all()
    for k in range(2):
        expected = np.convolve(signal[:, k], weights[::-1], 'valid') + 1e6 * weights.sum()
        np.testing.assert_allclose(found[20:-20, k], expected, atol=1e-7)
    assert np.isnan(convolve(np.ones(3), np.full(5, 0.2))).all()


def test_a_value_that_is_not_known_is_in_no_sum():
    signal = np.arange(50.0)
    signal[[0, 30]] = np.nan
    found = convolve(signal, np.full(5, 0.2))
    unknown = [0, 1, 2, 28, 29, 30, 31, 32, 48, 49]
    assert np.flatnonzero(np.isnan(found)).tolist() == unknown
    np.testing.assert_allclose(np.delete(found, unknown), np.delete(np.arange(50.0), unknown))


@pytest.mark.parametrize('sigma', [1e-6, 1e-2])
def test_noise_level_finds_the_noise_under_a_motion(sigma):
    noise = sigma * np.random.default_rng(4).standard_normal(len(TIME))
    level = noise_level(Samples(TIME, np.sin(TIME) + noise), STEP)
    assert level == pytest.approx(sigma, rel=0.15)


@pytest.mark.parametrize('unevenness', ['early and late', 'slightly', 'drift', 'losses'])
def test_noise_level_is_that_of_samples_at_any_stamps(unevenness, rng):
    """Where a grid passes between the samples, interpolation would average their noise."""
    even = STEP * np.arange(6000)
    stamps = {
        'early and late': even + STEP * rng.uniform(-0.3, 0.3, len(even)),
        'slightly': np.cumsum(STEP * (1.0 + rng.uniform(-0.02, 0.02, len(even)))),
        'drift': 1.0003 * even + 1e-4 * np.sin(even),
        'losses': np.delete(even, rng.permutation(5999)[:600]),
    }[unevenness]
    samples = Samples(stamps, np.sin(stamps) + 1e-4 * rng.standard_normal(len(stamps)))
    assert noise_level(samples, samples.period) == pytest.approx(1e-4, rel=0.12)


def test_noise_level_does_not_depend_on_whether_all_steps_are_equal(rng):
    signal = np.sin(TIME) + rng.normal(0.0, 1e-3, len(TIME))
    # Beyond what counts as equal, and far too little to matter.
    uneven = TIME + 1e-4 * STEP * np.sin(np.arange(len(TIME)))
    levels = [noise_level(Samples(time, signal), STEP) for time in (TIME, uneven)]
    assert levels[0] == pytest.approx(levels[1], rel=1e-3)


def test_noise_level_ignores_outliers():
    noise = 1e-3 * np.random.default_rng(5).standard_normal(len(TIME))
    noise[::50] += 1.0
    assert noise_level(Samples(TIME, noise), STEP) < 2e-3


def test_numbers_of_six_digits_have_the_noise_of_their_coarser_part():
    # A third of the samples is above 1 and rounded to 1e-5, the others to 1e-6.
    time = np.arange(6000) * STEP
    signal = 1.1 * np.sin(0.5 * time) + 0.3 * np.sin(1.3 * time)
    fine = np.abs(signal) < 1.0
    rounded = np.where(fine, np.rint(signal / 1e-6) * 1e-6, np.rint(signal / 1e-5) * 1e-5)
    level = noise_level(Samples(time, rounded), STEP)
    assert 0.2 < np.mean(~fine) < 0.4
    assert level == pytest.approx(np.std(rounded - signal), rel=0.3)


@pytest.mark.parametrize('speed', [1e-3, 1e-2, 1e-1])
def test_encoder_noise_is_its_resolution_at_any_speed(speed):
    step = 6e-6
    level = noise_level(Samples(TIME, np.rint(np.sin(speed * TIME) / step) * step), STEP)
    assert 0.9 < level / (step / np.sqrt(12)) < 3.0


def test_rounding_that_neighbours_share_counts_as_more_noise():
    # An encoder that turns by a tenth of its step per sample: ten neighbours share an error.
    step = 1e-3
    speed = 0.1 * step / STEP
    sway = 0.2 * step * np.sin(2.0 * TIME)
    signal = np.rint((speed * TIME + sway) / step) * step
    level = noise_level(Samples(TIME, signal), STEP)
    assert level == pytest.approx(step / np.sqrt(12) * np.sqrt(10.0), rel=0.2)


@pytest.mark.parametrize(
    'signal',
    [
        np.zeros(600),
        np.maximum(0.0, TIME - 3.0) * 0.01,
        np.sin(TIME),
        np.where(TIME > 3.0, 1.0, 0.0),
        600.0 + 1e-3 * TIME,
    ],
    ids=['rest', 'constant speed', 'sine', 'step', 'large offset'],
)
def test_exact_signals_do_not_look_rounded(signal):
    assert resolution(signal) == 0.0


def test_resolution_finds_the_step():
    assert resolution(600 + np.rint(np.sin(TIME) / 0.01) * 0.01) == pytest.approx(0.01, rel=1e-6)
