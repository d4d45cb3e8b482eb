# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the numbers stand in a serialized sensor_msgs/JointState.

A publisher sends the same names and lengths again and again. So where a message has the size of
an earlier one, and its bytes around stamp and numbers are the same, the numbers stand in the same
places, and can be taken without reading the names again.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

XCDR1 = b'\x00\x01'  # little endian, as every RMW writes it on such a computer
HEADER = 4  # bytes before the content: representation and options
STAMP = slice(HEADER, HEADER + 8)  # of the header: int32 of seconds, uint32 of nanoseconds
_LENGTH = struct.Struct('<I')
_PADDING = 3  # bytes that may follow the last array


class JointStateLayout(NamedTuple):
    """Where the numbers stand in messages of one size.

    Attributes:
        names: of the joints.
        same: slices of a message, and what is there in every message like it.
        numbers: count and first byte of position, velocity and effort.
    """

    names: tuple[str, ...]
    same: tuple[tuple[slice, bytes], ...]
    numbers: tuple[tuple[int, int], ...]


def joint_state_layout(data: bytes) -> JointStateLayout | None:
    """Return the layout of a message in little-endian XCDR1, None of anything else.

    Args:
        data: serialized message.
    """
    if data[:2] != XCDR1:
        return None
    try:
        return _layout(data)
    except (struct.error, ValueError):  # too short, or no text
        return None


def _layout(data: bytes) -> JointStateLayout | None:
    at = _after_text(data, STAMP.stop)
    count, at = _length(data, at)
    names = []
    for _ in range(count):
        start, at = _aligned(at, 4), _after_text(data, at)
        names.append(data[start + 4 : at - 1].decode())
    begin, same, numbers = STAMP.stop, [(slice(0, 2), XCDR1)], []
    for _ in ('position', 'velocity', 'effort'):
        count, at = _length(data, at)
        same.append((slice(begin, at), data[begin:at]))
        if count:
            # Padding before the numbers is not read: it may hold anything.
            at = _aligned(at, 8)
        numbers.append((count, at))
        begin = at = at + 8 * count
        if at > len(data):
            return None
    if len(data) > at + _PADDING:
        return None
    return JointStateLayout(tuple(names), tuple(same), tuple(numbers))


def _aligned(at: int, size: int) -> int:
    """Return the next place for something of a size; places count from the end of the header."""
    return at + (HEADER - at) % size


def _length(data: bytes, at: int) -> tuple[int, int]:
    at = _aligned(at, 4)
    return _LENGTH.unpack_from(data, at)[0], at + 4


def _after_text(data: bytes, at: int) -> int:
    """Return where a text ends.

    Raises:
        ValueError: it is none.
    """
    length, start = _length(data, at)
    end = start + length
    if not length or end > len(data) or data[end - 1]:
        raise ValueError('no text')
    data[start : end - 1].decode()
    return end
