# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized joint states to arrays: rclpy takes longer to make a message of them than the law.

A publisher sends the same names and lengths again and again. So where a message has the size of
an earlier one, and its bytes around stamp and numbers are the same, the numbers stand in the same
places. Any other message is read by rclpy, once, and its places are found and remembered.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

_XCDR1 = b'\x00\x01'  # little endian, as every RMW writes it on such a computer
_HEADER = 4  # bytes before the content: representation and options
_STAMP = slice(_HEADER, _HEADER + 8)
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


class _Layout(NamedTuple):
    """Where the numbers stand in messages of one size.

    Attributes:
        names: of the joints.
        same: slices of a message, and what is there in every message like it.
        numbers: format and offset of position, velocity and effort.
    """

    names: tuple[str, ...]
    same: tuple[tuple[slice, bytes], ...]
    numbers: tuple[tuple[struct.Struct, int], ...]


class JointStateReader:
    """Reads serialized sensor_msgs/JointState messages."""

    def __init__(self) -> None:
        """Make a reader that knows no publisher yet."""
        self._layouts: dict[int, _Layout] = {}

    def read(self, data: bytes) -> JointSample:
        """Return what a message says.

        Raises:
            Exception: rclpy cannot make a message of the bytes.
        """
        layout = self._layouts.get(len(data))
        if layout is None or any(data[where] != what for where, what in layout.same):
            return self._read_by_rclpy(data)
        position, velocity, effort = (
            numbers.unpack_from(data, offset) for numbers, offset in layout.numbers
        )
        sec, nanosec = _SECONDS.unpack_from(data, _HEADER)
        return JointSample(
            layout.names, position, velocity, effort, Time(sec=sec, nanosec=nanosec)
        )

    def _read_by_rclpy(self, data: bytes) -> JointSample:
        message = deserialize_message(data, JointState)
        names = tuple(message.name)
        if data[:2] == _XCDR1:
            if len(self._layouts) >= _REMEMBERED:
                self._layouts.clear()
            self._layouts[len(data)] = _layout(data, message, names)
        position, velocity, effort = map(
            tuple, (message.position, message.velocity, message.effort)
        )
        return JointSample(names, position, velocity, effort, message.header.stamp)


def _layout(data: bytes, message: JointState, names: tuple[str, ...]) -> _Layout:
    """Where the numbers of a message stand that rclpy has read."""

    def after_text(at: int, text: str) -> int:
        return (at + 3) // 4 * 4 + 4 + len(text.encode()) + 1

    # Places count from the end of the representation's header.
    at = after_text(8, message.header.frame_id)
    at = (at + 3) // 4 * 4 + 4
    for name in names:
        at = after_text(at, name)
    begin, same, numbers = _STAMP.stop, [(slice(0, 2), _XCDR1)], []
    for values in (message.position, message.velocity, message.effort):
        at = (at + 3) // 4 * 4 + 4
        end = at + _HEADER
        same.append((slice(begin, end), data[begin:end]))
        if values:
            at = (at + 7) // 8 * 8
        numbers.append((struct.Struct(f'<{len(values)}d'), at + _HEADER))
        at += 8 * len(values)
        begin = at + _HEADER
    return _Layout(names, tuple(same), tuple(numbers))
