# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs as motions for the identification of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from kron_dynamics.bag.reading.reader import BagContents, read_bag
from kron_dynamics.bag.replaying.kernels import MIN_HALF_COUNT
from kron_dynamics.bag.replaying.recorded_efforts import recorded_efforts
from kron_dynamics.bag.replaying.replay import Replay, replay_run
from kron_dynamics.bag.replaying.row_signals import interpolated_joints
from kron_dynamics.bag.series.implausible_efforts import changes_from_zero
from kron_dynamics.bag.series.runs import Run, find_runs
from kron_dynamics.exceptions import BagError
from kron_dynamics.identification.motion import Motion
from kron_dynamics.robot import Robot

# Least number of rows of a motion.
LEAST_ROWS = 20
# Smoothing that changes velocities by more than this multiple of their noise attenuates them.
CHANGED = 2.0


def recorded_runs(
    path: str | Path,
    robot: Robot,
    *,
    frame: str | None = None,
    topics: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    scale: Mapping[str, float | str] | None = None,
    hold: Mapping[str, float] | None = None,
) -> list[Replay]:
    """Return the runs of one robot in a bag, recomputed with it.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.
        robot: the robot; its joints are found by name.
        frame: link whose acceleration is recomputed; None takes the robot's tip.
        topics: JointState topics; empty takes the only topic that has all joints, else the topics
            that have all joints together. Of several that have all joints, each is a run; they
            must have been recorded one after another.
        rename: names of the robot's joints by their names in the bag, see `JointMapping`.
        scale: factors or units by joint of the robot, or by joint and quantity.
        hold: positions of joints that are not recorded and stand still, rad or m.

    Raises:
        BagError: the bag cannot be read, lacks joints, has no efforts at all, or more than one
            motion at a time.
        ParameterError: a joint to hold does not exist.
    """
    contents = read_bag(path, rename=rename, scale=scale)
    runs = find_runs(contents, robot.model, topics, hold=hold)
    _check_topics(path, contents, runs, bool(topics))
    replays = [replay_run(robot, run, frame=frame) for run in runs]
    named = ', '.join(run.topic for run in runs)
    if all(source == 'none' for replay in replays for source in replay.effort_sources):
        raise BagError(f"'{path}' has no efforts of the joints of '{robot.model.name}' on {named}")
    efforts = (
        each.value
        for replay in replays
        for plan in replay.plans
        for each in recorded_efforts(replay.run, plan.segment, replay.effort_sources)
    )
    if not any(map(changes_from_zero, efforts)):
        raise BagError(
            f"'{path}': efforts of the joints of '{robot.model.name}' on {named} are all 0"
        )
    return replays


def _check_topics(
    path: str | Path, contents: BagContents, runs: Sequence[Run], are_chosen: bool
) -> None:
    """Raise BagError unless the runs can be of one robot, and no two of them the same motion."""
    if len(runs) > 1 and not are_chosen:
        named = ', '.join(run.topic for run in runs)
        raise BagError(
            f"'{path}' has the joints on {named}, expected one: say which with --joint-states"
        )
    times = {run.topic: contents.joint_states[run.topic].log_time for run in runs}
    spans = sorted((int(each.min()), int(each.max()), topic) for topic, each in times.items())
    for (_, end, topic), (start, _, other) in pairwise(spans):
        if start <= end:
            raise BagError(
                f"'{path}' has the joints on {topic} and {other} at the same time: two machines, "
                'or one motion twice; say which with one --joint-states'
            )


def motions(replay: Replay, *, effort_delay: float = 0.0) -> list[Motion]:
    """Return the valid intervals of a run: smoothed motion with efforts as recorded.

    `identify` chooses a delay of the efforts together with the friction of the model, so none is
    taken from the replay.

    Where the shortest window is the best one for accelerations, an average over five samples may
    attenuate the motion. Positions and velocities that agree are taken as recorded if it changes
    these velocities by far more than their noise.

    Args:
        replay: the recomputed run.
        effort_delay: delay of the stamps of recorded efforts by which they are shifted, in s.
    """
    shortest = [item.half_count == MIN_HALF_COUNT for item in replay.filters]
    as_recorded = np.array([item.signals == 'both' for item in replay.filters]) & shortest
    noise = np.array([item.velocity_noise for item in replay.filters])
    found = []
    for plan, series in zip(replay.plans, replay.segments, strict=True):
        efforts = recorded_efforts(replay.run, plan.segment, replay.effort_sources)
        effort = interpolated_joints(efforts, series.time + effort_delay)
        q, qd = series.position, series.velocity
        if as_recorded.any() and series.valid.any():
            signals = plan.segment.position, plan.segment.velocity
            places, rates = (interpolated_joints(signal, series.time) for signal in signals)
            changes = np.ma.masked_invalid((rates - qd)[series.valid])
            changed = np.sqrt(np.ma.filled((changes**2).mean(axis=0), 0.0))
            kept = as_recorded & (changed > CHANGED * noise)
            q, qd = (
                np.where(kept & np.isfinite(samples), samples, smooth)
                for samples, smooth in ((places, q), (rates, qd))
            )
        edges = np.flatnonzero(np.diff(np.concatenate([[False], series.valid, [False]])))
        for first, last in edges.reshape(-1, 2):
            if last - first >= LEAST_ROWS:
                rows = slice(int(first), int(last))
                found.append(
                    Motion(
                        series.time[rows],
                        q[rows],
                        qd[rows],
                        effort[rows],
                        f"'{replay.run.topic}' from {series.time[first]:.2f} s",
                    )
                )
    return found
