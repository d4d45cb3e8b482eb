# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How often states come, by their stamps."""

from __future__ import annotations

from collections import deque

# Of so many gaps between states the longest counts: a brake must be gentle enough for it.
_REMEMBERED = 8


class SamplePeriod:
    """The longest of the last few gaps between stamps.

    A stamp that is not later than the one before, or later by more than `longest`, is the clock of
    another publisher or one that was set: it starts a new gap and ends none.
    """

    def __init__(self, nominal: float, *, longest: float) -> None:
        """Start with a nominal period, s, which counts until a gap has been seen."""
        self._nominal = nominal
        self._longest = longest
        self._last: float | None = None
        self._gaps: deque[float] = deque(maxlen=_REMEMBERED)

    @property
    def value(self) -> float:
        """The period, s."""
        return max(self._gaps, default=self._nominal)

    def note(self, stamp: float) -> None:
        """Take the stamp of a state, s."""
        if self._last is not None and 0.0 < stamp - self._last <= self._longest:
            self._gaps.append(stamp - self._last)
        self._last = stamp
