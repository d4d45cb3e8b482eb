# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimation of the delay of recorded efforts' stamps.

A drive holds its effort from one update to the next, so an effort stamped at the end of that time
is half a sample late on average, and a commanded effort may be a whole sample early. This small
delay often causes most of the residual of a good model.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray

# A delay is accepted if it reduces the power of the residual of some joint below FOUND_SHARE of
# the power without it, and raises that of no joint above WORST_SHARE.
FOUND_SHARE = 0.5
WORST_SHARE = 1.05
# Larger delays, in samples, are reported but not applied: wrong damping of the model can cause
# them.
MOST_PERIODS = 1.5


# Share of an effort's rate that friction and an offset must leave for it to determine a lag.
LEAST_LEFT = 0.01
# Columns of the sums: constant, velocity and its sign are in front.
_RATE, _RESIDUAL, _EFFORT = 3, 4, 5


class EffortDelay:
    """Estimates the lag of the recorded efforts behind the recomputed ones.

    Without gravity the rate of an effort resembles the velocity, so friction that the model lacks
    would look like a lag. Lag, viscous and Coulomb friction and an offset are therefore fitted
    together. The lag is common to all joints: a mean of each joint's least-squares lag, weighted
    by how well it explains the joint's residual.
    """

    def __init__(self, n: int) -> None:
        """Begin with no rows.

        Args:
            n: number of joints.
        """
        # Sums of the products of two columns each.
        self._sums = np.zeros((n, _EFFORT + 1, _EFFORT + 1))

    def add(
        self, time: FloatArray, recomputed: FloatArray, residual: FloatArray, sliding: FloatArray
    ) -> None:
        """Add rows of a segment; the first and the last row serve only for central differences.

        Args:
            time: evenly spaced times in s, shape (N,).
            recomputed: recomputed efforts, shape (N, n); NaN where they are not compared.
            residual: recorded minus recomputed efforts, shape (N, n); NaN likewise.
            sliding: velocities and their signs, averaged as the efforts are, shape (N, 2 n).
        """
        if len(time) < 3:
            return
        rates = (recomputed[2:] - recomputed[:-2]) / (time[2:] - time[:-2])[:, None]
        velocity, sign = np.hsplit(sliding[1:-1], 2)
        rest, effort = residual[1:-1], recomputed[1:-1]
        known = np.isfinite(rates) & np.isfinite(rest)
        # Contiguous along the rows, for which products are fastest.
        columns = np.empty((rest.shape[1], _EFFORT + 1, len(rest)))
        columns[:, 0] = 1.0
        for k, values in enumerate((velocity, sign, rates, rest, effort), start=1):
            columns[:, k] = values.T
        if not known.all():
            columns = np.where(known.T[:, None], columns, 0.0)
        self._sums += columns @ columns.transpose(0, 2, 1)

    def found(self) -> float:
        """Return the lag in s; 0 if none is evident."""
        left = np.array([_left(sums) for sums in self._sums])
        rate_power, power = left[:, 0, 0], left[:, 1, 1]
        informed = (power > 0.0) & (rate_power > LEAST_LEFT * self._sums[:, _RATE, _RATE])
        if not informed.any():
            return 0.0
        power, rate_power = power[informed], rate_power[informed]
        product = left[informed, 0, 1]
        # recorded(t) = recomputed(t - lag), so residual = -lag * rate.
        own = -product / rate_power
        weights = rate_power / np.maximum(power - own * own * rate_power, 1e-12 * power)
        lag = float(np.average(own, weights=weights))
        shares = (power + 2.0 * lag * product + lag * lag * rate_power) / power
        evident = shares.min() < FOUND_SHARE and shares.max() < WORST_SHARE
        return lag if evident and abs(lag) < self._longest(informed) else 0.0

    def _longest(self, informed: BoolArray) -> float:
        """Return the longest time scale of the joints' efforts, s.

        It is the standard deviation of an effort divided by the RMS of its rate. A longer lag is
        no delay of stamps: these efforts do not belong to this motion.
        """
        sums = self._sums[informed]
        count, total = sums[:, 0, 0], sums[:, 0, _EFFORT]
        variance = sums[:, _EFFORT, _EFFORT] - total**2 / count
        return float(np.sqrt(np.maximum(variance, 0.0) / sums[:, _RATE, _RATE]).max())


def _left(sums: FloatArray) -> FloatArray:
    """Return the sums of rate and residual without friction and offset fitted to both, (2, 2)."""
    scale = np.sqrt(np.where(np.diag(sums) > 0.0, np.diag(sums), 1.0))
    scaled = sums / np.outer(scale, scale)
    fitted, chosen = slice(0, _RATE), slice(_RATE, _EFFORT)
    cross = scaled[fitted, chosen]
    rest = scaled[chosen, chosen] - cross.T @ np.linalg.pinv(scaled[fitted, fitted]) @ cross
    return np.asarray(rest * np.outer(scale[chosen], scale[chosen]))


def told_delay(applied: float, found: float | None) -> str:
    """Return a sentence about late or early stamps, empty if they are right.

    Args:
        applied: applied delay, in s.
        found: estimated delay, in s; None if the delay was given.
    """
    delay = applied or found or 0.0
    stamped = f'stamped {1e3 * abs(delay):.3g} ms too {"late" if delay > 0.0 else "early"}'
    if applied:
        origin = 'as given' if found is None else 'as the data shows'
        return f'efforts are {stamped}, {origin}; corrected'
    return f'efforts seem to be {stamped}, too much to be corrected' if delay else ''
