# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Roots of functions of one number."""

from __future__ import annotations

from collections.abc import Callable

# Brent's method takes far fewer.
_MOST_STEPS = 100


def bracketed_root(
    function: Callable[[float], float], a: float, b: float, relative: float
) -> float:
    """Return the root of a function between two places where its signs differ.

    Brent's method: the secant or the inverse quadratic polynomial through the last places, halving
    where these do not converge. Its steps are those of ``scipy.optimize.brentq``, whose import
    takes longer than all that a model needs.

    Args:
        function: continuous function.
        a: place where the function is 0 or has one sign.
        b: place where it is 0 or has the other one.
        relative: precision of the root relative to its size, a few times 1e-16 or more.

    Raises:
        ValueError: the function is NaN somewhere, or no root was found.
    """
    before, now = a, b
    f_before, f_now = function(before), function(now)
    if f_before == 0.0:
        return before
    across, f_across = before, f_before
    step = last_step = now - before
    for _ in range(_MOST_STEPS):
        if f_before != 0.0 and (f_before < 0.0) != (f_now < 0.0):
            across, f_across = before, f_before
            step = last_step = now - before
        if abs(f_across) < abs(f_now):
            before, now, across = now, across, now
            f_before, f_now, f_across = f_now, f_across, f_now
        shortest = relative * abs(now) / 2
        half = (across - now) / 2
        if f_now == 0.0 or abs(half) < shortest:
            return now
        if abs(step) > shortest and abs(f_now) < abs(f_before):
            tried = _interpolated((before, f_before), (now, f_now), (across, f_across))
        else:
            tried = None
        if tried is not None and 2 * abs(tried) < min(abs(step), 3 * abs(half) - shortest):
            step, last_step = last_step, tried
        else:
            step = last_step = half
        before, f_before = now, f_now
        if abs(last_step) > shortest:
            now += last_step
        else:
            now += shortest if half > 0.0 else -shortest
        f_now = function(now)
        if f_now != f_now:
            raise ValueError(f'function is NaN at {now}')
    raise ValueError(f'no root found between {a} and {b}')


def _interpolated(
    before: tuple[float, float], now: tuple[float, float], across: tuple[float, float]
) -> float | None:
    """Return the step from a point to the root of the curve through points; None for parallels.

    Args:
        before: the last point but one, x and y.
        now: the last point, from which to step.
        across: the last point on the other side of the axis, or the same as `before`.
    """
    (x, y), (x_now, y_now), (x_across, y_across) = before, now, across
    if x == x_across:
        return -y_now * (x_now - x) / (y_now - y)
    slope = (y - y_now) / (x - x_now)
    slope_across = (y_across - y_now) / (x_across - x_now)
    divisor = slope_across * slope * (y_across - y)
    if divisor == 0.0:
        return None
    return -y_now * (y_across * slope_across - y * slope) / divisor
