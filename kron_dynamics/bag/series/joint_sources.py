# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which joint states of a bag are a robot's: those of one topic, or of several together.

A gripper often tells its joints on a topic of its own. Where no topic has all joints of the robot,
those that have them together are taken as one, each joint from one topic.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.bag.reading.reader import BagContents
from kron_dynamics.bag.samples import sample_period
from kron_dynamics.bag.series.joint_log import RESTART_STEP_NS
from kron_dynamics.exceptions import BagError
from kron_dynamics.messages import listed

# A topic so many times as slow as another makes the window longer than the other needs.
SLOW_RATIO = 3.0


class JointSource(NamedTuple):
    """Joint states of one robot.

    Attributes:
        topic: the topic with most of its joints.
        others: topics with the other joints.
        states: what they say together, in the order of recording.
        notes: what a reader of the report should know.
    """

    topic: str
    others: tuple[str, ...]
    states: JointStates
    notes: tuple[str, ...]


def joint_sources(
    contents: BagContents,
    robot: str,
    joints: Sequence[str],
    topics: Sequence[str] = (),
    among: Sequence[str] | None = None,
) -> list[JointSource]:
    """Return the joint states of a robot: of each topic that has all joints, else of several.

    Args:
        contents: the bag.
        robot: its name, for errors.
        joints: that have to be there.
        topics: to take; empty for all that have joints of the robot.
        among: those that may be of this robot; None for all.

    Raises:
        BagError: there are no joint states, or no topics have all joints, or it is not clear which
            have.
    """
    if not contents.joint_states:
        raise BagError(f'no sensor_msgs/JointState messages in {contents.path}')
    for topic in topics:
        if topic not in contents.joint_states:
            raise BagError(
                f"no sensor_msgs/JointState messages on '{topic}' in {contents.path}; topics that "
                f'have some: {", ".join(contents.joint_states)}'
            )
    candidates = list(topics or (contents.joint_states if among is None else among))
    recorded = {
        topic: contents.joint_states[topic].joints_with('position') & set(joints)
        for topic in candidates
    }
    covering = [topic for topic in candidates if len(recorded[topic]) == len(joints)]
    partial = {topic: found for topic, found in recorded.items() if topic not in covering}
    alone = [JointSource(topic, (), contents.joint_states[topic], ()) for topic in covering]
    if alone and not (topics and partial):
        return alone
    return [*alone, _together(contents, robot, joints, partial, bool(topics))]


def _together(
    contents: BagContents,
    robot: str,
    joints: Sequence[str],
    recorded: Mapping[str, Collection[str]],
    are_chosen: bool,
) -> JointSource:
    """Return what several topics say together."""
    counts = {joint: sum(joint in found for found in recorded.values()) for joint in joints}
    unclear = [joint for joint in joints if not counts[joint]]
    if not are_chosen:
        unclear += [joint for joint in joints if counts[joint] > 1]
    if unclear:
        raise BagError(_not_covered(contents, robot, joints, recorded, unclear))
    main, *others = sorted(filter(recorded.get, recorded), key=lambda topic: -len(recorded[topic]))
    parts = {topic: contents.joint_states[topic] for topic in (main, *others)}
    named = '; '.join(f'{", ".join(sorted(recorded[topic]))} from {topic}' for topic in others)
    notes = [f'several topics are taken together: {named}']
    periods = {topic: _period(states) for topic, states in parts.items()}
    slowest, fastest = max(periods, key=periods.__getitem__), min(periods.values())
    if periods[slowest] > SLOW_RATIO * fastest:
        notes.append(
            f'{slowest} has {1.0 / periods[slowest]:.3g} messages a second, others up to '
            f'{1.0 / fastest:.3g}: the window is as long as the slowest needs. Where its joints '
            'stand still: --hold JOINT=POSITION'
        )
    return JointSource(main, tuple(others), _joined(parts), tuple(notes))


def _not_covered(
    contents: BagContents,
    robot: str,
    joints: Sequence[str],
    recorded: Mapping[str, Collection[str]],
    unclear: Sequence[str],
) -> str:
    """Return what is missing where, and what may be done about it."""
    listing = '; '.join(
        f'{topic} lacks {", ".join(sorted(set(joints) - set(found)))}, '
        f'{_besides(contents.joint_states[topic], joints)}'
        for topic, found in recorded.items()
    )
    places = {
        joint: [
            topic
            for topic, states in contents.joint_states.items()
            if joint in states.joints_with('position')
        ]
        for joint in unclear
    }
    found = [f'{joint} is on {" and ".join(topics)}' for joint, topics in places.items() if topics]
    choice = f'{"; ".join(found)}: name all topics of the robot with --joint-states. '
    return (
        f"no topic has the positions of all joints of '{robot}': {listing}. "
        f'{choice if found else ""}Is this the right --urdf? If names differ: --rename '
        'RECORDED=MODEL; joints that are not recorded and stand still: --hold JOINT=POSITION'
    )


def _besides(states: JointStates, joints: Sequence[str]) -> str:
    """Return what else a topic has positions of."""
    others = sorted(states.joints_with('position') - set(joints))
    if others:
        return f'has {listed(repr(name) for name in others)} besides'
    return 'has no other joint' if states.names else 'names no joint'


def _joined(parts: Mapping[str, JointStates]) -> JointStates:
    """Return the messages of several topics as if they were of one.

    Raises:
        BagError: their clocks differ.
    """
    stamped = {topic: bool(states.stamp.any()) for topic, states in parts.items()}
    late = {
        topic: float(np.median(states.log_time - states.stamp))
        for topic, states in parts.items()
        if stamped[topic]
    }
    if late and max(late.values()) - min(late.values()) > RESTART_STEP_NS:
        raise BagError(
            f'clocks of {" and ".join(late)} differ by '
            f'{1e-9 * (max(late.values()) - min(late.values())):.3g} s: they cannot be taken '
            'together; joints that stand still: --hold JOINT=POSITION'
        )
    # Times of recording are comparable where some topic has no stamps.
    whole = all(stamped.values())
    firsts = np.cumsum([0, *map(len, parts.values())])
    tables = [
        replace(table, index=table.index + first)
        for first, states in zip(firsts, parts.values(), strict=False)
        for table in states.tables
    ]
    stamps = np.concatenate([states.stamp for states in parts.values()])
    return JointStates(
        np.concatenate([states.log_time for states in parts.values()]),
        stamps if whole else np.zeros_like(stamps),
        tuple(tables),
    ).by_log_time()


def _period(states: JointStates) -> float:
    """Return the usual distance of messages, s."""
    times = np.unique(states.stamp if states.stamp.any() else states.log_time)
    return sample_period(np.asarray(times * np.float64(1e-9))) if len(times) > 1 else np.inf
