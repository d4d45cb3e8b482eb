# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of recorded signals by local quadratics, with the noise they carry.

Around each time a quadratic is fitted by least squares to the samples within half a window; its
coefficients are the smoothed value, slope and curvature. On evenly spaced samples this is the
Savitzky-Golay filter of order two, which delays nothing; unlike that filter it uses the true
stamps, so jitter and single missing samples need no resampling.

Two properties are used throughout:

- The estimate is linear in the samples, so its noise is the samples' noise times a known gain.
- The slope of a signal fitted this way is exactly its derivative averaged with a positive
  kernel (:func:`averaging_weights`). Comparing the acceleration times the inertia with the
  measured effort averaged by that same kernel leaves no error from the smoothing itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kron_dynamics.typing import FloatArray

IntArray = npt.NDArray[np.int64]

MIN_HALF_COUNT = 2
# Samples on each side of the middle one when the noise itself is measured.
NOISE_HALF_COUNT = 3
# Standard deviation of a normal distribution whose median absolute deviation is 1.
NORMAL_MAD = 1.4826
# Fewer changes of step than this do not show that a signal was rounded.
MIN_STEP_CHANGES = 8
# Windows are evaluated in blocks of about this many numbers to bound memory.
BLOCK_SIZE = 2_000_000


@dataclass(frozen=True)
class LocalFit:
    """Local quadratics around N times.

    Attributes:
        value: smoothed signal, shape (N,). NaN where the window holds under three samples.
        slope: first derivative, per s, shape (N,).
        curvature: second derivative, per s^2, shape (N,).
        gain: standard deviations of the three for samples of standard deviation one, (N, 3).
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    gain: FloatArray


def fit_local_quadratics(
    time: FloatArray, value: FloatArray, at: FloatArray, half_width: float
) -> LocalFit:
    """Return the quadratics that fit the samples within half_width of each time best.

    Args:
        time: sample times in s, strictly increasing, shape (M,).
        value: samples, shape (M,).
        at: times at which the quadratics are centred, in s, shape (N,).
        half_width: half the window in s.
    """
    first = np.searchsorted(time, at - half_width, side='left')
    last = np.searchsorted(time, at + half_width, side='right')
    longest = max(1, int((last - first).max(initial=1)))
    block = max(1, BLOCK_SIZE // longest)
    parts = [
        _fit_block(
            time, value, at[k : k + block], half_width, first[k : k + block], last[k : k + block]
        )
        for k in range(0, len(at), block)
    ]
    coefficients = np.concatenate([part[0] for part in parts])
    gain = np.concatenate([part[1] for part in parts])
    return LocalFit(coefficients[:, 0], coefficients[:, 1], coefficients[:, 2], gain)


def _fit_block(
    time: FloatArray,
    value: FloatArray,
    at: FloatArray,
    half_width: float,
    first: IntArray,
    last: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Return value, slope, curvature (N, 3) and their noise gains (N, 3)."""
    index = first[:, None] + np.arange(max(1, int((last - first).max(initial=1))))
    inside = index < last[:, None]
    index = np.minimum(index, len(time) - 1)
    x = np.where(inside, (time[index] - at[:, None]) / half_width, 0.0)
    # Fitting the difference from one sample keeps digits: a rail position may be 600 m +/- 1 um.
    base = value[index[:, 0]]
    y = np.where(inside, value[index] - base[:, None], 0.0)
    squares = x * x
    powers = np.stack([inside.astype(float), x, squares, x * squares, squares * squares])
    moments = powers.sum(axis=2)  # (5, N)
    normal = np.stack([moments[k : k + 3] for k in range(3)])  # (3, 3, N)
    normal = np.ascontiguousarray(normal.transpose(2, 0, 1))  # (N, 3, 3)
    solvable = (last - first >= 3) & (np.abs(np.linalg.det(normal)) > 1e-12)
    normal[~solvable] = np.eye(3)
    inverse = np.linalg.inv(normal)
    right = np.einsum('knl,nl->nk', powers[:3], y)
    scale = np.array([1.0, 1.0 / half_width, 2.0 / half_width**2])
    coefficients = np.einsum('nij,nj->ni', inverse, right) * scale
    coefficients[:, 0] += base
    gain = np.sqrt(np.einsum('nii->ni', inverse)) * scale
    coefficients[~solvable] = np.nan
    gain[~solvable] = np.nan
    return coefficients, gain


def averaging_weights(half_count: int, derivative: int) -> FloatArray:
    """Return the average a fitted derivative takes of the true one, shape (2 half_count + 1,).

    The slope fitted to a signal x over 2 m + 1 samples equals the average of dx/dt with the
    first kernel; the fitted curvature equals the average of d2x/dt2 with the second. Both are
    positive, symmetric and sum to one.

    Args:
        half_count: m, samples on each side of the middle one.
        derivative: 1 (slope) or 2 (curvature).
    """
    j = np.arange(-half_count, half_count + 1, dtype=float)
    ahead = j[half_count:]
    if derivative == 1:
        slope = j / np.sum(j * j)
        beyond = np.array([np.sum(slope[j > k]) for k in ahead])
        # Constant between samples: a sample's weight is the mean of its two neighbours'.
        weights = np.concatenate((beyond[:1], 0.5 * (beyond[:-1] + beyond[1:])))
    else:
        centred = j * j - np.mean(j * j)
        curvature = 2.0 * centred / np.sum(centred * centred)
        weights = np.array([np.sum(curvature[j > k] * (j[j > k] - k)) for k in ahead])
    return np.concatenate((weights[:0:-1], weights))


def resampled_weights(weights: FloatArray, ratio: float) -> FloatArray:
    """Return averaging weights for samples that are closer, still symmetric with sum one.

    Args:
        weights: weights from :func:`averaging_weights`, shape (2 m + 1,).
        ratio: distance of the samples they belong to over the new distance, at least one.
    """
    half_count = len(weights) // 2
    reach = int(np.floor((half_count + 1) * ratio))
    at = np.arange(-reach, reach + 1) / ratio
    finer = np.interp(at, np.arange(-half_count - 1, half_count + 2), np.pad(weights, 1))
    return np.asarray(finer / finer.sum())


def average(signal: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the moving average of columns; NaN where the weights reach past the ends.

    Args:
        signal: evenly spaced values, shape (N,) or (N, k).
        weights: symmetric weights, shape (2 m + 1,).
    """
    averaged = np.full(signal.shape, np.nan)
    reach = len(weights) // 2
    if len(signal) < len(weights):
        return averaged
    inner = averaged[reach : len(signal) - reach]
    if signal.ndim == 1:
        inner[:] = np.convolve(signal, weights, mode='valid')
    else:
        for column in range(signal.shape[1]):
            inner[:, column] = np.convolve(signal[:, column], weights, mode='valid')
    return averaged


def remainders(
    time: FloatArray, value: FloatArray, half_width: float, stride: int = 1
) -> FloatArray:
    """Return the samples minus their local quadratics, scaled to the samples' own noise.

    The fit follows each sample a little; the scale undoes that, so that for white noise the
    remainders have the noise's standard deviation at every window.

    Args:
        time: sample times in s, strictly increasing, shape (M,).
        value: samples, shape (M,).
        half_width: half the window in s.
        stride: every how many samples a remainder is wanted.
    """
    fit = fit_local_quadratics(time, value, time[::stride], half_width)
    leverage = fit.gain[:, 0] ** 2
    usable = leverage < 0.9
    scaled: FloatArray = (value[::stride] - fit.value)[usable] / np.sqrt(1.0 - leverage[usable])
    return scaled


def noise_level(time: FloatArray, value: FloatArray, period: float) -> float:
    """Return the standard deviation of the noise on samples, in their own unit.

    It is the robust spread (median absolute deviation) of what remains above a local quadratic
    over seven samples, and at least what the encoder's resolution would cause: an encoder at
    rest shows no spread, yet resolves no better.

    Args:
        time: sample times in s, strictly increasing, shape (M,).
        value: samples, shape (M,).
        period: usual distance of the samples in s.
    """
    rest = remainders(time, value, (NOISE_HALF_COUNT + 0.5) * period)
    spread = NORMAL_MAD * float(np.median(np.abs(rest - np.median(rest)))) if len(rest) else 0.0
    return max(spread, resolution(value) / math.sqrt(12.0))


def resolution(value: FloatArray) -> float:
    """Return the step to which samples were rounded, 0 if they do not look rounded.

    Rounded samples change by whole multiples of one step, and the multiple keeps changing; a
    smooth signal that stands still or runs at constant speed changes its step only now and then.

    Args:
        value: samples in the order of time, shape (M,).
    """
    steps = np.abs(np.diff(value))
    float_error = 1e-14 * float(np.abs(value).max(initial=0.0))
    moves = steps[steps > float_error]
    if not len(moves):
        return 0.0
    smallest = float(moves.min())
    multiples = steps / smallest
    whole = np.rint(multiples)
    is_rounded = np.all(np.abs(multiples - whole) < 1e-3 + 4.0 * float_error / smallest)
    changes = np.count_nonzero(np.diff(whole))
    return smallest if is_rounded and changes >= MIN_STEP_CHANGES else 0.0
