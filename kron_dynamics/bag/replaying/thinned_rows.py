# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run at fewer times: what tells slow things needs no more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.segment_replay import SegmentReplay
from kron_dynamics.typing import BoolArray, FloatArray

# Rows are at least that far apart, in s.
LEAST_DISTANCE = 0.05


@dataclass(frozen=True)
class ThinnedSegment:
    """A segment at fewer times; each row is the mean of some.

    Attributes:
        time: s, shape (N,).
        position: shape (N, n), rad or m.
        velocity: shape (N, n).
        effort: recorded efforts, shape (N, n), N m or N; NaN where there is none.
        valid: which rows are compared, shape (N,).
    """

    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    valid: BoolArray


class ThinnedRows:
    """Takes the blocks of a run.

    Attributes:
        stride: rows that one stands for.
    """

    def __init__(self, step: float) -> None:
        """Begin with no rows.

        Args:
            step: distance of the rows of blocks in s.
        """
        self.stride = max(int(np.ceil(LEAST_DISTANCE / step - 1e-6)), 1)
        self._parts: dict[int, list[FloatArray]] = {}
        self._left: tuple[int, FloatArray] | None = None  # rows of a segment, too few for a mean

    def add(self, block: SegmentReplay) -> None:
        """Take the next block; what is left at the end of a segment is left out.

        Args:
            block: the next one.
        """
        table = np.column_stack(
            [block.time, block.valid, block.position, block.velocity, block.recorded]
        )
        if self._left is not None and self._left[0] == block.segment:
            table = np.concatenate((self._left[1], table))
        groups = len(table) // self.stride
        self._left = block.segment, table[groups * self.stride :]
        means = table[: groups * self.stride].reshape(groups, self.stride, table.shape[1])
        means = means.mean(axis=1)
        self._parts.setdefault(block.segment, []).append(means)

    def keep(self, numbers: list[int]) -> None:
        """Keep some segments, numbered anew in their order."""
        self._parts = dict(enumerate(self._parts[number] for number in numbers))

    def segments(self) -> list[ThinnedSegment]:
        """Return the segments, in order."""
        found = []
        for number in sorted(self._parts):
            table = np.concatenate(self._parts[number])
            valid = (table[:, 1] == 1.0) & np.isfinite(table[:, 2:3]).all(axis=1)
            q, qd, effort = np.split(table[:, 2:], 3, axis=1)
            found.append(ThinnedSegment(table[:, 0], q, qd, effort, valid))
        return found
