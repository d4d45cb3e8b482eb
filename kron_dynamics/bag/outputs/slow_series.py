# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantities at a reduced rate, resampled to all rows: external efforts and phases."""

from __future__ import annotations

import numpy as np

from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.phases import KINDS, Phase
from kron_dynamics.typing import FloatArray, IntArray

# Index of a row in no phase; other phases are indices into `KINDS`.
NO_PHASE = -1


class SlowSeries:
    """External efforts and phases of a run, by segment and time."""

    def __init__(self, run: RunAnalysis) -> None:
        """Collect the external efforts and phases of a run."""
        self._external = run.external_series
        self._phases: dict[int, list[Phase]] = {}
        for phase in run.phases:
            self._phases.setdefault(phase.segment, []).append(phase)

    def external(self, segment: int, time: FloatArray) -> FloatArray:
        """Return external efforts, shape (N, n), N m or N; NaN where unknown.

        They are averages over several rows of the reduced rate, so linear interpolation is
        sufficient.

        Args:
            segment: index of the run's segment, from 0.
            time: increasing, in s, shape (N,).
        """
        item = self._external[segment]
        if not len(item.rows.time):
            return np.full((len(time), item.effort.shape[1]), np.nan)
        outside = (np.nan, np.nan)  # no extrapolation
        columns = [np.interp(time, item.rows.time, column, *outside) for column in item.effort.T]
        return np.column_stack(columns)

    def phase(self, segment: int, time: FloatArray) -> IntArray:
        """Return phases as indices into `KINDS`, or `NO_PHASE`, shape (N,).

        Args:
            segment: index of the run's segment, from 0.
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
