# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Local quadratics: against SciPy's Savitzky-Golay filter, and their noise against statistics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import savgol_filter

from kron_dynamics.bag.smoothing import (
    average,
    averaging_weights,
    fit_local_quadratics,
    noise_level,
    resampled_weights,
    resolution,
)

STEP = 0.01
TIME = np.arange(600) * STEP


@pytest.mark.parametrize('half_count', [2, 5, 20])
@pytest.mark.parametrize('derivative', [0, 1, 2])
def test_even_samples_give_the_savitzky_golay_filter(half_count, derivative):
    rng = np.random.default_rng(1)
    signal = 300.0 + np.sin(3 * TIME) + 0.01 * rng.standard_normal(len(TIME))
    fit = fit_local_quadratics(TIME, signal, TIME, (half_count + 0.5) * STEP)
    expected = savgol_filter(signal, 2 * half_count + 1, 2, deriv=derivative, delta=STEP)
    inner = slice(half_count, -half_count)
    found = (fit.value, fit.slope, fit.curvature)[derivative]
    scale = np.abs(expected[inner]).max()
    np.testing.assert_allclose(found[inner], expected[inner], rtol=0, atol=1e-11 * scale / STEP)


def test_quadratic_is_reproduced_on_uneven_samples_with_holes():
    rng = np.random.default_rng(2)
    time = np.sort(rng.uniform(0.0, 6.0, 500))
    fit = fit_local_quadratics(time, 5 - 2 * time + 3 * time**2, TIME, 0.1)
    fine = np.isfinite(fit.value) & (fit.gain[:, 2] < 2 * np.nanmedian(fit.gain[:, 2]))
    assert fine.mean() > 0.8
    np.testing.assert_allclose(fit.value[fine], (5 - 2 * TIME + 3 * TIME**2)[fine], rtol=1e-9)
    np.testing.assert_allclose(fit.slope[fine], (-2 + 6 * TIME)[fine], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(fit.curvature[fine], 6.0, rtol=1e-6)


def test_too_few_samples_give_nan():
    fit = fit_local_quadratics(np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([0.0, 1.0]), 1.0)
    assert np.isnan(fit.value[0]) and np.isnan(fit.gain[0]).all()
    assert fit.value[1] == 0.0


@pytest.mark.parametrize('half_count', [2, 7, 25])
def test_gain_predicts_the_noise_of_value_slope_and_curvature(half_count):
    noise = 1e-3 * np.random.default_rng(3).standard_normal(200_000)
    time = np.arange(len(noise)) * STEP
    fit = fit_local_quadratics(time, noise, time, (half_count + 0.5) * STEP)
    inner = slice(half_count, -half_count)
    for column, found in enumerate((fit.value, fit.slope, fit.curvature)):
        predicted = 1e-3 * fit.gain[1000, column]
        assert np.std(found[inner]) == pytest.approx(predicted, rel=0.05)


@pytest.mark.parametrize('half_count', [2, 3, 10])
@pytest.mark.parametrize('derivative', [1, 2])
def test_weights_are_an_average(half_count, derivative):
    weights = averaging_weights(half_count, derivative)
    assert len(weights) == 2 * half_count + 1
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= -1e-15
    np.testing.assert_allclose(weights, weights[::-1])


@pytest.mark.parametrize('half_count', [5, 20, 60])
@pytest.mark.parametrize('derivative', [1, 2])
def test_fitted_derivative_is_the_weighted_average_of_the_true_one(half_count, derivative):
    signal, rate, curvature = np.sin(4 * TIME), 4 * np.cos(4 * TIME), -16 * np.sin(4 * TIME)
    fit = fit_local_quadratics(TIME, signal, TIME, (half_count + 0.5) * STEP)
    found, true = ((fit.slope, rate), (fit.curvature, curvature))[derivative - 1]
    averaged = average(true, averaging_weights(half_count, derivative))
    inner = slice(half_count, -half_count)
    scale = np.abs(true).max()
    from_average = np.abs(found - averaged)[inner].max() / scale
    assert from_average < 1e-3
    # The smoothing alone would be off by far more, or the test would show nothing.
    if half_count >= 20:
        assert np.abs(found - true)[inner].max() / scale > 20 * from_average


def test_resampled_weights_keep_their_width():
    weights = averaging_weights(10, 1)
    finer = resampled_weights(weights, 4.0)
    offsets, fine_offsets = np.arange(-10, 11), np.arange(len(finer)) - len(finer) // 2
    assert finer.sum() == pytest.approx(1.0)
    width, fine_width = weights @ offsets**2, finer @ fine_offsets**2 / 16.0
    assert fine_width == pytest.approx(width, rel=0.05)
    np.testing.assert_allclose(resampled_weights(weights, 1.0)[1:-1], weights, atol=1e-15)


def test_average_is_nan_where_it_reaches_past_the_ends():
    averaged = average(np.ones((9, 2)), np.full(5, 0.2))
    assert np.isnan(averaged[[0, 1, 7, 8]]).all()
    np.testing.assert_allclose(averaged[2:7], 1.0)
    assert np.isnan(average(np.ones(3), np.full(5, 0.2))).all()


@pytest.mark.parametrize('sigma', [1e-6, 1e-2])
def test_noise_level_finds_the_noise_under_a_motion(sigma):
    noise = sigma * np.random.default_rng(4).standard_normal(len(TIME))
    assert noise_level(TIME, np.sin(TIME) + noise, STEP) == pytest.approx(sigma, rel=0.12)


def test_noise_level_ignores_outliers():
    noise = 1e-3 * np.random.default_rng(5).standard_normal(len(TIME))
    noise[::50] += 1.0
    assert noise_level(TIME, noise, STEP) < 2e-3


@pytest.mark.parametrize('speed', [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
def test_encoder_noise_is_its_resolution_at_any_speed(speed):
    step = 6e-6
    level = noise_level(TIME, np.rint(np.sin(speed * TIME) / step) * step, STEP)
    assert 0.9 < level / (step / np.sqrt(12)) < 3.0


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
