# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How late the stamps of recorded efforts are.

A drive holds its effort from one update to the next, so an effort stamped at the end of that time
is half a sample late on average, and one that was commanded may be a whole sample early. Small as
that is, it is often most of the residual of a good model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.typing import FloatArray

# A shift counts as found if it leaves at most this share of the residual's power in some joint
# and no more than that share in any.
FOUND_SHARE = 0.5
WORST_SHARE = 1.05
# Larger shifts are told but not applied: they can be a wrong damping in disguise.
MOST_PERIODS = 1.5


def effort_delay_of(
    time: Sequence[FloatArray], recomputed: Sequence[FloatArray], residual: Sequence[FloatArray]
) -> float:
    """Return by how much recorded efforts lag the recomputed ones, in s; 0 if no lag is evident.

    The lag is the one, common to all joints, that explains most of the residuals; each joint
    counts by how well a lag explains its own.

    Args:
        time: times of each segment in s, shape (N,).
        recomputed: recomputed efforts, shape (N, n); NaN where they are not compared.
        residual: recorded minus recomputed efforts, shape (N, n); NaN likewise.
    """
    rates = np.concatenate(
        [np.gradient(tau, t, axis=0) for t, tau in zip(time, recomputed, strict=True)]
    )
    rest = np.concatenate(residual)
    known = np.isfinite(rates) & np.isfinite(rest)
    rates, rest = np.where(known, rates, 0.0), np.where(known, rest, 0.0)
    power, rate_power = np.sum(rest * rest, axis=0), np.sum(rates * rates, axis=0)
    informed = (power > 0.0) & (rate_power > 0.0)
    if not informed.any():
        return 0.0
    rates, rest = rates[:, informed], rest[:, informed]
    power, rate_power = power[informed], rate_power[informed]
    # recorded(t) = recomputed(t - lag), so residual = -lag * rate.
    own = -np.sum(rates * rest, axis=0) / rate_power
    weights = rate_power / np.maximum(power - own * own * rate_power, 1e-12 * power)
    lag = float(np.average(own, weights=weights))
    shares = np.sum((rest + lag * rates) ** 2, axis=0) / power
    evident = shares.min() < FOUND_SHARE and shares.max() < WORST_SHARE
    return lag if evident else 0.0
