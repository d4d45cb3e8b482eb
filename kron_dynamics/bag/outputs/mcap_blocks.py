# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writer of MCAP files for many messages at a time.

The library rosbags writes schemas, channels, chunks and index. It writes each message through a
separate stream, which takes longer than computing its contents; here messages of one size are
written as one table of bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter

from kron_dynamics.bag.reading.mcap_records import MESSAGE, MESSAGE_HEAD, RECORD
from kron_dynamics.typing import ByteArray, IntArray

if TYPE_CHECKING:
    from rosbags.interfaces import Connection

_HEAD = np.dtype(
    [
        ('kind', 'u1'),
        ('length', '<u8'),
        ('channel', '<u2'),
        ('sequence', '<u4'),
        ('log_time', '<u8'),
        ('publish_time', '<u8'),
    ]
)
_CHUNK_BYTES = 2**20  # a chunk is closed when it is larger


class _BlockStorage(McapWriter):
    """Storage writer for tables of messages of one channel and one size."""

    def write_rows(self, channel: int, times: IntArray, rows: ByteArray) -> None:
        """Write one message for each row of bytes.

        Args:
            channel: id of their channel.
            times: times of recording, increasing, shape (N,), in ns.
            rows: the messages, shape (N, size).
        """
        head = np.zeros(len(rows), dtype=_HEAD)
        head['kind'] = MESSAGE
        head['length'] = MESSAGE_HEAD.size + rows.shape[1]
        head['channel'] = channel
        head['log_time'] = head['publish_time'] = times
        records = np.concatenate((head.view(np.uint8).reshape(len(rows), -1), rows), axis=1)
        size = RECORD.size + MESSAGE_HEAD.size + rows.shape[1]
        chunk, start = self.chunk, self.chunk.bio.tell()
        chunk.bio.write(records.tobytes())
        found = times.tolist()
        chunk.msgs[channel].extend(
            zip(found, range(start, start + len(found) * size, size), strict=True)
        )
        chunk.message_start_time = min(chunk.message_start_time, found[0])
        chunk.message_end_time = max(chunk.message_end_time, found[-1])
        self.message_start_time = min(self.message_start_time, found[0])
        self.message_end_time = max(self.message_end_time, found[-1])
        self.channel_stats[channel] += len(found)

    def close_full_chunk(self) -> None:
        """Close the chunk if it is large enough."""
        if self.chunk.bio.tell() > _CHUNK_BYTES:
            self.close_chunk()


class BlockWriter(Writer):
    """Writer of MCAP bags with an additional method for messages of one size."""

    STORAGE_PLUGINS = {StoragePlugin.MCAP: _BlockStorage}  # noqa: RUF012

    def __init__(self, path: Path) -> None:
        """Make a writer of a compressed bag.

        Args:
            path: folder that is created for it.
        """
        super().__init__(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)

    def write_rows(self, connection: Connection, times: IntArray, rows: ByteArray) -> None:
        """Write one message for each row of bytes.

        Args:
            connection: connection of their topic.
            times: times of recording, increasing, shape (N,), N > 0, in ns.
            rows: the messages, shape (N, size).
        """
        storage: Any = self.storage
        storage.write_rows(connection.id, times, rows)
        self.counts[connection.id] += len(rows)
        self.min_timestamp = min(self.min_timestamp, int(times[0]))
        self.max_timestamp = max(self.max_timestamp, int(times[-1]))

    def end_block(self) -> None:
        """Allow a chunk to end here, because all following messages are later."""
        storage: Any = self.storage
        storage.close_full_chunk()
