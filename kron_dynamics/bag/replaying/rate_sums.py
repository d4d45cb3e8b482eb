# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of a replay's signals, summed up block by block: differences over a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.replaying.segment_replay import SegmentReplay
from kron_dynamics.typing import BoolArray, FloatArray


class RateMoments:
    """Count, squares and peak of rates; attributes have shape (k,).

    Attributes:
        count: of rates that are known.
        squares: the sum of their squares.
        peak: the largest.
    """

    def __init__(self, columns: int) -> None:
        """Begin with no rates."""
        self.count, self.squares, self.peak = np.zeros((3, columns))

    def add(self, columns: Sequence[int], rates: FloatArray) -> None:
        """Take rates of some columns, shape (N, len(columns)); NaN where they are not known."""
        if not len(rates):
            return
        sizes = np.abs(np.ascontiguousarray(rates.T))  # NumPy is quicker along rows
        known = np.isfinite(sizes)
        if not known.all():
            sizes = np.where(known, sizes, 0.0)
        self.count[columns] += np.count_nonzero(known, axis=1)
        self.squares[columns] += np.einsum('ij,ij->i', sizes, sizes)
        self.peak[columns] = np.maximum(self.peak[columns], sizes.max(axis=1))

    def rms(self, column: int) -> float:
        """Return the root mean square of a rate, NaN if none is known."""
        count = self.count[column]
        return float(np.sqrt(self.squares[column] / count)) if count else float('nan')

    def largest(self, column: int) -> float:
        """Return the largest of a rate, NaN if none is known."""
        return float(self.peak[column]) if self.count[column] else float('nan')


class _Rows(NamedTuple):
    segment: int
    valid: BoolArray
    signals: tuple[FloatArray, ...]


class RateSums:
    """Rates of a run.

    Attributes:
        jerk: of each joint.
        recorded: of each joint's recorded effort.
        recomputed: of its recomputed effort.
        compared: of that where one is recorded, too.
        tip: of the tip, linear and angular, by magnitude.
        is_recorded: of which joints there is an effort anywhere, shape (n,).
    """

    def __init__(self, widths: Sequence[float], step: float) -> None:
        """Begin with no rows.

        Args:
            widths: over how long the rates of each joint are taken, in s; the tip's over the
                longest.
            step: distance of rows in s.
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
        """Take the next block.

        Args:
            block: in the order of `Replay.blocks`.
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
            jerk, recorded, recomputed = (
                self._rates(signal, rows.valid, apart, old)[:, joints]
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
        parts = (widest[:, :3], widest[:, 3:])
        self.tip.add([0, 1], np.column_stack([np.linalg.norm(part, axis=1) for part in parts]))
        keep = slice(-max(self.apart), None)
        self._before = _Rows(
            rows.segment, rows.valid[keep], tuple(signal[keep] for signal in rows.signals)
        )

    def _rates(self, signal: FloatArray, valid: BoolArray, apart: int, old: int) -> FloatArray:
        """Return differences over some rows that end behind the old ones, (N, k), per s."""
        first = max(old, apart)
        late, early = slice(first, None), slice(first - apart, len(valid) - apart)
        if first >= len(valid):
            return signal[:0]
        rates = (signal[late] - signal[early]) / (apart * self._step)
        both = valid[late] & valid[early]
        return rates if both.all() else rates[both]
