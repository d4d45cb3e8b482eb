# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Representative stretches of a run, from which the filters are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment

# Number of stretches that represent a longer run, and their length in samples.
STRETCHES, STRETCH_LENGTH = 4, 16_384
# Least number of samples of each joint in a segment that is replayed.
FEWEST_SAMPLES = 16


def survey(segments: Sequence[JointSegment]) -> list[JointSegment]:
    """Return the segments of a short run; of a long one, stretches spread evenly over it.

    Fragments between two gaps, too short for a replay, are left out: they show neither noise nor
    which signals were recorded.

    Args:
        segments: segments of the run, at least one of them with `FEWEST_SAMPLES`.
    """
    segments = [part for part in segments if fewest_samples(part) >= FEWEST_SAMPLES]
    lengths = [len(segment.position[0].time) for segment in segments]
    total = sum(lengths)
    if total <= STRETCHES * STRETCH_LENGTH:
        return segments
    ends = np.cumsum(lengths)
    found = []
    for place in np.linspace(0, total - STRETCH_LENGTH, STRETCHES).astype(int).tolist():
        index = int(np.searchsorted(ends, place, side='right'))
        first = place - int(ends[index]) + lengths[index]
        # Near the end of a segment, take its last samples to get a full stretch.
        first = max(0, min(first, lengths[index] - STRETCH_LENGTH))
        found.append(_cut(segments[index], first, first + STRETCH_LENGTH))
    # A stretch may be too short for a joint that is recorded once a minute.
    return [part for part in found if fewest_samples(part) >= FEWEST_SAMPLES] or segments


def fewest_samples(segment: JointSegment) -> int:
    """Return the number of positions of the joint that has the fewest in a segment."""
    return min(len(samples.time) for samples in segment.position)


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
