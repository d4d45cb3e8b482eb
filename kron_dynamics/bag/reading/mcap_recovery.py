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
    MAGIC,
    MESSAGE,
    MESSAGE_HEAD,
    NONE,
    RECORD,
    SCHEMA,
    SHORT,
    TWO_SHORTS,
    chunk_content,
    partial_content,
    text_at,
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

    It reads on behind damaged content. A damaged length of a record ends the reading, and is not
    counted.

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
        if not counts:
            raise BagError('it is cut off before its first message')
        self.connections = [
            RecoveredConnection(key, *channel, counts.get(key, 0))
            for key, channel in channels.items()
        ]

    def messages(
        self, connections: Collection[RecoveredConnection]
    ) -> Iterator[tuple[RecoveredConnection, int, bytes]]:
        """Return an iterator of connection, time of recording (ns) and bytes, in file order.

        Args:
            connections: the topics wanted.
        """
        wanted = {connection.id: connection for connection in connections}
        for kind, record in self._records():
            if kind == MESSAGE and len(record) >= MESSAGE_HEAD.size:
                channel, _, time, _ = MESSAGE_HEAD.unpack_from(record)
                if channel in wanted:
                    yield wanted[channel], time, record[MESSAGE_HEAD.size :]

    def _records(self) -> Iterator[tuple[int, bytes]]:
        """Yield kind and content of all records; chunks are replaced by their records."""
        self.lost = 0
        with (
            self._path.open('rb') as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            at = len(MAGIC)
            while at + RECORD.size <= len(data):
                kind, size = RECORD.unpack_from(data, at)
                at += RECORD.size + size
                if kind == NONE:
                    return
                if kind == CHUNK:
                    yield from self._records_of_chunk(data[at - size : at], at > len(data))
                elif at <= len(data):
                    yield kind, data[at - size : at]

    def _records_of_chunk(self, chunk: bytes, cut: bool) -> Iterator[tuple[int, bytes]]:
        try:
            content = partial_content(chunk) if cut else chunk_content(chunk)
        # The compression libraries raise various exceptions.
        except Exception:
            self.lost += 1
            return
        at = 0
        while at + RECORD.size <= len(content):
            kind, size = RECORD.unpack_from(content, at)
            at += RECORD.size + size
            if at <= len(content):
                yield kind, content[at - size : at]
        # A chunk whose end is missing ends within a record, others are damaged then.
        self.lost += not cut and at != len(content)
