# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Zero-phase FIR weights for value, slope and curvature of evenly spaced samples.

Around each sample a quartic is fitted by weighted least squares to positions, velocities or both
(as by Savitzky and Golay). The weights are inverse variances times a smooth window,
``(1 - u^2)^2``. For joint motions its curvature is as accurate as that of a smoother that knows
the spectra of motion and noise (Wiener, or Kalman with integrated jerk), but each value depends
only on the samples within one window.

The fitted curvature is exactly the true one averaged over time with known weights. Those of its
samples (`DerivativeKernels.average`) are right up to the fourth power of the time step. Efforts
averaged with the same weights are compared without an error by the smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray

DEGREE = 4
# Least number of samples on each side for a quartic through positions.
MIN_HALF_COUNT = 2
# Means of a cubic through evenly spaced samples: under a triangle over two time steps, by the
# three samples in them; between the middle two of four samples; between the last two of four.
UNDER_TRIANGLE = np.array([1.0, 10.0, 1.0]) / 12.0
BETWEEN_MIDDLE = np.array([-1.0, 13.0, 13.0, -1.0]) / 24.0
BETWEEN_LAST = np.array([1.0, -5.0, 19.0, 9.0]) / 24.0
# Upper bound of the position noise relative to velocity noise times half the window.
MOST_NOISE_RATIO = 1e6


@dataclass(frozen=True)
class SignalKernels:
    """Weights of the samples of one signal, each of shape (2 m + 1,), by ascending time.

    Attributes:
        value: weights for the smoothed position.
        slope: weights for the velocity.
        curvature: weights for the acceleration.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class DerivativeKernels:
    """Weights of positions and velocities; an estimate is the sum of both contributions.

    Attributes:
        position: weights of the positions.
        velocity: weights of the velocities.
        average: weights of the moving average that maps the true curvature to the estimated one,
            shape (2 m + 1,), sum 1.
    """

    position: SignalKernels
    velocity: SignalKernels
    average: FloatArray

    def noise(self, position_noise: float, velocity_noise: float) -> FloatArray:
        """Return standard deviations of value, slope and curvature, shape (3,).

        Args:
            position_noise: standard deviation of the white noise on positions.
            velocity_noise: standard deviation of the white noise on velocities.
        """
        return np.array(
            [
                np.hypot(
                    position_noise * np.linalg.norm(getattr(self.position, name)),
                    velocity_noise * np.linalg.norm(getattr(self.velocity, name)),
                )
                for name in ('value', 'slope', 'curvature')
            ]
        )


def derivative_kernels(
    half_count: int, step: float, position_noise: float, velocity_noise: float
) -> DerivativeKernels:
    """Return the weights of a local quartic.

    Args:
        half_count: m, samples on each side of the middle one, 2 or more.
        step: time step of the samples in s.
        position_noise: standard deviation of the positions; infinite to use none. Without
            positions the smoothed position is zero.
        velocity_noise: standard deviation of the velocities; infinite to use none.
    """
    if np.isinf(position_noise):
        rates = _one_signal(half_count, step)
        none = np.zeros(2 * half_count + 1)
        velocity = SignalKernels(none, rates.value, rates.slope)
        position = SignalKernels(none, none, none)
    elif np.isinf(velocity_noise):
        position = _one_signal(half_count, step)
        none = np.zeros(2 * half_count + 1)
        velocity = SignalKernels(none, none, none)
    else:
        position, velocity = _two_signals(half_count, step, position_noise, velocity_noise)
    average = _average_of_positions(position.curvature * step**2)
    average += _average_of_velocities(velocity.curvature * step)
    return DerivativeKernels(position, velocity, average / average.sum())


def _window(half_count: int) -> tuple[FloatArray, FloatArray]:
    """Return relative times u within -1 to 1 and the square roots of their weights."""
    u = np.arange(-half_count, half_count + 1) / (half_count + 0.5)
    return u, 1.0 - u * u


def _one_signal(half_count: int, step: float) -> SignalKernels:
    u, root = _window(half_count)
    rows = np.vander(u, DEGREE + 1, increasing=True)
    return _scaled(np.linalg.pinv(rows * root[:, None]) * root, (half_count + 0.5) * step)


def _two_signals(
    half_count: int, step: float, position_noise: float, velocity_noise: float
) -> tuple[SignalKernels, SignalKernels]:
    u, root = _window(half_count)
    half_width = (half_count + 0.5) * step
    places = np.vander(u, DEGREE + 1, increasing=True)
    rates = np.zeros_like(places)
    rates[:, 1:] = places[:, :-1] * np.arange(1, DEGREE + 1) / half_width
    # Only positions determine where a joint is, so they keep some weight next to velocities with
    # hardly any noise: those of a joint at rest are exactly 0.
    position_noise = min(position_noise, MOST_NOISE_RATIO * velocity_noise * half_width)
    # Relative to the noisier signal, so that neither weight overflows.
    largest = max(position_noise, velocity_noise * half_width)
    weights = np.concatenate([root * largest / position_noise, root * largest / velocity_noise])
    found = np.linalg.pinv(np.vstack([places, rates]) * weights[:, None], rcond=1e-13) * weights
    return (
        _scaled(found[:, : len(u)], half_width),
        _scaled(found[:, len(u) :], half_width),
    )


def _scaled(coefficients: FloatArray, half_width: float) -> SignalKernels:
    return SignalKernels(
        coefficients[0], coefficients[1] / half_width, 2.0 * coefficients[2] / half_width**2
    )


def _average_of_positions(curvature: FloatArray) -> FloatArray:
    """Return the weights on second derivatives equivalent to symmetric weights on values."""
    half_count = len(curvature) // 2
    beyond = np.cumsum(curvature[:half_count:-1])[::-1]
    one_side = np.append(np.cumsum(beyond[::-1])[::-1], 0.0)
    # These are weights of second differences, each the mean of the second derivative under a
    # triangle over two time steps.
    return np.convolve(np.concatenate((one_side[:0:-1], one_side)), UNDER_TRIANGLE, 'same')


def _average_of_velocities(slope: FloatArray) -> FloatArray:
    """Return the weights on derivatives equivalent to antisymmetric weights on values."""
    half_count = len(slope) // 2
    # Weights of first differences, each the mean of the derivative over a time step.
    differences = np.cumsum(slope[:half_count:-1])[::-1]
    one_side = np.zeros(2 * half_count + 1)
    one_side[half_count - 1 :] += np.convolve(differences[:-1], BETWEEN_MIDDLE)
    one_side[2 * half_count - 3 :] += differences[-1] * BETWEEN_LAST
    return one_side + one_side[::-1]
