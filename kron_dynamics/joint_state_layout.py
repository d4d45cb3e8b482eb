# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Byte offsets of the numbers in a serialized sensor_msgs/JointState.

A publisher sends the same names and array lengths in every message. If a message has the size of
an earlier one, and the same bytes outside the stamp and the numbers, then the offsets are the
same, and the numbers are extracted without parsing the names again.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

XCDR1 = b'\x00\x01'  # representation identifier of little-endian CDR, on little-endian machines
HEADER = 4  # encapsulation header before the content: representation identifier and options, bytes
STAMP = slice(HEADER, HEADER + 8)  # header.stamp: int32 seconds, uint32 nanoseconds
_LENGTH = struct.Struct('<I')  # length prefix of sequences and strings
_PADDING = 3  # most padding bytes after the last array


class JointStateLayout(NamedTuple):
    """Offsets of the numbers in messages of one size.

    Attributes:
        names: names of the joints.
        same: slices of a message with their bytes, which every message of this layout shares.
        numbers: count and byte offset of position, velocity and effort.
    """

    names: tuple[str, ...]
    same: tuple[tuple[slice, bytes], ...]
    numbers: tuple[tuple[int, int], ...]


def joint_state_layout(data: bytes) -> JointStateLayout | None:
    """Return the layout of a message in little-endian XCDR1, or None for anything else.

    Args:
        data: serialized message.
    """
    if data[:2] != XCDR1:
        return None
    try:
        return _layout(data)
    except (struct.error, ValueError):  # too short, or an invalid string
        return None


def _layout(data: bytes) -> JointStateLayout | None:
    at = _after_text(data, STAMP.stop)
    count, at = _length(data, at)
    names = []
    for _ in range(count):
        start, at = _aligned(at, 4), _after_text(data, at)
        names.append(data[start + 4 : at - 1].decode())
    begin, same, numbers = STAMP.stop, [(slice(0, HEADER), data[:HEADER])], []
    for _ in ('position', 'velocity', 'effort'):
        count, at = _length(data, at)
        same.append((slice(begin, at), data[begin:at]))
        if count:
            # Padding before the numbers is not compared: its bytes are undefined.
            at = _aligned(at, 8)
        numbers.append((count, at))
        begin = at = at + 8 * count
        if at > len(data):
            return None
    if len(data) > at + _PADDING:
        return None
    return JointStateLayout(tuple(names), tuple(same), tuple(numbers))


def _aligned(at: int, size: int) -> int:
    """Return the next offset aligned to a size; CDR aligns relative to the end of the header."""
    return at + (HEADER - at) % size


def _length(data: bytes, at: int) -> tuple[int, int]:
    at = _aligned(at, 4)
    return _LENGTH.unpack_from(data, at)[0], at + 4


def _after_text(data: bytes, at: int) -> int:
    """Return the offset behind the string that starts at an offset.

    Raises:
        ValueError: there is no valid string.
    """
    length, start = _length(data, at)
    end = start + length
    if not length or end > len(data) or data[end - 1]:
        raise ValueError('no text')
    data[start : end - 1].decode()
    return end
