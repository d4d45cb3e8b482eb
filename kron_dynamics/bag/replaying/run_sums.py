# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over a replay, accumulated block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.replaying.effort_delay import EffortDelay
from kron_dynamics.bag.replaying.filters import JointFilter
from kron_dynamics.bag.replaying.rate_sums import RateSums, magnitudes
from kron_dynamics.bag.replaying.segment_replay import TERMS, SegmentReplay
from kron_dynamics.bag.replaying.thinned_rows import ThinnedRows
from kron_dynamics.typing import BoolArray, FloatArray


class Moments:
    """Count, sum, sum of squares and peak of k signals.

    Attributes:
        count: number of known values, shape (k,).
        total: their sum, shape (k,).
        squares: the sum of their squares, shape (k,).
        peak: their largest magnitude, shape (k,); 0 without values.
    """

    def __init__(self, columns: int) -> None:
        """Begin with no values.

        Args:
            columns: number of signals.
        """
        self.count, self.total, self.squares, self.peak = np.zeros((4, columns))

    def add(self, values: FloatArray, known: BoolArray | None = None) -> None:
        """Add values.

        Args:
            values: shape (N, k).
            known: mask of the values that count, shape (N, k); None for all.
        """
        if known is None:
            self.count += len(values)
        else:
            self.count += known.sum(axis=0)
            values = np.where(known, values, 0.0)
        if len(values):
            rows = np.ascontiguousarray(values.T)  # NumPy is faster along rows
            self.total += rows.sum(axis=1)
            self.squares += np.einsum('ij,ij->i', rows, rows)
            for peak in (rows.max(axis=1), -rows.min(axis=1)):
                self.peak = np.maximum(self.peak, peak)

    def joined(self, other: Moments) -> Moments:
        """Return the moments of these and other values."""
        both = Moments(len(self.count))
        both.count, both.total = self.count + other.count, self.total + other.total
        both.squares = self.squares + other.squares
        both.peak = np.maximum(self.peak, other.peak)
        return both

    def rms(self, column: int) -> float:
        """Return the root mean square of a signal, NaN without values."""
        count = self.count[column]
        return float(np.sqrt(self.squares[column] / count)) if count else float('nan')

    def largest(self, column: int) -> float:
        """Return the largest magnitude of a signal, NaN without values."""
        return float(self.peak[column]) if self.count[column] else float('nan')

    def mean(self, column: int) -> float:
        """Return the mean of a signal, NaN without values."""
        count = self.count[column]
        return float(self.total[column] / count) if count else float('nan')


class SegmentSums:
    """Sums over the compared rows of a segment.

    Attributes:
        compared: number of compared rows.
        recorded: moments of the recorded efforts, n columns.
        residual: moments of recorded minus recomputed efforts.
        efforts: moments of the recomputed efforts and their terms by name, where an effort was
            recorded.
        other_efforts: the same where no effort was recorded.
        tip: moments of the tip's acceleration where it was recorded, 6 columns: magnitudes of the
            linear and the angular part of recorded, recomputed and difference.
        effort_noise: standard deviation of the recomputed efforts due to noise, shape (n,).
        tip_noise: the same of the tip's acceleration, shape (6,).
    """

    def __init__(self, n: int) -> None:
        """Begin with no rows.

        Args:
            n: number of joints.
        """
        self.compared = 0
        self.recorded, self.residual, self.tip = Moments(n), Moments(n), Moments(6)
        self.efforts = {name: Moments(n) for name in ('recomputed', *TERMS)}
        self.other_efforts = {name: Moments(n) for name in ('recomputed', *TERMS)}
        self.effort_noise, self.tip_noise = np.full(n, np.nan), np.full(6, np.nan)

    def add(self, block: SegmentReplay) -> None:
        """Add the next block of the segment.

        Args:
            block: the block.
        """
        self.effort_noise, self.tip_noise = block.effort_noise, block.tip_noise
        count = int(np.count_nonzero(block.valid))
        if not count:
            return
        self.compared += count
        rows: slice | BoolArray = slice(None) if count == len(block.valid) else block.valid
        recorded, recomputed = block.recorded[rows], block.recomputed[rows]
        residual = block.residual[rows]
        finite = np.isfinite(recorded)
        known = None if finite.all() else finite
        self.recorded.add(recorded, known)
        self.residual.add(residual, known)
        efforts = {'recomputed': recomputed} | {
            name: table[rows] for name, table in block.terms.items()
        }
        for name, values in efforts.items():
            self.efforts[name].add(values, known)
            if known is not None:
                self.other_efforts[name].add(values, ~finite)
        self._add_tip(block.tip_recorded[rows], block.tip_recomputed[rows])

    def _add_tip(self, recorded: FloatArray, recomputed: FloatArray) -> None:
        known = np.isfinite(recorded).all(axis=1)
        if known.any():
            parts = (recorded[known], recomputed[known], (recorded - recomputed)[known])
            self.tip.add(np.hstack([magnitudes(part) for part in parts]))


class RunSums:
    """Sums over a run.

    Attributes:
        delay: estimator of the delay of recorded efforts' stamps.
        rates: jerk and effort rates.
        thinned: the run at a reduced rate.
    """

    def __init__(self, filters: Sequence[JointFilter], step: float) -> None:
        """Begin with no rows.

        Args:
            filters: filter of each joint's acceleration.
            step: time step of the rows in s.
        """
        self.delay = EffortDelay(len(filters))
        self.rates = RateSums([2.0 * item.half_width for item in filters], step)
        self.thinned = ThinnedRows(step)
        self._segments: dict[int, SegmentSums] = {}
        self._before: tuple[int, list[FloatArray]] | None = None

    def segment(self, number: int) -> SegmentSums:
        """Return the sums over one segment.

        Args:
            number: index of the segment.
        """
        return self._segments[number]

    def keep(self, numbers: Sequence[int]) -> None:
        """Keep some segments, renumbered in their order.

        Args:
            numbers: indices of the segments to keep.
        """
        kept = [self._segments[number] for number in numbers]
        self._segments = dict(enumerate(kept))
        self.thinned.keep(list(numbers))

    def add(self, block: SegmentReplay) -> None:
        """Add the next block.

        Args:
            block: the block, in the order of `Replay.blocks`.
        """
        n = block.position.shape[1]
        if block.segment not in self._segments:
            self._segments[block.segment] = SegmentSums(n)
        self._segments[block.segment].add(block)
        self.rates.add(block)
        self.thinned.add(block)
        unknown = ~block.valid[:, None]
        recomputed, residual = block.recomputed, block.residual
        if unknown.any():
            recomputed = np.where(unknown, np.nan, recomputed)
            residual = np.where(unknown, np.nan, residual)
        parts = [block.time, recomputed, residual, block.sliding]
        if self._before is not None and self._before[0] == block.segment:
            # Central differences need a row on each side.
            pairs = zip(self._before[1], parts, strict=True)
            parts = [np.concatenate(pair) for pair in pairs]
        self.delay.add(*parts)
        self._before = (block.segment, [part[-2:] for part in parts])
