# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The least length of a run, and of its segments, that is recomputed."""

from __future__ import annotations

from collections.abc import Sequence

from kron_dynamics.bag.replaying.filters import JointFilter
from kron_dynamics.bag.replaying.survey import FEWEST_SAMPLES, fewest_samples
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.exceptions import BagError, ParameterError

# Least number of rows of a segment after its edges are removed.
_MIN_SAMPLES = 10


def check_run(run: Run, window: float | None, delay: float | None) -> None:
    """Raise an error unless a segment of the run is long enough for a window and a delay.

    Args:
        run: the recorded run.
        window: length of the smoothing window, s; None if it is chosen.
        delay: delay of recorded efforts, s; None if it is estimated.

    Raises:
        BagError: the run is too short, or not sampled long and evenly enough.
        ParameterError: the delay is longer than the run.
    """
    _check_stamps(run)
    longest = max(part.end - part.start for part in run.log.segments)
    # With much longer windows, the choice of the signals alone takes hours.
    if window is not None and 2.0 * window > longest:
        raise BagError(too_short(run.topic, 2.0 * window, window, longest))
    if delay is not None and not abs(delay) < longest:
        raise ParameterError(
            f'effort delay of {delay:g} s is too long: expected less than {longest:.3g} s, the '
            f"longest stretch without gaps on topic '{run.topic}'"
        )


def _check_stamps(run: Run) -> None:
    """Raise BagError unless the run is sampled long and evenly enough."""
    if not run.log.segments:
        lost = ''.join(f'; {text}' for text in run.log.dropped.described())
        raise BagError(
            f"topic '{run.topic}' has positions of all joints at fewer than two times; messages: "
            f'{run.log.message_count}{lost}'
        )
    longest = max(map(fewest_samples, run.log.segments))
    if longest < FEWEST_SAMPLES:
        raise BagError(
            f"topic '{run.topic}' has no stretch without gaps of {FEWEST_SAMPLES} messages; the "
            f'longest has {longest}'
        )
    for part in run.log.segments:
        for each in part.position:
            if each.in_bursts:
                raise BagError(
                    f"stamps on '{run.topic}' come in bursts: {len(each.time)} in "
                    f'{part.end - part.start:.3g} s, most of them {each.period:.3g} s apart'
                )


def needed_length(filters: Sequence[JointFilter]) -> float:
    """Return the least length of a segment, in s.

    Args:
        filters: filter of each joint.
    """
    edge = 2.0 * max(item.half_width for item in filters)
    return 2.0 * edge + _MIN_SAMPLES * filters[0].step


def too_short(topic: str, needed: float, window: float, longest: float) -> str:
    """Return the message that a run is too short.

    Args:
        topic: its joint states' topic.
        needed: least length of a segment, s.
        window: length of the smoothing window, s.
        longest: length of the longest segment, s.
    """
    return (
        f"topic '{topic}' has no stretch of {needed:.3g} s without gaps, which a window of "
        f'{window:.3g} s needs; the longest is {longest:.3g} s'
    )
