# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Chunk-wise reading of the messages of MCAP files.

The library rosbags reads index and metadata. It makes a stream object of every message, which
takes as long as decoding; here the records of a chunk are located in its bytes instead. It sorts
messages by time of recording, which mixes them where the recorder's clock was set back; here they
are in the order of the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.reader import DirectoryReader
from rosbags.rosbag2.storage_mcap import ChunkInfo, McapReader

from kron_dynamics.bag.reading.mcap_records import (
    RECORD,
    Batch,
    FoundMessage,
    batches_of_chunk,
    check_summary,
    chunk_content,
    messages_of_chunk,
)
from kron_dynamics.bag.reading.sqlite_storage import RowReader, UncountedRowReader
from kron_dynamics.exceptions import BagError

if TYPE_CHECKING:
    from rosbags.interfaces import Connection

_AHEAD = 2  # chunks that are read ahead


class _Located(NamedTuple):
    """Channels and batches of messages in a chunk, and the error that ended the search."""

    batches: list[tuple[int, Batch]]
    error: BagError | None


class ChunkReader(McapReader):
    """Storage reader that reads all messages of a chunk at once.

    Attributes:
        in_batches: whether consecutive messages of one size are returned as one :class:`Batch`.
    """

    in_batches = False

    def open(self) -> None:
        """Open the file.

        Raises:
            BagError: its summary is damaged.
        """
        super().open()
        assert self.bio is not None
        check_summary(self.bio)

    def messages(
        self,
        connections: Collection[Connection],
        start: int | None = None,
        stop: int | None = None,
    ) -> Generator[tuple[Connection, int, Any], None, None]:
        """Return an iterator of connection, time of recording (ns) and bytes, in file order."""
        if not self.chunks:
            yield from self.messages_scan(connections, start, stop)
            return
        if start is not None or stop is not None:
            yield from super().messages(connections, start, stop)
            return
        wanted = {connection.id: connection for connection in connections}
        # The counts are from the index of messages, which a file may lack.
        chunks = [
            chunk
            for chunk in self.chunks
            if not chunk.channel_count or not wanted.keys().isdisjoint(chunk.channel_count)
        ]
        chunks.sort(key=lambda chunk: chunk.chunk_start_offset)
        if self.in_batches:
            yield from self._batches(chunks, wanted)
            return
        for chunk in chunks:
            for time, channel, data in self._chunk(chunk, wanted):
                yield wanted[channel], time, data

    def _batches(
        self, chunks: Sequence[ChunkInfo], wanted: Mapping[int, Connection]
    ) -> Iterator[tuple[Connection, int, Any]]:
        waiting: deque[Future[_Located]] = deque()
        with ThreadPoolExecutor(1) as pool:
            # The next chunks are read while one is decoded.
            for chunk in [*chunks, *(_AHEAD * [None])]:
                if chunk is not None:
                    waiting.append(pool.submit(self._located, chunk, wanted))
                if waiting and (chunk is None or len(waiting) > _AHEAD):
                    located = waiting.popleft().result()
                    for channel, batch in located.batches:
                        yield wanted[channel], int(batch.times[0]), batch
                    if located.error is not None:
                        raise located.error

    def _located(self, chunk: ChunkInfo, wanted: Collection[int]) -> _Located:
        located = _Located([], None)
        limits = chunk.message_start_time, chunk.message_end_time
        try:
            for found in batches_of_chunk(self._content(chunk), wanted, limits):
                located.batches.append(found)
        except BagError as error:
            return located._replace(error=error)
        return located

    def _content(self, chunk: ChunkInfo) -> bytes:
        assert self.bio is not None
        self.bio.seek(chunk.chunk_start_offset + RECORD.size)
        return chunk_content(self.bio.read(chunk.chunk_length - RECORD.size))

    def _chunk(self, chunk: ChunkInfo, wanted: Collection[int]) -> Iterator[FoundMessage]:
        content = self._content(chunk)
        first, last = chunk.message_start_time, chunk.message_end_time
        for found in messages_of_chunk(content, wanted):
            if first <= found[0] <= last:
                yield found


class _ChunkDirectoryReader(DirectoryReader):
    STORAGE_PLUGINS = {  # noqa: RUF012
        **DirectoryReader.STORAGE_PLUGINS,
        'mcap': ChunkReader,
        'sqlite3': UncountedRowReader,
    }


class BagReader(Reader):
    """Reader of rosbags that reads MCAP files by chunks and SQLite files by blocks of rows."""

    STORAGE_PLUGINS = {  # noqa: RUF012
        **Reader.STORAGE_PLUGINS,
        'dir': _ChunkDirectoryReader,
        '.mcap': ChunkReader,
        '.db3': RowReader,
    }

    def batches(
        self, connections: Collection[Connection]
    ) -> Iterator[tuple[Connection, int, bytes | Batch]]:
        """Return an iterator of connection, time of recording (ns) and a message or a batch.

        The order is that of the files.

        Args:
            connections: the topics wanted.
        """
        for storage in self._storages():
            if isinstance(storage, (ChunkReader, RowReader)):
                # Messages that are compressed one by one have to be read one by one.
                storage.in_batches = self.compression_mode != 'message'
        found: Any = self.messages(connections)
        yield from found

    @property
    def has_chunks(self) -> bool:
        """Whether messages are found by an index of chunks."""
        return any(isinstance(item, ChunkReader) and item.chunks for item in self._storages())

    @property
    def damaged(self) -> int:
        """Number of rows of SQLite files that were not read as they are damaged."""
        return sum(item.damaged for item in self._storages() if isinstance(item, RowReader))

    def _storages(self) -> list[Any]:
        return list(getattr(self.storage, 'storages', [self.storage]))
