# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that smooth and differentiate: exact for quadratics, and known for sines and noise."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.vibration.smoothing_kernels import (
    WhiteNoise,
    interpolation_gain,
    kernel_gain,
    smoothed,
    smoothing_kernels,
)
from kron_dynamics.typing import FloatArray

PERIOD = 0.02
T = PERIOD * np.arange(301)


@pytest.mark.parametrize('width', [0.8, 2.5, 6.0])
def test_lines_and_parabolas_have_their_derivatives(width: float) -> None:
    bell, slope, curvature = smoothing_kernels(width, PERIOD)
    reach = len(bell) // 2
    assert reach == 3 * np.ceil(4.0 * width)
    signals = np.column_stack([3.0 + 0.0 * T, 2.0 * T - 1.0, 1.0 - T + 3.0 * T**2])
    inner = slice(reach, len(T) - reach)
    for kernel, expected, columns in (
        (bell, signals, (0, 1)),
        (slope, np.column_stack([0.0 * T, 2.0 + 0.0 * T, 6.0 * T - 1.0]), (0, 1, 2)),
        (curvature, np.column_stack([0.0 * T, 0.0 * T, 6.0 + 0.0 * T]), (0, 1, 2)),
    ):
        found = smoothed(signals, kernel)
        for column in columns:
            np.testing.assert_allclose(
                found[inner, column], expected[inner, column], rtol=1e-8, atol=1e-6
            )
        unknown = np.isnan(found)
        assert unknown[:reach].all() and unknown[-reach:].all() and not unknown[inner].any()


@pytest.mark.parametrize('width', [0.8, 2.5, 6.0])
def test_slow_sines_stay_as_they_are_and_fast_ones_go(width: float) -> None:
    kernel = smoothing_kernels(width, PERIOD)[0]
    lines = np.array([0.1, 0.2, 0.4, 0.8]) / (width * PERIOD)
    gaussian = np.exp(-0.5 * (width * PERIOD * lines) ** 2)
    gains = kernel_gain(kernel, lines, PERIOD)
    np.testing.assert_allclose(1.0 - gains, (1.0 - gaussian) ** 3, rtol=0.02, atol=1e-8)
    fastest = np.array([min(3.5 / width, np.pi)]) / PERIOD
    assert abs(kernel_gain(kernel, fastest, PERIOD)[0]) < 0.25


def test_sines_are_multiplied_by_the_gain() -> None:
    kernels = smoothing_kernels(2.0, PERIOD)
    lines = np.array([2.0, 11.0, 30.0])
    for kernel in kernels:
        gains = kernel_gain(kernel, lines, PERIOD)
        reach = len(kernel) // 2
        for line, gain in zip(lines, gains, strict=True):
            wave = np.exp(1j * line * T)
            found = smoothed(np.column_stack([wave.real, wave.imag]), kernel)[reach:-reach]
            expected = (gain * wave)[reach:-reach]
            np.testing.assert_allclose(found[:, 0], expected.real, atol=1e-9 * np.abs(gains).max())
            np.testing.assert_allclose(found[:, 1], expected.imag, atol=1e-9 * np.abs(gains).max())


def white_noise(values: FloatArray, rows: int = 5001) -> FloatArray:
    """Deviations of white noise, given some rows at a time."""
    noise = WhiteNoise()
    for first in range(0, len(values), rows):
        noise.add(values[first : first + rows])
    return noise.deviations()


@pytest.mark.parametrize('rows', [1, 2, 700])
def test_white_noise_is_the_same_however_samples_are_cut(
    rng: np.random.Generator, rows: int
) -> None:
    values = rng.standard_normal((1000, 2))
    values[300:310, 1] = np.nan
    np.testing.assert_allclose(white_noise(values, rows), white_noise(values), rtol=1e-12)


def test_white_noise_is_told_from_what_is_smooth(rng: np.random.Generator) -> None:
    level = np.array([0.1, 7.0, 1.0])
    t = np.linspace(0.0, 1.0, 5001)[:, None]
    smooth = np.column_stack([5.0 * t, 100.0 * t**2, np.sin(20.0 * t)])
    values = smooth + level * rng.standard_normal(smooth.shape)
    values[100:200, 0] = np.nan
    np.testing.assert_allclose(white_noise(values), level, rtol=0.05)
    values[:, 1] = np.nan
    found = white_noise(values)
    assert np.isnan(found[1]) and np.isfinite(found[[0, 2]]).all()
    # Without noise it is small, and never zero.
    still = white_noise(np.column_stack([0.0 * t, 0.0 * t + 1e4]))
    assert (still > 0.0).all() and still[1] < 1e-4 and still[0] < 1e-10


@pytest.mark.parametrize('times', [1, 2, 5])
@pytest.mark.parametrize('cycles', [3, 20, 41])
def test_interpolation_between_slower_samples_loses_its_gain_of_a_sine(
    times: int, cycles: int
) -> None:
    count, period = 500, 0.02
    time = period * np.arange(count + 1)
    wave = np.cos(2.0 * np.pi * cycles * np.arange(count + 1) / count + 0.3)
    shown = np.interp(time, time[::times], wave[::times])
    lines = 2.0 * np.pi * np.array([cycles]) / (count * period)
    ratio = np.fft.rfft(shown[:count])[cycles] / np.fft.rfft(wave[:count])[cycles]
    gain = interpolation_gain(lines, period, np.array([times * period, 0.1 * period]))
    np.testing.assert_allclose(gain[0], [ratio, 1.0], rtol=1e-9)
