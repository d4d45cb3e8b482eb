# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fast reading of serialized joint states.

Deserializing a message by rclpy takes longer than the control law. rclpy reads only messages of
unknown layout; the format of their bytes is then cached, and the following ones are unpacked in
one call.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from sensor_msgs.msg import JointState

from kron_dynamics.joint_state_layout import HEADER, STAMP, JointStateLayout, joint_state_layout
from kron_dynamics.ros.conversions import Stamp
from kron_dynamics.ros.deserialization import deserialized

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
    stamp: Stamp


class _Known(NamedTuple):
    """Format of all bytes of the messages of one layout.

    Attributes:
        names: names of the joints.
        whole: format of a message; its second and third fields are the stamp.
        same: index of a field, and the bytes that it has in every message of this layout.
        numbers: fields of position, velocity and effort.
    """

    names: tuple[str, ...]
    whole: struct.Struct
    same: tuple[tuple[int, bytes], ...]
    numbers: tuple[slice, slice, slice]


def _known(layout: JointStateLayout, size: int) -> _Known:
    """Return the format of messages of a layout and a size in bytes."""
    text = f'<{HEADER}siI'
    fields, end = 3, STAMP.stop
    same, numbers = [(0, layout.same[0][1])], []
    for (where, what), (count, at) in zip(layout.same[1:], layout.numbers, strict=True):
        same.append((fields, what))
        numbers.append(slice(fields + 1, fields + 1 + count))
        text += f'{len(what)}s{at - where.stop}x{count}d'
        fields, end = fields + 1 + count, at + 8 * count
    position, velocity, effort = numbers
    whole = struct.Struct(f'{text}{size - end}x')
    return _Known(layout.names, whole, tuple(same), (position, velocity, effort))


class JointStateReader:
    """Reads serialized sensor_msgs/JointState messages."""

    def __init__(self) -> None:
        """Make a reader with an empty cache."""
        self._layouts: dict[int, _Known] = {}

    def read(self, data: bytes) -> JointSample:
        """Return the content of a message.

        Raises:
            MessageError: the bytes cannot be read.
        """
        known = self._layouts.get(len(data))
        if known is None:
            return self._read_by_rclpy(data)
        names, whole, same, (position, velocity, effort) = known
        fields = whole.unpack(data)
        for index, expected in same:
            if fields[index] != expected:
                return self._read_by_rclpy(data)
        stamp = Stamp(fields[1], fields[2])
        return JointSample(names, fields[position], fields[velocity], fields[effort], stamp)

    def _read_by_rclpy(self, data: bytes) -> JointSample:
        message = deserialized(data, JointState)
        names = tuple(message.name)
        layout = joint_state_layout(data)
        if layout is not None and layout.names == names:
            if len(self._layouts) >= _REMEMBERED:
                self._layouts.clear()
            self._layouts[len(data)] = _known(layout, len(data))
        position, velocity, effort = map(
            tuple, (message.position, message.velocity, message.effort)
        )
        stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec)
        return JointSample(names, position, velocity, effort, stamp)
