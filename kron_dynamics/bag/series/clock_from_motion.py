# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reconstruction of the source's clock from the motion itself, as a check of stamps.

A recorder that polls a controller stamps each state late by up to the controller's period, and
misses or repeats some. The time between two states is determined more accurately by positions and
velocities: ``dt = sum w v dq / sum w v^2`` over all joints, with v the mean of both velocities. If
these times are much closer to multiples of one period than the stamps are to them, that period is
the clock of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.resampling import NORMAL_MAD
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Number of steps, spread over the recording, from which the period is estimated.
STEPS_LOOKED_AT = 16_384
# Most periods of the source in the usual step, and most usual steps in a single one.
MOST_PERIODS, MOST_STEPS_MISSED = 10, 5
# A period is accepted if the share MOST_STEPS of the elapsed times is within WHOLE_SHARE periods
# of whole multiples, ...
MOST_STEPS, WHOLE_SHARE = 0.9, 0.15
# ... and if they deviate from the multiples this many times less than from the stamps; stamps
# that deviate by less than LEAST_OFF s are kept.
NEARER = 3.0
LEAST_OFF = 1e-6
# A step's number of periods is reliable if the standard deviation of its time is below TELLING
# periods, and its time is within WHOLE periods of a whole number.
TELLING, WHOLE = 0.1, 0.3
# Fewer consecutive reliable steps are not aligned with their stamps.
LEAST_IN_A_ROW = 20
# Least share of the faster half of the steps that has to be in such sequences.
LEAST_SHARE = 0.8


@dataclass(frozen=True)
class SourceClock:
    """The times of states by the clock of their source.

    Attributes:
        rows: indices of the given states that are no repeats, shape (K,).
        time: their times in s, shape (K,).
        period: period of the clock, s.
    """

    rows: IntArray
    time: FloatArray
    period: float


def source_clock(
    stamps: FloatArray,
    position: Sequence[FloatArray],
    velocity: Sequence[FloatArray],
    rows: IntArray,
) -> SourceClock | None:
    """Return the times of states by their source's clock; None if the stamps are as accurate.

    The motion of a machine at rest does not determine times: there, stamps are shifted by as much
    as their neighbours.

    Args:
        stamps: stamps of all states in s, shape (M,).
        position: positions of the joints, shape (M,) each.
        velocity: velocities of the same joints, shape (M,) each.
        rows: indices of the states to use, increasing, shape (N,).
    """
    count = len(rows) - 1
    if count < 2 * LEAST_IN_A_ROW:
        return None
    motion = _Motion(stamps, position, velocity, rows)
    some = np.unique(np.linspace(0, count - 1, min(count, STEPS_LOOKED_AT)).astype(np.int64))
    motion.weigh(some)
    dt, weight = motion.elapsed(some)
    fast = weight >= np.median(weight)
    if not weight[fast].min(initial=np.inf) > 0.0:
        return None
    period = _period(dt[fast], motion.stamped(some)[fast])
    if period is None:
        return None
    off = (dt - period * np.rint(dt / period)) * np.sqrt(weight)
    noise = _spread(off[fast])
    dt, weight = motion.elapsed(np.arange(count))
    periods = np.rint(dt / period)
    telling = (noise < TELLING * period * np.sqrt(weight)) & (
        np.abs(dt / period - periods) < WHOLE
    )
    telling &= periods <= MOST_PERIODS * MOST_STEPS_MISSED
    fast = weight >= np.median(weight)
    # Zero periods: the same state repeated with another effort.
    new = ~telling | (periods > 0.0)
    rows = np.concatenate([rows[:1], rows[1:][new]])
    return _placed(stamps, rows, periods[new], telling[new], fast[new])


class _Motion:
    """Estimates the times between states from the motion of the joints."""

    def __init__(
        self,
        stamps: FloatArray,
        position: Sequence[FloatArray],
        velocity: Sequence[FloatArray],
        rows: IntArray,
    ) -> None:
        self._stamps, self._rows = stamps, rows
        self._position, self._velocity = position, velocity
        self._weights = np.ones(len(position))

    def stamped(self, steps: IntArray) -> FloatArray:
        """Return the times of steps by the stamps, s, shape (K,)."""
        return np.asarray(self._stamps[self._rows[steps + 1]] - self._stamps[self._rows[steps]])

    def weigh(self, steps: IntArray) -> None:
        """Set each joint's weight by the variance of its residuals dq - v dt, iteratively."""
        dt = self.stamped(steps)
        for _ in range(3):
            left, share = np.full((2, len(self._weights)), np.inf)
            for k, (step, speed) in enumerate(self._each(steps)):
                share[k] = self._weights[k] * np.mean(speed**2)
                if step.any():
                    resolved = 1e-4 * float(np.sqrt(np.mean(step**2)))
                    left[k] = max(_spread(step - speed * dt), resolved)
            # A joint with a large share in the times has too small residuals: reduce its weight.
            share /= max(share.sum(), 1e-300)
            self._weights = (1.0 - np.minimum(share, 0.9)) / left**2
            dt, _ = self.elapsed(steps)

    def elapsed(self, steps: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the estimated times of steps in s, and their weights, shape (K,) each."""
        times, weight = np.zeros((2, len(steps)))
        for factor, (step, speed) in zip(self._weights, self._each(steps), strict=True):
            times += factor * speed * step
            weight += factor * speed**2
        return times / np.where(weight > 0.0, weight, 1.0), weight

    def _each(self, steps: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return position differences and mean velocities of each joint, shape (K,) each."""
        before, after = self._rows[steps], self._rows[steps + 1]
        return [
            (q[after] - q[before], 0.5 * (qd[after] + qd[before]))
            for q, qd in zip(self._position, self._velocity, strict=True)
        ]


def _spread(values: FloatArray) -> float:
    """Return a robust standard deviation about zero."""
    return NORMAL_MAD * float(np.median(np.abs(values)))


def _period(dt: FloatArray, stamped: FloatArray) -> float | None:
    """Return the period whose multiples the times are; None if stamps are as accurate."""
    usual = float(np.median(dt))
    if not usual > 0.0:
        return None
    # Velocities with a wrong factor scale all times: that is no error of the stamps. A single
    # wrong velocity changes the sum, but not the spread.
    scales = 1.0, float(dt.sum() / stamped.sum())
    bound = min(_spread(dt - scale * stamped) for scale in scales) / NEARER
    if bound < LEAST_OFF / NEARER:
        return None
    for parts in range(1, MOST_PERIODS + 1):
        period = usual / parts
        for _ in range(3):
            periods = np.rint(dt / period)
            some = periods > 0.0
            if not some.any():
                return None
            period = float(np.median(dt[some] / periods[some]))
        off = np.abs(dt - period * periods)
        whole = np.quantile(off, MOST_STEPS) <= WHOLE_SHARE * period
        if whole and _spread(off) <= bound:
            return period
    return None


def _placed(
    stamps: FloatArray, states: IntArray, periods: FloatArray, telling: BoolArray, fast: BoolArray
) -> SourceClock | None:
    """Return the clock from sequences of reliable steps, each aligned with its mean stamp.

    None if there are too few such steps.
    """
    stamps = stamps[states]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], telling, [False]])))
    rows = [
        (first, last) for first, last in edges.reshape(-1, 2) if last - first >= LEAST_IN_A_ROW
    ]
    known = np.zeros(len(stamps), dtype=bool)
    for first, last in rows:
        known[first : last + 1] = True
    if not rows or np.mean(known[:-1][fast]) < LEAST_SHARE:
        return None
    number = np.concatenate([[0.0], np.cumsum(periods)])
    centred = [
        tuple(part[first : last + 1] - part[first : last + 1].mean() for part in (number, stamps))
        for first, last in rows
    ]
    period = sum(float(n @ s) for n, s in centred) / sum(float(n @ n) for n, _ in centred)
    moved = np.zeros(len(stamps))
    for (first, last), (n, s) in zip(rows, centred, strict=True):
        moved[first : last + 1] = period * n - s
    places = np.flatnonzero(known)
    time = stamps + np.interp(stamps, stamps[places], moved[places])
    off = np.abs(moved[places])
    even = np.median(off) <= period and bool(np.all(np.diff(time) > 0.0))
    return SourceClock(states, time, period) if even and off.max() >= LEAST_OFF else None
