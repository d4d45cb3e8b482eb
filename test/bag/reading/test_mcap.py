# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""MCAP files: messages by the chunk are those of rosbags, and a cut file gives what it has."""

from __future__ import annotations

import random
import shutil
import struct
import zlib
from operator import itemgetter

import numpy as np
import pytest
from joint_messages import messages_of
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader
from rosbags.rosbag2.storage_mcap import McapReader

from kron_dynamics.bag.reading import mcap_records, mcap_storage
from kron_dynamics.bag.reading.mcap_records import batches_of_chunk, messages_of_chunk
from kron_dynamics.bag.reading.mcap_recovery import McapRecovery, is_truncated
from kron_dynamics.bag.reading.mcap_storage import BagReader
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.exceptions import BagError

LOG_START = 1_700_000_000_000_000_000
COUNT = 4000


def written_order():
    order = list(range(COUNT))
    for k in range(0, COUNT - 40, 37):
        order[k], order[k + 33] = order[k + 33], order[k]
    return order


@pytest.fixture(scope='module')
def recorded(bag_maker, tmp_path_factory):
    """A bag of several chunks, recorded out of order within and across them."""
    with bag_maker(tmp_path_factory.mktemp('recorded') / 'bag', 'mcap') as bag:
        # Bytes of another topic fill the chunks.
        for k in written_order():
            log_time = LOG_START + 1000 * (k // 2)
            if k % 2:
                bag.raw('/camera', 'sensor_msgs/msg/Image', bytes(1000 + k % 7), log_time)
            else:
                bag._log_time = log_time
                bag.joint_state('/joint_states', 1.0 + 1e-3 * k, ['a', 'b'], [k, -k])
                bag.acceleration('/tip', 1.0 + 1e-3 * k, range(6))
    return bag.path


@pytest.fixture
def long_bag(recorded, tmp_path):
    """A copy of the bag, to be damaged."""
    return shutil.copytree(recorded, tmp_path / 'bag')


def read(reader_class, path):
    with reader_class(path) as reader:
        kinds = ('sensor_msgs/msg/JointState', 'geometry_msgs/msg/AccelStamped')
        wanted = [c for c in reader.connections if c.msgtype in kinds]
        return [(c.topic, time, bytes(data)) for c, time, data in reader.messages(wanted)]


def test_messages_are_those_of_rosbags_in_the_order_of_the_file(long_bag):
    with Reader(long_bag / 'bag.mcap') as reader:
        assert isinstance(reader.storage, McapReader)
        chunks = reader.storage.chunks
        assert len(chunks) > 2
        starts = [chunk.message_start_time for chunk in chunks]
        ends = [chunk.message_end_time for chunk in chunks]
        assert any(start < end for start, end in zip(starts[1:], ends[:-1], strict=True))
    for path in (long_bag, long_bag / 'bag.mcap'):
        found = read(BagReader, path)
        assert sorted(found, key=itemgetter(1)) == read(Reader, path)
        times = [time for topic, time, _ in found if topic == '/tip']
        assert times == [LOG_START + 1000 * (k // 2 + 2) for k in written_order() if k % 2 == 0]


@pytest.mark.parametrize('where', ['file', 'with metadata', 'without metadata'])
def test_a_cut_file_gives_its_first_messages_and_says_so(long_bag, where):
    """Those of all whole records, wherever it is cut; the chunks of this file are in order."""
    file = long_bag / 'bag.mcap'
    whole, data = messages_of(read_bag(file).joint_states['/joint_states']), file.read_bytes()
    known = {message.stamp: message for message in whole}
    if where == 'without metadata':
        (long_bag / 'metadata.yaml').unlink()
    draw = random.Random(3)
    before = 0
    for size in sorted([*(draw.randrange(9000, len(data)) for _ in range(6)), len(data) - 1]):
        file.write_bytes(data[:size])
        assert is_truncated(file)
        contents = read_bag(file if where == 'file' else long_bag)
        states = contents.joint_states['/joint_states']
        assert len(states) > before or len(states) == len(whole)
        before = len(states)
        assert contents.message_counts['/joint_states'] == len(states)
        total = sum(contents.message_counts.values())
        note = f"'bag.mcap' is cut off (recorder not closed?): its first {total} messages are read"
        assert note in contents.notes
        found = messages_of(states)
        expected = [known[message.stamp].position for message in found]
        np.testing.assert_array_equal([message.position for message in found], expected)
        assert (np.diff(states.log_time) >= 0).all()
    assert before == len(whole)


def test_a_cut_file_gives_what_the_whole_one_does_in_the_order_of_recording(long_bag):
    file = long_bag / 'bag.mcap'
    whole = read_bag(file)
    file.write_bytes(file.read_bytes()[:-1])
    cut = read_bag(file)
    for of_topic in (lambda c: c.joint_states['/joint_states'], lambda c: c.accelerations['/tip']):
        found, right = map(of_topic, (cut, whole))
        assert (np.diff(right.log_time) >= 0).all()
        np.testing.assert_array_equal(found.log_time, right.log_time)
        np.testing.assert_array_equal(found.stamp, right.stamp)


def test_messages_of_a_cut_file_are_not_collected(long_bag, monkeypatch):
    """Those of a chunk are passed on before the next chunk is read: memory is that of a chunk."""
    file = long_bag / 'bag.mcap'
    with Reader(file) as reader:
        counts = [sum(chunk.channel_count.values()) for chunk in reader.storage.chunks]
    file.write_bytes(file.read_bytes()[:-1])
    cut, chunks = McapRecovery(file), []
    original = McapRecovery._records_of_chunk

    def counting(self, chunk):
        chunks.append(len(chunk))
        return original(self, chunk)

    monkeypatch.setattr(McapRecovery, '_records_of_chunk', counting)
    taken = np.array([len(chunks) for _ in cut.messages(cut.connections)])
    assert [int(np.sum(taken == k + 1)) for k in range(len(counts))] == counts


def test_zeros_at_the_end_are_no_messages(long_bag):
    """As a file system leaves them after a power failure."""
    file = long_bag / 'bag.mcap'
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
    states = read_bag(file).joint_states['/joint_states']
    assert 0 < len(states) < COUNT // 2


@pytest.mark.parametrize('number', [0, 1])
def test_a_damaged_chunk_of_a_whole_file_costs_its_own_messages(long_bag, number):
    """Also the first one, which alone names the topics, but for the summary at the end."""
    file = long_bag / 'bag.mcap'
    data = bytearray(file.read_bytes())
    whole = messages_of(read_bag(file).joint_states['/joint_states'])
    with Reader(file) as reader:
        chunk = reader.storage.chunks[number]
        (topic,) = (c.id for c in reader.connections if c.topic == '/joint_states')
    # Kind and length of the chunk; times, size, checksum; compression; size; kind of a record.
    length = chunk.chunk_start_offset + 9 + 28 + 4 + 8 + 1
    data[length : length + 8] = (2**40).to_bytes(8, 'little')
    file.write_bytes(data)
    for path in (file, long_bag):
        contents = read_bag(path)
        found = messages_of(contents.joint_states['/joint_states'])
        assert len(found) == len(whole) - chunk.channel_count[topic]
        assert {m.stamp for m in found} < {m.stamp for m in whole}
        note = contents.notes[-1]
        assert "'bag.mcap' cannot be read as a whole (a chunk has a record of 1099" in note
        total = sum(contents.message_counts.values())
        assert f'{total} messages are read, without 1 damaged chunks' in note


def test_a_file_without_any_index_is_read_whatever_its_order(long_bag):
    file = long_bag / 'bag.mcap'
    whole, data = read_bag(file), file.read_bytes()
    (summary,) = struct.unpack_from('<Q', data, len(data) - 28)
    file.write_bytes(data[:summary] + data[-37:-28] + bytes(20) + data[-8:])
    contents = read_bag(file)
    states = contents.joint_states['/joint_states']
    np.testing.assert_array_equal(states.stamp, whole.joint_states['/joint_states'].stamp)
    assert not contents.notes


@pytest.mark.parametrize('lost', ['index of messages', 'some messages'])
def test_a_file_is_read_without_an_index_of_its_messages(tmp_path, bag_maker, lost):
    """The specification of MCAP leaves that index out of what a file must have."""
    with bag_maker(tmp_path / 'bag', 'mcap') as bag:
        for k in range(100):
            bag.joint_state('/joint_states', 1.0 + k, ['a'], [k])
    file = tmp_path / 'bag' / 'bag.mcap'
    data = file.read_bytes()
    with Reader(file) as reader:
        (chunk,) = reader.storage.chunks
    # Of the index of the chunk: four numbers before the map of the message indices.
    at = data.rfind(struct.pack('<QQ', chunk.chunk_start_offset, chunk.chunk_length)) + 16
    (size,) = struct.unpack_from('<I', data, at)
    assert size == 10
    record = at - 32 - 8
    if lost == 'index of messages':
        (length,) = struct.unpack_from('<Q', data, record)
        changed = struct.pack('<Q', length - size) + data[record + 8 : at] + bytes(4)
        data = data[:record] + changed + data[at + 4 + size :]
    else:
        # The chunk claims to end earlier: later messages are none of its own.
        end = chunk.message_end_time - 40_000
        data = data[: record + 16] + struct.pack('<Q', end) + data[record + 24 :]
    file.write_bytes(data)
    contents = read_bag(file)
    assert contents.message_counts == {'/joint_states': 100}
    assert len(contents.joint_states['/joint_states']) == 100
    if lost == 'index of messages':
        assert not contents.notes
    else:
        (note,) = contents.notes
        assert '40 of 100 messages are missing that the index counts on /joint_states' in note
        assert note.endswith('100 messages are read')


@pytest.mark.parametrize('has_checksum', [True, False])
def test_no_message_is_lost_with_the_summary(tmp_path, bag_maker, has_checksum):
    """It repeats what the data say; ROS 2 writes its checksum, which some writers leave out."""
    with bag_maker(tmp_path / 'bag', 'mcap') as bag:
        for k in range(20):
            bag.joint_state('/js', 1.0 + k, ['a'], [k])
    file = tmp_path / 'bag' / 'bag.mcap'
    data = file.read_bytes()
    (summary,) = struct.unpack_from('<Q', data, len(data) - 28)
    if has_checksum:
        checksum = zlib.crc32(data[summary:-12])
        data = data[:-12] + struct.pack('<I', checksum) + data[-8:]
    file.write_bytes(data)
    assert not read_bag(file).notes
    # Without a checksum, what cannot be read is damaged, such as a schema of another length.
    places = range(summary, len(data) - 37, 7) if has_checksum else range(summary + 3, summary + 9)
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 16
        file.write_bytes(changed)
        contents = read_bag(file)
        assert len(contents.joint_states['/js']) == 20, place
        if has_checksum:
            assert 'cannot be read as a whole' in contents.notes[-1]


def test_a_chunk_that_ends_within_a_record_is_told():
    record = struct.pack('<BQ', 5, 22) + bytes(22)
    for content in (record + record[:5], record + record[:20]):
        with pytest.raises(BagError, match='a chunk'):
            list(messages_of_chunk(content, {0}))
        with pytest.raises(BagError, match='a chunk'):
            list(batches_of_chunk(content, {0}, (0, 1)))


def test_messages_before_damage_in_a_chunk_come_before_the_error(long_bag, monkeypatch):
    def batches():
        with BagReader(long_bag) as reader:
            wanted = [c for c in reader.connections if c.topic == '/joint_states']
            for _, _, batch in reader.batches(wanted):
                yield len(batch.times)

    whole = list(batches())
    monkeypatch.setattr(
        mcap_storage, 'chunk_content', lambda chunk: mcap_records.chunk_content(chunk)[:-5]
    )
    found = []
    with pytest.raises(BagError, match='a chunk has a record of'):
        found.extend(batches())
    assert 100 < len(found) < len(whole) / 2
    assert found == whole[: len(found)]


@pytest.mark.parametrize('compression', CompressionFormat)
def test_compressed_chunks_are_read_and_one_that_is_cut_is_lost(make_bag, compression):
    bag = make_bag()
    bag._writer.set_compression(CompressionMode.STORAGE, compression)
    with bag:
        for k in range(4000):
            bag.joint_state('/joint_states', 1.0 + 1e-3 * k, ['a'], [np.sqrt(k)])
            bag.raw('/camera', 'sensor_msgs/msg/Image', bytes(1000))
    file = bag.path / 'bag.mcap'
    assert read(BagReader, file) == read(Reader, file)
    with Reader(file) as reader:
        second = reader.storage.chunks[1]
    data = file.read_bytes()
    file.write_bytes(data[: second.chunk_start_offset + second.chunk_length // 2])
    contents = read_bag(file)
    count = len(contents.joint_states['/joint_states'])
    assert 0 < count < 4000
    note = f'its first {2 * count} messages are read, without 1 damaged chunk'
    assert note in contents.notes[0]


def test_of_several_files_the_readable_are_kept(make_bag):
    for name, joint in (('one', 'a'), ('two', 'b')):
        with make_bag(name) as bag:
            bag.joint_state('/joint_states', 1.0, [joint], [1])
    first = bag.path.parent / 'one'
    (first / 'metadata.yaml').unlink()
    (first / 'one_1.mcap').write_bytes(b'')
    contents = read_bag(first)
    assert contents.joint_states['/joint_states'].names == ('a',)
    assert any("'one_1.mcap' is read only up to an error" in note for note in contents.notes)
    (first / 'one_1.mcap').write_bytes((bag.path / 'two.mcap').read_bytes()[:-1])
    contents = read_bag(first)
    assert contents.joint_states['/joint_states'].names == ('a', 'b')
    assert len(contents.joint_states['/joint_states']) == 2
