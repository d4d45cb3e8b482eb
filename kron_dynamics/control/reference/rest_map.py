# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Path parameter r of a section from rest to rest with dq/dr = 0 at both rests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray

# Smallest distance from a rest that is evaluated, as a share of its zone: powers may be infinite
# at the rest.
_NEAREST = 1e-6
# Positions in the zones from which Newton iterations start.
_STEPS = np.linspace(0.0, 1.0, 33)
# Most Newton iterations for r(s), and step relative to r at which they have converged.
_MOST_STEPS, _ROUNDING = 60, 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class RestMap:
    """s(r): powers of r in zones beside both rests, linear between, so that dq/dr is 0 at rests.

    In the zone of a rest, with z from 0 to 1, ds/dr is z^(a - 1) times a parabola. The parabola
    makes the transition at z = 1 to the constant ds/dr between the zones twice differentiable.

    Attributes:
        begin: s where r is 0.
        length: the range of s.
        duration: the range of r; approximately the time of the motion, s.
        zones: widths of both zones in r, together at most the duration.
        powers: exponents a of both zones.
    """

    begin: float
    length: float
    duration: float
    zones: tuple[float, float]
    powers: tuple[float, float]

    def __call__(self, r: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return s, ds/dr and d2s/dr2, shape (K,) each."""
        (first, last), (a, b) = self.zones, self.powers
        ends = _ramp_length(a), _ramp_length(b)
        slope = self.length / (self.duration - first * (1.0 - ends[0]) - last * (1.0 - ends[1]))
        rest = self.duration - r
        before = _ramp(np.clip(r / first, _NEAREST, 1.0), a)
        after = _ramp(np.clip(rest / last, _NEAREST, 1.0), b)
        s = np.clip(r, first, self.duration - last)
        s += first * before[0] - last * after[0] + (last * ends[1] - first)
        bend = before[2] * after[1] * (slope / first) - before[1] * after[2] * (slope / last)
        return self.begin + slope * s, slope * before[1] * after[1], bend

    def inverse(self, s: FloatArray) -> FloatArray:
        """Return r(s) for s between both ends, shape (K,)."""
        first, last = self.zones
        grid = np.concatenate((first * _STEPS, self.duration - last * _STEPS[::-1]))
        at = self(grid)[0]
        r, above = np.interp(s, at, grid), np.searchsorted(at[1:-1], s, side='right') + 1
        for _ in range(_MOST_STEPS):  # quadratic convergence starts late beside a rest
            reached, slope, _ = self(r)
            step = np.clip(r - (reached - s) / slope, grid[above - 1], grid[above]) - r
            r = r + step
            if (np.abs(step) <= _ROUNDING * r).all():
                break
        return r


def _parabola(a: float) -> tuple[float, float, float]:
    """1 - b (z - 1) + b (b + 1)/2 (z - 1)^2 with b = a - 1, lowest power first."""
    b = a - 1.0
    half = 0.5 * b * (b + 1.0)
    return 1.0 + b + half, -b - 2.0 * half, half


def _ramp_length(a: float) -> float:
    return sum(factor / (a + k) for k, factor in enumerate(_parabola(a)))


def _ramp(z: FloatArray, a: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Integral, value and slope of the ramp of a zone at z, 0 to 1."""
    c0, c1, c2 = _parabola(a)
    power = z ** (a - 2.0)
    slope = power * ((a - 1.0) * c0 + z * (a * c1 + (a + 1.0) * c2 * z))
    power *= z
    value = power * (c0 + z * (c1 + c2 * z))
    power *= z
    return power * (c0 / a + z * (c1 / (a + 1.0) + c2 / (a + 2.0) * z)), value, slope
