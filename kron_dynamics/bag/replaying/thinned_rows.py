# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run at a reduced rate, for slow quantities such as external efforts and phases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.segment_replay import SegmentReplay
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Least time step of the rows in s.
LEAST_DISTANCE = 0.05


@dataclass(frozen=True)
class ThinnedSegment:
    """A segment at a reduced rate; each row is the mean over `ThinnedRows.stride` rows.

    Attributes:
        time: s, shape (N,).
        position: shape (N, n), rad or m.
        velocity: shape (N, n), rad/s or m/s.
        deflection: modal coordinates of flexible links, shape (N, m), m.
        deflection_rate: their rates, shape (N, m), m/s.
        effort: recorded efforts, shape (N, n), N m or N; NaN where there is none.
        valid: mask of the compared rows, shape (N,).
    """

    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    deflection: FloatArray
    deflection_rate: FloatArray
    effort: FloatArray
    valid: BoolArray


class ThinnedRows:
    """Reduces the rate of a run, block by block.

    Attributes:
        stride: number of rows per mean.
    """

    def __init__(self, step: float) -> None:
        """Begin with no rows.

        Args:
            step: time step of the blocks' rows in s.
        """
        self.stride = max(int(np.ceil(LEAST_DISTANCE / step - 1e-6)), 1)
        self._parts: dict[int, list[FloatArray]] = {}
        self._left: tuple[int, FloatArray] | None = None  # segment, its rows not yet averaged
        self._ends: IntArray = np.zeros(0, dtype=int)  # of the signals' columns

    def add(self, block: SegmentReplay) -> None:
        """Add the next block; an incomplete mean at the end of a segment is left out.

        Args:
            block: the block.
        """
        modal = block.deflection, block.deflection_rate
        columns = (block.position, block.velocity, *modal, block.recorded)
        self._ends = np.cumsum([part.shape[1] for part in columns])
        table = np.column_stack([block.time, block.valid, *columns])
        if self._left is not None and self._left[0] == block.segment:
            table = np.concatenate((self._left[1], table))
        groups = len(table) // self.stride
        self._left = block.segment, table[groups * self.stride :]
        means = table[: groups * self.stride].reshape(groups, self.stride, table.shape[1])
        means = np.einsum('gsk->gk', means) / self.stride  # faster than NumPy's mean
        self._parts.setdefault(block.segment, []).append(means)

    def keep(self, numbers: list[int]) -> None:
        """Keep some segments, renumbered in their order."""
        self._parts = dict(enumerate(self._parts[number] for number in numbers))

    def segments(self) -> list[ThinnedSegment]:
        """Return the segments, in order."""
        found = []
        for number in sorted(self._parts):
            table = np.concatenate(self._parts[number])
            valid = (table[:, 1] == 1.0) & np.isfinite(table[:, 2:3]).all(axis=1)
            q, qd, e, ed, effort = np.split(table[:, 2:], self._ends[:-1], axis=1)
            found.append(ThinnedSegment(table[:, 0], q, qd, e, ed, effort, valid))
        return found
