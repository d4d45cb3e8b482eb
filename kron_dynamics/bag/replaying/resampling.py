# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Resampling of recorded signals to a uniform grid, noise and resolution, and moving sums."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.samples import Samples
from kron_dynamics.typing import BoolArray, ComplexArray, FloatArray, IntArray

# Standard deviation of a normal distribution whose median absolute deviation is 1.
NORMAL_MAD = 1.4826
# Differences of this order contain the noise of smooth motion and hardly any of the motion.
NOISE_DIFFERENCE = 6
# Steps between samples that differ by less than this share count as equal: what a motion leaves in
# the differences because of it is below the noise of any sensor.
EQUAL_STEPS = 1e-6
# Differences per median: enough that single wrong samples do not matter.
NOISE_PART = 64
# Samples in the middle of a long signal from which its usual noise is estimated.
NOISE_STRETCH = 16_384
# Least number of changes between steps for a signal to count as rounded.
MIN_STEP_CHANGES = 8
# Samples closer than this share of the usual period are averaged.
LEAST_DISTANCE = 0.25
# A grid time counts as bridged if its neighbouring samples are further apart than this many usual
# periods and than this share of the window: motion that passes the window is a cubic in between.
# Before the first sample and after the last one it does at more than as many periods from it.
BRIDGED_PERIODS = 2.5
BRIDGED_SHARE = 1 / 8
# Additional samples on each side of the requested times.
NEIGHBOURS = 16
# Stamps within this many seconds of a grid time count as equal to it.
ON_GRID = 1e-7


def on_grid(
    samples: Samples, time: FloatArray, period: float, window: float = 0.0
) -> tuple[FloatArray, BoolArray]:
    """Return a signal at grid times, shape (N,) or (N, k), and the bridged ones, shape (N,).

    Values are interpolated by a cubic through two samples on each side; samples with a grid time
    are taken unchanged. Long before the first sample and after the last one the value is theirs,
    and bridged; without any sample it is NaN.

    Args:
        samples: the signal, values of shape (M,) or (M, k).
        time: increasing times of the grid in s, shape (N,).
        period: usual period of the samples in s.
        window: length over which the values will be smoothed, in s.
    """
    times, values = _thinned(samples, period)
    if not len(times):
        return np.full((len(time), *values.shape[1:]), np.nan), np.ones(len(time), dtype=bool)
    begin = int(np.searchsorted(times, time[0] - ON_GRID))
    same = times[begin : begin + len(time)]
    if len(same) == len(time) and np.abs(same - time).max() <= ON_GRID:
        return values[begin : begin + len(time)], np.zeros(len(time), dtype=bool)
    after = np.searchsorted(times, time).clip(1, len(times) - 1)
    nearest = after - (time - times[after - 1] < times[after] - time)
    distance = np.abs(times[nearest] - time)
    off = distance > ON_GRID
    result = values[nearest]
    longest = max(BRIDGED_PERIODS * period, BRIDGED_SHARE * window)
    # Outside of its samples a cubic grows without bounds.
    beyond = np.maximum(times[0] - time, time - times[-1]) > BRIDGED_PERIODS * period
    bridged: BoolArray = beyond | ((times[after] - times[after - 1] > longest) & off)
    off &= ~beyond
    if not off.any() or len(times) < 4:
        return result, bridged
    first = (after[off] - 2).clip(0, len(times) - 4)
    result[off] = cubic(times, values, time[off], first, result[off])
    return result, bridged


def cubic(
    times: FloatArray, values: FloatArray, at: FloatArray, first: IntArray, base: FloatArray
) -> FloatArray:
    """Return values of cubics through four samples each, shape (N,) or (N, k).

    Args:
        times: increasing times of the samples in s, shape (M,).
        values: shape (M,) or (M, k).
        at: times in s, shape (N,).
        first: index of the first of the four samples, at most M - 4, shape (N,).
        base: a value near each result, to which rounding errors are relative, shape (N,) or
            (N, k).
    """
    moved = np.zeros_like(base)
    places = [times[first + k] for k in range(4)]
    for k in range(4):
        weight = np.ones(len(at))
        for other in range(4):
            if other != k:
                weight *= (at - places[other]) / (places[k] - places[other])
        moved += weight.reshape(-1, *([1] * (base.ndim - 1))) * (values[first + k] - base)
    return base + moved


def around(stamps: FloatArray, time: FloatArray) -> tuple[int, int]:
    """Return the half-open index range of the samples that `on_grid` needs for some times.

    Args:
        stamps: stamps of the samples in s, increasing, shape (M,).
        time: increasing times in s, shape (N,).
    """
    first = int(np.searchsorted(stamps, time[0])) - NEIGHBOURS
    last = int(np.searchsorted(stamps, time[-1])) + NEIGHBOURS
    first = max(0, min(first, len(stamps) - 2 * NEIGHBOURS))
    return first, max(last, first + 2 * NEIGHBOURS)


def _thinned(samples: Samples, period: float) -> tuple[FloatArray, FloatArray]:
    """Return the samples, averaging those that are too close to each other."""
    times, values = samples.time, samples.value
    if len(times) < 2 or np.diff(times).min() >= LEAST_DISTANCE * period:
        return times, values
    firsts = np.flatnonzero(np.diff(times, prepend=-np.inf) >= LEAST_DISTANCE * period)
    counts = np.diff(firsts, append=len(times))
    shares = counts.reshape(-1, *([1] * (values.ndim - 1)))
    return np.add.reduceat(times, firsts) / counts, np.add.reduceat(values, firsts) / shares


class MovingSums:
    """Weighted moving sums over several signals of the same joints, by FFT convolution.

    The transforms of the weights are cached.
    """

    def __init__(self, weights: FloatArray) -> None:
        """Store the weights.

        Args:
            weights: weights of each of s signals in each of r results, by ascending time, for each
                of n joints, shape (s, r, 2 m + 1, n).
        """
        self._weights = weights
        self._reach = weights.shape[2] // 2
        self._transforms: dict[int, ComplexArray] = {}

    def __call__(self, signals: Sequence[FloatArray]) -> FloatArray:
        """Return the sums; NaN where the weights reach past the ends or cover unknown values.

        Shape (r, N, n), contiguous along N; for g groups of s signals (g r, N, n), one group after
        the other.

        Args:
            signals: evenly spaced values, shape (N, n) each.
        """
        kinds, results, length, joints = self._weights.shape
        count, groups = len(signals[0]), len(signals) // kinds
        if count < length:
            return np.full((groups * results, count, joints), np.nan)
        size = fast_length(count)
        moved = np.empty((len(signals), joints, size))
        moved[:, :, count:] = 0.0
        base = np.array([signal[0] for signal in signals])
        base[~np.isfinite(base)] = 0.0
        # The first value is subtracted so that rounding errors are relative to the signals'
        # changes, not to their offsets.
        for signal, first, columns in zip(signals, base, moved, strict=True):
            np.subtract(signal.T, first[:, None], out=columns[:, :count])
        unknown = None
        with np.errstate(invalid='ignore'):
            is_whole = np.isfinite(moved.sum())
        if not is_whole:
            unknown = ~np.isfinite(moved[:, :, :count])
            moved[:, :, :count][unknown] = 0.0
        transformed = np.fft.rfft(moved).reshape(groups, kinds, 1, joints, -1)
        weights = self._transform(size)
        product = transformed[:, 0] * weights[0]
        for kind in range(1, kinds):
            product += transformed[:, kind] * weights[kind]
        found = np.fft.irfft(product, size)[..., :count]
        shares = self._weights.sum(axis=2)
        found += np.einsum('gsj,srj->grj', base.reshape(groups, kinds, joints), shares)[..., None]
        found[..., : self._reach] = np.nan
        found[..., count - self._reach :] = np.nan
        if unknown is not None:
            holes = unknown.reshape(groups, kinds, joints, count).any(axis=1)
            holes = np.cumsum(np.pad(holes, ((0, 0), (0, 0), (1, 0))), axis=-1)
            reached = holes[..., length:] > holes[..., :-length]
            inner = found[..., self._reach : count - self._reach]
            inner[np.broadcast_to(reached[:, None], inner.shape)] = np.nan
        return np.asarray(found.reshape(-1, joints, count).transpose(0, 2, 1))

    def _transform(self, size: int) -> ComplexArray:
        if size not in self._transforms:
            backwards = self._weights[:, :, ::-1].transpose(0, 1, 3, 2)
            taps = np.zeros((*backwards.shape[:3], size))
            # A sum belongs to the row at the middle of its weights.
            taps[..., : self._reach + 1] = backwards[..., self._reach :]
            if self._reach:
                taps[..., -self._reach :] = backwards[..., : self._reach]
            self._transforms[size] = np.fft.rfft(taps)
        return self._transforms[size]


@functools.lru_cache(maxsize=1024)
def fast_length(count: int) -> int:
    """Return the least product of powers of 2, 3 and 5 that is `count` or more."""
    size = max(count, 1)
    while not is_fast(size):
        size += 1
    return size


def is_fast(size: int) -> bool:
    """Return whether a length is a product of powers of 2, 3 and 5, for which the FFT is fast."""
    for prime in (2, 3, 5):
        while size % prime == 0:
            size //= prime
    return size == 1


def convolve(signal: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weighted moving sums of columns; NaN where the weights reach past the ends.

    Args:
        signal: evenly spaced values, shape (N,) or (N, k).
        weights: weights by ascending time, shape (2 m + 1,).
    """
    table = signal.reshape(len(signal), -1)
    factors = np.broadcast_to(weights[:, None], (len(weights), table.shape[1]))
    return np.asarray(MovingSums(factors[None, None])([table])[0].reshape(signal.shape))


def noise_level(samples: Samples, period: float) -> float:
    """Return the standard deviation of the white noise on samples, in their own unit.

    It is estimated by the median absolute deviation of high-order differences, as root mean square
    over parts, because values with a fixed number of digits are rounded more coarsely the larger
    they are. The quantization noise of the encoder is a lower bound: an encoder at rest shows no
    deviation in spite of its resolution. Where rounded samples change rarely, neighbours share an
    error; the result is then the white noise with the same density at low frequencies.

    Args:
        samples: the signal, values of shape (M,).
        period: usual period of the samples in s.
    """
    if len(samples.time) < 2:
        return 0.0
    differences = _differences(*_thinned(samples, period))
    step = resolution(samples.value)
    if step > 0.0:
        # Differences of 0 are from an encoder at rest, which shows no noise.
        differences = differences[differences != 0.0]
    spread = 0.0
    if len(differences):
        parts = max(1, len(differences) // NOISE_PART)
        # The last, incomplete part is left out.
        table = differences[: len(differences) // parts * parts].reshape(parts, -1)
        centred = np.abs(table - _medians(table)[:, None])
        spread = NORMAL_MAD * float(np.sqrt(np.mean(_medians(centred) ** 2)))
    if step == 0.0:
        return spread
    changes = np.flatnonzero(np.diff(samples.value))
    shared = float(np.median(np.diff(changes))) if len(changes) > MIN_STEP_CHANGES else 1.0
    return max(spread, step / math.sqrt(12.0) * math.sqrt(shared))


def _differences(times: FloatArray, values: FloatArray) -> FloatArray:
    """Return divided differences, scaled to the variance of white noise on the samples.

    At the samples' own times: interpolated values average the noise of several samples.

    Args:
        times: increasing times in s, shape (M,).
        values: shape (M,).

    Returns:
        Differences of the order `NOISE_DIFFERENCE`, shape (M - NOISE_DIFFERENCE,), or none.
    """
    steps = np.diff(times)
    if len(steps) and np.ptp(steps) <= EQUAL_STEPS * steps.min():
        squares_of_binomials = math.comb(2 * NOISE_DIFFERENCE, NOISE_DIFFERENCE)
        return np.diff(values, NOISE_DIFFERENCE) / math.sqrt(squares_of_binomials)
    count = max(0, len(times) - NOISE_DIFFERENCE)
    columns = [slice(k, k + count) for k in range(NOISE_DIFFERENCE + 1)]
    total, squares = np.zeros((2, count))
    reach = times[columns[-1]] - times[columns[0]]
    for one in columns:
        weight = np.ones(count)
        for other in columns:
            if other != one:
                weight *= reach / (times[one] - times[other])
        # Relative to the first value: an encoder at rest has differences of exactly 0.
        total += weight * (values[one] - values[columns[0]])
        squares += weight * weight
    return np.asarray(total / np.sqrt(squares))


def usual_noise(samples: Samples) -> float:
    """Return the noise level in the middle of a long signal, or in the whole of a short one.

    It is 0 for samples that come in bursts, which are not resampled.

    Args:
        samples: the signal, values of shape (M,).
    """
    first = max(0, (len(samples.time) - NOISE_STRETCH) // 2)
    part = slice(first, first + NOISE_STRETCH)
    stretch = Samples(samples.time[part], samples.value[part])
    if len(stretch.time) < 2 or stretch.in_bursts:
        return 0.0
    return noise_level(stretch, stretch.period)


def _medians(table: FloatArray) -> FloatArray:
    """Return the upper medians of rows, shape (N,)."""
    middle = table.shape[1] // 2
    return np.asarray(np.partition(table, middle, axis=1)[:, middle])


def resolution(value: FloatArray) -> float:
    """Return the resolution (quantization step) of samples, 0 if they do not look rounded.

    Rounded samples change by whole multiples of one step, and the multiple changes often; the
    differences of a smooth signal at rest or at constant speed change rarely.

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
