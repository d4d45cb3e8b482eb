# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Minimum-maximum envelopes of long series, so that plots with fewer points keep all peaks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class DrawnSegment:
    """The points of one segment without gaps.

    Attributes:
        time: time of the first sample of each point, in s, shape (M,).
        low: minimum of each of S series over the samples of a point, shape (M, S); NaN if none is
            known.
        high: maximum, shape (M, S).
    """

    time: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass
class _Points:
    """Points of one segment; point k covers the samples k w to (k + 1) w - 1, w the width."""

    count: int = 0  # number of samples
    time: FloatArray = field(default_factory=lambda: np.empty(0))
    low: list[FloatArray] = field(default_factory=list)
    high: list[FloatArray] = field(default_factory=list)


class Envelope:
    """Reduces series, which are added block by block, to a limited number of points.

    At first each point is one sample; whenever there are too many points, neighbours are merged in
    pairs.
    """

    def __init__(self, most_points: int) -> None:
        """Make an envelope without points.

        Args:
            most_points: largest number of points per series, unless there are more segments.
        """
        self._most = most_points
        self._width = 1
        self._segments: list[_Points] = []

    @property
    def samples_per_point(self) -> int:
        """Number of samples per point; the last point of a segment may have fewer."""
        return self._width

    def begin_segment(self) -> None:
        """Begin a new segment after a gap."""
        self._segments.append(_Points())

    def add(self, time: FloatArray, values: FloatArray) -> None:
        """Add the next samples of the segment.

        Args:
            time: in s, shape (N,).
            values: values of each series, shape (N, S); NaN where unknown.
        """
        if not len(time):
            return
        last = self._segments[-1]
        first = last.count
        last.count += len(time)
        # The first samples may belong to the last point of the previous block.
        starts = np.arange(-(-first // self._width) * self._width, last.count, self._width) - first
        if first % self._width and last.low:
            head = slice(0, int(starts[0]) if len(starts) else None)
            last.low[-1][-1] = np.fmin(last.low[-1][-1], np.fmin.reduce(values[head]))
            last.high[-1][-1] = np.fmax(last.high[-1][-1], np.fmax.reduce(values[head]))
        if len(starts):
            last.time = np.concatenate((last.time, time[starts]))
            last.low.append(_reduced(np.fmin, values[starts[0] :], self._width))
            last.high.append(_reduced(np.fmax, values[starts[0] :], self._width))
        while self._too_many():
            self._merge_pairs()

    def finish(self) -> list[DrawnSegment]:
        """Return the points of each segment."""
        return [
            DrawnSegment(each.time, np.concatenate(each.low), np.concatenate(each.high))
            for each in self._segments
            if each.low
        ]

    def _too_many(self) -> bool:
        points = sum(len(each.time) for each in self._segments)
        return points > max(self._most, 2 * len(self._segments))

    def _merge_pairs(self) -> None:
        self._width *= 2
        for each in self._segments:
            if each.low:
                each.time = each.time[::2]
                each.low = [_reduced(np.fmin, np.concatenate(each.low), 2)]
                each.high = [_reduced(np.fmax, np.concatenate(each.high), 2)]


def _reduced(extreme: np.ufunc, values: FloatArray, width: int) -> FloatArray:
    """Return the extreme of each `width` rows; the last group may have fewer."""
    whole = len(values) // width * width
    parts = values[:whole].reshape(-1, width, values.shape[1])
    found = np.empty((-(-len(values) // width), values.shape[1]))
    extreme.reduce(parts, axis=1, out=found[: len(parts)])
    if whole < len(values):
        extreme.reduce(values[whole:], axis=0, out=found[-1])
    return found
