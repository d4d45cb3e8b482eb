# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A damaged kind or length of an MCAP record costs what is in it, and nothing behind it."""

from __future__ import annotations

import random
import struct
from operator import itemgetter

import pytest
from rosbags.rosbag2 import Reader

from kron_dynamics.bag.reading.mcap_records import chunk_content
from kron_dynamics.bag.reading.mcap_recovery import McapRecovery
from kron_dynamics.bag.reading.message_compression import zstd_library
from kron_dynamics.exceptions import BagError

HEAD = struct.Struct('<BQ')
SIZES = (0, 7, 5000, 2**40, 2**64 - 1)  # damaged lengths


def lz4(data):
    return pytest.importorskip('lz4.frame').compress(data)


def zstd(data):
    return zstd_library().compress(data)


COMPRESSIONS = {'': bytes, 'lz4': lz4, 'zstd': zstd}


class Recorded:
    """A file of several chunks without its last byte, so that its summary is not used."""

    def __init__(self, bag, compression):
        self.compression = compression
        with Reader(bag.path / 'bag.mcap') as reader:
            chunks = sorted(reader.storage.chunks, key=lambda item: item.chunk_start_offset)
            self.counts = [sum(chunk.channel_count.values()) for chunk in chunks]
            self.messages = [(c.topic, time, bytes(d)) for c, time, d in reader.messages()]
        assert len(chunks) > 3
        assert self.messages == sorted(self.messages, key=itemgetter(1))
        data = (bag.path / 'bag.mcap').read_bytes()[:-1]
        self.file = bag.path / 'damaged.mcap'
        self.data, self.places, at = b'', [], 0
        for chunk in chunks:
            begin = chunk.chunk_start_offset
            self.data += data[at:begin]
            at = begin + chunk.chunk_length
            record = self.packed(data[begin + 9 : begin + 25], chunk_content(data[begin + 9 : at]))
            self.places.append((len(self.data), len(record)))
            self.data += record
        tail = data[at:]
        for chunk, place in zip(chunks, self.places, strict=True):
            indexed = chunk.chunk_start_offset, chunk.chunk_length
            tail = tail.replace(struct.pack('<QQ', *indexed), struct.pack('<QQ', *place))
        self.data += tail

    def packed(self, times, records):
        """Return a chunk."""
        packed, name = COMPRESSIONS[self.compression](records), self.compression.encode()
        content = times + struct.pack('<QII', len(records), 0, len(name)) + name
        content += struct.pack('<Q', len(packed)) + packed
        return HEAD.pack(6, len(content)) + content

    def sizes(self, number):
        """Return where the two lengths of a chunk are."""
        start, _ = self.places[number]
        return start + 1, start + 9 + 28 + 4 + len(self.compression)

    def records(self, number):
        start, length = self.places[number]
        return chunk_content(self.data[start + 9 : start + length])

    def recovered(self, data):
        self.file.write_bytes(data)
        rest = McapRecovery(self.file)
        found = [(c.topic, time, bytes(d)) for c, time, d in rest.messages(rest.connections)]
        assert len(found) == sum(connection.msgcount for connection in rest.connections)
        return found, rest.lost

    def without(self, number, keep=0):
        """Return all messages except those of a chunk behind its first ones."""
        first = sum(self.counts[:number])
        return self.messages[: first + keep] + self.messages[first + self.counts[number] :]


@pytest.fixture(scope='module')
def bag(bag_maker, tmp_path_factory):
    """A bag with pictures that cannot be compressed: pieces of it are in compressed chunks."""
    draw = random.Random(4)
    with bag_maker(tmp_path_factory.mktemp('recorded') / 'bag', 'mcap') as bag:
        for k in range(400):
            bag.joint_state('/joint_states', 1.0 + 1e-3 * k, ['a'], [k])
            bag.raw('/camera', 'sensor_msgs/msg/Image', draw.randbytes(10_000))
    return bag


@pytest.fixture(scope='module', params=COMPRESSIONS)
def recorded(bag, request):
    return Recorded(bag, request.param)


def changed(data, at, value):
    size = value.to_bytes(8, 'little')
    return data[:at] + size + data[at + 8 :]


@pytest.mark.parametrize('size', SIZES)
def test_of_two_lengths_of_a_chunk_one_may_be_damaged(recorded, size):
    for number in (0, 1, len(recorded.places) - 1):
        for at in recorded.sizes(number):
            found, lost = recorded.recovered(changed(recorded.data, at, size))
            assert found == recorded.messages
            assert not lost


@pytest.mark.parametrize('size', SIZES)
def test_a_chunk_without_a_length_costs_its_own_messages(recorded, size):
    """Those of an uncompressed chunk are read all the same, one after the other."""
    first, second = recorded.sizes(1)
    # At the second length, the first message of the zstd chunk begins, which is not compressed.
    found, lost = recorded.recovered(changed(changed(recorded.data, first, size), second, 12))
    if recorded.compression:
        assert (found, lost) == (recorded.without(1), 1)
    else:
        assert (found, lost) == (recorded.messages, 0)


@pytest.mark.parametrize('only', [False, True])
def test_a_chunk_without_the_name_of_its_compression_is_lost(recorded, only):
    """Also in a file that is cut off within the next one, so that no other is whole."""
    number = 0 if only else 2
    start, _ = recorded.places[number]
    place = start + 9 + 28 + 4 + len(recorded.compression) - 1
    damaged = recorded.data[:place] + b'\x07' + recorded.data[place + 1 :]
    if only:
        damaged = damaged[: sum(recorded.places[0]) + 2000]
        if recorded.compression:
            with pytest.raises(BagError, match='no message is left; chunks damaged or cut off: 1'):
                recorded.recovered(damaged)
        return
    assert recorded.recovered(damaged) == (recorded.without(number), 1)


@pytest.mark.parametrize('kind', [0x00, 0x02, 0x03, 0x04, 0x05, 0x07, 0x0E, 0x46, 0x86])
def test_a_chunk_of_another_kind_is_lost(recorded, kind):
    start, _ = recorded.places[1]
    data = recorded.data[:start] + bytes([kind]) + recorded.data[start + 1 :]
    found, lost = recorded.recovered(data)
    if recorded.compression:
        assert found == recorded.without(1)
    else:
        assert set(recorded.without(1)) <= set(found) <= set(recorded.messages)
    # Applications may add records of kinds from 0x80 on, and messages of topics unknown here; only
    # the index of chunks tells.
    assert lost == 1


@pytest.mark.parametrize('recorded', ['lz4'], indirect=True)
def test_an_error_says_why_no_message_is_left(recorded):
    start, second = recorded.places[0][0], recorded.places[1][0]
    spoilt = recorded.data[: start + 60] + bytes(100) + recorded.data[start + 160 :]
    count = len(recorded.messages) - recorded.counts[0]
    for data, why in (
        (recorded.data[: start + 5], 'it is cut off before its first message'),
        (spoilt[:second], 'no message is left; chunks damaged or cut off: 1'),
        # The channels are in the first chunk, and again in the summary, which is cut off.
        (spoilt[: sum(recorded.places[-1])], f'the topics of its {count} messages are lost'),
    ):
        with pytest.raises(BagError, match=f'^{why}'):
            recorded.recovered(data)


@pytest.mark.parametrize('size', [0, 7, 2**40])
def test_a_damaged_record_in_a_chunk_costs_what_is_behind_it_there(recorded, size):
    content = recorded.records(1)
    at = 0
    for _ in range(20):
        at += HEAD.size + HEAD.unpack_from(content, at)[1]
    start, length = recorded.places[1]
    record = recorded.packed(recorded.data[start + 9 : start + 25], changed(content, at + 1, size))
    found, lost = recorded.recovered(
        recorded.data[:start] + record + recorded.data[start + length :]
    )
    # A message that is too short is none of its topic, which its decoder tells.
    found = [message for message in found if message in recorded.messages]
    assert (found, lost) == (recorded.without(1, keep=20), 1)


@pytest.mark.parametrize('recorded', [''], indirect=True)
def test_messages_without_chunks_are_read_behind_a_damaged_length(recorded):
    """As rosbag2 writes them with the preset for fast writing."""
    begin, end = recorded.places[0][0], sum(recorded.places[-1])
    content = b''.join(map(recorded.records, range(len(recorded.places))))
    starts, at = [], 0
    while at < len(content):
        kind, size = HEAD.unpack_from(content, at)
        starts += [at] if kind == 5 else []
        at += HEAD.size + size
    plain = recorded.data[:begin] + content + recorded.data[end:]
    assert recorded.recovered(plain) == (recorded.messages, 0)
    for number in (0, 1, 795):
        size = HEAD.unpack_from(content, starts[number])[1]
        for wrong in (0, 23, size - 1, 3 * size + 20_000, 2**40):
            found, lost = recorded.recovered(changed(plain, begin + starts[number] + 1, wrong))
            right = [message for message in found if message in recorded.messages]
            assert right == recorded.messages[:number] + recorded.messages[number + 1 :]
            assert lost == 1
            # The damaged message itself may be given, with other bytes.
            assert len(found) - len(right) <= 1


def test_no_message_is_invented(recorded):
    """Whichever heads of chunks, and of the index behind them, are damaged."""
    draw = random.Random(5)
    known = set(recorded.messages)
    ends = [start + length for start, length in recorded.places]
    for _ in range(12):
        data = bytearray(recorded.data)
        for begin in draw.sample([*ends, *(start for start, _ in recorded.places)], 3):
            data[begin + draw.randrange(60)] = draw.randrange(256)
        found, _ = recorded.recovered(bytes(data))
        assert len(found) > len(recorded.messages) // 4
        assert set(found) <= known
