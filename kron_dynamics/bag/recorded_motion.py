# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded joint states as stretches of motion on even times, for identification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kron_dynamics.bag.reading.joint_states import JointStates, JointTable
from kron_dynamics.bag.reading.reader import BagContents, read_bag
from kron_dynamics.bag.replaying.smoothing import on_grid
from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.series.runs import find_runs
from kron_dynamics.exceptions import BagError, ParameterError
from kron_dynamics.identification.motion import Motion
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Stretches with fewer samples are left out.
LEAST_SAMPLES = 40
# Efforts this many of their periods apart leave the times between unknown.
GAP_PERIODS = 3.0


def recorded_motion(
    path: str | Path,
    robot: Robot,
    *,
    topics: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    scale: Mapping[str, float | str] | None = None,
    hold: Mapping[str, float] | None = None,
) -> list[Motion]:
    """Return the stretches of motion in a bag.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.
        robot: the robot; its joints are found by name.
        topics: JointState topics; empty takes each that has all joints.
        rename: joints of the robot by their names in the bag, see `JointMapping`.
        scale: factors or units by joint of the robot, or by joint and quantity.
        hold: positions of joints that are not recorded and stand still, rad or m.

    Raises:
        BagError: the bag cannot be read, or lacks joints or efforts.
        ParameterError: a joint that is named does not exist.
    """
    contents = _held(read_bag(path, rename=rename, scale=scale), robot, dict(hold or {}))
    found = []
    for run in find_runs(contents, robot.model, topics):
        for number, segment in enumerate(run.log.segments):
            label = f'{path} {run.topic} {number}'
            motion = _motion(segment, label)
            if motion is not None:
                found.append(motion)
    if not found:
        raise BagError(
            f"'{path}' has no stretch of {LEAST_SAMPLES} samples without gaps: too little motion"
        )
    if not any(np.isfinite(motion.effort).any() for motion in found):
        raise BagError(f"'{path}' has no efforts of the joints of '{robot.model.name}'")
    return found


def _held(contents: BagContents, robot: Robot, hold: dict[str, float]) -> BagContents:
    """Return a bag with joints that stand still."""
    for joint in hold:
        if joint not in robot.joint_names:
            raise ParameterError(
                f"the robot has no joint '{joint}', expected one of {', '.join(robot.joint_names)}"
            )
    if not hold:
        return contents
    changed = {
        topic: JointStates(
            states.log_time,
            states.stamp,
            tuple(_with_held(table, hold) for table in states.tables),
        )
        for topic, states in contents.joint_states.items()
    }
    return replace(contents, joint_states=changed)


def _with_held(table: JointTable, hold: dict[str, float]) -> JointTable:
    added = [joint for joint in hold if joint not in table.names]
    count = len(table.index)
    # Arrays fit their names wholly or not at all; an effort that nobody knows stays unknown.
    columns = []
    for values, filled in (
        (table.position, [hold[joint] for joint in added]),
        (table.velocity, [0.0] * len(added)),
        (table.effort, [np.nan] * len(added)),
    ):
        block = np.tile(filled, (count, 1)) if values.shape[1] else np.zeros((count, 0))
        columns.append(np.hstack([values, block.reshape(count, -1)]))
    return JointTable((*table.names, *added), table.index, *columns)


def _motion(segment: JointSegment, label: str) -> Motion | None:
    """Return a segment on even times; None where it is too short."""
    period = min(sample_period(samples.time) for samples in segment.position)
    count = int((segment.end - segment.start) / period + 1e-6) + 1
    if count < LEAST_SAMPLES or any(len(s.time) < LEAST_SAMPLES // 2 for s in segment.position):
        return None
    time: FloatArray = segment.start + period * np.arange(count, dtype=float)
    q = np.column_stack([_at(samples, time) for samples in segment.position])
    velocities = []
    for place, samples in enumerate(segment.velocity):
        if len(samples.time) >= 0.9 * len(segment.position[place].time):
            velocities.append(_at(samples, time))
        else:
            velocities.append(np.gradient(q[:, place], period))
    effort = np.column_stack([_effort_at(samples, time) for samples in segment.effort])
    return Motion(time, q, np.column_stack(velocities), effort, label)


def _at(samples: Samples, time: FloatArray) -> FloatArray:
    return on_grid(samples, time, sample_period(samples.time))[0]


def _effort_at(samples: Samples, time: FloatArray) -> FloatArray:
    """Return efforts at even times, NaN where none is near."""
    if len(samples.time) < 4:
        return np.full(len(time), np.nan)
    period = sample_period(samples.time)
    values = on_grid(samples, time, period)[0]
    after = np.searchsorted(samples.time, time).clip(1, len(samples.time) - 1)
    wide = samples.time[after] - samples.time[after - 1] > GAP_PERIODS * period
    outside = (time < samples.time[0] - period) | (time > samples.time[-1] + period)
    return np.where(wide | outside, np.nan, values)
