# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized joint states to arrays: rclpy takes longer to make a message of them than the law.

Any message whose places are not known yet is read by rclpy, once, and its places are remembered.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from kron_dynamics.joint_state_layout import STAMP, JointStateLayout, joint_state_layout

_SECONDS = struct.Struct('<iI')
# Publishers remembered by the sizes of what they send; one that never repeats itself must not
# fill memory.
_REMEMBERED = 32


class JointSample(NamedTuple):
    """A joint state as it was sent.

    Attributes:
        names: of the m joints.
        position: m numbers, rad or m; none where it was left out, as the next two.
        velocity: m numbers, rad/s or m/s.
        effort: m numbers, N m or N.
        stamp: of the header.
    """

    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]
    stamp: Time


class _Known(NamedTuple):
    """A layout, with what takes its numbers.

    Attributes:
        layout: where they stand.
        numbers: format and offset of position, velocity and effort.
    """

    layout: JointStateLayout
    numbers: tuple[tuple[struct.Struct, int], ...]


class JointStateReader:
    """Reads serialized sensor_msgs/JointState messages."""

    def __init__(self) -> None:
        """Make a reader that knows no publisher yet."""
        self._layouts: dict[int, _Known] = {}

    def read(self, data: bytes) -> JointSample:
        """Return what a message says.

        Raises:
            Exception: rclpy cannot make a message of the bytes.
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
