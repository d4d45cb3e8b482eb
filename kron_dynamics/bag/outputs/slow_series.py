# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a run tells at few times, at every row: external efforts, and which phase it is."""

from __future__ import annotations

import numpy as np

from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.phases import KINDS, Phase
from kron_dynamics.typing import FloatArray, IntArray

# Of a row that is in no phase; else a phase is its place in `KINDS`.
NO_PHASE = -1


class SlowSeries:
    """External efforts and phases of a run, by segment and time."""

    def __init__(self, run: RunAnalysis) -> None:
        """Take them from a run."""
        self._external = run.external_series
        self._phases: dict[int, list[Phase]] = {}
        for phase in run.phases:
            self._phases.setdefault(phase.segment, []).append(phase)

    def external(self, segment: int, time: FloatArray) -> FloatArray:
        """Return external efforts, shape (N, n), N m or N; NaN where not known.

        They are averages over more than the distance of the rows that they are of, so that
        straight lines lead from one to the next.

        Args:
            segment: which stretch of the run, counted from 0.
            time: increasing, in s, shape (N,).
        """
        item = self._external[segment]
        if not len(item.rows.time):
            return np.full((len(time), item.effort.shape[1]), np.nan)
        outside = (np.nan, np.nan)  # a line to what is not known is not known
        columns = [np.interp(time, item.rows.time, column, *outside) for column in item.effort.T]
        return np.column_stack(columns)

    def phase(self, segment: int, time: FloatArray) -> IntArray:
        """Return places in `KINDS`, shape (N,), or `NO_PHASE`.

        Args:
            segment: which stretch of the run, counted from 0.
            time: in s, shape (N,).
        """
        known = self._phases.get(segment, [])
        if not known:
            return np.full(len(time), NO_PHASE)
        starts, ends = (
            np.array([getattr(each, end) for each in known]) for end in ('start', 'end')
        )
        place = np.searchsorted(starts, time, side='right') - 1
        kinds = np.array([KINDS.index(each.kind) for each in known])
        inside = (place >= 0) & (time <= ends[place])
        return np.where(inside, kinds[place], NO_PHASE)
