# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages of a topic, collected by size and decoded in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kron_dynamics.bag.reading.spool import Spool
from kron_dynamics.typing import ByteArray, FloatArray, IntArray

_BLOCK = 4096  # messages that are collected before they are decoded
_FEWEST = 16  # fewer messages of one size are not decoded at once but collected
SECOND = 1_000_000_000  # ns


class BlockDecoder(ABC):
    """Accepts the serialized messages of a topic, singly or many of one size at a time."""

    def __init__(self) -> None:
        """Begin without messages."""
        self._count = 0
        self._log_times = Spool(np.int64, 1)
        self._block: list[bytes] = []
        self._block_times: list[int] = []

    @abstractmethod
    def _decode_rows(self, rows: ByteArray, index: IntArray) -> None:
        """Decode messages of one size, shape (N, size), with their indices in the topic, (N,)."""

    def add(self, log_time: int, data: bytes) -> None:
        """Add the next message.

        Args:
            log_time: time of recording, in ns.
            data: its bytes.
        """
        self._block_times.append(log_time)
        self._block.append(data)
        if len(self._block) >= _BLOCK:
            self._decode_block()

    def add_rows(self, log_times: IntArray, rows: ByteArray) -> None:
        """Add the next messages, all of one size.

        Args:
            log_times: times of recording, in ns, shape (N,).
            rows: their bytes, shape (N, size).
        """
        if len(rows) < _FEWEST:
            for log_time, row in zip(log_times.tolist(), rows, strict=True):
                self.add(log_time, row.tobytes())
            return
        self._decode_block()
        self._log_times.append(log_times[:, None])
        index = np.arange(self._count, self._count + len(rows))
        self._count += len(rows)
        self._decode_rows(rows, index)

    def _decode_block(self) -> None:
        block, self._block = self._block, []
        if not block:
            return
        first = self._count
        self._count += len(block)
        self._log_times.append(np.array(self._block_times, dtype=np.int64)[:, None])
        self._block_times = []
        sizes = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            joined = b''.join(block[k] for k in chosen)
            rows = np.frombuffer(joined, dtype=np.uint8).reshape(len(chosen), int(size))
            self._decode_rows(rows, chosen + first)


def stamps_of(rows: ByteArray, where: slice) -> IntArray:
    """Return the stamps of messages, in ns, shape (N,).

    Args:
        rows: the messages, shape (N, size).
        where: bytes of the stamp: int32 seconds, then uint32 nanoseconds, little endian.
    """
    stamps = np.ascontiguousarray(rows[:, where])
    seconds, nanoseconds = stamps.view('<i4')[:, 0], stamps.view('<u4')[:, 1]
    return np.asarray(seconds.astype(np.int64) * SECOND + nanoseconds)


def numbers_of(rows: ByteArray, at: int, count: int) -> FloatArray:
    """Return a view of the little-endian float64 numbers in messages, shape (N, count).

    Args:
        rows: the messages, shape (N, size).
        at: offset of the first number.
        count: how many numbers there are.
    """
    return np.asarray(rows[:, at : at + 8 * count].view('<f8'))
