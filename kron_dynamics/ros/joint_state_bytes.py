# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fast reading of serialized joint states.

Deserializing a message by rclpy takes longer than the control law. rclpy reads only messages of
unknown layout; their byte offsets are then cached for the following ones.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from kron_dynamics.joint_state_layout import STAMP, JointStateLayout, joint_state_layout

_SECONDS = struct.Struct('<iI')
# Number of cached layouts, keyed by message size. The limit keeps a publisher whose messages
# always have another size from filling memory.
_REMEMBERED = 32


class JointSample(NamedTuple):
    """Content of a joint state message.

    Attributes:
        names: names of the m joints.
        position: m numbers, rad or m; empty if the message has none.
        velocity: m numbers, rad/s or m/s; empty if the message has none.
        effort: m numbers, N m or N; empty if the message has none.
        stamp: stamp of the header.
    """

    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    stamp: Time


class _Known(NamedTuple):
    """A cached layout with the unpackers of its numbers.

    Attributes:
        layout: byte offsets in the message.
        numbers: format and offset of position, velocity and effort.
    """

    layout: JointStateLayout
    numbers: tuple[tuple[struct.Struct, int], ...]


class JointStateReader:
    """Reads serialized sensor_msgs/JointState messages."""

    def __init__(self) -> None:
        """Make a reader with an empty cache."""
        self._layouts: dict[int, _Known] = {}

    def read(self, data: bytes) -> JointSample:
        """Return the content of a message.

        Raises:
            Exception: rclpy cannot deserialize the bytes.
        """
        known = self._layouts.get(len(data))
        if known is None or any(data[where] != what for where, what in known.layout.same):
            return self._read_by_rclpy(data)
        position, velocity, effort = (
            numbers.unpack_from(data, offset) for numbers, offset in known.numbers
        )
        sec, nanosec = _SECONDS.unpack_from(data, STAMP.start)
        return JointSample(
            known.layout.names, position, velocity, effort, Time(sec=sec, nanosec=nanosec)
        )

    def _read_by_rclpy(self, data: bytes) -> JointSample:
        message = deserialize_message(data, JointState)
        names = tuple(message.name)
        layout = joint_state_layout(data)
        if layout is not None and layout.names == names:
            if len(self._layouts) >= _REMEMBERED:
                self._layouts.clear()
            numbers = ((struct.Struct(f'<{count}d'), at) for count, at in layout.numbers)
            self._layouts[len(data)] = _Known(layout, tuple(numbers))
        position, velocity, effort = map(
            tuple, (message.position, message.velocity, message.effort)
        )
        return JointSample(names, position, velocity, effort, message.header.stamp)
