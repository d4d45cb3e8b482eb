# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Times along a motion at which modes are evaluated, denser where they vary faster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray

# Least and largest number of intervals to begin with, powers of two; between them, two or more for
# each piece of the reference, and one for each knot added to it.
_INTERVALS, _MOST_INTERVALS = 32, 256
# Ratio of the distances from a short piece at which a long one beside it is divided.
_GRADING = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class PoseMesh:
    """Times from the start to the end of a motion whose end may still move.

    Attributes:
        knots: times at which the pieces of the reference meet, and others in pieces much longer
            than their neighbours, shape (k,), s, ascending.
        shares: places of the times, shape (K,), from 0 to 1, ascending, multiples of some
            1/2^k. They grow half with the time and half with the number of pieces, so that short
            pieces are not overlooked.
    """

    knots: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, knots: FloatArray) -> PoseMesh:
        """Return the mesh to begin with for a reference with these knots, (k,), s."""
        graded = _graded(knots)
        least = min(2 * len(knots), _MOST_INTERVALS) + len(graded) - len(knots)
        count = _INTERVALS
        while count < least:
            count *= 2
        return cls(graded, np.linspace(0.0, 1.0, count + 1))

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


def _graded(knots: FloatArray) -> FloatArray:
    """Return knots and others between them, (K,), so that no piece is much longer than the next.

    Modes that change in a short piece have slopes with which a spline overshoots in a long one.
    """
    sizes = np.diff(knots)
    found = [knots]
    for size, beside, sense in ((sizes[1:], sizes[:-1], 1.0), (sizes[:-1], sizes[1:], -1.0)):
        distance = _GRADING * beside
        while (inside := distance < size / 2.0).any():
            found.append((knots[1:-1] + sense * distance)[inside])
            distance = _GRADING * distance
    return np.unique(np.concatenate(found))
