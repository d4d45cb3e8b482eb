# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding of serialized accelerations: vectorised by frame, unusual messages one by one."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.bag.reading.block_decoding import SECOND, BlockDecoder, numbers_of, stamps_of
from kron_dynamics.bag.reading.recording_order import recording_order
from kron_dynamics.bag.reading.spool import Spool
from kron_dynamics.joint_state_layout import STAMP, XCDR1
from kron_dynamics.typing import ByteArray, FloatArray, IntArray

_FRAMES = 8  # frames tried for messages of one size; the rest is decoded one by one
_LENGTH = struct.Struct('<I')
_NUMBERS = 6


@dataclass(frozen=True)
class AccelerationMessage:
    """One geometry_msgs/AccelStamped.

    Attributes:
        log_time: time of recording, in ns.
        stamp: time in the header, in ns.
        frame_id: frame in whose axes the components are given.
        acceleration: linear (m/s^2) then angular (rad/s^2) components, shape (6,).
    """

    log_time: int
    stamp: int
    frame_id: str
    acceleration: FloatArray


@dataclass(frozen=True, eq=False)
class Accelerations:
    """The messages of a geometry_msgs/AccelStamped topic, in the order of recording.

    Attributes:
        log_time: times of recording, in ns, shape (M,).
        stamp: times in the headers, in ns, shape (M,).
        frame_ids: frames in whose axes the components are given.
        frame: index into `frame_ids` of each message, shape (M,).
        acceleration: linear (m/s^2) then angular (rad/s^2) components, shape (M, 6).
    """

    log_time: IntArray
    stamp: IntArray
    frame_ids: tuple[str, ...]
    frame: IntArray
    acceleration: FloatArray

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.stamp)

    def __iter__(self) -> Iterator[AccelerationMessage]:
        """Return an iterator over the messages."""
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> AccelerationMessage:
        """Return one message."""
        return AccelerationMessage(
            int(self.log_time[place]),
            int(self.stamp[place]),
            self.frame_ids[int(self.frame[place])],
            self.acceleration[place],
        )


class AccelerationDecoder(BlockDecoder):
    """Decodes the serialized geometry_msgs/AccelStamped messages of a topic into a table."""

    def __init__(self, decode: Callable[[bytes], Any]) -> None:
        """Make a decoder without messages.

        Args:
            decode: returns the message object of any bytes, or None if they are no message.
        """
        super().__init__()
        self._decode = decode
        self._frames: dict[str, int] = {}
        self._places = Spool(np.int64, 3)  # index of the message, stamp, frame
        self._numbers = Spool(float, _NUMBERS)

    def finish(self) -> tuple[Accelerations, int]:
        """Return all messages in the order of recording, and how many could not be decoded."""
        self._decode_block()
        index, stamp, frame = self._places.table().T
        log_time, numbers = self._log_times.table()[:, 0][index], self._numbers.table()
        # Messages of different layouts are decoded in another order than that of the file.
        order = np.argsort(index) if np.any(index[1:] < index[:-1]) else np.arange(len(index))
        by_time = recording_order(log_time[order], stamp[order])
        order = order if by_time is None else order[by_time]
        if np.any(order[1:] < order[:-1]):
            log_time, stamp, frame = log_time[order], stamp[order], frame[order]
            numbers = numbers[order]
        found = Accelerations(log_time, stamp, tuple(self._frames), frame, numbers)
        return found, self._count - len(found)

    def _decode_rows(self, rows: ByteArray, index: IntArray) -> None:
        for _ in range(_FRAMES):
            if not len(rows):
                return
            layout = _layout(rows[0].tobytes())
            if layout is None:
                self._decode_one(rows[0].tobytes(), index[:1])
                rows, index = rows[1:], index[1:]
                continue
            frame, end, at = layout
            alike = (rows[:, : len(XCDR1)] == rows[0, : len(XCDR1)]).all(axis=1)
            alike &= (rows[:, STAMP.stop : end] == rows[0, STAMP.stop : end]).all(axis=1)
            chosen = rows[alike]
            numbers = numbers_of(chosen, at, _NUMBERS).astype(float)
            self._keep(index[alike], stamps_of(chosen, STAMP), frame, numbers)
            rows, index = rows[~alike], index[~alike]
        for k, row in enumerate(rows):
            self._decode_one(row.tobytes(), index[k : k + 1])

    def _decode_one(self, data: bytes, index: IntArray) -> None:
        message = self._decode(data)
        if message is None:
            return
        time = message.header.stamp
        stamp = np.array([int(time.sec) * SECOND + int(time.nanosec)])
        parts = (message.accel.linear, message.accel.angular)
        numbers = np.array([[getattr(part, axis) for part in parts for axis in 'xyz']])
        self._keep(index, stamp, message.header.frame_id, numbers)

    def _keep(self, index: IntArray, stamp: IntArray, frame: str, numbers: FloatArray) -> None:
        number = self._frames.setdefault(frame, len(self._frames))
        self._places.append(np.column_stack((index, stamp, np.full(len(index), number))))
        self._numbers.append(numbers)


def _layout(data: bytes) -> tuple[str, int, int] | None:
    """Return a message's frame, the frame's end and the offset of the numbers; None if unusual.

    Usual messages are in little-endian XCDR1 and end with the last number.
    """
    begin = STAMP.stop + _LENGTH.size
    if data[: len(XCDR1)] != XCDR1 or len(data) < begin:
        return None
    end = begin + int(_LENGTH.unpack_from(data, STAMP.stop)[0])
    at = end + (STAMP.start - end) % 8
    if end == begin or at + 8 * _NUMBERS != len(data) or data[end - 1]:
        return None
    try:
        return data[begin : end - 1].decode(), end, at
    except UnicodeDecodeError:
        return None
