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


class EffortDelay:
    """Estimates the lag of the recorded efforts behind the recomputed ones.

    The lag is common to all joints: a mean of each joint's least-squares lag, weighted by how well
    it explains the joint's residual.
    """

    def __init__(self, n: int) -> None:
        """Begin with no rows.

        Args:
            n: number of joints.
        """
        # Sums of squared residuals, of squared effort rates and of their products.
        self._power, self._rate_power, self._product = np.zeros((3, n))
        # Count, sum and sum of squares of the recomputed efforts.
        self._count, self._sum, self._squares = np.zeros((3, n))

    def add(self, time: FloatArray, recomputed: FloatArray, residual: FloatArray) -> None:
        """Add rows of a segment; the first and the last row serve only for central differences.

        Args:
            time: evenly spaced times in s, shape (N,).
            recomputed: recomputed efforts, shape (N, n); NaN where they are not compared.
            residual: recorded minus recomputed efforts, shape (N, n); NaN likewise.
        """
        if len(time) < 3:
            return
        rates = (recomputed[2:] - recomputed[:-2]) / (time[2:] - time[:-2])[:, None]
        rest, effort = residual[1:-1], recomputed[1:-1]
        known = np.isfinite(rates) & np.isfinite(rest)
        if not known.all():
            rates, rest, effort = (np.where(known, each, 0.0) for each in (rates, rest, effort))
        self._power += np.einsum('ij,ij->j', rest, rest)
        self._rate_power += np.einsum('ij,ij->j', rates, rates)
        self._product += np.einsum('ij,ij->j', rates, rest)
        self._count += known.sum(axis=0)
        self._sum += effort.sum(axis=0)
        self._squares += np.einsum('ij,ij->j', effort, effort)

    def found(self) -> float:
        """Return the lag in s; 0 if none is evident."""
        informed = (self._power > 0.0) & (self._rate_power > 0.0)
        if not informed.any():
            return 0.0
        power, rate_power = self._power[informed], self._rate_power[informed]
        product = self._product[informed]
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
        count = self._count[informed]
        variance = self._squares[informed] / count - (self._sum[informed] / count) ** 2
        rates = self._rate_power[informed] / count
        return float(np.sqrt(np.maximum(variance, 0.0) / rates).max())
