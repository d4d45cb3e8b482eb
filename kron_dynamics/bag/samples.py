# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded values over time, and the count of those that could not be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Is told what is being done, and how much of it is done, 0 to 1.
Progress = Callable[[str, float], None]
# A series at even times that has more of them by sample is of no motion that was sampled evenly.
MOST_TIMES = 50
_ROWS = 16_384  # of a long table that are looked at together
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
        """Usual distance of the samples in s; there have to be two or more."""
        return sample_period(self.time)

    @property
    def in_bursts(self) -> bool:
        """Whether most are so close together that a series at even times would hardly end."""
        count = len(self.time)
        return count > 1 and bool(self.time[-1] - self.time[0] > MOST_TIMES * self.period * count)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """Least and largest value; there has to be one."""
        # A column of a long table is read once, some rows after the other.
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
    """What was not used, and why.

    Attributes:
        undecodable: messages whose bytes do not fit their type.
        malformed: messages whose arrays do not fit their names, or that repeat a name.
        non_finite: samples that are NaN, infinite or above 1e12, by 'joint quantity'.
        duplicates: samples whose stamp came before with the same value.
        conflicts: samples whose stamp came before with another value.
        out_of_order: messages older than one before them (used, after sorting).
        restarts: times the clock jumped back.
        unstamped: messages without a stamp among those with a stamp of the wall clock.
        outside_segments: position samples where not all joints are known, or alone between gaps.
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
        if self.out_of_order:
            found.append(f'{self.out_of_order} messages out of order (sorted in, not dropped)')
        if self.restarts:
            found.append(f'clock jumped back {self.restarts} times (analysed separately)')
        return found


def merge_samples(
    pieces: Sequence[Piece], times: FloatArray, wanted: BoolArray, dropped: DroppedSamples
) -> Samples:
    """Return one quantity from the messages that hold it: sorted by time, each time once.

    Of two samples with the same time the one recorded first is kept and the other counted.

    Args:
        pieces: values, shape (k,) or (k, m), with the indices of the k messages they are from.
        times: time of every message in s, shape (M,).
        wanted: which messages to take, shape (M,).
        dropped: where dropped samples are counted.
    """
    if not pieces:
        return Samples(np.empty(0), np.empty(0))
    if len(pieces) == 1 and len(pieces[0][0]) == len(times) and wanted.all():
        if np.all(times[1:] > times[:-1]):
            return Samples(times, pieces[0][1])  # of all signals the same times
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


def sample_period(time: FloatArray) -> float:
    """Return the usual distance of samples in s: the 75 % quantile of their distances.

    A quantile above the median, because two publishers of the same joint make every other
    distance arbitrarily short.

    Args:
        time: increasing times in s, shape (N,), N >= 2.
    """
    return float(np.quantile(np.diff(time), 0.75))
