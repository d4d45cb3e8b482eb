# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stretches of long recordings that stand for them where structures are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.identification.motion import Motion

# Largest number of samples to compare structures on, and length of the stretches they come in.
MOST_SAMPLES = 12_000
STRETCH = 1500


def thinned(motions: Sequence[Motion]) -> list[Motion]:
    """Return stretches with known efforts of all joints, spread over the motions.

    They have at most `MOST_SAMPLES` samples together, and a stretch more for each joint whose
    efforts are known in none of these.
    """
    total = sum(len(motion.time) for motion in motions)
    if total <= MOST_SAMPLES:
        return list(motions)
    stretches = [
        motion.part(first, first + STRETCH)
        for motion in motions
        for first in range(0, len(motion.time) - STRETCH + 1, STRETCH)
    ]
    if not stretches:
        return list(motions)
    known = np.array([np.isfinite(each.effort).sum(axis=0) for each in stretches], dtype=float)
    # As shares of each joint's efforts: a joint that hardly ever moves counts as much.
    known /= np.maximum(known.sum(axis=0), 1.0)
    shares = known.sum(axis=1)
    wanted = min(max(1, MOST_SAMPLES // STRETCH), len(stretches))
    parts = np.array_split(np.arange(len(stretches)), wanted)
    chosen = {int(part[np.argmax(shares[part])]) for part in parts}
    chosen = {place for place in chosen if shares[place] > 0.0}
    best = [int(place) for place in np.argsort(-shares, kind='stable') if place not in chosen]
    chosen.update(best[: wanted - len(chosen)])
    for own in known.T:
        if not own[list(chosen)].any():
            chosen.add(int(np.argmax(own)))
    return [stretches[place] for place in sorted(chosen)]
