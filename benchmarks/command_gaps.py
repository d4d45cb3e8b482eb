# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gaps between commands while a planner alternates between seconds of silence and of requests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.typing import FloatArray

PHASE = 1.0  # s
_TAIL = 0.2  # s that the last request of a second may take beyond its end


class Gaps(NamedTuple):
    """Gaps between commands, s: those in silence, and all others."""

    silent: FloatArray
    busy: FloatArray


def asking(now: float) -> bool:
    """Return whether the planner sends requests at a time of the common monotonic clock."""
    return int(now / PHASE) % 2 == 1


def gaps_of(begin: float, end: float, times: Sequence[float]) -> Gaps:
    """Return the gaps of a measurement; one is silent if no request is under way in any of it.

    Args:
        begin: begin of the measurement, s.
        end: its end, s: what is missing after the last command is a gap, too.
        times: times of the commands, s.
    """
    ends = np.array([begin, *times, end])
    gaps = np.diff(ends)
    busy = [
        asking(first) or asking(first - _TAIL) or asking(last) or last - first > PHASE
        for first, last in zip(ends[:-1], ends[1:], strict=True)
    ]
    return Gaps(gaps[np.logical_not(busy)], gaps[busy])


def gap_not_exceeded(gaps: FloatArray, share: float) -> float:
    """Return the gap, s, such that this share of the time lies in gaps that are not longer.

    A long stall is one gap among many, but it takes much of the time.
    """
    ascending = np.sort(gaps)
    passed = np.cumsum(ascending)
    return float(ascending[np.searchsorted(passed, share * passed[-1])])


def idle_phases(begin: float, end: float, served: Collection[int]) -> list[int]:
    """Return the whole seconds of requests in a measurement in which nothing was served.

    Args:
        begin: begin of the measurement, s.
        end: its end, s.
        served: numbers of the seconds in which requests were served.
    """
    first, last = int(np.ceil(begin / PHASE)), int(end / PHASE)
    return [k for k in range(first, last) if k % 2 == 1 and k not in served]
