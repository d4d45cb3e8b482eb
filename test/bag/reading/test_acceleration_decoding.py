# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Accelerations decoded together are those that rosbags decodes one by one."""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.bag.reading.acceleration_decoding import AccelerationDecoder
from kron_dynamics.bag.reading.reader import read_bag

STORE = get_typestore(Stores.LATEST)
KIND = 'geometry_msgs/msg/AccelStamped'


def serialized(k, frame, values, little_endian=True):
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](sec=-5 + k, nanosec=4_000_000_000 - k)
    header = types['std_msgs/msg/Header'](stamp=stamp, frame_id=frame)
    linear, angular = (types['geometry_msgs/msg/Vector3'](*part) for part in np.split(values, 2))
    message = types[KIND](header, types['geometry_msgs/msg/Accel'](linear, angular))
    return bytes(STORE.serialize_cdr(message, KIND, little_endian=little_endian))


def by_rosbags(data):
    try:
        return STORE.deserialize_cdr(data, KIND)
    except SerdeError:
        return None


def frames(name):
    """Frame of message k."""
    return {
        'one': lambda k: 'base',
        'none': lambda k: '',
        'two of one size': lambda k: ('tool', 'base')[k % 2],
        'of all sizes': lambda k: 'x' * (k % 11),
        'a counter': lambda k: f'frame {k:04d}',
    }[name]


def stream(name, odd):
    rng = np.random.default_rng(3)
    found = []
    for k in range(600):
        values = rng.choice([rng.normal(size=6), np.full(6, np.nan), np.full(6, np.inf)])
        data = serialized(k, frames(name)(k), values, little_endian=not odd or k % 5 != 2)
        if odd and k % 7 == 3:
            changed = bytearray(data)
            changed[int(rng.choice([0, 1, 12, 13, len(data) - 49]))] ^= int(rng.integers(1, 256))
            data = bytes(changed)
        if odd and k % 11 == 4:
            data = data[: int(rng.integers(0, len(data)))] if k % 2 else data + bytes(k % 9)
        found.append(data)
    return found


@pytest.mark.parametrize('odd', [False, True])
@pytest.mark.parametrize('name', ['one', 'none', 'two of one size', 'of all sizes', 'a counter'])
def test_any_stream_is_decoded_as_by_rosbags(name, odd):
    data, alone = stream(name, odd), []
    expected = [(k, message) for k, each in enumerate(data) if (message := by_rosbags(each))]
    assert 200 < len(expected) < 600 or not odd

    def decode(each):
        alone.append(each)
        return by_rosbags(each)

    decoder = AccelerationDecoder(decode)
    for first in range(0, len(data), 100):
        part = data[first : first + 100]
        if first % 200 or len({len(each) for each in part}) > 1:
            for k, each in enumerate(part, start=first):
                decoder.add(k, each)
        else:
            rows = np.frombuffer(b''.join(part), np.uint8).reshape(100, -1)
            decoder.add_rows(np.arange(first, first + 100), rows)
    found, undecodable = decoder.finish()
    assert undecodable == len(data) - len(expected)
    assert len(found) == len(expected)
    for ours, (log_time, theirs) in zip(found, expected, strict=True):
        stamp, accel = theirs.header.stamp, theirs.accel
        assert (ours.log_time, ours.frame_id) == (log_time, theirs.header.frame_id)
        assert ours.stamp == stamp.sec * 10**9 + stamp.nanosec
        values = [getattr(part, axis) for part in (accel.linear, accel.angular) for axis in 'xyz']
        np.testing.assert_array_equal(ours.acceleration, values)
    if not odd and name not in ('none', 'a counter'):
        assert not alone


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_topics_that_alternate_keep_what_is_theirs(make_bag, storage):
    with make_bag(storage=storage) as bag:
        for k in range(3000):
            bag.joint_state('/joint_states', 1.0 + 1e-3 * k, ['a', 'b'], [k, -k])
            bag.acceleration('/tip', 1.0 + 1e-3 * k, np.arange(6) + k)
    contents = read_bag(bag.path)
    states, tip = contents.joint_states['/joint_states'], contents.accelerations['/tip']
    np.testing.assert_array_equal(states.tables[0].position[:, 0], np.arange(3000))
    np.testing.assert_array_equal(tip.acceleration, np.arange(3000)[:, None] + np.arange(6))
    assert np.array_equal(states.stamp, tip.stamp)
    assert (np.diff(tip.log_time) > 0).all()
