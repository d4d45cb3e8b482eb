# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproducible sines, exponentials and angles of floats and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# pi/2 and log(2) as sums of parts with 33 bits or less, whose products with small integers are
# exact (Cody-Waite range reduction).
_QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_DOUBLING = (0.6931471803691238, 1.9082149292705877e-10)
# Largest angle, rad, up to which the parts of pi/2 are accurate enough.
_FARTHEST = 1e6
# Bounds of arguments of the exponential, which underflows and overflows there.
_VANISHED, _OVERFLOWN = -750.0, 710.0
# Taylor coefficients, highest power first.
_SINE = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(9, 0, -1)]
_COSINE = [(-1.0) ** k / math.factorial(2 * k) for k in range(9, 1, -1)]
_EXPONENTIAL = [1.0 / math.factorial(k) for k in range(13, 1, -1)]


def cosine_and_sine(x: Any) -> tuple[Any, Any]:
    """Return cosine and sine of x, in rad, to within one unit in the last place.

    Args:
        x: a float or an array, with magnitudes up to 1e6; larger floats use the C library.

    Returns:
        floats, or arrays of the same shape.
    """
    if isinstance(x, float):
        if not abs(x) < _FARTHEST:
            return (math.cos(x), math.sin(x)) if math.isfinite(x) else (math.nan, math.nan)
        turns = float(round(x / _QUARTER[0]))
        c, s = _near_zero(*_less(x, turns))
        return ((c, s), (-s, c), (-c, -s), (s, -c))[int(turns) % 4]
    turns = np.rint(x / _QUARTER[0])
    c, s = _near_zero(*_less(x, turns))
    quarter = turns % 4
    odd, half = quarter % 2 == 1, quarter >= 2
    cosine, sine = np.where(odd, -s, c), np.where(odd, c, s)
    return np.where(half, -cosine, cosine), np.where(half, -sine, sine)


def direction_angle(y: float, x: float) -> float:
    """Return the angle of the direction (x, y), -pi to pi, rad; 0 if both are 0."""
    if x == 0.0 and y == 0.0:
        return 0.0
    # The C library's result rounded to nine decimals is reproducible, and one Newton step from it
    # is accurate to all digits.
    near = round(math.atan2(y, x), 9)
    c, s = cosine_and_sine(near)
    return float(near + (y * c - x * s) / (x * c + y * s))


def exponential(x: Any) -> Any:
    """Return exp(x) of a float or an array, to within two units in the last place."""
    rest, doublings = _rest_of_exponential(x)
    return _scaled(1.0 + rest, doublings)


def exponential_less_one(x: Any) -> Any:
    """Return exp(x) - 1 of a float or an array, accurate for small x."""
    rest, doublings = _rest_of_exponential(x)
    return _scaled(rest, doublings) + (_scaled(1.0, doublings) - 1.0)


def hyperbolic_tangent(x: float) -> float:
    """Return tanh(x)."""
    less = exponential_less_one(-2.0 * abs(x))
    return math.copysign(less / (less + 2.0), x)


def _less(x: Any, turns: Any) -> tuple[Any, Any]:
    """Return x minus `turns` right angles as the sum of a high and a low part."""
    first, second, third = _QUARTER
    near = x - turns * first
    rest = near - turns * second
    lost = ((near - rest) - turns * second) - turns * third
    high = rest + lost
    return high, (rest - high) + lost


def _near_zero(x: Any, low: Any) -> tuple[Any, Any]:
    """Return cosine and sine of x + low, with abs(x) not much above pi/4."""
    z = x * x
    odd, even = _SINE[0], _COSINE[0]
    for a in _SINE[1:]:
        odd = odd * z + a
    for a in _COSINE[1:]:
        even = even * z + a
    half = 0.5 * z
    near = 1.0 - half
    cosine = near + (((1.0 - near) - half) + (z * z * even - x * low))
    return cosine, x + (x * z * odd + low * near)


def _rest_of_exponential(x: Any) -> tuple[Any, Any]:
    """Return e and n with exp(x) = (1 + e) 2^n."""
    is_float = isinstance(x, float)
    if is_float and math.isnan(x):
        return x, 0.0
    least, largest = (max, min) if is_float else (np.maximum, np.minimum)
    x = largest(least(x, _VANISHED), _OVERFLOWN)
    turns = x / _DOUBLING[0]
    doublings: Any = float(round(turns)) if is_float else np.rint(turns)
    high, low = x - doublings * _DOUBLING[0], doublings * _DOUBLING[1]
    r = high - low
    lost = (high - r) - low
    series = _EXPONENTIAL[0]
    for a in _EXPONENTIAL[1:]:
        series = series * r + a
    return r + (r * r * series + lost * (1.0 + r)), doublings


def _scaled(value: Any, doublings: Any) -> Any:
    if isinstance(doublings, float):
        try:
            return math.ldexp(value, int(doublings))
        except OverflowError:  # as in an array
            return math.inf
    return np.ldexp(value, doublings.astype(np.int64))
