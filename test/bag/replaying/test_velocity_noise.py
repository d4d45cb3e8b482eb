# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of velocities that a drive has filtered, which differences of samples do not show."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.resampling import noise_level
from kron_dynamics.bag.replaying.velocity_noise import coloured_noise
from kron_dynamics.bag.samples import Samples

STEP = 0.001
TIME = np.arange(8000) * STEP


def recorded(noise, seed=1):
    """Positions of a motion with little noise, and its velocities with the given noise."""
    random = np.random.default_rng(seed)
    place = np.sin(3.0 * TIME) + 0.2 * np.sin(11.0 * TIME)
    rate = 3.0 * np.cos(3.0 * TIME) + 2.2 * np.cos(11.0 * TIME)
    return place + 1e-6 * random.standard_normal(len(TIME)), rate + noise


def low_pass(order, frequency, values):
    # Imported here: it takes a second in every process that collects the tests.
    from scipy.signal import butter, lfilter

    return lfilter(*butter(order, frequency, fs=1.0 / STEP), values)


def filtered(strength, seed=2):
    """White noise of some strength below 60 Hz, next to none above."""
    white = strength * np.random.default_rng(seed).standard_normal(len(TIME))
    return low_pass(3, 60.0, white)


@pytest.mark.parametrize('strength', [0.01, 0.1])
def test_filtered_noise_counts_as_the_white_noise_that_was_filtered(strength):
    place, rate = recorded(filtered(strength))
    seen = noise_level(Samples(TIME, rate), STEP)
    assert seen < 0.1 * strength
    assert coloured_noise([place], [rate], STEP, seen) == pytest.approx(strength, rel=0.3)


def test_white_noise_is_what_differences_show():
    place, rate = recorded(0.01 * np.random.default_rng(3).standard_normal(len(TIME)))
    seen = noise_level(Samples(TIME, rate), STEP)
    assert coloured_noise([place], [rate], STEP, seen) == seen


def test_motion_is_no_noise():
    """Not in velocities that a filter has delayed or weakened, nor where positions are coarse."""
    place, rate = recorded(0.0)
    late = low_pass(1, 30.0, rate)
    for velocities in (rate, late, 1.02 * rate):
        assert coloured_noise([place], [velocities], STEP, 1e-6) == 1e-6
    coarse = np.rint(place / 1e-3) * 1e-3
    _, noisy = recorded(filtered(1e-3))
    assert coloured_noise([coarse], [noisy], STEP, 1e-5) == 1e-5
