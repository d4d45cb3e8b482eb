# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How often states come, by their stamps."""

from __future__ import annotations

from collections import deque

# Enough for one clock that was set, or states that were lost, not to count.
_REMEMBERED = 8


class SamplePeriod:
    """The median of the last few gaps between stamps.

    A stamp that is not later than the one before, or later by more than `longest`, is that of a
    clock that was set: it ends no gap.
    """

    def __init__(self, nominal: float, *, longest: float) -> None:
        """Start with a nominal period, s, in place of gaps that have not been seen yet."""
        self._longest = longest
        self._last: float | None = None
        self._gaps = deque([nominal] * _REMEMBERED, maxlen=_REMEMBERED)

    @property
    def value(self) -> float:
        """The period, s."""
        return sorted(self._gaps)[len(self._gaps) // 2]

    def note(self, stamp: float) -> None:
        """Take the stamp of a state, s."""
        if self._last is not None and 0.0 < stamp - self._last <= self._longest:
            self._gaps.append(stamp - self._last)
        self._last = stamp
