# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How much smoothing takes from an acceleration, from the spectra of motion and noise.

A recorded signal is motion plus white noise of known strength. Where its spectrum stands clearly
above that of the noise, what is above is motion. A window that smooths more has less noise and
takes more of the motion; the error of an acceleration is the sum of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import next_fast_len, rfft

from kron_dynamics.bag.replaying.kernels import DerivativeKernels
from kron_dynamics.typing import FloatArray

# Rows of one periodogram at most: what is slower than these is not smoothed away by any window.
SPECTRUM_ROWS = 16384
# Frequencies that are averaged: those within this factor, and at least so many to each side.
AVERAGED_SHARE = 1.15
AVERAGED_LEAST = 2
# A spectrum that many times as strong as the noise is motion.
EVIDENT = 3.0
# How the spectrum falls is fitted from this share of the frequency that noise hides.
FITTED_RANGE = 4.0
LEAST_FITTED = 5
# Powers of frequency: no acceleration of a drive falls slower, none is expected to fall faster.
SLOWEST_FALL = 1.5
STEEPEST_FALL = 12.0


@dataclass(frozen=True)
class AccelerationSpectrum:
    """Power of an acceleration over frequency, without noise.

    Attributes:
        angle: 2 pi times frequency times step, shape (F,): multiples of the first, up to pi.
        power: in each frequency's band, shape (F,), in (rad/s^2)^2 or (m/s^2)^2.
    """

    angle: FloatArray
    power: FloatArray

    @property
    def mean_square(self) -> float:
        """Mean square of the acceleration."""
        return float(self.power.sum())

    def taken(self, kernels: DerivativeKernels) -> float:
        """Return the mean square of what smoothing takes of the acceleration.

        Args:
            kernels: how the acceleration is estimated.
        """
        half_count = len(kernels.average) // 2
        # The angles are whole parts of a turn: after as many samples all phases come again.
        turn = round(2.0 * np.pi / self.angle[0])
        places = np.arange(-half_count, half_count + 1) % turn
        response = np.fft.rfft(np.bincount(places, kernels.average, turn)).real
        return float(np.sum(self.power * (1.0 - response[1 : len(self.power) + 1]) ** 2))


def acceleration_spectrum(
    positions: Sequence[FloatArray],
    velocities: Sequence[FloatArray] | None,
    step: float,
    position_noise: float,
    velocity_noise: float,
) -> AccelerationSpectrum:
    """Return the spectrum of the acceleration of a joint.

    At each frequency it is that of the signal with less noise there.

    Args:
        positions: of each segment, evenly spaced, shape (N,).
        velocities: likewise; None where there are none.
        step: distance of samples in s.
        position_noise: standard deviation of the white noise on positions.
        velocity_noise: on velocities.
    """
    angle, power = power_density([np.diff(part, 2) for part in positions], step)
    difference = 2.0 - 2.0 * np.cos(angle)  # squared response of a difference
    rate = angle / step
    gain = rate**4 / np.maximum(difference, 1e-30) ** 2
    power = power * gain
    noise = 2.0 * position_noise**2 * step * rate**4
    if velocities is not None:
        # Aligned with second differences of positions: both lose two samples.
        _, other = power_density([np.diff(part)[:-1] for part in velocities], step)
        other_noise = 2.0 * velocity_noise**2 * step * rate**2
        better = other_noise < noise
        power = np.where(better, other * rate**2 / np.maximum(difference, 1e-30), power)
        noise = np.where(better, other_noise, noise)
    band = (angle[1] - angle[0]) / (2.0 * np.pi * step)
    return AccelerationSpectrum(angle[1:], band * _motion(angle[1:], power[1:], noise[1:]))


def _motion(angle: FloatArray, power: FloatArray, noise: FloatArray) -> FloatArray:
    """Return what of a density of power is motion, shape (F,).

    Above the first frequency that noise hides, motion that is not evident is taken to fall on as
    it did before: with the power of frequency that fits there.
    """
    averaged, expected = _averaged(angle, power), _averaged(angle, noise)
    evident = averaged > EVIDENT * expected
    motion = np.where(evident, np.maximum(power - noise, 0.0), 0.0)
    if not evident.any() or evident.all():
        return motion
    strongest = int(np.argmax(np.where(evident, averaged, 0.0)))
    hidden = strongest + int(np.argmin(evident[strongest:]))
    if hidden == strongest:  # all that is faster is evident
        return motion
    begin = int(np.searchsorted(angle, angle[hidden] / FITTED_RANGE))
    fitted = np.arange(max(begin, strongest), hidden)
    fitted = fitted[motion[fitted] > 0.0]
    slope, level = -STEEPEST_FALL, np.log(EVIDENT * expected[hidden])
    if len(fitted) > LEAST_FITTED:
        places = np.log(angle[fitted] / angle[hidden])
        slope, fit = np.polyfit(places, np.log(motion[fitted]), 1)
        slope = float(np.clip(slope, -STEEPEST_FALL, -SLOWEST_FALL))
        # Where it hides the motion, noise is about as strong.
        level = min(fit, level)
    fall = np.exp(level) * (angle / angle[hidden]) ** slope
    return np.where(evident | (angle < angle[hidden]), motion, np.minimum(fall, EVIDENT * noise))


def _averaged(angle: FloatArray, power: FloatArray) -> FloatArray:
    """Return means over a share of each frequency to both sides, at least a few neighbours."""
    sums = np.concatenate(([0.0], np.cumsum(power)))
    place = np.arange(len(power))
    first = np.minimum(np.searchsorted(angle, angle / AVERAGED_SHARE), place - AVERAGED_LEAST)
    last = np.maximum(np.searchsorted(angle, angle * AVERAGED_SHARE), place + AVERAGED_LEAST + 1)
    first, last = first.clip(0), last.clip(max=len(power))
    return np.asarray((sums[last] - sums[first]) / (last - first))


def power_density(parts: Sequence[FloatArray], step: float) -> tuple[FloatArray, FloatArray]:
    """Return angles per step and one-sided power densities of signals, shape (F,) each.

    By Welch's method: periodograms of halfway overlapping stretches under a Hann window, averaged.

    Args:
        parts: of a signal, evenly spaced, shape (N,) each.
        step: distance of samples in s.
    """
    rows = min(SPECTRUM_ROWS, max(8, max(len(part) for part in parts) // 2))
    # Transforms of a prime number of rows take five times as long.
    while next_fast_len(rows, real=True) != rows:
        rows -= 1
    angle = 2.0 * np.pi * np.arange(rows // 2 + 1) / rows
    sums, weight = np.zeros(len(angle)), 0
    for part in parts:
        if len(part) >= rows:
            sums += len(part) * _periodograms(part, rows)
            weight += len(part)
    sums[1 : (rows + 1) // 2] *= 2.0  # negative frequencies; 0 and the highest have none
    return angle, step * sums / weight


def _periodograms(signal: FloatArray, rows: int) -> FloatArray:
    """Return the mean periodogram of a signal with step 1, over both signs of frequency.

    That of `scipy.signal.welch`, which takes as long to import as a short recording to analyse.
    """
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(rows) / rows)
    sums, starts = np.zeros(rows // 2 + 1), range(0, len(signal) - rows + 1, rows - rows // 2)
    for start in starts:
        found = rfft(window * signal[start : start + rows])
        sums += found.real**2 + found.imag**2
    return np.asarray(sums / (len(starts) * np.sum(window**2)))
