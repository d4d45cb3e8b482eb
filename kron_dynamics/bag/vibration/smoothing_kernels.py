# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that smooth and differentiate samples, their gains, and estimation of white noise."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import ComplexArray, FloatArray

# Standard deviation of third differences of unit white noise: the norm of (1, 3, 3, 1).
_THIRD = np.sqrt(20.0)
# Lower bound of the noise relative to the largest value.
_NOISELESS = 1e-9


def gaussian_kernels(width: float, period: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a Gaussian and the kernels of its first and second derivative, shape (2 k + 1,).

    Args:
        width: standard deviation in samples.
        period: period of the samples, s.
    """
    reach = int(np.ceil(4.0 * width))
    j = np.arange(-reach, reach + 1, dtype=float)
    bell = np.exp(-0.5 * (j / width) ** 2)
    bell /= bell.sum()
    slope = j * bell
    slope /= np.sum(j * slope) * period
    curvature = (j * j - np.sum(j * j * bell)) * bell
    curvature *= 2.0 / (np.sum(j * j * curvature) * period**2)
    return bell, slope, curvature


def smoothing_kernels(width: float, period: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a smoothing kernel and those of its first and second derivative, shape (2 k + 1,).

    A Gaussian with gain g removes the share 1 - g of a sine; this kernel removes only (1 - g)^3,
    so that efforts computed from smoothed motion are practically those of the true motion.

    Args:
        width: standard deviation of the Gaussian in samples.
        period: period of the samples, s.
    """
    bell, slope, curvature = gaussian_kernels(width, period)
    reach = len(bell) // 2
    # 1 - (1 - g)^3 = g (3 - 3 g + g^2)
    flat = np.convolve(bell, bell) - 3.0 * np.pad(bell, reach)
    flat[2 * reach] += 3.0
    return np.convolve(bell, flat), np.convolve(slope, flat), np.convolve(curvature, flat)


def smoothed(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Return columns correlated with a kernel, shape (N, c); NaN where it reaches past an end.

    Args:
        values: shape (N, c).
        kernel: shape (2 k + 1,).
    """
    reach = len(kernel) // 2
    found = np.full(values.shape, np.nan)
    for k, column in enumerate(values.T):
        found[reach : len(values) - reach, k] = np.convolve(column, kernel[::-1], mode='valid')
    return found


def kernel_gain(kernel: FloatArray, lines: FloatArray, period: float) -> ComplexArray:
    """Return the frequency response of the correlation with a kernel, shape (L,).

    Args:
        kernel: shape (2 k + 1,).
        lines: angular frequencies, shape (L,), rad/s.
        period: period of the samples, s.
    """
    reach = len(kernel) // 2
    times = period * np.arange(-reach, reach + 1)
    return np.asarray(np.exp(1j * np.outer(lines, times)) @ kernel)


def interpolation_gain(lines: FloatArray, period: float, recorded: FloatArray) -> FloatArray:
    """Return the gain of linear interpolation between slower samples, shape (L, C), 1 for others.

    That of a triangle as wide as two periods of the recorded samples, at the times of the others.

    Args:
        lines: angular frequencies, shape (L,), rad/s.
        period: period of the samples after interpolation, s.
        recorded: usual periods of the C recorded signals, shape (C,), s.
    """
    times = np.maximum(recorded / period, 1.0)
    half = 0.5 * period * lines[:, None]
    return np.asarray((np.sin(times * half) / (times * np.sin(half))) ** 2)


class WhiteNoise:
    """Estimates the white noise on evenly spaced samples, which are added block by block."""

    def __init__(self) -> None:
        """Begin without samples."""
        self._before: FloatArray | None = None
        self._squares: FloatArray | float = 0.0
        self._count: FloatArray | float = 0.0
        self._size: FloatArray | float = 0.0

    def add(self, values: FloatArray) -> None:
        """Add the next rows, shape (N, k); NaN where unknown."""
        rows = values if self._before is None else np.concatenate([self._before, values])
        differences = np.diff(rows, n=3, axis=0)
        known = np.isfinite(differences)
        self._squares = self._squares + np.where(known, differences**2, 0.0).sum(axis=0)
        self._count = self._count + known.sum(axis=0)
        largest = np.abs(np.nan_to_num(values)).max(axis=0, initial=0.0)
        self._size = np.maximum(self._size, largest)
        self._before = rows[-3:]

    def deviations(self) -> FloatArray:
        """Return standard deviations, shape (k,); NaN for columns without known values."""
        level = np.sqrt(self._squares / np.maximum(self._count, 1)) / _THIRD
        level = np.maximum(level, _NOISELESS * np.maximum(self._size, 1e-3))
        return np.asarray(np.where(np.asarray(self._count) > 0, level, np.nan))
