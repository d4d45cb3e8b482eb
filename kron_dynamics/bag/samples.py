# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded values over time, and counts of the samples that could not be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Callback with the current step and its completed share, 0 to 1.
Progress = Callable[[str, float], None]
# Samples come in bursts if a series at their usual period has this many times more rows.
MOST_TIMES = 50
# Slower parts of a recording are reported from this share of its time on.
SLOWER_SHARE = 0.1
_ROWS = 16_384  # rows of a long table that are processed together
# Indices of messages, and the values they hold.
Piece = tuple[IntArray, FloatArray]


@dataclass(frozen=True)
class Samples:
    """One recorded quantity.

    Attributes:
        time: times in s, strictly increasing, shape (N,).
        value: finite values, shape (N,) or (N, k).
    """

    time: FloatArray
    value: FloatArray

    @cached_property
    def period(self) -> float:
        """Usual period of the samples in s; requires two or more samples."""
        return sample_period(self.time)

    @property
    def in_bursts(self) -> bool:
        """Whether a series at the usual period would be far longer than the samples."""
        count = len(self.time)
        return count > 1 and bool(self.time[-1] - self.time[0] > MOST_TIMES * self.period * count)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """Least and largest value; requires one sample or more."""
        # A column of a long (memory-mapped) table is read once, block by block.
        least, largest = np.inf, -np.inf
        for first in range(0, len(self.value), _ROWS):
            part = np.ascontiguousarray(self.value[first : first + _ROWS])
            least, largest = min(least, float(part.min())), max(largest, float(part.max()))
        return least, largest

    def between(self, start: float, end: float) -> Samples:
        """Return the samples with start <= time <= end (in s)."""
        first, last = np.searchsorted(self.time, (start, end), side='left')
        last += int(last < len(self.time) and self.time[last] == end)
        return Samples(self.time[first:last], self.value[first:last])


@dataclass
class DroppedSamples:
    """Counts of data that were not used, by reason.

    Attributes:
        undecodable: messages whose bytes do not fit their type.
        malformed: messages whose arrays do not fit their names, or that repeat a name.
        non_finite: samples that are NaN, infinite or above 1e12, by 'joint quantity'.
        duplicates: samples with the stamp and the value of an earlier one.
        conflicts: samples with the stamp of an earlier one but another value.
        out_of_order: messages older than one before them (used, after sorting).
        restarts: how often the clock jumped back.
        unstamped: messages without a stamp among messages with wall-clock stamps.
        outside_segments: single positions between gaps, or where other joints are missing.
        slower: time in s of samples that come evenly, but so much more slowly than most that each
            is alone between gaps, and their period in s; 0 if it is a small share.
        unused_joints: joints in the messages that are no coordinate of the model.
    """

    undecodable: int = 0
    malformed: int = 0
    non_finite: dict[str, int] = field(default_factory=dict)
    duplicates: int = 0
    conflicts: int = 0
    out_of_order: int = 0
    restarts: int = 0
    unstamped: int = 0
    outside_segments: int = 0
    slower: tuple[float, float] = (0.0, 0.0)
    unused_joints: tuple[str, ...] = ()

    def described(self) -> list[str]:
        """Return a phrase for each kind of loss that occurred."""
        phrases = [
            (self.undecodable, 'messages that cannot be decoded'),
            (self.malformed, 'messages whose arrays do not fit their names'),
            (self.unstamped, 'messages without a stamp, among others with one,'),
            (self.conflicts, 'samples with the time of another but a different value'),
            (self.duplicates, 'repeated values'),
            (
                self.outside_segments,
                'positions alone between gaps or where others are missing',
            ),
        ]
        found = [f'{count} {phrase} dropped' for count, phrase in phrases if count]
        found += [
            f'{n} NaN, infinite or huge samples of {key} dropped'
            for key, n in self.non_finite.items()
        ]
        duration, period = self.slower
        if duration:
            found.append(
                f'{duration:.3g} s with a sample every {period:.3g} s only, beside faster ones, '
                'dropped: analyse them as a bag of their own'
            )
        if self.out_of_order:
            found.append(f'{self.out_of_order} messages out of order (sorted in, not dropped)')
        if self.restarts:
            found.append(f'clock jumped back {self.restarts} times (analysed separately)')
        return found


def merge_samples(
    pieces: Sequence[Piece], times: FloatArray, wanted: BoolArray, dropped: DroppedSamples
) -> Samples:
    """Return one quantity from the messages that hold it, sorted by time without duplicates.

    Of two samples with the same time the one recorded first is kept and the other counted.

    Args:
        pieces: values, shape (k,) or (k, m), with the indices of the k messages they are from.
        times: time of every message in s, shape (M,).
        wanted: mask of the messages to take, shape (M,).
        dropped: counts of dropped samples, which are increased.
    """
    if not pieces:
        return Samples(np.empty(0), np.empty(0))
    if len(pieces) == 1 and len(pieces[0][0]) == len(times) and wanted.all():
        if np.all(times[1:] > times[:-1]):
            return Samples(times, pieces[0][1])  # all signals share one array of times
    index = np.concatenate([piece[0] for piece in pieces])
    value = np.concatenate([piece[1] for piece in pieces])
    chosen = wanted[index]
    index, value = index[chosen], value[chosen]
    order = np.lexsort((index, times[index]))
    time, value = times[index][order], value[order]
    repeated = np.zeros(len(time), dtype=bool)
    repeated[1:] = time[1:] == time[:-1]
    first_of_time = np.maximum.accumulate(np.where(repeated, 0, np.arange(len(time))))
    differs = value[repeated] != value[first_of_time[repeated]]
    conflicts = int(np.sum(differs if value.ndim == 1 else differs.any(axis=1)))
    dropped.conflicts += conflicts
    dropped.duplicates += int(repeated.sum()) - conflicts
    return Samples(time[~repeated], value[~repeated])


def slower_time(time: FloatArray, gap: float) -> tuple[float, float]:
    """Return for how long samples come evenly but each alone between gaps, and their period, s.

    Both are 0 if this is less than `SLOWER_SHARE` of the time.

    Args:
        time: increasing times in s, shape (N,).
        gap: least time between two samples that is a gap, in s.
    """
    steps = np.diff(time)
    far = np.flatnonzero(steps > gap)
    following = far[1:][np.diff(far) == 1]
    before, slow = steps[following - 1], steps[following]
    slow = slow[np.abs(slow - before) < 0.2 * before]
    duration = float(slow.sum())
    if duration <= SLOWER_SHARE * float(steps.sum()):
        return 0.0, 0.0
    return duration, float(np.median(slow))


def sample_period(time: FloatArray) -> float:
    """Return the usual period of samples in s: the 75 % quantile of their time differences.

    A quantile above the median, because with two publishers of the same joint every other
    difference is arbitrarily short.

    Args:
        time: increasing times in s, shape (N,), N >= 2.
    """
    return float(np.quantile(np.diff(time), 0.75))
