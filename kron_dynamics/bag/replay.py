# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputes a recorded run: efforts and the tip's acceleration, from the joints' motion alone.

The equation replayed is ``M qdd + c + g + friction = tau``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.bag.effort_delay import MOST_PERIODS, effort_delay_of
from kron_dynamics.bag.filters import JointFilter, choose_filters
from kron_dynamics.bag.joint_log import JointSegment
from kron_dynamics.bag.runs import Run
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.segment_replay import SegmentReplay, recorded_efforts_at, replay_segment
from kron_dynamics.exceptions import BagError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Samples a segment must have left when those near its ends are taken away.
MIN_SAMPLES = 10
# A shift of recorded efforts below this share of a sample is none.
LEAST_PERIODS = 0.01


@dataclass(frozen=True)
class Replay:
    """A run, recomputed.

    Attributes:
        run: what was recorded.
        robot: the robot it was recomputed with.
        frame: link whose acceleration was recomputed.
        filters: how each joint's acceleration was obtained.
        effort_sources: where each joint's recorded effort is from: 'measured' (the joint states),
            'commanded' (the topic of commands) or 'none'.
        segments: the stretches of the run, in the order of recording.
        skipped: (start, end) in s of the stretches too short for the window.
        effort_delay: how late the stamps of recorded efforts are taken to be, in s.
        found_delay: how late they seem to be, in s; None if it was given, not looked for.
    """

    run: Run
    robot: Robot
    frame: str
    filters: tuple[JointFilter, ...]
    effort_sources: tuple[str, ...]
    segments: tuple[SegmentReplay, ...]
    skipped: tuple[tuple[float, float], ...]
    effort_delay: float
    found_delay: float | None

    @property
    def window(self) -> float:
        """Length of the longest joint's window in s."""
        return max((2 * item.half_count + 1) * item.period for item in self.filters)


def replay_run(
    robot: Robot,
    run: Run,
    *,
    frame: str | None = None,
    window: float | None = None,
    effort_delay: float | None = None,
) -> Replay:
    """Return a run's efforts and tip acceleration recomputed from its joints' motion.

    Args:
        robot: the robot.
        run: the recorded run.
        frame: link whose acceleration is recomputed; None takes the model's tip.
        window: length of the smoothing window in s; None chooses it from the data.
        effort_delay: how late the stamps of recorded efforts are, in s; None finds it in the data
            and applies it if it is about a sample.

    Raises:
        BagError: no stretch of the run is long enough.
        ParameterError: the window is shorter than five samples.
        UnknownFrameError: the model has no such link.
    """
    frame = robot.model.tip_link if frame is None else frame
    robot.frame(frame)
    if not run.log.segments:
        raise BagError(f"topic '{run.topic}' never has positions of all joints at the same time")
    sources = _effort_sources(run, robot.n)
    efforts = [recorded_efforts(run, segment, sources) for segment in run.log.segments]
    filters = choose_filters(robot, run.log.segments, _effort_scale(efforts), window)
    parts, used, skipped = _replay_segments(robot, run, frame, filters)
    step = min(item.period for item in filters)
    weights = [item.weights(step) for item in filters]

    def with_efforts(delay: float) -> list[SegmentReplay]:
        return [
            replace(part, recorded=recorded_efforts_at(part.time + delay, efforts[index], weights))
            for part, index in zip(parts, used, strict=True)
        ]

    found = None
    if effort_delay is None:
        found = _find_delay(with_efforts(0.0))
        found = 0.0 if abs(found) < LEAST_PERIODS * step else found
        effort_delay = found if abs(found) <= MOST_PERIODS * step else 0.0
    segments = tuple(with_efforts(effort_delay))
    return Replay(
        run, robot, frame, filters, sources, segments, tuple(skipped), effort_delay, found
    )


def _replay_segments(
    robot: Robot, run: Run, frame: str, filters: Sequence[JointFilter]
) -> tuple[list[SegmentReplay], list[int], list[tuple[float, float]]]:
    """Return the segments recomputed, their indices, and the intervals of those too short."""
    edge = 2.0 * max(item.half_width for item in filters)
    needed = 2.0 * edge + MIN_SAMPLES * min(item.period for item in filters)
    parts, used, skipped = [], [], []
    for index, segment in enumerate(run.log.segments):
        if segment.end - segment.start >= needed:
            tip = run.acceleration.epochs[segment.epoch][0] if run.acceleration else None
            part = replay_segment(robot, frame, segment, tip, filters)
            if part.valid.any():
                parts.append(part)
                used.append(index)
                continue
        skipped.append((segment.start, segment.end))
    if not parts:
        longest = max(end - start for start, end in skipped)
        raise BagError(
            f"topic '{run.topic}' has no stretch of {needed:.3g} s without gaps, which a window "
            f'of {0.5 * edge:.3g} s needs; the longest is {longest:.3g} s'
        )
    return parts, used, skipped


def _find_delay(parts: Sequence[SegmentReplay]) -> float:
    return effort_delay_of(
        [part.time for part in parts],
        [np.where(part.valid[:, None], part.recomputed, np.nan) for part in parts],
        [np.where(part.valid[:, None], part.residual, np.nan) for part in parts],
    )


def _effort_sources(run: Run, n: int) -> tuple[str, ...]:
    sources = []
    for joint in range(n):
        if any(len(segment.effort[joint].time) for segment in run.log.segments):
            sources.append('measured')
        elif run.commands and any(len(epoch[joint].time) for epoch in run.commands.epochs):
            sources.append('commanded')
        else:
            sources.append('none')
    return tuple(sources)


def recorded_efforts(run: Run, segment: JointSegment, sources: Sequence[str]) -> list[Samples]:
    """Return the recorded efforts of each joint in a segment, as they are.

    Args:
        run: what was recorded.
        segment: of the run.
        sources: of each joint's effort, as in `Replay`.
    """
    efforts = []
    for joint, source in enumerate(sources):
        if source == 'commanded' and run.commands is not None:
            command = run.commands.epochs[segment.epoch][joint]
            efforts.append(command.between(segment.start, segment.end))
        else:
            efforts.append(segment.effort[joint])
    return efforts


def _effort_scale(efforts: Sequence[Sequence[Samples]]) -> FloatArray:
    """Return the RMS of each joint's recorded effort, NaN where there is none, shape (n,)."""
    scale = []
    for pieces in zip(*efforts, strict=True):
        values = np.concatenate([samples.value for samples in pieces])
        scale.append(float(np.sqrt(np.mean(values * values))) if len(values) else np.nan)
    return np.array(scale)
