# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which robot each joint state topic of a bag is of: the one described in its namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kron_dynamics.bag.reading.reader import BagContents
from kron_dynamics.exceptions import BagError


class RecordedRobot(NamedTuple):
    """A robot as it was recorded.

    Attributes:
        urdf: text of the description.
        constraints: text of what closes its loops; None where nothing was recorded.
        origin: topic that the description is from.
    """

    urdf: str
    constraints: str | None
    origin: str


def recorded_robots(
    contents: BagContents, topic: str | None = None
) -> list[tuple[RecordedRobot, list[str]]]:
    """Return the robots described in a bag, each with the joint state topics that are of it.

    A joint state topic is of the robot that is described nearest above it: in its own namespace,
    or in one that this is in. Where all descriptions are the same, they need not be above.

    Args:
        contents: the bag.
        topic: of the description to take for all joint states; None for that of each.

    Raises:
        BagError: there is none, or one has changed, or several differ and none is above the joint
            states.
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
    """Return the joint state topics that no described robot is above.

    Args:
        contents: the bag.
        robots: that it describes.
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
