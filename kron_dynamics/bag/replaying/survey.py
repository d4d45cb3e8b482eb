# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Representative stretches of a long run, from which the filters are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment

# Number of stretches that represent a longer run, and their length in samples.
STRETCHES, STRETCH_LENGTH = 4, 16_384


def survey(segments: Sequence[JointSegment]) -> list[JointSegment]:
    """Return the segments of a short run; of a long one, stretches spread evenly over it.

    Args:
        segments: segments of the run, at least one.
    """
    lengths = [len(segment.position[0].time) for segment in segments]
    total = sum(lengths)
    if total <= STRETCHES * STRETCH_LENGTH:
        return list(segments)
    ends = np.cumsum(lengths)
    found = []
    for place in np.linspace(0, total - STRETCH_LENGTH, STRETCHES).astype(int).tolist():
        index = int(np.searchsorted(ends, place, side='right'))
        first = place - int(ends[index]) + lengths[index]
        # Near the end of a segment, take its last samples to get a full stretch.
        first = max(0, min(first, lengths[index] - STRETCH_LENGTH))
        found.append(_cut(segments[index], first, first + STRETCH_LENGTH))
    return found


def _cut(segment: JointSegment, first: int, last: int) -> JointSegment:
    time = segment.position[0].time
    start = max(segment.start, float(time[first]))
    end = min(segment.end, float(time[min(last, len(time)) - 1]))

    def cut(signals: Sequence[Samples]) -> tuple[Samples, ...]:
        return tuple(samples.between(start, end) for samples in signals)

    return JointSegment(
        segment.epoch,
        start,
        end,
        cut(segment.position),
        cut(segment.velocity),
        cut(segment.effort),
    )
