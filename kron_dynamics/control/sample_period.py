# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Period of the joint states, measured from their stamps."""

from __future__ import annotations

from collections import deque

# Number of gaps in the median: enough to suppress a clock change or a few lost states.
_REMEMBERED = 8


class SamplePeriod:
    """The median of the last few gaps between stamps.

    A stamp that is not later than the one before, or later by more than `longest`, is attributed
    to a clock change; the gap before it is ignored.
    """

    def __init__(self, nominal: float, *, longest: float) -> None:
        """Fill the window of gaps with a nominal period, s, until gaps have been measured."""
        self._longest = longest
        self._last: float | None = None
        self._gaps = deque([nominal] * _REMEMBERED, maxlen=_REMEMBERED)

    @property
    def value(self) -> float:
        """The period, s."""
        return sorted(self._gaps)[len(self._gaps) // 2]

    def note(self, stamp: float) -> None:
        """Add the stamp of a state, s."""
        if self._last is not None and 0.0 < stamp - self._last <= self._longest:
            self._gaps.append(stamp - self._last)
        self._last = stamp
