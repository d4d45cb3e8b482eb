# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states decoded together are those that rosbags decodes one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_messages import ARRAYS, messages_of
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.bag.reading import block_decoding
from kron_dynamics.bag.reading.joint_state_decoding import JointStateDecoder
from kron_dynamics.exceptions import BagError
from kron_dynamics.joint_state_layout import joint_state_layout

STORE = get_typestore(Stores.LATEST)
KIND = 'sensor_msgs/msg/JointState'
NAMES = st.lists(st.sampled_from(['a', 'ab', 'äb', '関節', 'joint_1', '', 'a\0b']), max_size=4)
NUMBERS = st.lists(st.floats(), max_size=4)
CONTENT = st.tuples(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.sampled_from(['', 'b', 'base', 'basis']),
    NAMES,
    *[NUMBERS] * 3,
)
ARM = (1, 2, 'base', ['a', 'b'], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])


def serialized(content, little_endian=True):
    sec, nanosec, frame, names, *arrays = content
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec)
    header = types['std_msgs/msg/Header'](stamp=stamp, frame_id=frame)
    message = types[KIND](header, list(names), *(np.array(a, dtype=float) for a in arrays))
    return bytes(STORE.serialize_cdr(message, KIND, little_endian=little_endian))


def by_rosbags(data):
    try:
        return STORE.deserialize_cdr(data, KIND)
    except SerdeError:
        return None


def decoded(stream):
    """The tables of messages, recorded 1 ns after one another from 100 ns on, and what is none."""
    decoder = JointStateDecoder(by_rosbags)
    for k, data in enumerate(stream):
        decoder.add(100 + k, data)
    return decoder.finish()


def assert_as_rosbags(stream):
    states, undecodable = decoded(stream)
    expected = [(100 + k, by_rosbags(data)) for k, data in enumerate(stream)]
    expected = [(time, message) for time, message in expected if message is not None]
    assert undecodable == len(stream) - len(expected)
    assert len(states) == len(expected)
    for got, (log_time, message) in zip(messages_of(states), expected, strict=True):
        time = message.header.stamp
        assert got.log_time == log_time
        assert got.stamp == time.sec * 1_000_000_000 + time.nanosec
        assert got.names == tuple(message.name)
        for name in ARRAYS:
            # Bytes, so that NaN and -0.0 count.
            assert getattr(got, name).tobytes() == getattr(message, name).tobytes()
    for table in states.tables:  # in the order of recording
        assert (np.diff(table.index) > 0).all()
    return states


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(CONTENT, st.sampled_from(['<', '<', '<', '>', 'cut', 'more', 'flip'])),
        min_size=1,
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_any_stream_is_decoded_as_by_rosbags(contents, random):
    stream = []
    for content, way in random.choices(contents, k=20):
        data = bytearray(serialized(content, way != '>'))
        if way == 'cut':
            del data[random.randrange(len(data)) :]
        elif way == 'more':
            data += bytes(random.randrange(1, 6))
        elif way == 'flip':
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        stream.append(bytes(data))
    assert_as_rosbags(stream)


def other(**changes):
    fields = dict(zip(('sec', 'nanosec', 'frame', 'names', *ARRAYS), ARM, strict=True))
    return serialized(tuple({**fields, **changes}.values()))


@pytest.mark.parametrize(
    'odd',
    [
        other(names=['a', 'c']),
        other(frame='basis'[:4]),
        other(frame='turntable'),
        other(velocity=[]),
        other(position=[np.nan, -0.0], effort=[np.inf, 1e-320]),
        other(names=['a', 'b', 'c'], position=[1.0, 2.0, 3.0]),
        other(names=[], position=[], velocity=[], effort=[]),
        other(names=['ä', '関']),
        other(position=[], velocity=[1.0, 2.0, 3.0, 4.0]),
        serialized(ARM, little_endian=False),
        other()[:-8],
        other()[:-1],
        other() + bytes(2),
        other() + bytes(8),
        b'\x00\x07' + other()[2:],
        b'\x00\x0b' + other()[2:],
        b'',
        bytes(3),
        other().replace(b'a\0', b'\xff\0'),
        other().replace(b'a\0', b'ab'),
    ],
)
def test_odd_messages_among_many_alike(odd):
    stream = [other(sec=k, position=[float(k), -1.0]) for k in range(30)]
    stream[7:7] = [odd]
    stream[20:20] = [odd, odd]
    assert_as_rosbags(stream)
    assert_as_rosbags([odd, *stream, odd])


def test_padding_may_hold_anything():
    """Only what stands before numbers: it is no part of a message."""
    plain = bytearray(other(frame='bas', names=['a', 'bcdefgh']))
    layout = joint_state_layout(bytes(plain))
    begin = layout.same[1][0].stop
    assert begin < layout.numbers[0][1]
    plain[begin] = 7
    stream = [other(frame='bas', names=['a', 'bcdefgh']), bytes(plain)] * 3
    (table,) = assert_as_rosbags(stream).tables
    assert len(table.index) == 6


def test_two_publishers_are_two_tables_decoded_without_rosbags():
    """However their messages alternate, also across blocks."""
    count = block_decoding._BLOCK + 100
    one = [other(sec=k, position=[float(k), 0.0]) for k in range(count)]
    two = [other(sec=k, names=['c', 'd'], effort=[]) for k in range(count)]
    decoder = JointStateDecoder(lambda data: pytest.fail('was read by itself'))
    for k, data in enumerate(itertools.chain(*zip(one, two, strict=True))):
        decoder.add(k, data)
    states, undecodable = decoder.finish()
    assert undecodable == 0
    assert [table.names for table in states.tables] == [('a', 'b'), ('c', 'd')]
    np.testing.assert_array_equal(states.log_time, np.arange(2 * count))
    np.testing.assert_array_equal(states.stamp, np.repeat(np.arange(count), 2) * 10**9 + 2)
    np.testing.assert_array_equal(states.tables[0].index, np.arange(0, 2 * count, 2))
    np.testing.assert_array_equal(states.tables[0].position[:, 0], np.arange(count))
    assert states.tables[1].effort.shape == (count, 0)


def test_a_counter_in_the_frame_is_read_one_by_one():
    stream = [other(frame=f'{k:04}') for k in range(50)]
    (table,) = assert_as_rosbags(stream).tables
    assert len(table.index) == 50


def test_values_by_name_are_nan_where_a_message_has_none():
    states, _ = decoded([other(), other(names=['c', 'a'], velocity=[])])
    np.testing.assert_array_equal(states.values(['a', 'c'], 'position'), [[1, np.nan], [2, 1]])
    np.testing.assert_array_equal(states.values(['b'], 'velocity'), [[4], [np.nan]])
    with pytest.raises(BagError, match=r"no velocity of joint 'c': recorded for a, b"):
        states.values(['c'], 'velocity')


def test_some_messages_keep_their_places():
    states, _ = decoded([other(sec=k, names=['a', 'bc'[k % 2]]) for k in range(6)])
    some = states.taken(np.array([False, True, True, False, False, True]))
    assert [(m.stamp // 10**9, m.names[1]) for m in messages_of(some)] == [
        (1, 'c'),
        (2, 'b'),
        (5, 'c'),
    ]
