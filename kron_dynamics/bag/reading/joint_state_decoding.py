# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding of serialized joint states: vectorised by layout, unusual messages one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.bag.reading.block_decoding import SECOND, BlockDecoder, numbers_of, stamps_of
from kron_dynamics.bag.reading.joint_mapping import JointMapping
from kron_dynamics.bag.reading.joint_states import JointStates, JointTable
from kron_dynamics.bag.reading.recording_order import recording_order
from kron_dynamics.bag.reading.spool import Spool
from kron_dynamics.joint_state_layout import HEADER, STAMP, JointStateLayout, joint_state_layout
from kron_dynamics.typing import BoolArray, ByteArray, FloatArray, IntArray

# Layouts tried for the messages of one size in a block. If other bytes change in each message,
# such as a counter in frame_id, decoding one by one is faster.
_LAYOUTS = 8


class _Part(NamedTuple):
    """Decoded messages of one layout: indices, stamps (ns) and values as in `JointTable`."""

    places: IntArray
    stamp: IntArray
    values: tuple[FloatArray, ...]


class _Store(NamedTuple):
    """Messages of one layout: indices and stamps; positions, velocities and efforts."""

    places: Spool
    numbers: Spool


class JointStateDecoder(BlockDecoder):
    """Decodes the serialized sensor_msgs/JointState messages of a topic into tables.

    Attributes:
        unknown_head: first bytes of the first message that could not be decoded.
    """

    def __init__(
        self, decode: Callable[[bytes], Any], mapping: JointMapping | None = None
    ) -> None:
        """Make a decoder without messages.

        Args:
            decode: returns the message object of any bytes, or None if they are no message.
            mapping: mapping of names, units and signs; None keeps them as recorded.
        """
        super().__init__()
        self._decode = decode
        self._mapping = mapping or JointMapping()
        self._undecodable: list[int] = []
        self.unknown_head = b''
        self._stores: dict[tuple[Any, ...], _Store] = {}
        self._layouts: dict[int, JointStateLayout] = {}  # the last layout of each message size

    def finish(self) -> tuple[JointStates, int]:
        """Return all messages in the order of recording, and how many could not be decoded."""
        self._decode_block()
        decoded = np.ones(self._count, dtype=bool)
        decoded[self._undecodable] = False
        log_time = self._log_times.table()[:, 0]
        stamp = np.zeros(self._count, dtype=np.int64)
        tables = []
        for (names, *widths), store in self._stores.items():
            (index, stamps), numbers = store.places.table().T, store.numbers.table()
            stamp[index] = stamps
            if np.any(index[1:] < index[:-1]):
                order = np.argsort(index)
                index, numbers = index[order], numbers[order]
            ends = np.cumsum([0, *widths])
            values = (numbers[:, ends[k] : ends[k + 1]] for k in range(3))
            tables.append(JointTable(names, index, *values))
        tables.sort(key=lambda table: int(table.index[0]))
        # Up to here indices count undecodable messages, too.
        states = JointStates(log_time, stamp, tuple(tables)).taken(decoded)
        by_time = recording_order(states.log_time, states.stamp)
        states = states if by_time is None else states.sorted_by(by_time)
        return states, len(self._undecodable)

    def _decode_rows(self, rows: ByteArray, index: IntArray) -> None:
        for _ in range(_LAYOUTS):
            if not len(rows):
                return
            layout = self._layout(rows[0])
            if layout is None:
                self._decode_one(rows[0].tobytes(), index[:1])
                rows, index = rows[1:], index[1:]
                continue
            alike = _alike(rows, layout)
            if alike.all():
                self._keep(layout.names, _part(rows, layout, index))
                return
            self._keep(layout.names, _part(rows[alike], layout, index[alike]))
            rows, index = rows[~alike], index[~alike]
        for k, row in enumerate(rows):
            self._decode_one(row.tobytes(), index[k : k + 1])

    def _layout(self, message: ByteArray) -> JointStateLayout | None:
        layout = self._layouts.get(len(message))
        if layout is None or not _alike(message[None], layout)[0]:
            layout = joint_state_layout(message.tobytes())
            if layout is not None:
                self._layouts[len(message)] = layout
        return layout

    def _decode_one(self, data: bytes, index: IntArray) -> None:
        message = self._decode(data)
        if message is None:
            self.unknown_head = self.unknown_head if self._undecodable else data[:HEADER]
            self._undecodable.append(int(index[0]))
            return
        time = message.header.stamp
        stamp = np.array([int(time.sec) * SECOND + int(time.nanosec)], dtype=np.int64)
        arrays = (message.position, message.velocity, message.effort)
        values = tuple(np.array(array, dtype=float)[None] for array in arrays)
        self._keep(tuple(message.name), _Part(index, stamp, values))

    def _keep(self, names: tuple[str, ...], part: _Part) -> None:
        names = self._mapping.names(names)
        part = part._replace(values=self._mapping.scaled(names, part.values))
        key = (names, *(values.shape[1] for values in part.values))
        if key not in self._stores:
            self._stores[key] = _Store(Spool(np.int64, 2), Spool(float, sum(key[1:])))
        store = self._stores[key]
        store.places.append(np.stack((part.places, part.stamp)).T)
        store.numbers.append(np.concatenate([values.T for values in part.values]).T)


def _alike(rows: ByteArray, layout: JointStateLayout) -> BoolArray:
    """Return the mask of messages that have a layout, shape (N,)."""
    alike = np.ones(len(rows), dtype=bool)
    for where, what in layout.same:
        # Compare 8-byte words, which is faster than bytes, and then the remaining bytes.
        whole = len(what) // 8 * 8
        for part, kind in ((slice(0, whole), np.uint64), (slice(whole, len(what)), np.uint8)):
            if what[part]:
                same = rows[:, where][:, part].view(kind) == np.frombuffer(what[part], kind)
                if not same.all():
                    alike &= same.all(axis=1)
    return alike


def _part(rows: ByteArray, layout: JointStateLayout, index: IntArray) -> _Part:
    columns = tuple(numbers_of(rows, at, count) for count, at in layout.numbers)
    return _Part(index, stamps_of(rows, STAMP), columns)
