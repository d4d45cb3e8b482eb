# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of MCAP files, those of a chunk together.

The library rosbags reads index and metadata. It makes a stream of every message, which takes as
long as decoding; here the records of a chunk are found in its bytes, in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from typing import TYPE_CHECKING

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.reader import DirectoryReader
from rosbags.rosbag2.storage_mcap import ChunkInfo, McapReader

from kron_dynamics.bag.mcap_records import (
    RECORD,
    FoundMessage,
    chunk_content,
    messages_of_chunk,
    recording_time,
)

if TYPE_CHECKING:
    from rosbags.interfaces import Connection


class ChunkReader(McapReader):
    """Reads the messages of a chunk together."""

    def messages(
        self,
        connections: Collection[Connection],
        start: int | None = None,
        stop: int | None = None,
    ) -> Generator[tuple[Connection, int, bytes], None, None]:
        """Return an iterator of connection, time of recording (ns) and bytes, as its base does."""
        if not self.chunks or start is not None or stop is not None:
            yield from super().messages(connections, start, stop)
            return
        wanted = {connection.id: connection for connection in connections}
        chunks = [c for c in self.chunks if any(c.channel_count.get(key, 0) for key in wanted)]
        for together in _overlapping(chunks):
            found = [each for chunk in together for each in self._chunk(chunk, wanted)]
            found.sort(key=recording_time)
            for time, channel, data in found:
                yield wanted[channel], time, data

    def _chunk(self, chunk: ChunkInfo, wanted: Collection[int]) -> Iterator[FoundMessage]:
        assert self.bio is not None
        self.bio.seek(chunk.chunk_start_offset + RECORD.size)
        content = chunk_content(self.bio.read(chunk.chunk_length - RECORD.size))
        first, last = chunk.message_start_time, chunk.message_end_time
        for found in messages_of_chunk(content, wanted):
            if first <= found[0] <= last:
                yield found


class _ChunkDirectoryReader(DirectoryReader):
    STORAGE_PLUGINS = {**DirectoryReader.STORAGE_PLUGINS, 'mcap': ChunkReader}  # noqa: RUF012


class BagReader(Reader):
    """Reads bags as its base does, MCAP files by the chunk."""

    STORAGE_PLUGINS = {  # noqa: RUF012
        **Reader.STORAGE_PLUGINS,
        'dir': _ChunkDirectoryReader,
        '.mcap': ChunkReader,
    }


def _overlapping(chunks: Collection[ChunkInfo]) -> Iterator[list[ChunkInfo]]:
    """Chunks in the order of their times, those together whose times overlap."""
    together: list[ChunkInfo] = []
    last = 0
    for chunk in sorted(chunks, key=lambda c: (c.message_start_time, c.chunk_start_offset)):
        if together and chunk.message_start_time > last:
            yield together
            together = []
        together.append(chunk)
        last = max(last, chunk.message_end_time)
    if together:
        yield together
