# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Serialized messages of a topic, put together by their size until they are decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kron_dynamics.bag.reading.spool import Spool
from kron_dynamics.typing import ByteArray, FloatArray, IntArray

_BLOCK = 4096  # messages whose bytes are held until they are decoded
_FEWEST = 16  # fewer of one size are held until there are more
SECOND = 1_000_000_000  # ns


class BlockDecoder(ABC):
    """Takes serialized messages of a topic, one by one or many of one size."""

    def __init__(self) -> None:
        """Begin without messages."""
        self._count = 0
        self._log_times = Spool(np.int64, 1)
        self._block: list[bytes] = []
        self._block_times: list[int] = []

    @abstractmethod
    def _decode_rows(self, rows: ByteArray, index: IntArray) -> None:
        """Decode messages of one size, shape (N, size), with their places among all."""

    def add(self, log_time: int, data: bytes) -> None:
        """Take the next message.

        Args:
            log_time: time of recording, in ns.
            data: its bytes.
        """
        self._block_times.append(log_time)
        self._block.append(data)
        if len(self._block) >= _BLOCK:
            self._decode_block()

    def add_rows(self, log_times: IntArray, rows: ByteArray) -> None:
        """Take the next messages, all of one size.

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
    """Return stamps in messages, in ns, shape (N,).

    Args:
        rows: the messages, shape (N, size).
        where: int32 of seconds, then uint32 of nanoseconds, little endian.
    """
    stamps = np.ascontiguousarray(rows[:, where])
    seconds, nanoseconds = stamps.view('<i4')[:, 0], stamps.view('<u4')[:, 1]
    return np.asarray(seconds.astype(np.int64) * SECOND + nanoseconds)


def numbers_of(rows: ByteArray, at: int, count: int) -> FloatArray:
    """Return float64 numbers in messages, little endian, shape (N, count).

    Args:
        rows: the messages, shape (N, size).
        at: first byte of the numbers.
        count: how many there are.
    """
    numbers = np.ascontiguousarray(rows[:, at : at + 8 * count])
    # A copy, also of numbers that are in the machine's own order already.
    return numbers.view('<f8').astype(float).reshape(len(rows), count)
