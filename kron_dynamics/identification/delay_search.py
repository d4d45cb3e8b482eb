# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Search of the delay of recorded efforts with which a structure predicts best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.structure import Structure

# Longest delay that is tried, and least change of it that is worth a trial, in samples.
MOST_DELAY = 8.0
LEAST_CHANGE = 0.02


def least_delay(score: Callable[[float], float], start: float, reach: float, most: float) -> float:
    """Return the delay in s at which a parabola through three scores is least.

    Squared residuals are a parabola of the delay where this is short compared with the motion.
    The distance from the start is doubled for as long as the score falls.

    Args:
        score: the mean squared residual with a delay in s, relative to that with `start`.
        start: first delay, s.
        reach: first distance from it, s.
        most: largest delay, s.
    """
    scores = {start: 1.0}
    for delay in (start - reach, start + reach):
        scores[delay] = score(delay)
    best = min(scores, key=scores.__getitem__)
    way = best - start
    while way and scores[best] == min(scores.values()):
        way *= 2.0
        delay = float(np.clip(start + way, -most, most))
        if delay in scores:  # the longest one is the best so far
            best -= 0.125 * way
            scores[best] = score(best)
            break
        scores[delay] = score(delay)
        if scores[delay] < scores[best]:
            best = delay
        else:
            break
    tried = sorted(scores)
    place = tried.index(best)
    vertex = _vertex(*((delay, scores[delay]) for delay in tried[place - 1 : place + 2]))
    return float(np.clip(vertex, -most, most))


def _vertex(*points: tuple[float, float]) -> float:
    """Return where the parabola through three points is least, at the middle one if at none."""
    (first, before), (middle, least), (last, after) = points
    fall, rise = (before - least) / (middle - first), (after - least) / (last - middle)
    if not 0.0 < fall + rise < np.inf:
        return middle
    # The parabola's slopes halfway to the neighbours are -fall and rise.
    return 0.5 * (first + middle) + 0.5 * (last - first) * fall / (fall + rise)


def delay_notes(structure: Structure, motions: Sequence[Motion]) -> list[str]:
    """Return a note if the delay is the longest one tried.

    Args:
        structure: the chosen structure.
        motions: the training data.
    """
    step = min(motion.step for motion in motions)
    if abs(structure.delay) < (MOST_DELAY - LEAST_CHANGE) * step:
        return []
    late = 'late' if structure.delay > 0.0 else 'early'
    return [
        f'efforts are stamped {1e3 * abs(structure.delay):.3g} ms or more too {late}, which is '
        f'the most that is tried ({MOST_DELAY:g} samples): correct their stamps'
    ]
