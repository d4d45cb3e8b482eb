# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Series for one coordinate as a function of another: initial guesses for Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.elementary import cos, sin
from kron_dynamics.reproducible import rounded
from kron_dynamics.typing import FloatArray

# Maximum number of coefficients; a series needs more only if a singularity is next to the range.
_MOST = 60
# Coefficients are rounded to nine decimals of this factor times the tolerance, which is a
# thousandth of the tolerance, so that they are the same on every machine.
_ROUNDED = 1e6
# Angles, rad, at which a Fourier series is compared with its function: none is near a sample.
_BETWEEN = 2.0 * np.pi * np.sort(np.arange(1, 9) * (np.sqrt(5.0) - 1.0) / 2.0 % 1.0)


@dataclass(frozen=True)
class Chebyshev:
    """A sum of Chebyshev polynomials over a range.

    Attributes:
        middle: middle of the range, rad or m.
        half: half the length of the range, rad or m.
        coefficients: coefficients of T_0, T_1, ...
    """

    middle: float
    half: float
    coefficients: tuple[float, ...]

    def __call__(self, q: Any) -> Any:
        """Return the value at q by Clenshaw's recurrence."""
        x = (q - self.middle) / self.half
        one, two = 0 * x, 0 * x
        for c in reversed(self.coefficients[1:]):
            one, two = 2 * x * one - two + c, one
        return x * one - two + self.coefficients[0]


@dataclass(frozen=True)
class Fourier:
    """A linear plus a periodic function of an angle q.

    Attributes:
        turns: coefficient of q, the mean slope: turns of the value per turn of q.
        cosines: coefficients of 1, cos q, cos 2 q, ...
        sines: coefficients of 0, sin q, sin 2 q, ..., of the same number.
    """

    turns: float
    cosines: tuple[float, ...]
    sines: tuple[float, ...]

    def __call__(self, q: Any) -> Any:
        """Return the value at an angle q, rad."""
        c, s = cos(q), sin(q)
        value, (ck, sk) = self.turns * q + self.cosines[0], (c, s)
        for a, b in zip(self.cosines[1:], self.sines[1:], strict=True):
            value = value + a * ck + b * sk
            ck, sk = ck * c - sk * s, sk * c + ck * s
        return value


Series = Chebyshev | Fourier
# Function from r values of one coordinate, shape (r,), to d others, shape (r, d).
Follow = Callable[[FloatArray], FloatArray]


def chebyshev_series(
    follow: Follow, lower: float, upper: float, tolerance: FloatArray
) -> list[Chebyshev] | None:
    """Return series over a range, one for each dependent coordinate; None if they do not converge.

    Args:
        follow: computes the true values at increasing points.
        lower: lower end of the range.
        upper: upper end of the range.
        tolerance: tolerance of each coordinate, shape (d,).
    """
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    count = 16  # number of sample points
    while count <= 2 * _MOST:
        x = np.cos(np.pi * (np.arange(count)[::-1] + 0.5) / count)
        values = follow(middle + half * x)
        terms = np.cos(np.outer(np.arange(count), np.arccos(x)))
        coefficients = rounded(2.0 / count * terms @ values, _ROUNDED * tolerance)
        coefficients[0] /= 2.0
        length = _needed(coefficients, tolerance)
        if length <= min(count - 4, _MOST):
            kept = coefficients[: max(length, 1)]
            return [Chebyshev(middle, half, tuple(column)) for column in kept.T.tolist()]
        count *= 2
    return None


def fourier_series(follow: Follow, tolerance: FloatArray) -> list[Fourier] | None:
    """Return series over a turn, one for each dependent coordinate; None if they do not converge.

    Args:
        follow: computes the true values at increasing angles from 0 to 2 pi.
        tolerance: tolerance of each coordinate, shape (d,).
    """
    count = 32
    while count <= 4 * _MOST:
        angles = 2.0 * np.pi * np.arange(count + 1) / count
        values = follow(angles)
        # A gear may have any ratio; rounding makes the slope of a periodic coordinate exactly 0.
        turns = (values[-1] - values[0]) / (2.0 * np.pi)
        turns = rounded(turns, _ROUNDED * tolerance)
        periodic = (values - np.outer(angles, turns))[:-1]
        spectrum = np.fft.rfft(periodic, axis=0) / count
        scale = _ROUNDED * tolerance
        cosines, sines = rounded(2.0 * spectrum.real, scale), rounded(-2.0 * spectrum.imag, scale)
        cosines[0] /= 2.0
        length = _needed(np.abs(cosines) + np.abs(sines), tolerance)
        if length <= min(count // 2 - 4, _MOST):
            kept = slice(max(length, 1))
            made = [
                Fourier(float(turn), tuple(a), tuple(b))
                for turn, a, b in zip(
                    turns, cosines[kept].T.tolist(), sines[kept].T.tolist(), strict=True
                )
            ]
            # Samples cannot tell a high multiple of the angle, as of a step-up gear, from a low.
            between = np.array([[each(angle) for each in made] for angle in _BETWEEN.tolist()])
            if (np.abs(between - follow(_BETWEEN)) < 2.0 * tolerance).all():
                return made
        count *= 2
    return None


def _needed(coefficients: FloatArray, tolerance: FloatArray) -> int:
    """Return the number of coefficients that all columns need to be within the tolerance."""
    truncated = np.cumsum(np.abs(coefficients[::-1]), axis=0)[::-1]
    return int((truncated > tolerance).any(axis=1).sum())
