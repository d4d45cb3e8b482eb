# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized joint states to tables: those of one layout together, any other one by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kron_dynamics.bag.joint_states import JointStates, JointTable
from kron_dynamics.bag.samples import IntArray
from kron_dynamics.joint_state_layout import STAMP, JointStateLayout, joint_state_layout
from kron_dynamics.typing import FloatArray

_BLOCK = 4096  # messages whose bytes are held until they are decoded
# Layouts tried for the messages of one size in a block; where something else in them changes all
# the time, such as a counter in frame_id, reading one by one is quicker.
_LAYOUTS = 8
_SECOND = 1_000_000_000
_Bytes = npt.NDArray[np.uint8]


class _Part(NamedTuple):
    """Decoded messages of one layout; arrays as of :class:`JointTable`, stamps in ns."""

    places: IntArray
    stamp: IntArray
    values: tuple[FloatArray, ...]


class JointStateDecoder:
    """Takes serialized sensor_msgs/JointState messages of a topic, and gives their tables."""

    def __init__(self, decode: Callable[[bytes], Any]) -> None:
        """Make a decoder without messages.

        Args:
            decode: makes a message object of any bytes, or None where they are no message.
        """
        self._decode = decode
        self._log_times: list[int] = []
        self._block: list[bytes] = []
        self._undecodable: list[int] = []
        self._parts: dict[tuple[Any, ...], list[_Part]] = {}

    def add(self, log_time: int, data: bytes) -> None:
        """Take the next message.

        Args:
            log_time: time of recording, in ns.
            data: its bytes.
        """
        self._log_times.append(log_time)
        self._block.append(data)
        if len(self._block) >= _BLOCK:
            self._decode_block()

    def finish(self) -> tuple[JointStates, int]:
        """Return all messages, and how many could not be decoded."""
        self._decode_block()
        decoded = np.ones(len(self._log_times), dtype=bool)
        decoded[self._undecodable] = False
        stamp = np.zeros(len(self._log_times), dtype=np.int64)
        tables = []
        for (names, *_), parts in self._parts.items():
            index = np.concatenate([part.places for part in parts])
            stamp[index] = np.concatenate([part.stamp for part in parts])
            order = np.argsort(index)
            values = (np.concatenate([part.values[k] for part in parts])[order] for k in range(3))
            tables.append(JointTable(names, index[order], *values))
        log_time = np.array(self._log_times, dtype=np.int64)
        tables.sort(key=lambda table: int(table.index[0]))
        # Indices count all messages until here.
        states = JointStates(log_time, stamp, tuple(tables)).taken(decoded)
        return states, len(self._undecodable)

    def _decode_block(self) -> None:
        block, self._block = self._block, []
        first = len(self._log_times) - len(block)
        sizes = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            self._decode_same_size([block[k] for k in chosen], int(size), chosen + first)

    def _decode_same_size(self, messages: Sequence[bytes], size: int, index: IntArray) -> None:
        rows = np.frombuffer(b''.join(messages), dtype=np.uint8).reshape(len(messages), size)
        left = np.arange(len(messages))
        for _ in range(_LAYOUTS):
            if not len(left):
                return
            layout = joint_state_layout(messages[left[0]])
            if layout is None:
                self._decode_one(messages[left[0]], index[left[:1]])
                left = left[1:]
                continue
            alike = _alike(rows[left], layout)
            taken = left[alike]
            self._keep(layout.names, _part(rows[taken], layout, index[taken]))
            left = left[~alike]
        for k in left.tolist():
            self._decode_one(messages[k], index[k : k + 1])

    def _decode_one(self, data: bytes, index: IntArray) -> None:
        message = self._decode(data)
        if message is None:
            self._undecodable.append(int(index[0]))
            return
        time = message.header.stamp
        stamp = np.array([int(time.sec) * _SECOND + int(time.nanosec)], dtype=np.int64)
        arrays = (message.position, message.velocity, message.effort)
        values = tuple(np.array(array, dtype=float)[None] for array in arrays)
        self._keep(tuple(message.name), _Part(index, stamp, values))

    def _keep(self, names: tuple[str, ...], part: _Part) -> None:
        key = (names, *(values.shape[1] for values in part.values))
        self._parts.setdefault(key, []).append(part)


def _alike(rows: _Bytes, layout: JointStateLayout) -> npt.NDArray[np.bool_]:
    """Return which messages have a layout, shape (N,)."""
    alike = np.ones(len(rows), dtype=bool)
    for where, what in layout.same:
        alike &= (rows[:, where] == np.frombuffer(what, dtype=np.uint8)).all(axis=1)
    return alike


def _part(rows: _Bytes, layout: JointStateLayout, index: IntArray) -> _Part:
    def columns() -> Iterator[FloatArray]:
        for count, at in layout.numbers:
            numbers = np.ascontiguousarray(rows[:, at : at + 8 * count])
            # A copy, also of numbers that are in the machine's own order already.
            yield numbers.view('<f8').astype(float).reshape(len(rows), count)

    stamps = np.ascontiguousarray(rows[:, STAMP])
    seconds, nanoseconds = stamps.view('<i4')[:, 0], stamps.view('<u4')[:, 1]
    return _Part(index, seconds.astype(np.int64) * _SECOND + nanoseconds, tuple(columns()))
