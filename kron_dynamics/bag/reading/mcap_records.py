# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parsing of MCAP records, in files and in chunks."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import ByteArray, IntArray

MAGIC = b'\x89MCAP0\r\n'
# Record opcodes.
SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, DATA_END = 0x03, 0x04, 0x05, 0x06, 0x07, 0x0F
CHUNK_INDEX = 0x08
SHORT, TWO_SHORTS = struct.Struct('<H'), struct.Struct('<HH')
LENGTH, SIZE = struct.Struct('<I'), struct.Struct('<Q')  # of texts and maps, of contents
RECORD = struct.Struct('<BQ')  # kind and length
MESSAGE_HEAD = struct.Struct('<HIQQ')  # channel, sequence, times of recording and publishing
_TIME = slice(RECORD.size + 6, RECORD.size + 14)  # time of recording in a message record
_FEWEST = 16  # messages that are compared first; then four times as many in each step
_FOOTER = struct.Struct('<QQI')  # offsets of the summary and of its index; checksum
CHUNK_HEAD = struct.Struct('<QQQI')  # first and last time, size and checksum of the records
INDEXED_CHUNK = struct.Struct('<QQQQ')  # first and last time, offset and length of a chunk
FoundMessage = tuple[int, int, bytes]  # time of recording in ns, channel, message


class Batch(NamedTuple):
    """Messages of one topic and one size.

    Attributes:
        times: times of recording, in ns, shape (N,).
        rows: bytes of the messages, shape (N, size).
    """

    times: IntArray
    rows: ByteArray


def batches_of_chunk(
    content: bytes, wanted: Collection[int], limits: tuple[int, int]
) -> Iterator[tuple[int, Batch]]:
    """Yield channel and batch of the messages of some channels in a chunk, in their order.

    Args:
        content: the chunk's records, decompressed.
        wanted: the channels.
        limits: first and last time of recording of the messages to take, in ns.

    Raises:
        BagError: a record is damaged.
    """
    at, end = 0, len(content)
    while at < end:
        if at + RECORD.size > end:
            raise BagError('a chunk ends within a record')
        kind, size = RECORD.unpack_from(content, at)
        behind = at + RECORD.size + size
        if behind > end or (kind == MESSAGE and size < MESSAGE_HEAD.size):
            raise BagError(f'a chunk has a record of {size} bytes, more or less than there can be')
        channel = SHORT.unpack_from(content, at + RECORD.size)[0] if kind == MESSAGE else -1
        if channel not in wanted:
            at = behind
            continue
        rows = alike_messages(content, at)
        at += rows.size
        times = np.ascontiguousarray(rows[:, _TIME]).view('<u8')[:, 0].astype(np.int64)
        inside = (times >= limits[0]) & (times <= limits[1])
        rows = rows[:, RECORD.size + MESSAGE_HEAD.size :]
        if not inside.all():
            times, rows = times[inside], rows[inside]
        if len(times):
            yield channel, Batch(times, rows)


def alike_messages(content: bytes, at: int) -> ByteArray:
    """Return consecutive message records of one channel and size, shape (N, size).

    Args:
        content: records.
        at: offset of the first message record.
    """
    _, size = RECORD.unpack_from(content, at)
    stride = RECORD.size + size
    most = (len(content) - at) // stride
    rows = np.frombuffer(content, np.uint8, most * stride, at).reshape(most, stride)
    # Kind, size and channel, compared as text of one length: a tenth of the time for bytes.
    heads = rows[:, : RECORD.size + SHORT.size].view(f'S{RECORD.size + SHORT.size}')[:, 0]
    count, together = 1, _FEWEST
    while count < most:
        same = heads[count : count + together] == heads[0]
        if not same.all():
            count += int(np.argmin(same))
            break
        count += len(same)
        # Where topics alternate, only a few records are compared in vain.
        together *= 4
    return rows[:count]


def messages_of_chunk(content: bytes, wanted: Collection[int]) -> Iterator[FoundMessage]:
    """Yield the messages of some channels among the records of a chunk.

    Raises:
        BagError: a record is damaged.
    """
    record, head = RECORD.unpack_from, MESSAGE_HEAD.unpack_from
    at, end = 0, len(content)
    while at < end:
        if at + RECORD.size > end:
            raise BagError('a chunk ends within a record')
        kind, size = record(content, at)
        start = at + RECORD.size
        at = start + size
        if at > end or (kind == MESSAGE and size < MESSAGE_HEAD.size):
            raise BagError(f'a chunk has a record of {size} bytes, more or less than there can be')
        if kind == MESSAGE:
            channel, _, time, _ = head(content, start)
            if channel in wanted:
                yield time, channel, content[start + MESSAGE_HEAD.size : at]


def chunk_content(chunk: bytes) -> bytes:
    """Return the records of a chunk."""
    _, _, size, checksum = CHUNK_HEAD.unpack_from(chunk)
    compression = text_at(chunk, CHUNK_HEAD.size)
    at = CHUNK_HEAD.size + LENGTH.size + len(compression) + SIZE.size
    from rosbags.rosbag2.storage_mcap import decompress

    return decompress(chunk[at:], compression, size, checksum)


def summary_of(file: BinaryIO) -> bytes:
    """Return the summary of a whole file with its footer; nothing if it has none."""
    end = file.seek(0, 2) - len(MAGIC)
    if end < _FOOTER.size:
        return b''
    file.seek(end - _FOOTER.size)
    start, _, _ = _FOOTER.unpack(file.read(_FOOTER.size))
    file.seek(min(start, end - _FOOTER.size))
    return file.read(end - file.tell()) if start else b''


def check_summary(file: BinaryIO) -> None:
    """Check the summary of a whole file by its checksum, if it has one.

    Raises:
        BagError: the summary is damaged.
    """
    summary = summary_of(file)
    checksum = int(LENGTH.unpack_from(summary, len(summary) - LENGTH.size)[0]) if summary else 0
    # It covers the footer as well, up to itself.
    if checksum and zlib.crc32(summary[: -LENGTH.size]) != checksum:
        raise BagError('its summary is damaged')


def text_at(data: bytes, at: int) -> str:
    """Return the length-prefixed text at an offset."""
    (length,) = LENGTH.unpack_from(data, at)
    return data[at + 4 : at + 4 + length].decode()
