# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectorised reading of the message table of an SQLite file, many pages at a time.

SQLite makes Python objects of every row, which takes as long as decoding. Here the leaf pages of
a table are located in the file according to its format
(https://www.sqlite.org/fileformat2.html), and their rows are parsed with NumPy. Unusual pages
are left to SQLite.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.sqlite_recovery import (
    LEAF,
    ONE,
    PAGE_HEADER,
    is_message,
    size_of,
    varint,
)
from kron_dynamics.typing import BoolArray, ByteArray, IntArray

_INTERIOR = 0x05  # first byte of a table's interior page
_INTERIOR_HEADER = 12  # bytes of an interior page's header
_DEEPEST = 16  # largest number of levels of a tree
_PAGES = 1024  # leaves that are read together
_SPREAD = 4  # pages are read in one go if they span fewer than this times their number
_MARGIN = 32  # padding in bytes: the head of a row is parsed without a bounds check


class PageError(Exception):
    """Pages of a table are unusual or damaged."""


class Rows(NamedTuple):
    """Messages in pages that were read together.

    Attributes:
        number: row numbers, shape (N,).
        topic: ids of the topics, shape (N,).
        time: times of recording, in ns, shape (N,).
        start: offsets of the messages' bytes in `content`, shape (N,).
        size: sizes of the messages, shape (N,); -1 where parts are in overflow pages.
        content: bytes of the pages.
    """

    number: IntArray
    topic: IntArray
    time: IntArray
    start: IntArray
    size: IntArray
    content: ByteArray

    def data(self, rows: IntArray) -> ByteArray:
        """Return the bytes of messages of the same size, shape (N, size)."""
        return _taken(self.content, self.start[rows], int(self.size[rows[0]]))


class TableFile:
    """The file of a database that is not being written."""

    def __init__(self, file: int, page_size: int, reserved: int) -> None:
        """Wrap an open file.

        Args:
            file: file descriptor.
            page_size: bytes of a page.
            reserved: unused bytes at the end of each page.
        """
        self._file, self._size, self._usable = file, page_size, page_size - reserved
        self._count = os.fstat(file).st_size // page_size

    def leaves(self, root: int) -> IntArray:
        """Return the numbers of the pages that hold the rows of a table, in order, shape (P,).

        Args:
            root: number of the table's root page.

        Raises:
            PageError: the tree is unusual or damaged.
        """
        level = np.array([root], dtype=np.int64)
        for _ in range(_DEEPEST):
            # All leaves are on the same level.
            kind = self._pages(level[:1])[0, 0]
            if kind == LEAF:
                return level
            if kind != _INTERIOR:
                break
            level = np.concatenate([self._children(page) for page in self._each(level)])
            if len(level) > self._count:
                break
        raise PageError

    def blocks(self, leaves: IntArray) -> Iterator[Rows]:
        """Return an iterator over the rows of pages, in order.

        Args:
            leaves: numbers of the pages.

        Raises:
            PageError: the next pages are unusual or damaged.
        """
        for first in range(0, len(leaves), _PAGES):
            yield self._rows(self._pages(leaves[first : first + _PAGES]))

    def _each(self, numbers: IntArray) -> Iterator[ByteArray]:
        for first in range(0, len(numbers), _PAGES):
            yield from self._pages(numbers[first : first + _PAGES])

    def _pages(self, numbers: IntArray) -> ByteArray:
        """Return pages of the file by their numbers, counted from 1, shape (P, size)."""
        first, last = int(numbers.min()), int(numbers.max())
        if first < 2 or last > self._count:  # page 1 belongs to the schema table
            raise PageError
        if last - first < _SPREAD * len(numbers):
            pages = self._read(first, last - first + 1)
            in_order = np.arange(first, last + 1)
            return pages if np.array_equal(numbers, in_order) else pages[numbers - first]
        return np.concatenate([self._read(number, 1) for number in numbers.tolist()])

    def _read(self, first: int, count: int) -> ByteArray:
        content = os.pread(self._file, count * self._size, (first - 1) * self._size)
        if len(content) != count * self._size:
            raise PageError
        return np.frombuffer(content, np.uint8).reshape(count, self._size)

    def _children(self, page: ByteArray) -> IntArray:
        count = int(page[3]) << 8 | int(page[4])
        end = _INTERIOR_HEADER + 2 * count
        if page[0] != _INTERIOR or end > self._usable:
            raise PageError
        places = page[_INTERIOR_HEADER:end].view('>u2').astype(np.int64)
        if len(places) and places.max() > self._usable - 4:
            raise PageError
        cells = page[places[:, None] + np.arange(4)].view('>u4')[:, 0]
        return np.append(cells, page[8 : PAGE_HEADER + 4].view('>u4')).astype(np.int64)

    def _rows(self, pages: ByteArray) -> Rows:
        counts = pages[:, 3].astype(np.int64) << 8 | pages[:, 4]
        ends = PAGE_HEADER + 2 * counts
        if (pages[:, 0] != LEAF).any() or ends.max() > self._usable:
            raise PageError
        places = np.ascontiguousarray(pages[:, PAGE_HEADER : int(ends.max())]).view('>u2')
        used = np.arange(places.shape[1]) < counts[:, None]
        page, _ = np.nonzero(used)
        at = places[used].astype(np.int64)
        # Even the shortest row of a message is longer than PAGE_HEADER bytes.
        if (at < ends[page]).any() or (at > self._usable - PAGE_HEADER).any():
            raise PageError
        content = np.append(pages.reshape(-1), np.zeros(_MARGIN, dtype=np.uint8))
        behind = page * self._size + self._usable
        at += page * self._size
        length, at = _varints(content, at)
        number, at = _varints(content, at)
        topic, time, start, size, head = _messages(content, at)
        whole = size >= 0
        if (head[whole] + size[whole] != length[whole]).any():
            raise PageError
        # Longer rows continue in overflow pages.
        size[length > self._usable - 35] = -1
        whole = size >= 0
        if ((start + size)[whole] > behind[whole]).any() or (np.diff(number) <= 0).any():
            raise PageError
        return Rows(number, topic, time, start, size, content)


def _taken(content: ByteArray, start: IntArray, size: int) -> ByteArray:
    """Return `size` bytes from each start offset, shape (N, size)."""
    windows = np.ndarray((len(content) - size + 1,), f'V{size}', content, strides=(1,))
    return np.asarray(windows[start]).view(np.uint8).reshape(len(start), size)


def _varints(content: ByteArray, at: IntArray) -> tuple[IntArray, IntArray]:
    """Return varints of one to eight bytes, and the offsets of their ends, shape (N,) each."""
    byte = content[at]
    value, behind = (byte & 0x7F).astype(np.int64), at + 1
    more = byte >= 0x80
    for _ in range(7):
        if not more.any():
            return value, behind
        byte = content[behind]
        value = np.where(more, value << 7 | byte & 0x7F, value)
        behind = behind + more
        more &= byte >= 0x80
    raise PageError


def _messages(
    content: ByteArray, at: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return topic, time, start offset and size of messages, and the bytes before them in the row.

    Shape (N,) each.

    Raises:
        PageError: a row is no message.
    """
    topic, time, start, head = np.zeros((4, len(at)), dtype=np.int64)
    size = np.full(len(at), -1, dtype=np.int64)
    heads = _taken(content, at, 8).view('<u8')[:, 0]
    waiting = np.ones(len(at), dtype=bool)
    while waiting.any():
        first = content[at[int(np.argmax(waiting))] :][:8].tobytes()
        types = _types(first)
        if not is_message(types):
            raise PageError
        mask = np.uint64((1 << 8 * first[0]) - 1)
        alike: BoolArray = waiting & ((heads ^ heads[int(np.argmax(waiting))]) & mask == 0)
        waiting &= ~alike
        values, sizes = at[alike] + first[0], [size_of(kind) for kind in types]
        topic[alike] = _integers(content, values, types[1])
        time[alike] = _integers(content, values + sizes[1], types[2])
        head[alike] = first[0] + sizes[1] + sizes[2]
        start[alike] = values + sizes[1] + sizes[2]
        size[alike] = sizes[3]
    return topic, time, start, size, head


def _types(head: bytes) -> list[int]:
    """Return the serial types of a row's columns."""
    types: list[int] = []
    place = 1
    if head[0] > len(head):
        return types
    while place < head[0]:
        kind, place = varint(head, place)
        types.append(kind)
    return types


def _integers(content: ByteArray, at: IntArray, kind: int) -> IntArray:
    """Return integers of one serial type, shape (N,)."""
    if not size_of(kind):
        return np.full(len(at), int(kind == ONE))
    value = content[at].astype(np.int8).astype(np.int64)
    for k in range(1, size_of(kind)):
        value = value << 8 | content[at + k]
    return value
