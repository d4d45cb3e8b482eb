# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""When states were measured, by their own motion: a check of stamps, and the clock of the source.

A recorder that polls a controller stamps each state late by up to the controller's period, and
misses or repeats some. Positions and velocities tell better how much time passed between two
states: ``dt = sum w v dq / sum w v^2``, v the mean of both velocities, over all joints. Where
these times are whole multiples of one period, far more nearly than the stamps, that is the clock
of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.smoothing import NORMAL_MAD
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Steps from which the clock is found: spread over the recording.
STEPS_LOOKED_AT = 16_384
# The usual step is at most this many periods of the source, a single one so many of these steps.
MOST_PERIODS, MOST_STEPS_MISSED = 10, 5
# Of elapsed times so many are within this share of whole periods, ...
MOST_STEPS, WHOLE_SHARE = 0.9, 0.15
# ... and so many times nearer to these than the stamps, which are off by a microsecond or more.
NEARER = 3.0
LEAST_OFF = 1e-6
# A step tells its periods where its time is known to this share of one, and is as near to a whole.
TELLING, WHOLE = 0.1, 0.3
# Steps in a row that tell: fewer do not place themselves among the stamps.
LEAST_IN_A_ROW = 20
# Most of the fast half of the steps have to be in such rows.
LEAST_SHARE = 0.8


@dataclass(frozen=True)
class SourceClock:
    """The times of states by the clock of their source.

    Attributes:
        rows: states that are no repeats, of those looked at, shape (K,).
        time: of each of them in s, shape (K,).
        period: of the clock, s.
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
    """Return the times of states by their source's clock; None where the stamps are as good.

    Where the machine rests nothing is told, and stamps stay, moved by as much as their neighbours.

    Args:
        stamps: of all states in s, shape (M,).
        position: of joints, shape (M,) each.
        velocity: of the same joints, shape (M,) each.
        rows: states that are looked at, increasing, shape (N,).
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
    # The same state once more, with another effort.
    new = ~telling | (periods > 0.0)
    rows = np.concatenate([rows[:1], rows[1:][new]])
    return _placed(stamps, rows, periods[new], telling[new], fast[new])


class _Motion:
    """Times between states, by the motion of the joints."""

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
        """Return what the stamps say, shape (K,)."""
        return np.asarray(self._stamps[self._rows[steps + 1]] - self._stamps[self._rows[steps]])

    def weigh(self, steps: IntArray) -> None:
        """Weigh each joint by what elapsed times leave of its steps."""
        dt = self.stamped(steps)
        for _ in range(3):
            left, share = np.full((2, len(self._weights)), np.inf)
            for k, (step, speed) in enumerate(self._each(steps)):
                share[k] = self._weights[k] * np.mean(speed**2)
                if step.any():
                    resolved = 1e-4 * float(np.sqrt(np.mean(step**2)))
                    left[k] = max(_spread(step - speed * dt), resolved)
            # The larger a joint's share in the times, the less these leave of its steps.
            share /= max(share.sum(), 1e-300)
            self._weights = (1.0 - np.minimum(share, 0.9)) / left**2
            dt, _ = self.elapsed(steps)

    def elapsed(self, steps: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return times in s, and their weights, shape (K,) each."""
        times, weight = np.zeros((2, len(steps)))
        for factor, (step, speed) in zip(self._weights, self._each(steps), strict=True):
            times += factor * speed * step
            weight += factor * speed**2
        return times / np.where(weight > 0.0, weight, 1.0), weight

    def _each(self, steps: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the steps of each joint and its mean speeds."""
        before, after = self._rows[steps], self._rows[steps + 1]
        return [
            (q[after] - q[before], 0.5 * (qd[after] + qd[before]))
            for q, qd in zip(self._position, self._velocity, strict=True)
        ]


def _spread(values: FloatArray) -> float:
    """Return a robust standard deviation about zero."""
    return NORMAL_MAD * float(np.median(np.abs(values)))


def _period(dt: FloatArray, stamped: FloatArray) -> float | None:
    """Return the period whose multiples elapsed times are; None where stamps are as good."""
    bound = _spread(dt - stamped) / NEARER
    if bound < LEAST_OFF / NEARER:
        return None
    usual = float(np.median(dt))
    if not usual > 0.0:
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
    """Return rows of steps that tell their periods, each in the middle of its stamps."""
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
