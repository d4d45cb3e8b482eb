# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Acceleration removed by smoothing, estimated from the spectra of motion and noise.

A recorded signal is motion plus white noise of known density. Where its spectrum is clearly above
that of the noise, the excess is motion. A longer window leaves less noise but removes more of the
motion; the squared error of an acceleration is the sum of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.kernels import DerivativeKernels
from kron_dynamics.bag.replaying.resampling import is_fast
from kron_dynamics.typing import FloatArray

# Most rows of one periodogram: no window removes motion at lower frequencies.
SPECTRUM_ROWS = 16384
# Spectra are averaged within this factor of each frequency, over at least so many to each side.
AVERAGED_SHARE = 1.15
AVERAGED_LEAST = 2
# A spectrum above this multiple of the noise counts as motion.
EVIDENT = 3.0
# A power law is fitted from 1 / FITTED_RANGE of the first frequency hidden by noise up to it, if
# there are more than LEAST_FITTED frequencies.
FITTED_RANGE = 4.0
LEAST_FITTED = 5
# Bounds of the power law's (negative) exponent. The acceleration of a drive falls no slower, and
# is not expected to fall faster.
SLOWEST_FALL = 1.5
STEEPEST_FALL = 12.0


@dataclass(frozen=True)
class AccelerationSpectrum:
    """Power of an acceleration over frequency, without noise.

    Attributes:
        angle: angular frequencies in rad per sample, shape (F,): multiples of the first, up to pi.
        power: power in each frequency's band, shape (F,), in (rad/s^2)^2 or (m/s^2)^2.
    """

    angle: FloatArray
    power: FloatArray

    @property
    def mean_square(self) -> float:
        """Mean square of the acceleration."""
        return float(self.power.sum())

    def taken(self, kernels: DerivativeKernels) -> float:
        """Return the mean square of the acceleration that smoothing removes.

        Args:
            kernels: weights that estimate the acceleration.
        """
        half_count = len(kernels.average) // 2
        # All frequencies are multiples of 2 pi / turn, so the weights are wrapped modulo turn.
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

    At each frequency it is taken from the signal with less noise there.

    Args:
        positions: positions in each segment, evenly spaced, shape (N,).
        velocities: velocities likewise; None where there are none.
        step: time step of the samples in s.
        position_noise: standard deviation of the white noise on positions.
        velocity_noise: standard deviation of the white noise on velocities.
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
    """Return the motion's part of a power density, shape (F,).

    Above the first frequency where noise hides the motion, the spectrum of the motion is
    extrapolated by a power law fitted below that frequency.
    """
    averaged, expected = _averaged(angle, power), _averaged(angle, noise)
    evident = averaged > EVIDENT * expected
    motion = np.where(evident, np.maximum(power - noise, 0.0), 0.0)
    if not evident.any() or evident.all():
        return motion
    strongest = int(np.argmax(np.where(evident, averaged, 0.0)))
    hidden = strongest + int(np.argmin(evident[strongest:]))
    if hidden == strongest:  # motion is evident at all higher frequencies
        return motion
    begin = int(np.searchsorted(angle, angle[hidden] / FITTED_RANGE))
    fitted = np.arange(max(begin, strongest), hidden)
    fitted = fitted[motion[fitted] > 0.0]
    slope, level = -STEEPEST_FALL, np.log(EVIDENT * expected[hidden])
    if len(fitted) > LEAST_FITTED:
        places = np.log(angle[fitted] / angle[hidden])
        slope, fit = np.polyfit(places, np.log(motion[fitted]), 1)
        slope = float(np.clip(slope, -STEEPEST_FALL, -SLOWEST_FALL))
        # Where noise hides the motion, the motion is no stronger than about the noise.
        level = min(fit, level)
    fall = np.exp(level) * (angle / angle[hidden]) ** slope
    return np.where(evident | (angle < angle[hidden]), motion, np.minimum(fall, EVIDENT * noise))


def _averaged(angle: FloatArray, power: FloatArray) -> FloatArray:
    """Return moving averages over neighbouring frequencies, see AVERAGED_SHARE."""
    sums = np.concatenate(([0.0], np.cumsum(power)))
    place = np.arange(len(power))
    first = np.minimum(np.searchsorted(angle, angle / AVERAGED_SHARE), place - AVERAGED_LEAST)
    last = np.maximum(np.searchsorted(angle, angle * AVERAGED_SHARE), place + AVERAGED_LEAST + 1)
    first, last = first.clip(0), last.clip(max=len(power))
    return np.asarray((sums[last] - sums[first]) / (last - first))


def power_density(parts: Sequence[FloatArray], step: float) -> tuple[FloatArray, FloatArray]:
    """Return angular frequencies (rad per sample) and one-sided power densities, shape (F,) each.

    Welch's method: averaged periodograms of Hann-windowed stretches that overlap by half.

    Args:
        parts: parts of a signal, evenly spaced, shape (N,) each.
        step: time step of the samples in s.
    """
    rows = min(SPECTRUM_ROWS, max(8, max(len(part) for part in parts) // 2))
    # An FFT of a prime number of rows takes five times as long.
    while not is_fast(rows):
        rows -= 1
    angle = 2.0 * np.pi * np.arange(rows // 2 + 1) / rows
    sums, weight = np.zeros(len(angle)), 0
    for part in parts:
        if len(part) >= rows:
            sums += len(part) * _periodograms(part, rows)
            weight += len(part)
    sums[1 : (rows + 1) // 2] *= 2.0  # negative frequencies, except for 0 and Nyquist
    return angle, step * sums / weight


def _periodograms(signal: FloatArray, rows: int) -> FloatArray:
    """Return the two-sided mean periodogram of a signal with step 1.

    As `scipy.signal.welch`, whose import takes as long as the analysis of a short recording.
    """
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(rows) / rows)
    sums, starts = np.zeros(rows // 2 + 1), range(0, len(signal) - rows + 1, rows - rows // 2)
    for start in starts:
        found = np.fft.rfft(window * signal[start : start + rows])
        sums += found.real**2 + found.imag**2
    return np.asarray(sums / (len(starts) * np.sum(window**2)))
