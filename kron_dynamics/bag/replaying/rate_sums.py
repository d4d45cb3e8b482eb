# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of a replay's signals by differences over a window, summed up block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.replaying.segment_replay import SegmentReplay
from kron_dynamics.typing import BoolArray, FloatArray


class RateMoments:
    """Count, squares and peak of rates; attributes have shape (k,).

    Attributes:
        count: number of known rates.
        squares: sum of their squares.
        peak: their largest magnitude.
    """

    def __init__(self, columns: int) -> None:
        """Begin with no rates."""
        self.count, self.squares, self.peak = np.zeros((3, columns))

    def add(self, columns: Sequence[int], rates: FloatArray) -> None:
        """Add rates of some columns, shape (N, len(columns)); NaN where unknown."""
        if not len(rates):
            return
        sizes = np.abs(np.ascontiguousarray(rates.T))  # NumPy is faster along rows
        known = np.isfinite(sizes)
        if known.all():
            self.count[columns] += sizes.shape[1]
        else:
            sizes = np.where(known, sizes, 0.0)
            self.count[columns] += np.count_nonzero(known, axis=1)
        self.squares[columns] += np.einsum('ij,ij->i', sizes, sizes)
        self.peak[columns] = np.maximum(self.peak[columns], sizes.max(axis=1))

    def rms(self, column: int) -> float:
        """Return the root mean square of a rate, NaN if none is known."""
        count = self.count[column]
        return float(np.sqrt(self.squares[column] / count)) if count else float('nan')

    def largest(self, column: int) -> float:
        """Return the largest magnitude of a rate, NaN if none is known."""
        return float(self.peak[column]) if self.count[column] else float('nan')


class _Rows(NamedTuple):
    segment: int
    valid: BoolArray
    signals: tuple[FloatArray, ...]


class RateSums:
    """Rates of a run.

    Attributes:
        jerk: jerk of each joint.
        recorded: rate of each joint's recorded effort.
        recomputed: rate of its recomputed effort.
        compared: rate of its recomputed effort where an effort is recorded.
        tip: magnitudes of the tip's linear and angular jerk.
        is_recorded: whether any effort of a joint is recorded, shape (n,).
        apart: number of rows over which each joint's differences are taken.
    """

    def __init__(self, widths: Sequence[float], step: float) -> None:
        """Begin with no rows.

        Args:
            widths: time over which each joint's differences are taken, in s; the tip's are taken
                over the longest.
            step: time step of the rows in s.
        """
        n = len(widths)
        self.jerk, self.recorded, self.recomputed, self.compared = (
            RateMoments(n) for _ in range(4)
        )
        self.tip, self.is_recorded = RateMoments(2), np.zeros(n, dtype=bool)
        self._step = step
        self._before: _Rows | None = None
        self.apart = [max(1, round(width / step)) for width in widths]

    def add(self, block: SegmentReplay) -> None:
        """Add the next block.

        Args:
            block: the block, in the order of `Replay.blocks`.
        """
        self.is_recorded |= np.isfinite(block.recorded).any(axis=0)
        signals = (block.acceleration, block.recorded, block.recomputed, block.tip_recomputed)
        rows = _Rows(block.segment, block.valid, signals)
        before, old = self._before, 0
        if before is not None and before.segment == block.segment:
            old = len(before.valid)
            pairs = zip(before.signals, signals, strict=True)
            joined = tuple(np.concatenate(pair) for pair in pairs)
            rows = _Rows(block.segment, np.concatenate((before.valid, block.valid)), joined)
        for apart in set(self.apart):
            joints = [k for k, each in enumerate(self.apart) if each == apart]
            # A slice of all joints needs no copy.
            chosen = slice(None) if len(joints) == len(self.apart) else joints
            jerk, recorded, recomputed = (
                self._rates(signal, rows.valid, apart, old)[:, chosen]
                for signal in rows.signals[:3]
            )
            self.jerk.add(joints, jerk)
            self.recorded.add(joints, recorded)
            self.recomputed.add(joints, recomputed)
            known = np.isfinite(recorded)
            if not known.all():
                recomputed = np.where(known, recomputed, np.nan)
            self.compared.add(joints, recomputed)
        widest = self._rates(rows.signals[3], rows.valid, max(self.apart), old)
        self.tip.add([0, 1], magnitudes(widest))
        keep = slice(-max(self.apart), None)
        self._before = _Rows(
            rows.segment, rows.valid[keep], tuple(signal[keep] for signal in rows.signals)
        )

    def _rates(self, signal: FloatArray, valid: BoolArray, apart: int, old: int) -> FloatArray:
        """Return rates over `apart` rows, without those that end in the old rows, (N, k)."""
        first = max(old, apart)
        late, early = slice(first, None), slice(first - apart, len(valid) - apart)
        if first >= len(valid):
            return signal[:0]
        rates = (signal[late] - signal[early]) / (apart * self._step)
        both = valid[late] & valid[early]
        return rates if both.all() else rates[both]


def magnitudes(vectors: FloatArray) -> FloatArray:
    """Return the linear and the angular magnitude of 6-vectors, shape (N, 6), as (N, 2)."""
    halves = vectors.reshape(-1, 2, 3)
    return np.asarray(np.sqrt(np.einsum('nij,nij->ni', halves, halves)))
