# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stretches of long recordings that stand for them where structures are compared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
    stretches = [part for motion in motions for part in _stretches(motion)]
    known = np.array([np.isfinite(each.effort).sum(axis=0) for each in stretches], dtype=float)
    # As shares of each joint's efforts: a joint that hardly ever moves counts as much.
    known /= np.maximum(known.sum(axis=0), 1.0)
    shares = known.sum(axis=1)
    sizes = np.array([len(each.time) for each in stretches])
    # As many parts of the recording as there may be stretches of usual length, the best of each.
    wanted = min(max(1, int(MOST_SAMPLES / sizes.mean())), len(stretches))
    parts = np.array_split(np.arange(len(stretches)), wanted)
    best = [int(part[np.argmax(shares[part])]) for part in parts]
    best = list(dict.fromkeys([*best, *np.argsort(-shares, kind='stable').tolist()]))
    chosen, left = set[int](), MOST_SAMPLES
    for place in best:
        if shares[place] > 0.0 and sizes[place] <= left:
            chosen.add(place)
            left -= int(sizes[place])
    for own in known.T:
        if own.any() and not own[list(chosen)].any():
            chosen.add(int(np.argmax(own)))
    return [stretches[place] for place in sorted(chosen)]


def _stretches(motion: Motion) -> list[Motion]:
    """Return the parts of equal length, at most `STRETCH` samples, of a motion."""
    count = len(motion.time)
    edges = np.linspace(0, count, -(-count // STRETCH) + 1).round().astype(int).tolist()
    return [motion.part(first, last) for first, last in pairwise(edges)]
