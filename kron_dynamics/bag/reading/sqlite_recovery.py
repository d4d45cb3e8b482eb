# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recovery of rows from SQLite recordings that are damaged or truncated.

SQLite refuses such files, or reads them up to the damage. Here their complete pages are read
according to the file format (https://www.sqlite.org/fileformat2.html): rows are in the leaf pages
of tables, without the name of the table; rows of messages and topics are recognised by the types
of their columns.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from kron_dynamics.bag.reading.mcap_recovery import RecoveredConnection
from kron_dynamics.exceptions import BagError

_MAGIC = b'SQLite format 3\0'
_HEADER = 100  # bytes of the file header, which is part of the first page
LEAF = 0x0D  # first byte of a table's leaf page
PAGE_HEADER = 8  # bytes of a leaf's header
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of an integer by its serial type
_ZERO, ONE, _BLOB, _TEXT = 8, 9, 12, 13  # serial types: the integers 0 and 1, empty blob and text
_Row = tuple[int, list[int], bytes]  # row number, serial types of the columns, content


def is_truncated_database(path: Path) -> bool:
    """Return whether a file has an SQLite header but fewer pages than the header says."""
    with path.open('rb') as file:
        head = file.read(_HEADER)
        file.seek(0, 2)
        size = file.tell()
    if not head.startswith(_MAGIC[: len(head)]) or not head:
        return False
    if len(head) < _HEADER:
        return True
    return size < _page_size(head) * int(struct.unpack_from('>I', head, 28)[0])


class SqliteRecovery:
    """Reader of an SQLite recording whose end is missing, or some of whose pages are damaged.

    Attributes:
        PART: what is lost together.
        connections: its topics, with the numbers of readable messages.
        lost: number of unreadable rows.
    """

    PART = 'rows'

    def __init__(self, path: Path) -> None:
        """Scan all complete pages.

        Args:
            path: path of the file.

        Raises:
            BagError: no message is left.
        """
        self._path = path
        self.lost = 0
        topics: dict[int, tuple[str, str]] = {}
        counts: dict[int, int] = {}
        for number, types, content in self._rows():
            if is_message(types):
                topic, _, _ = _message(types, content)
                counts[topic] = counts.get(topic, 0) + 1
            elif _is_topic(types):
                name, kind = _texts(types, content)
                # Rows of message definitions consist of texts, too.
                if name.startswith('/'):
                    topics[number] = name, kind
        self.connections = [
            RecoveredConnection(key, *topic, counts.get(key, 0)) for key, topic in topics.items()
        ]
        if not any(connection.msgcount for connection in self.connections):
            raise BagError('it is cut off before its first message')

    def messages(
        self, connections: Collection[RecoveredConnection]
    ) -> Iterator[tuple[RecoveredConnection, int, bytes]]:
        """Return an iterator of connection, time of recording (ns) and bytes, in file order.

        Args:
            connections: the topics wanted.
        """
        wanted = {connection.id: connection for connection in connections}
        for _, types, content in self._rows():
            if is_message(types):
                topic, time, data = _message(types, content)
                if topic in wanted:
                    yield wanted[topic], time, data

    def _rows(self) -> Iterator[_Row]:
        """Yield all rows of all tables."""
        self.lost = 0
        with self._path.open('rb') as file:
            size = _page_size(file.read(_HEADER).ljust(_HEADER, b'\0'))
            number = 0
            while True:
                file.seek(number * size)
                page = file.read(size)
                if len(page) < size:
                    return
                start = 0 if number else _HEADER
                if page[start] == LEAF:
                    yield from self._rows_of_page(file, page, start)
                number += 1

    def _rows_of_page(self, file: IO[bytes], page: bytes, start: int) -> Iterator[_Row]:
        (count,) = struct.unpack_from('>H', page, start + 3)
        count = min(count, (len(page) - start - PAGE_HEADER) // 2)
        for at in struct.unpack_from(f'>{count}H', page, start + PAGE_HEADER):
            try:
                yield self._row(file, page, at)
            except (IndexError, struct.error, UnicodeDecodeError):
                self.lost += 1

    def _row(self, file: IO[bytes], page: bytes, at: int) -> _Row:
        length, at = varint(page, at)
        number, at = varint(page, at)
        usable = len(page)
        local = length
        if length > usable - 35:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (length - least) % (usable - 4)
            local = local if local <= usable - 35 else least
        payload = page[at : at + local]
        if local < length:
            (following,) = struct.unpack_from('>I', page, at + local)
            payload += self._overflow(file, following, length - local, usable)
        if len(payload) != length:
            raise IndexError
        size, place = varint(payload, 0)
        types = []
        while place < size:
            kind, place = varint(payload, place)
            types.append(kind)
        return number, types, payload[size:]

    def _overflow(self, file: IO[bytes], number: int, length: int, size: int) -> bytes:
        """Return the part of a long row that is in overflow pages."""
        parts: list[bytes] = []
        left = length
        while left > 0 and number:
            file.seek((number - 1) * size)
            page = file.read(size)
            if len(page) < size:
                raise IndexError
            (number,) = struct.unpack_from('>I', page)
            parts.append(page[4 : 4 + left])
            left -= len(parts[-1])
        return b''.join(parts)


def _page_size(head: bytes) -> int:
    size = int(struct.unpack_from('>H', head, 16)[0])
    # The largest size, 65536, does not fit into 16 bits and is stored as 1.
    return 65536 if size == 1 else max(size, 512)


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an SQLite varint of one to nine bytes, and the offset of its end.

    Args:
        data: bytes that contain it.
        at: offset of its first byte.
    """
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9


def is_message(types: list[int]) -> bool:
    """Return whether a row's columns are those of a message: number, topic, time and bytes.

    Args:
        types: serial types of the columns.
    """
    if len(types) != 4 or types[0] or types[3] < _BLOB or types[3] % 2:
        return False
    return all(kind in _INTEGERS or kind in (_ZERO, ONE) for kind in types[1:3])


def size_of(kind: int) -> int:
    """Return the size of a column in bytes.

    Args:
        kind: its serial type: integer, text or blob.
    """
    return (kind - _BLOB) // 2 if kind >= _BLOB else _INTEGERS.get(kind, 0)


def _message(types: list[int], content: bytes) -> tuple[int, int, bytes]:
    topic, at = _integer(types[1], content, 0)
    time, at = _integer(types[2], content, at)
    return topic, time, content[at : at + size_of(types[3])]


def _is_topic(types: list[int]) -> bool:
    """Return whether columns are those of a topic: number, name, type and more texts."""
    return len(types) >= 4 and not types[0] and all(t >= _TEXT and t % 2 for t in types[1:4])


def _texts(types: list[int], content: bytes) -> tuple[str, str]:
    first, second = ((kind - _TEXT) // 2 for kind in types[1:3])
    return content[:first].decode(), content[first : first + second].decode()


def _integer(kind: int, content: bytes, at: int) -> tuple[int, int]:
    if kind in (_ZERO, ONE):
        return kind - _ZERO, at
    size = size_of(kind)
    return int.from_bytes(content[at : at + size], 'big', signed=True), at + size
