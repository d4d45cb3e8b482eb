# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ends of MCAP records, also of records with a damaged length, and the record behind damage."""

from __future__ import annotations

import re
from mmap import mmap

from kron_dynamics.bag.reading.mcap_records import (
    CHANNEL,
    CHUNK,
    CHUNK_HEAD,
    INDEXED_CHUNK,
    LENGTH,
    MESSAGE,
    MESSAGE_HEAD,
    MESSAGE_INDEX,
    RECORD,
    SCHEMA,
    SIZE,
)

_KNOWN = range(1, 0x10)  # kinds
_PRIVATE = 0x80  # records of applications are of this kind or above
_SIZES = {0x02: 20, 0x0E: 17, 0x0F: 4}  # of footer, summary offset and end of the data
# Offset in schemas and channels of the two texts, which something with its own length follows.
_TEXTS = {SCHEMA: 2, CHANNEL: 4}
_COMPRESSIONS = (b'', b'lz4', b'zstd')
_LONGEST_NAME = 4  # bytes
_MESSAGE = bytes([MESSAGE])
# A known kind, and a length of less than 2^40 bytes, at any offset.
_HEAD = re.compile(rb'(?=[\x01-\x0f].{5}\0{3})', re.DOTALL)
_CHAIN = 3  # consecutive records that are no coincidence


def end_of_record(data: mmap, at: int) -> int | None:
    """Return where a record ends; None if it is damaged, or its end is missing.

    Of the two lengths that a chunk has, one may be damaged.

    Args:
        data: the file.
        at: offset of the record.
    """
    kind, size = RECORD.unpack_from(data, at)
    if kind == CHUNK:
        return _end_of_chunk(data, at)
    end = at + RECORD.size + int(size)
    if end > len(data) or (kind not in _KNOWN and kind < _PRIVATE):
        return None
    return end if _fits_kind(data, at + RECORD.size, kind, size) else None


def records_of_open_chunk(data: mmap, at: int) -> int | None:
    """Return where the records of an uncompressed chunk begin; None if it is not one.

    Args:
        data: the file.
        at: offset of the chunk.
    """
    begin = _content_of_chunk(data, at)
    unnamed = at + RECORD.size + CHUNK_HEAD.size + LENGTH.size + SIZE.size
    return begin if begin == unnamed and data[at] == CHUNK else None


def is_misread_chunk(data: mmap, entry: bytes) -> bool:
    """Return whether a chunk in the index of chunks is read as a whole record of another kind.

    Args:
        data: the file.
        entry: content of the index' record of the chunk.
    """
    if len(entry) < INDEXED_CHUNK.size:
        return False
    start, length = map(int, INDEXED_CHUNK.unpack_from(entry)[2:])
    if start + RECORD.size > len(data) or data[start] == CHUNK:
        return False
    return end_of_record(data, start) == start + length


def holds_compressed_chunks(data: mmap) -> bool:
    """Return whether there is a compressed chunk in a file, whatever else is damaged there."""
    for name in filter(None, _COMPRESSIONS):
        text = LENGTH.pack(len(name)) + name
        place = data.find(text)
        while place >= 0:
            at = place - CHUNK_HEAD.size - RECORD.size
            ends = _ends_of_chunk(data, at) if at >= 0 else None
            # The chunk may be the one within which a file is cut off.
            if ends and (ends[0] == ends[1] or _end_of_chunk(data, at) is not None):
                return True
            place = data.find(text, place + 1)
    return False


def next_record(data: mmap, start: int, plain: bool) -> int | None:
    """Return the offset of the first undamaged record from an offset on; None if there is none.

    It is found by the records that follow it. The time is proportional to the distance.

    Args:
        data: the file.
        start: offset at which the search begins.
        plain: whether messages are looked for: pieces of them are also in compressed chunks.
    """
    # An iterator of matches would keep the file open.
    while found := _HEAD.search(data, start):
        if _begins_chain(data, found.start(), plain):
            return found.start()
        start = found.start() + 1
    return None


def _begins_chain(data: mmap, at: int, plain: bool) -> bool:
    for _ in range(_CHAIN):
        end = end_of_record(data, at)
        if end is None or (data[at] == MESSAGE and not plain):
            return False
        if end + RECORD.size > len(data):
            return True
        at = end
    return True


def _end_of_chunk(data: mmap, at: int) -> int | None:
    ends = _ends_of_chunk(data, at)
    if ends is None:
        return None
    if ends[0] == ends[1]:
        return ends[0] if ends[0] <= len(data) else None
    # A message may begin there in the compressed content itself, but not behind it.
    sane = (end for end in ends if _is_head(data, end) and data[end : end + 1] != _MESSAGE)
    return next(sane, None)


def _ends_of_chunk(data: mmap, at: int) -> tuple[int, int] | None:
    """Return where a chunk ends by each of its lengths, also beyond the end of the file."""
    begin = _content_of_chunk(data, at)
    if begin is None:
        return None
    return _end_as_written(data, at), begin + int(SIZE.unpack_from(data, begin - SIZE.size)[0])


def _end_as_written(data: mmap, at: int) -> int:
    return at + RECORD.size + int(RECORD.unpack_from(data, at)[1])


def _content_of_chunk(data: mmap, at: int) -> int | None:
    """Return where the content of a chunk begins, None if its head is damaged or incomplete."""
    place = at + RECORD.size + CHUNK_HEAD.size + LENGTH.size
    if place > len(data):
        return None
    (length,) = LENGTH.unpack_from(data, place - LENGTH.size)
    if length <= _LONGEST_NAME and data[place : place + length] in _COMPRESSIONS:
        begin = place + int(length) + SIZE.size
        return begin if begin <= len(data) else None
    # A damaged name leaves both lengths of the chunk as they were.
    end = _end_as_written(data, at)
    for name in _COMPRESSIONS:
        begin = place + len(name) + SIZE.size
        if begin <= len(data) and begin + SIZE.unpack_from(data, begin - SIZE.size)[0] == end:
            return begin
    return None


def _is_head(data: mmap, at: int) -> bool:
    """Return whether a record that is not a chunk begins at an offset, or the file ends there."""
    if at + RECORD.size > len(data):
        return at <= len(data)
    kind, size = RECORD.unpack_from(data, at)
    if kind == CHUNK:
        return _content_of_chunk(data, at) is not None
    return kind in _KNOWN and at + RECORD.size + int(size) <= len(data)


def _fits_kind(data: mmap, at: int, kind: int, size: int) -> bool:
    """Return whether a record's size, or what follows it, fits its kind.

    Args:
        data: the file.
        at: offset of the record's content.
        kind: its kind.
        size: bytes of its content.
    """
    if kind == MESSAGE:
        return size >= MESSAGE_HEAD.size
    if kind == MESSAGE_INDEX:
        return size >= 6 and size == 6 + int(LENGTH.unpack_from(data, at + 2)[0])
    if kind in _TEXTS:
        place = _TEXTS[kind]
        for _ in range(3):
            if place + LENGTH.size > size:
                return False
            place += LENGTH.size + int(LENGTH.unpack_from(data, at + place)[0])
        return place == size
    return size == _SIZES[kind] if kind in _SIZES else _is_head(data, at + size)
