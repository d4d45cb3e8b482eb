# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of local quartics: what they reproduce, average and leave of noise."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.kernels import derivative_kernels

STEP = 0.01
SIGNALS = {'position': (1e-4, np.inf), 'velocity': (np.inf, 1e-2), 'both': (1e-4, 1e-2)}


@pytest.mark.parametrize('half_count', [2, 5, 40])
@pytest.mark.parametrize('signals', SIGNALS)
def test_quartics_are_reproduced(half_count, signals):
    kernels = derivative_kernels(half_count, STEP, *SIGNALS[signals])
    t = STEP * np.arange(-half_count, half_count + 1)
    place = np.polynomial.Polynomial([2.0, -3.0, 5.0, 7.0, -11.0])
    samples = place(t), place.deriv()(t)
    expected = {'value': 2.0, 'slope': -3.0, 'curvature': 10.0}
    if signals == 'velocity':
        del expected['value']  # rates do not tell where a motion starts
    for name, value in expected.items():
        found = getattr(kernels.position, name) @ samples[0]
        found += getattr(kernels.velocity, name) @ samples[1]
        assert found == pytest.approx(value, rel=1e-6), name


@pytest.mark.parametrize('half_count', [2, 5, 40])
@pytest.mark.parametrize(
    'noises', [(1e-12, 1e-77), (1e-4, 1e-77), (1e-77, 1e-2), (1e-77, 1e-77), (1e4, 1e-12)]
)
def test_where_a_joint_is_is_told_by_positions_whatever_the_noise(half_count, noises):
    kernels = derivative_kernels(half_count, STEP, *noises)
    assert kernels.position.value.sum() == pytest.approx(1.0, abs=1e-6)
    assert abs(kernels.position.curvature.sum()) * STEP**2 < 1e-6


@pytest.mark.parametrize('half_count', [2, 7, 25])
@pytest.mark.parametrize('signals', SIGNALS)
def test_stated_noise_is_that_of_noisy_samples(half_count, signals):
    place_noise, rate_noise = (0.0 if np.isinf(s) else s for s in SIGNALS[signals])
    kernels = derivative_kernels(half_count, STEP, *SIGNALS[signals])
    rng = np.random.default_rng(3)
    place, rate = place_noise * rng.normal(size=200_000), rate_noise * rng.normal(size=200_000)
    stated = kernels.noise(place_noise, rate_noise)
    for k, name in enumerate(('value', 'slope', 'curvature')):
        found = np.convolve(place, getattr(kernels.position, name)[::-1], 'valid')
        found += np.convolve(rate, getattr(kernels.velocity, name)[::-1], 'valid')
        assert np.std(found) == pytest.approx(stated[k], rel=0.05, abs=1e-18)


def test_two_signals_leave_less_noise_than_either():
    def noise(place, rate):
        kernels = derivative_kernels(10, STEP, place, rate)
        return kernels.noise(*(0.0 if np.isinf(s) else s for s in (place, rate)))[2]

    # As noisy as each other in the acceleration.
    rate = noise(1.0, np.inf) / noise(np.inf, 1.0)
    assert noise(1.0, rate) < 0.8 * min(noise(1.0, np.inf), noise(np.inf, rate))


@pytest.mark.parametrize('half_count', [2, 3, 5, 20, 60])
@pytest.mark.parametrize('signals', SIGNALS)
def test_curvature_is_the_weighted_average_of_the_true_one(half_count, signals):
    time = STEP * np.arange(600)
    frequency = 2.0 / (half_count * STEP)  # the window spans a good part of a period
    place, rate = np.sin(frequency * time), frequency * np.cos(frequency * time)
    true = -(frequency**2) * place
    kernels = derivative_kernels(half_count, STEP, *SIGNALS[signals])
    assert kernels.average.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(kernels.average, kernels.average[::-1], atol=1e-12)
    found = np.convolve(place, kernels.position.curvature[::-1], 'valid')
    found += np.convolve(rate, kernels.velocity.curvature[::-1], 'valid')
    averaged = np.convolve(true, kernels.average, 'valid')
    error = np.abs(found - averaged).max() / frequency**2
    # Of fourth order in the time step: samples of the true one are a cubic in between.
    assert error < 0.3 / half_count**4
    # The smoothing alone would be off by far more, or the test would show nothing.
    smoothed_away = np.abs(found - true[half_count:-half_count]).max() / frequency**2
    assert smoothed_away > (1.1 if half_count < 20 else 3.0) * error
