# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Assignment of joint state topics to robots: by the description in the topic's namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kron_dynamics.bag.reading.reader import BagContents
from kron_dynamics.exceptions import BagError


class RecordedRobot(NamedTuple):
    """A robot described in a bag.

    Attributes:
        urdf: text of the description.
        constraints: text of the loop-closure constraints; None if not recorded.
        origin: topic of the description.
    """

    urdf: str
    constraints: str | None
    origin: str


def recorded_robots(
    contents: BagContents, topic: str | None = None
) -> list[tuple[RecordedRobot, list[str]]]:
    """Return the robots described in a bag, each with its joint state topics.

    A joint state topic belongs to the robot whose description is nearest above it: in its own
    namespace or the closest enclosing one. If all descriptions are equal, any is used.

    Args:
        contents: the bag.
        topic: topic of the description to use for all joint states; None for each one's own.

    Raises:
        BagError: there is no description, one has changed, or several differ and none is in a
            namespace of the joint states.
    """
    known = contents.robot_descriptions
    if topic is not None:
        if topic not in known:
            raise BagError(
                f"no robot description on '{topic}' in {contents.path}; topics that have one: "
                f'{", ".join(known) or "none"}'
            )
        known = {topic: known[topic]}
    if not known:
        raise BagError(
            f"no topic 'robot_description' in {contents.path}: pass the robot with --urdf FILE"
        )
    same = topic is not None or len({tuple(texts) for texts in known.values()}) == 1
    found: dict[RecordedRobot, list[str]] = {}
    for states in contents.joint_states:
        above = [name for name in known if states.startswith(_namespace(name))]
        if not above and same:
            above = [next(iter(known))]
        if above:
            robot = _recorded(contents, max(above, key=lambda name: len(_namespace(name))))
            found.setdefault(robot, []).append(states)
    if not found:
        if not same:
            raise BagError(
                f'robot descriptions differ between {", ".join(known)}, and none is in the '
                f'namespace of joint states: choose one with --robot-description TOPIC'
            )
        return [(_recorded(contents, next(iter(known))), [])]
    return list(found.items())


def left_out(
    contents: BagContents, robots: Sequence[tuple[RecordedRobot, list[str]]]
) -> list[str]:
    """Return the joint state topics that belong to no described robot.

    Args:
        contents: the bag.
        robots: robots of the bag with their topics.
    """
    taken = {topic for _, topics in robots for topic in topics}
    return [topic for topic in contents.joint_states if topic not in taken]


def _recorded(contents: BagContents, topic: str) -> RecordedRobot:
    texts = contents.robot_descriptions[topic]
    if len(texts) > 1:
        raise BagError(
            f"'{topic}' holds {len(texts)} different descriptions: pass the robot with --urdf"
        )
    constraints = contents.robot_constraints.get(_namespace(topic) + 'robot_constraints', [])
    if len(constraints) > 1:
        raise BagError(
            f"'{_namespace(topic)}robot_constraints' holds {len(constraints)} different "
            'descriptions: pass them with --constraints'
        )
    return RecordedRobot(texts[0], constraints[0] if constraints else None, topic)


def _namespace(topic: str) -> str:
    return topic.rsplit('/', 1)[0] + '/'
