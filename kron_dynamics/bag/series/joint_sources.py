# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Assignment of joint state topics to a robot: one topic, or several combined.

A gripper often publishes its joints on a separate topic. If no topic has all joints of the robot,
topics that have them together are combined, each joint from one topic: the first one chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.bag.reading.reader import BagContents
from kron_dynamics.bag.reading.recording_order import RESTART_STEP_NS, recorder_epochs
from kron_dynamics.bag.samples import sample_period
from kron_dynamics.bag.series.joint_log import QUANTITIES
from kron_dynamics.exceptions import BagError
from kron_dynamics.messages import listed

# A topic slower than another by this factor is reported: it lengthens the window for all.
SLOW_RATIO = 3.0


class JointSource(NamedTuple):
    """Joint states of one robot.

    Attributes:
        topic: the topic with most of its joints.
        others: topics with the other joints.
        states: the messages of all these topics, in the order of recording.
        notes: notes for the report.
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
        robot: the robot's name, for errors.
        joints: joints that are required.
        topics: topics to use; empty for all that have joints of the robot. A joint that is on
            several of those to combine is taken from the first.
        among: topics that may be of this robot; None for all.

    Raises:
        BagError: there are no joint states, or topics with all joints are missing or ambiguous.
    """
    require_joint_states(contents, topics)
    candidates = list(dict.fromkeys(topics) or (contents.joint_states if among is None else among))
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


def require_joint_states(contents: BagContents, topics: Sequence[str]) -> None:
    """Check that a bag has joint states, and some on each of the given topics.

    Args:
        contents: the bag.
        topics: topics that have to have some.

    Raises:
        BagError: there are none in the bag, or on a topic.
    """
    if not contents.joint_states:
        unread = ''.join(f'; {note}' for note in contents.unread.values())
        raise BagError(f'no sensor_msgs/JointState messages in {contents.path}{unread}')
    for topic in topics:
        if topic not in contents.joint_states:
            unread = f'; {contents.unread[topic]}' if topic in contents.unread else ''
            raise BagError(
                f"no sensor_msgs/JointState messages on '{topic}' in {contents.path}; topics that "
                f'have some: {", ".join(contents.joint_states)}{unread}'
            )


def _together(
    contents: BagContents,
    robot: str,
    joints: Sequence[str],
    recorded: Mapping[str, Collection[str]],
    are_chosen: bool,
) -> JointSource:
    """Return several topics combined."""
    counts = {joint: sum(joint in found for found in recorded.values()) for joint in joints}
    unclear = [joint for joint in joints if not counts[joint]]
    if not are_chosen:
        unclear += [joint for joint in joints if counts[joint] > 1]
    if unclear:
        raise BagError(_not_covered(contents, robot, joints, recorded, unclear))
    states = {topic: contents.joint_states[topic] for topic, found in recorded.items() if found}
    left_out = _of_others(states)
    used = {topic: set(recorded[topic]) - left_out[topic].keys() for topic in states}
    main, *others = sorted(filter(used.get, used), key=lambda topic: -len(used[topic]))
    parts = {topic: states[topic].without(left_out[topic]) for topic in (main, *others)}
    named = '; '.join(f'{", ".join(sorted(used[topic]))} from {topic}' for topic in others)
    notes = [f'several topics are combined: {named}'] if others else []
    twice = [
        f'{joint} from {owner}, not from {topic}'
        for topic, owners in left_out.items()
        for joint, owner in owners.items()
        if joint in joints
    ]
    if twice:
        notes.append(f'joints on several topics are taken from one: {"; ".join(twice)}')
    periods = {topic: _period(states) for topic, states in parts.items()}
    slowest, fastest = max(periods, key=periods.__getitem__), min(periods.values())
    if periods[slowest] > SLOW_RATIO * fastest:
        notes.append(
            f'{slowest} has {1.0 / periods[slowest]:.3g} messages a second, others up to '
            f'{1.0 / fastest:.3g}: the window is as long as the slowest needs. If its joints '
            'stand still: --hold JOINT=POSITION'
        )
    return JointSource(main, tuple(others), _joined(parts), tuple(notes))


def _of_others(states: Mapping[str, JointStates]) -> dict[str, dict[str, str]]:
    """Return the joints of each topic that are taken from another topic, with that topic.

    A joint is taken from the first topic with its positions; one without them adds what that
    topic lacks.
    """
    recorded = {
        topic: {quantity: each.joints_with(quantity) for quantity in QUANTITIES}
        for topic, each in states.items()
    }
    owners = dict[str, str]()
    for topic, found in recorded.items():
        for joint in found['position']:
            owners.setdefault(joint, topic)
    return {
        topic: {
            joint: owners[joint]
            for quantity, named in found.items()
            for joint in sorted(named)
            if owners.get(joint, topic) != topic and joint in recorded[owners[joint]][quantity]
        }
        for topic, found in recorded.items()
    }


def _not_covered(
    contents: BagContents,
    robot: str,
    joints: Sequence[str],
    recorded: Mapping[str, Collection[str]],
    unclear: Sequence[str],
) -> str:
    """Return an error message about joints missing in topics, with remedies."""
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
    """Return a phrase about a topic's positions of other joints."""
    others = sorted(states.joints_with('position') - set(joints))
    if others:
        return f'has {listed(repr(name) for name in others)} besides'
    return 'has no other joint' if states.names else 'names no joint'


def _joined(parts: Mapping[str, JointStates]) -> JointStates:
    """Return the messages of several topics as those of one.

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
            f'{1e-9 * (max(late.values()) - min(late.values())):.3g} s: they cannot be '
            'combined; joints that stand still: --hold JOINT=POSITION'
        )
    # If a topic has no stamps, only times of recording are comparable.
    whole = all(stamped.values())
    firsts = np.cumsum([0, *map(len, parts.values())])
    tables = [
        replace(table, index=table.index + first)
        for first, states in zip(firsts, parts.values(), strict=False)
        for table in states.tables
    ]
    stamps = np.concatenate([states.stamp for states in parts.values()])
    log_time = np.concatenate([states.log_time for states in parts.values()])
    # Each topic shows by itself where the recorder's clock was set back.
    epochs = np.concatenate(
        [recorder_epochs(each.log_time, each.stamp) for each in parts.values()]
    )
    joined = JointStates(log_time, stamps if whole else np.zeros_like(stamps), tuple(tables))
    return joined.sorted_by(np.lexsort((log_time, epochs)))


def _period(states: JointStates) -> float:
    """Return the usual period of messages, s."""
    times = np.unique(states.stamp if states.stamp.any() else states.log_time)
    return sample_period(np.asarray(times * np.float64(1e-9))) if len(times) > 1 else np.inf
