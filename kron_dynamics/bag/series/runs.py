# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Assignment of a bag's topics to the runs of a robot.

A run is one JointState topic with the positions of all the model's joints, or several topics that
have them together. Commanded efforts and the tip's acceleration belong to it if they were recorded
in its namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.reading.reader import BagContents
from kron_dynamics.bag.series.auxiliary_series import (
    Companion,
    collect_accelerations,
    collect_commands,
)
from kron_dynamics.bag.series.contradicting_velocities import without_contradicting_velocities
from kron_dynamics.bag.series.implausible_efforts import changes_from_zero, effort_notes
from kron_dynamics.bag.series.joint_log import JointLog, build_joint_log
from kron_dynamics.bag.series.joint_sources import SLOW_RATIO, JointSource, joint_sources
from kron_dynamics.bag.series.polled_states import log_at_source_times
from kron_dynamics.bag.series.position_jumps import without_turns
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import IntArray

# Share of samples with equal times but different values above which a note is made.
CONFLICT_SHARE = 0.1
# Positions further outside the limits than this share of their range are reported.
BEYOND_LIMITS = 0.1


@dataclass(frozen=True)
class Run:
    """One motion of the robot and what was recorded with it.

    Attributes:
        topic: the JointState topic; of several, the one with most joints.
        log: the joints' time series.
        commands: commanded efforts of each joint, if recorded.
        acceleration: the tip's acceleration in base axes, if recorded.
        notes: reasons to doubt the recording, and recorded data that are not used.
    """

    topic: str
    log: JointLog
    commands: Companion | None
    acceleration: Companion | None
    notes: tuple[str, ...]


def find_runs(
    contents: BagContents,
    model: RobotModel,
    topics: Sequence[str] = (),
    among: Sequence[str] | None = None,
    hold: Mapping[str, float] | None = None,
) -> list[Run]:
    """Return the runs recorded in a bag.

    Args:
        contents: the bag.
        model: the robot; its joints are found by name.
        topics: JointState topics to use; empty takes each topic that covers the model, else the
            topics that do so together.
        among: topics that may be of this robot; None for all.
        hold: positions of joints that are not recorded and stand still, rad or m.

    Raises:
        BagError: no topic, or not each given one, has the positions of all joints.
        ParameterError: a joint to hold does not exist.
    """
    held = dict(hold or {})
    for joint in held:
        if joint not in model.joint_names:
            raise ParameterError(
                f"hold: the robot '{model.name}' has no joint '{joint}', expected one of "
                f'{", ".join(model.joint_names)}'
            )
    needed = [joint for joint in model.joint_names if joint not in held]
    sources = joint_sources(contents, model.name, needed, topics, among)
    return [_assemble(contents, model, source, held) for source in sources]


def _assemble(
    contents: BagContents, model: RobotModel, source: JointSource, hold: Mapping[str, float]
) -> Run:
    topic = source.topic
    pairs = zip(model.joint_names, model.joint_types, strict=True)
    unlimited = [name for name, kind in pairs if joint_kind(kind).is_endless]
    notes = list(source.notes)
    recorded = source.states.joints_with('position')
    if useless := [joint for joint in hold if joint in recorded]:
        notes.append(f'{", ".join(useless)} is recorded: the held position is not used')
    held = {joint: value for joint, value in hold.items() if joint not in recorded}
    if held:
        named = ', '.join(f'{joint} at {value:g}' for joint, value in held.items())
        notes.append(f'held at a given position, not recorded: {named}')
    log = build_joint_log(topic, source.states, model.joint_names, unlimited, held)
    log.dropped.undecodable = sum(
        contents.undecodable.get(each, 0) for each in (topic, *source.others)
    )
    log = _without_empty_velocities(log, model.joint_names, notes)
    log, jumping = without_turns(log, model, notes)
    log, found = log_at_source_times(log)
    notes += found
    log = without_contradicting_velocities(log, model.joint_names, jumping, notes)
    if not source.others:  # else slow topics are reported already
        notes += _slow_joints(log, model.joint_names)
    commands = acceleration = None
    command_topic = _command_topic(contents, model, topic, notes)
    if command_topic is not None:
        states = contents.joint_states[command_topic]
        commands = collect_commands(command_topic, states, log, model.joint_names)
        commands.dropped.undecodable = contents.undecodable.get(command_topic, 0)
        notes += _without_stamps(command_topic, states.stamp, log)
    acceleration_topic = _acceleration_topic(contents, model, topic, notes)
    if acceleration_topic is not None:
        vectors = contents.accelerations[acceleration_topic]
        acceleration = collect_accelerations(acceleration_topic, vectors, log)
        acceleration.dropped.undecodable = contents.undecodable.get(acceleration_topic, 0)
        notes += _without_stamps(acceleration_topic, vectors.stamp, log)
    notes += effort_notes(log, model)
    notes += _beyond_limits(log, model)
    samples = sum(len(s.time) for segment in log.segments for s in segment.position)
    if log.dropped.conflicts > CONFLICT_SHARE * samples:
        notes.append(
            'many samples have the time of another but a different value: two motions at the '
            'same times? Was the simulated clock reset during the recording?'
        )
    return Run(topic, log, commands, acceleration, tuple(notes))


def _without_stamps(topic: str, stamp: IntArray, log: JointLog) -> list[str]:
    """Return a note about a topic without stamps beside joint states with some."""
    if stamp.any() or not log.stamped:
        return []
    return [
        f'{topic} has no stamps: its messages have the times of recording, less the usual delay '
        'of the joint states'
    ]


def _slow_joints(log: JointLog, joint_names: Sequence[str]) -> list[str]:
    """Return a note about joints with so few samples that they lengthen the window for all."""
    if not log.segments:
        return []
    longest = max(log.segments, key=lambda part: part.end - part.start)
    periods = [each.period if len(each.time) > 1 else np.inf for each in longest.position]
    slow = [
        f'{name} {1.0 / period:.3g}'
        for name, period in zip(joint_names, periods, strict=True)
        if period > SLOW_RATIO * min(periods)
    ]
    if not slow:
        return []
    return [
        f'positions per second: {", ".join(slow)}, of others up to {1.0 / min(periods):.3g}: the '
        'window is as long as the slowest needs'
    ]


def _beyond_limits(log: JointLog, model: RobotModel) -> list[str]:
    """Return a note about positions far outside the limits of the description."""
    found, units = [], dict[str, None]()
    limits = zip(model.position_lower.tolist(), model.position_upper.tolist(), strict=True)
    for k, (lower, upper) in enumerate(limits):
        known = [part.position[k] for part in log.segments if len(part.position[k].time)]
        margin = BEYOND_LIMITS * (upper - lower)
        if not known or not np.isfinite(margin) or margin <= 0.0:
            continue
        least = min(samples.extremes[0] for samples in known)
        largest = max(samples.extremes[1] for samples in known)
        if least < lower - margin or largest > upper + margin:
            found.append(
                f'{model.joint_names[k]} from {least:.4g} to {largest:.4g}, limits {lower:.4g} '
                f'and {upper:.4g}'
            )
            turns = joint_kind(model.joint_types[k]).motion.turns
            units['degrees (--scale JOINT=deg)' if turns else 'mm (--scale JOINT=mm)'] = None
    if not found:
        return []
    return [
        f'positions far outside the limits of the description: {"; ".join(found)}. In '
        f'{" or ".join(units)}, or with another zero?'
    ]


def _without_empty_velocities(
    log: JointLog, joint_names: Sequence[str], notes: list[str]
) -> JointLog:
    """Return the log without velocities that are always zero although the positions change."""
    empty = [
        k
        for k in range(len(joint_names))
        if any(len(part.velocity[k].time) for part in log.segments)
        and not any(changes_from_zero(part.velocity[k].value) for part in log.segments)
        and any(
            np.any(part.position[k].value != part.position[k].value[0]) for part in log.segments
        )
    ]
    if not empty:
        return log
    named = ', '.join(joint_names[k] for k in empty)
    notes.append(
        f'velocity of {named} is 0 in every message while the position changes: it is not used'
    )
    return log.without_velocities(empty)


def _namespace(topic: str) -> str:
    return topic.rsplit('/', 1)[0] + '/'


def _beside(
    topics: Iterable[str], topic: str, contents: BagContents, model: RobotModel
) -> list[str]:
    """Return the topics in the namespace of a JointState topic, without nested robots' topics.

    Topics with only modal coordinates are not other robots: they describe this robot's links.
    """
    own = _namespace(topic)
    nested = {
        _namespace(other)
        for other, states in contents.joint_states.items()
        if _namespace(other).startswith(own)
        and states.joints_with('position') & set(model.joint_names)
    } - {own}
    return [
        other for other in topics if other.startswith(own) and not other.startswith(tuple(nested))
    ]


def _command_topic(
    contents: BagContents, model: RobotModel, topic: str, notes: list[str]
) -> str | None:
    """Return the JointState topic in the run's namespace that has efforts without positions."""
    found = [
        other
        for other in _beside(contents.joint_states, topic, contents, model)
        if not contents.joint_states[other].joints_with('position')
        and contents.joint_states[other].joints_with('effort') & set(model.joint_names)
    ]
    return _only(found, 'command_state', 'commanded efforts', notes)


def _acceleration_topic(
    contents: BagContents, model: RobotModel, topic: str, notes: list[str]
) -> str | None:
    found = _beside(contents.accelerations, topic, contents, model)
    chosen = _only(found, 'tip_acceleration', 'accelerations', notes)
    if chosen is None:
        return None
    frames = set(contents.accelerations[chosen].frame_ids)
    if frames != {model.root_link}:
        named = ', '.join(f"'{frame}'" for frame in sorted(frames))
        notes.append(
            f"{chosen} is not used: its frame_id is {named}, expected '{model.root_link}'"
        )
        return None
    return chosen


def _only(found: Sequence[str], usual_name: str, meaning: str, notes: list[str]) -> str | None:
    """Return the only topic found, else the only one with the usual name, else None."""
    usual = [topic for topic in found if topic.rsplit('/', 1)[-1] == usual_name]
    for candidates in (found, usual):
        if len(candidates) == 1:
            return candidates[0]
    if found:
        notes.append(f'{meaning} are not used: {", ".join(found)} are in one namespace')
    return None
