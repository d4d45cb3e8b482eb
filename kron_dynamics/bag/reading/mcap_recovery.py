# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recovery of messages from MCAP files that are damaged or truncated.

Truncated files are of a killed recorder or an incomplete copy.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.bag.reading.mcap_records import (
    CHANNEL,
    CHUNK,
    CHUNK_HEAD,
    CHUNK_INDEX,
    DATA_END,
    MAGIC,
    MESSAGE,
    MESSAGE_HEAD,
    RECORD,
    SCHEMA,
    SHORT,
    TWO_SHORTS,
    chunk_content,
    text_at,
)
from kron_dynamics.bag.reading.mcap_resynchronization import (
    end_of_record,
    holds_compressed_chunks,
    is_misread_chunk,
    next_record,
    records_of_open_chunk,
)
from kron_dynamics.exceptions import BagError


class RecoveredConnection(NamedTuple):
    """A topic of a truncated file; its attributes are named as in a connection of rosbags."""

    id: int
    topic: str
    msgtype: str
    msgcount: int


def is_truncated(path: Path) -> bool:
    """Return whether a file begins with the MCAP magic bytes but does not end with them."""
    with path.open('rb') as file:
        begin = file.read(len(MAGIC))
        file.seek(0, 2)
        if file.tell() <= 2 * len(MAGIC):
            return begin == MAGIC
        file.seek(-len(MAGIC), 2)
        return begin == MAGIC and file.read() != MAGIC


class McapRecovery:
    """Reader of an MCAP file whose end is missing, or some of whose chunks are damaged.

    It reads on behind damaged content. Behind a record with a damaged kind or length, the next
    undamaged record is searched for; in a chunk, what follows the damaged record is lost.

    Attributes:
        PART: what is lost together.
        connections: its topics, with the numbers of readable messages.
        lost: number of unreadable chunks.
    """

    PART = 'chunks'

    def __init__(self, path: Path) -> None:
        """Scan all complete records, also those in a truncated last chunk without compression.

        Args:
            path: path of the file.

        Raises:
            BagError: no message is left.
        """
        self._path = path
        self.lost = 0
        names: dict[int, str] = {}
        channels: dict[int, tuple[str, str]] = {}
        counts: dict[int, int] = {}
        for kind, record in self._records():
            # The summary at the end repeats schemas and channels, and may be what is damaged.
            try:
                if kind == SCHEMA:
                    names.setdefault(SHORT.unpack_from(record)[0], text_at(record, 2))
                elif kind == CHANNEL:
                    channel, schema = TWO_SHORTS.unpack_from(record)
                    channels.setdefault(channel, (text_at(record, 4), names.get(schema, '')))
                elif kind == MESSAGE:
                    channel = MESSAGE_HEAD.unpack_from(record)[0]
                    counts[channel] = counts.get(channel, 0) + 1
            except (struct.error, UnicodeDecodeError):
                continue
        self.connections = [
            RecoveredConnection(key, *channel, counts.get(key, 0))
            for key, channel in channels.items()
        ]
        if not any(connection.msgcount for connection in self.connections):
            raise BagError(self._why_nothing_is_left(sum(counts.values())))

    def _why_nothing_is_left(self, count: int) -> str:
        """Return why no message can be read, though there may be messages of unknown topics."""
        lost = f'; {self.PART} damaged or cut off: {self.lost}' if self.lost else ''
        if count:
            return f'the topics of its {count} messages are lost{lost}'
        if lost:
            return f'no message is left{lost}'
        cut = is_truncated(self._path)
        return 'it is cut off before its first message' if cut else 'it has no message'

    def messages(
        self, connections: Collection[RecoveredConnection]
    ) -> Iterator[tuple[RecoveredConnection, int, bytes]]:
        """Return an iterator of connection, time of recording (ns) and bytes, in file order.

        Args:
            connections: the topics wanted.
        """
        wanted = {connection.id: connection for connection in connections}
        for kind, record in self._records():
            if kind == MESSAGE:
                channel, _, time, _ = MESSAGE_HEAD.unpack_from(record)
                if channel in wanted:
                    yield wanted[channel], time, record[MESSAGE_HEAD.size :]

    def _records(self) -> Iterator[tuple[int, bytes]]:
        """Yield kind and content of all records; chunks are replaced by their records."""
        self.lost = 0
        cut = is_truncated(self._path)
        with (
            self._path.open('rb') as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            at = since = len(MAGIC)
            in_summary, plain = False, None
            while at + RECORD.size <= len(data):
                kind, end = data[at], end_of_record(data, at)
                if end is not None:
                    if kind == CHUNK:
                        plain = records_of_open_chunk(data, at) is not None
                        yield from self._records_of_chunk(data[at + RECORD.size : end])
                    else:
                        yield kind, data[at + RECORD.size : end]
                    in_summary |= kind == DATA_END
                    if kind == CHUNK_INDEX:
                        self.lost += is_misread_chunk(data, data[at + RECORD.size : end])
                    # A message with a damaged length may hide others.
                    since, at = (at + 1 if kind == MESSAGE else end), end
                elif begin := records_of_open_chunk(data, at):
                    at = since = begin
                else:
                    if plain is None:
                        plain = not holds_compressed_chunks(data)
                    found = next_record(data, since, plain)
                    # The last record of a truncated file is not damaged, but is not counted
                    # either, unless it is a chunk, of many messages.
                    is_end = found is None and cut and kind != CHUNK
                    self.lost += not (is_end or in_summary)
                    if found is None:
                        return
                    at = since = found

    def _records_of_chunk(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield kind and content of the records of a chunk up to the first damaged one."""
        try:
            content = chunk_content(chunk)
        # The compression libraries raise various exceptions.
        except Exception:
            self.lost += 1
            return
        first, last, _, _ = CHUNK_HEAD.unpack_from(chunk)
        # Some writers leave the times of the chunk out.
        times = range(first, last + 1) if last else None
        at = 0
        while at < len(content):
            end = _end_in_chunk(content, at, times)
            if end is None:
                self.lost += 1
                return
            yield content[at], content[at + RECORD.size : end]
            at = end


def _end_in_chunk(content: bytes, at: int, times: range | None) -> int | None:
    """Return where a record of a chunk ends; None if it is damaged.

    Args:
        content: the records of the chunk.
        at: offset of the record.
        times: times of recording that the chunk has, in ns; None if they are not known.
    """
    if at + RECORD.size > len(content):
        return None
    kind, size = RECORD.unpack_from(content, at)
    end = at + RECORD.size + int(size)
    if kind not in (SCHEMA, CHANNEL, MESSAGE) or end > len(content):
        return None
    if kind == MESSAGE:
        if size < MESSAGE_HEAD.size:
            return None
        time = MESSAGE_HEAD.unpack_from(content, at + RECORD.size)[2]
        if times is not None and time not in times:
            return None
    return end
