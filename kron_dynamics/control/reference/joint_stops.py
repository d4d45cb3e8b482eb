# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stop of each joint by itself, from any velocity and acceleration, within its limits.

The acceleration of a joint is a straight ramp to a constant deceleration, that deceleration, and a
ramp to 0: it has no steps, and all extremes are known in closed form.
"""

from __future__ import annotations

from math import isinf, sqrt
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.typing import BoolArray, FloatArray

# Times in which an acceleration ramps from 0 to its limit, s: where nothing is gained by a quicker
# ramp, and the quickest one. Efforts change as fast as accelerations.
_GENTLE, _QUICKEST = 0.02, 1e-3
# Ramp times tried from the gentle to the quickest one, where positions need a quicker one.
_TRIALS = 6
# Least velocities and accelerations, per s and per s^2, that are told from 0.
_LEAST = 1e-12


class JointLimits(NamedTuple):
    """Limits of n joints, shape (n,) each, including what is allowed for rounding.

    Attributes:
        lower: rad or m.
        upper: rad or m.
        velocity: rad/s or m/s; inf for none.
        acceleration: rad/s^2 or m/s^2; inf for none.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class JointStops(NamedTuple):
    """Stops of n joints: three phases of constant jerk each, then rest.

    Attributes:
        begins: starts of the phases and of the rest, shape (4, n), s; the first is 0.
        states: q, qd, qdd and jerk at these times, shape (4, 4, n): quantity, phase, joint.
        lowest: least position on the way, shape (n,), rad or m.
        highest: largest one.
        too_fast: mask of the joints that leave their velocity limit, shape (n,).
        too_far: mask of the joints that leave their position limits.
    """

    begins: FloatArray
    states: FloatArray
    lowest: FloatArray
    highest: FloatArray
    too_fast: BoolArray
    too_far: BoolArray

    @property
    def possible(self) -> bool:
        """Whether every joint keeps its limits."""
        return not (self.too_fast.any() or self.too_far.any())

    @property
    def end(self) -> FloatArray:
        """Position at rest, shape (n,), rad or m."""
        position: FloatArray = self.states[0, -1]
        return position

    def pieces(self) -> tuple[FloatArray, FloatArray]:
        """Return the polynomials of the stops.

        Returns:
            Start times of the p pieces and the end of the last one, (p + 1,), s, and coefficients
            of the positions, lowest power first, (4, p, n).
        """
        times = np.sort(np.append(0.0, self.begins[1:]))
        times = times[np.append(times[1:] > times[:-1], True)]
        if times.size == 1:
            times = np.array([0.0, _QUICKEST])
        at = times[:-1, np.newaxis]
        phase = (at >= self.begins[1:, np.newaxis]).sum(axis=0)
        joints = np.arange(self.begins.shape[1])
        s = at - self.begins[phase, joints]
        q, v, a, j = self.states[:, phase, joints]
        pieces = np.empty((4, *s.shape))
        pieces[3] = j / 6.0
        pieces[2] = 0.5 * (a + s * j)
        pieces[1] = v + s * (a + 0.5 * s * j)
        pieces[0] = q + s * (v + s * (0.5 * a + s * pieces[3]))
        return times, pieces


def joint_stops(state: JointReference, limits: JointLimits) -> JointStops:
    """Return the stop of each joint: as gentle as its limits allow.

    Ramps of the acceleration take as long as makes the stop from a constant velocity last 1.5
    times the shortest possible, or 20 ms if that is longer; less where the velocity or the
    position would leave its limits, but 1 ms at least from 0 to the acceleration limit. A joint
    that still leaves a limit is marked.

    Args:
        state: q, qd, qdd, shape (n,) each.
        limits: those of the joints. A larger present velocity or acceleration counts as limit.
    """
    # In Python floats: n is too small for arrays to be faster.
    columns = [values.tolist() for values in (*state, *limits)]
    found = [_stop(*joint) for joint in zip(*columns, strict=True)]
    rows = np.array([numbers for numbers, _, _ in found]).reshape(-1, 22).T
    too_fast, too_far = (np.array([joint[k] for joint in found], dtype=bool) for k in (1, 2))
    return JointStops(
        rows[:4], rows[4:20].reshape(4, 4, -1), rows[20], rows[21], too_fast, too_far
    )


def _stop(
    q: float,
    v: float,
    a: float,
    lower: float,
    upper: float,
    velocity: float,
    acceleration: float,
) -> tuple[tuple[float, ...], bool, bool]:
    """The stop of one joint, and whether it leaves the velocity or the position limits."""
    speed, size = abs(v), abs(a)
    hardest = max(speed / _GENTLE if isinf(acceleration) else acceleration, size, _LEAST)
    ramp = max(speed / (2.0 * hardest), _GENTLE)
    too_fast = False
    if size > _LEAST:
        # While the acceleration ramps to 0, the velocity grows by its square over twice the jerk.
        room = max(velocity, speed) - (v if a > 0.0 else -v)
        longest = 2.0 * hardest * room / size**2
        too_fast = longest < _QUICKEST
        ramp = max(min(ramp, longest), _QUICKEST)
    found = _ramped(q, v, a, hardest, ramp)
    quicker = (_QUICKEST / ramp) ** (1.0 / (_TRIALS - 1))
    for _ in range(_TRIALS - 1):
        if lower <= found[-2] and found[-1] <= upper:
            return found, too_fast, False
        ramp *= quicker
        found = _ramped(q, v, a, hardest, ramp)
    return found, too_fast, not (lower <= found[-2] and found[-1] <= upper)


def _ramped(q: float, v: float, a: float, hardest: float, ramp: float) -> tuple[float, ...]:
    """The stop whose ramps from 0 to the hardest acceleration take a given time, s.

    Returns:
        The begins and states of `JointStops` row by row, its lowest and its highest position.
    """
    jerk = hardest / ramp
    # The velocity once the acceleration has ramped to 0: the deceleration is opposite to it.
    free = v + a * abs(a) / (2.0 * jerk)
    side = -1.0 if free > 0.0 else 1.0
    rate, begin = side * v, side * a
    peak, flat = sqrt(max(0.5 * begin**2 - jerk * rate, 0.0)), 0.0
    if peak > hardest:
        peak = hardest
        flat = max((-rate - (peak**2 - 0.5 * begin**2) / jerk) / peak, 0.0)
    peak = max(peak, begin)
    up, down = (peak - begin) / jerk, peak / jerk
    most, change = side * peak, side * jerk
    v1 = v + up * (a + up * change / 2.0)
    q1 = q + up * (v + up * (a / 2.0 + up * change / 6.0))
    v2, q2 = v1 + flat * most, q1 + flat * (v1 + flat * most / 2.0)
    q3 = q2 + down * (v2 + down * (most / 2.0 - down * change / 6.0))
    turned = q
    if v * free < 0.0:  # it decelerates harder than its velocity needs: it turns round
        turn = 2.0 * abs(v) / (abs(a) + sqrt(max(a**2 - 2.0 * jerk * abs(v), 0.0)))
        turned = q + turn * (v + turn * (a / 2.0 + turn * change / 6.0))
    begins = (0.0, up, up + flat, up + flat + down)
    rates = (v, v1, v2, 0.0, a, most, most, 0.0, change, 0.0, -change, 0.0)
    return *begins, q, q1, q2, q3, *rates, min(q, q3, turned), max(q, q3, turned)
