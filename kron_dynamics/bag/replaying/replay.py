# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputation of a recorded run: efforts and tip acceleration from the joints' motion alone.

The equation of motion is ``M qdd + c + g + friction = tau``. The series is computed on demand in
blocks of rows; only its sums are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial

import numpy as np

from kron_dynamics.bag.ahead import computed_ahead
from kron_dynamics.bag.reading.spool import release
from kron_dynamics.bag.replaying.effort_delay import MOST_PERIODS
from kron_dynamics.bag.replaying.filters import JointFilter, choose_filters
from kron_dynamics.bag.replaying.recorded_efforts import (
    effort_scale,
    effort_sources,
    recorded_efforts,
)
from kron_dynamics.bag.replaying.row_signals import JointSmoothing
from kron_dynamics.bag.replaying.run_length import check_run, needed_length, too_short
from kron_dynamics.bag.replaying.run_sums import RunSums
from kron_dynamics.bag.replaying.segment_replay import SegmentPlan, SegmentReplay
from kron_dynamics.bag.replaying.survey import survey
from kron_dynamics.bag.samples import Progress
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.exceptions import BagError
from kron_dynamics.robot import Robot

# Smaller shifts of recorded efforts, in samples, count as zero.
LEAST_PERIODS = 0.01
# Rows that are recomputed together: few enough for the processor's caches.
BLOCK_ROWS = 8192
# Blocks after which the memory of file-backed tables is released.
_BLOCKS_HELD = 32


@dataclass(frozen=True)
class Stretch:
    """Extent of a segment (a stretch without gaps) that was recomputed.

    Attributes:
        epoch: number of clock restarts before it.
        start: its first time in s.
        end: its last time in s.
        rows: number of recomputed rows.
        compared: how many of them are compared with the recording.
    """

    epoch: int
    start: float
    end: float
    rows: int
    compared: int


@dataclass(frozen=True)
class Replay:
    """A recomputed run.

    Attributes:
        run: the recorded run.
        robot: the robot with rigid links: its coordinates are the joints.
        modal_names: names of the additional modal coordinates of flexible links.
        frame: link whose acceleration was recomputed.
        filters: filter of each joint's acceleration.
        effort_sources: source of each joint's recorded effort: 'measured' (the joint states),
            'commanded' (the topic of commands) or 'none'.
        plans: recomputation of each segment, in the order of recording.
        sums: sums over the series.
        skipped: (start, end) in s of the segments too short for the window, or without velocities
            that the filters use.
        effort_delay: applied delay of the stamps of recorded efforts, in s.
        found_delay: estimated delay, in s; None if the delay was given.
    """

    run: Run
    robot: Robot
    modal_names: tuple[str, ...]
    frame: str
    filters: tuple[JointFilter, ...]
    effort_sources: tuple[str, ...]
    plans: tuple[SegmentPlan, ...]
    sums: RunSums
    skipped: tuple[tuple[float, float], ...]
    effort_delay: float
    found_delay: float | None

    @property
    def window(self) -> float:
        """Length of the longest joint's window in s."""
        return 2.0 * max(item.half_width for item in self.filters)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Extents of the recomputed segments, without their series."""
        return tuple(
            Stretch(
                plan.segment.epoch,
                plan.segment.start,
                plan.segment.start + plan.step * (plan.count - 1),
                plan.count,
                self.sums.segment(plan.number).compared,
            )
            for plan in self.plans
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons to doubt the recording, and counts of data that are not used."""
        lost = (f'lost: {text}' for text in self.run.log.dropped.described())
        return (*self.run.notes, *lost)

    def blocks(self) -> Iterator[SegmentReplay]:
        """Return an iterator over the series in blocks: each row once, in order.

        The blocks of a segment are consecutive and do not overlap; a new value of `segment` marks
        a gap. Every call recomputes the series.
        """
        return _blocks(self.plans, self.effort_delay, BLOCK_ROWS)

    @cached_property
    def segments(self) -> tuple[SegmentReplay, ...]:
        """The whole series of each segment, in memory; for long runs use `blocks`."""
        parts: dict[int, list[SegmentReplay]] = {}
        for block in self.blocks():
            parts.setdefault(block.segment, []).append(block)
        return tuple(_joined(blocks) for blocks in parts.values())


def replay_run(
    robot: Robot,
    run: Run,
    *,
    frame: str | None = None,
    window: float | None = None,
    effort_delay: float | None = None,
    block_rows: int = BLOCK_ROWS,
    progress: Progress | None = None,
) -> Replay:
    """Return a run's efforts and tip acceleration recomputed from its joints' motion.

    Args:
        robot: the robot, with or without flexible links.
        run: the recorded run.
        frame: link whose acceleration is recomputed; None takes the model's tip.
        window: length of the smoothing window in s; None chooses it from the data.
        effort_delay: delay of the stamps of recorded efforts, in s; None estimates it from the
            data and applies it if it is about a sample.
        block_rows: how many rows are recomputed together.
        progress: called with the share that is recomputed.

    Raises:
        BagError: no segment of the run is long enough.
        ParameterError: the window is shorter than five samples, or the delay longer than the run.
        UnknownFrameError: the model has no such link.
    """
    frame = robot.model.tip_link if frame is None else frame
    robot.frame(frame)
    check_run(run, window, effort_delay)
    count = robot.model.joint_count
    sources = effort_sources(run, count)
    surveyed = survey(run.log.segments)
    scale = effort_scale([recorded_efforts(run, segment, sources) for segment in surveyed])
    filters = choose_filters(robot.rigid, surveyed, scale, window)
    plans, skipped = _plans(robot, run, frame, filters, sources)
    sums, applied, found = _summed_by_delay(filters, plans, effort_delay, block_rows, progress)
    plans = _compared(plans, sums, skipped)
    if not plans:
        longest = max(end - start for start, end in skipped)
        wide = 2.0 * max(item.half_width for item in filters)
        raise BagError(too_short(run.topic, needed_length(filters), wide, longest))
    return Replay(
        run=run,
        robot=robot.rigid,
        modal_names=robot.joint_names[count:],
        frame=frame,
        filters=filters,
        effort_sources=sources,
        plans=tuple(plans),
        sums=sums,
        skipped=tuple(skipped),
        effort_delay=applied,
        found_delay=found,
    )


def _summed_by_delay(
    filters: Sequence[JointFilter],
    plans: Sequence[SegmentPlan],
    given: float | None,
    rows: int,
    progress: Progress | None,
) -> tuple[RunSums, float, float | None]:
    """Return the sums, the applied delay of efforts, and the estimated one, None if it is given.

    Delays are in s.
    """
    sums = _summed(filters, plans, given or 0.0, rows, progress)
    if given is not None:
        return sums, given, None
    applied, found = _delay(sums, filters[0].step)
    if applied:
        sums = _summed(filters, plans, applied, rows, progress)
    return sums, applied, found


def _delay(sums: RunSums, step: float) -> tuple[float, float]:
    """Return the delay of efforts to apply, and the estimated one, in s."""
    found = sums.delay.found()
    found = 0.0 if abs(found) < LEAST_PERIODS * step else found
    return (found if abs(found) <= MOST_PERIODS * step else 0.0), found


def _plans(
    robot: Robot, run: Run, frame: str, filters: Sequence[JointFilter], sources: Sequence[str]
) -> tuple[list[SegmentPlan], list[tuple[float, float]]]:
    """Return the plans of the segments, and the intervals of the segments that are too short."""
    plans: list[SegmentPlan] = []
    skipped, smoothing = [], JointSmoothing(filters)
    for segment in run.log.segments:
        if segment.end - segment.start < needed_length(filters):
            skipped.append((segment.start, segment.end))
            continue
        tip = run.acceleration.epochs[segment.epoch][0] if run.acceleration else None
        efforts = recorded_efforts(run, segment, sources)
        plans.append(
            SegmentPlan(robot, frame, segment, efforts, tip, filters, smoothing, len(plans))
        )
    return plans, skipped


def _summed(
    filters: Sequence[JointFilter],
    plans: Sequence[SegmentPlan],
    delay: float,
    rows: int,
    progress: Progress | None,
) -> RunSums:
    sums = RunSums(filters, filters[0].step)
    done, total = 0, sum(plan.count for plan in plans)
    for number, block in enumerate(_blocks(plans, delay, rows)):
        sums.add(block)
        done += len(block.time)
        if progress is not None:
            progress('recomputing', done / total)
        if not number % _BLOCKS_HELD:
            release()
    return sums


def _compared(
    plans: Sequence[SegmentPlan], sums: RunSums, skipped: list[tuple[float, float]]
) -> list[SegmentPlan]:
    """Return the plans that have rows to compare, renumbered; the others are skipped."""
    kept = [plan for plan in plans if sums.segment(plan.number).compared]
    skipped += [
        (plan.segment.start, plan.segment.end)
        for plan in plans
        if not sums.segment(plan.number).compared
    ]
    sums.keep([plan.number for plan in kept])
    for number, plan in enumerate(kept):
        plan.number = number
    return kept


def _blocks(plans: Sequence[SegmentPlan], delay: float, rows: int) -> Iterator[SegmentReplay]:
    """Return an iterator over all rows in blocks."""
    return computed_ahead(
        partial(_made, plan, first, min(first + rows, plan.count), delay)
        for plan in plans
        for first in range(0, plan.count, rows)
    )


def _made(plan: SegmentPlan, first: int, last: int, delay: float) -> SegmentReplay:
    """Return a block; its cached properties are computed in the same thread, too."""
    block = plan.rows(first, last, delay)
    assert len(block.recomputed) == len(block.residual)
    return block


def _joined(blocks: Sequence[SegmentReplay]) -> SegmentReplay:
    """Return the blocks of a segment as one."""
    first = blocks[0]
    series = {
        item.name: np.concatenate([getattr(block, item.name) for block in blocks])
        for item in fields(SegmentReplay)
        if item.name not in ('segment', 'epoch', 'terms', 'effort_noise', 'tip_noise')
    }
    terms = {name: np.concatenate([block.terms[name] for block in blocks]) for name in first.terms}
    return SegmentReplay(
        segment=first.segment,
        epoch=first.epoch,
        terms=terms,
        effort_noise=first.effort_noise,
        tip_noise=first.tip_noise,
        **series,
    )
