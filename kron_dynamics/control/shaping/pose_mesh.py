# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Times along a motion at which modes are evaluated, denser where they vary faster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray

# Least and largest number of intervals to begin with, powers of two; between them, two or more for
# each piece.
_INTERVALS, _MOST_INTERVALS = 32, 256


@dataclass(frozen=True, slots=True, eq=False)
class PoseMesh:
    """Times from the start to the end of a motion whose end may still move.

    Attributes:
        knots: times at which the pieces of the reference meet, shape (k,), s, ascending.
        shares: places of the times, shape (K,), from 0 to 1, ascending, multiples of some
            1/2^k. They grow half with the time and half with the number of pieces, so that short
            pieces are not overlooked.
    """

    knots: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, knots: FloatArray) -> PoseMesh:
        """Return the mesh to begin with for a reference with these knots, (k,), s."""
        count = _INTERVALS
        while count < min(2 * len(knots), _MOST_INTERVALS):
            count *= 2
        return cls(knots, np.linspace(0.0, 1.0, count + 1))

    def times(self, end: float) -> FloatArray:
        """Return the times, shape (K,), s, of a motion that ends at a time, s."""
        knots = self.knots if end <= self.knots[-1] else np.append(self.knots, end)
        spread = (knots - knots[0]) / (knots[-1] - knots[0])
        even = np.linspace(0.0, 1.0, len(knots))
        times: FloatArray = np.interp(self.shares, (spread + even) / 2.0, knots)
        times[-1] = end
        return times

    def halved(self, intervals: BoolArray | None = None) -> PoseMesh:
        """Return the mesh with these of its intervals halved, shape (K - 1,); None for all."""
        middles = (self.shares[:-1] + self.shares[1:]) / 2.0
        if intervals is not None:
            middles = middles[intervals]
        return replace(self, shares=np.sort(np.concatenate((self.shares, middles))))
