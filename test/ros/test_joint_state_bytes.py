# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states read from bytes, and efforts written to bytes, are what rclpy reads and writes."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron_dynamics.exceptions import MessageError
from kron_dynamics.joint_state_layout import JointStateLayout

with contextlib.suppress(ImportError):  # then these tests are not collected
    from rclpy.serialization import deserialize_message, serialize_message
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    from kron_dynamics.ros.joint_state_bytes import JointStateReader
    from kron_dynamics.ros.serialized_numbers import SerializedNumbers

pytestmark = pytest.mark.ros

NAMES = st.lists(st.sampled_from(['a', 'ab', 'äb', 'abc', 'joint_1', '']), max_size=5)
NUMBERS = st.lists(st.floats(), max_size=5)
MESSAGE = st.tuples(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.sampled_from(['', 'b', 'base', 'basis']),
    NAMES,
    *[NUMBERS] * 3,
)


def message_of(sec, nanosec, frame, names, position, velocity, effort):
    message = JointState(name=names, position=position, velocity=velocity, effort=effort)
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    message.header.frame_id = frame
    return message


def assert_same(sample, message):
    assert sample.names == tuple(message.name)
    assert sample.stamp.to_msg() == message.header.stamp
    for field in ('position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(sample, field), getattr(message, field))


@settings(max_examples=60)
@given(st.lists(MESSAGE, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_every_message_is_read_as_rclpy_does(contents, random):
    """Whatever came before: layouts of the same size, of other names, in any order."""
    reader = JointStateReader()
    messages = [message_of(*content) for content in contents]
    for message in random.choices(messages, k=8):
        assert_same(reader.read(bytes(serialize_message(message))), message)


def test_messages_of_one_size_and_other_places_are_told_apart():
    reader = JointStateReader()
    one = message_of(1, 2, '', ['a', 'b'], [1.0, 2.0], [], [])
    two = message_of(1, 2, '', ['a', 'b'], [], [1.0, 2.0], [])
    other = message_of(1, 2, '', ['a', 'c'], [1.0, 2.0], [], [])
    assert len({len(serialize_message(message)) for message in (one, two, other)}) == 1
    for message in (one, two, other, two, one):
        assert_same(reader.read(bytes(serialize_message(message))), message)


def test_numbers_of_a_layout_that_is_known_are_read_without_rclpy(monkeypatch):
    reader = JointStateReader()
    reader.read(bytes(serialize_message(message_of(1, 2, 'b', ['a'], [1.0], [2.0], [3.0]))))
    monkeypatch.delattr('kron_dynamics.ros.joint_state_bytes.deserialized')
    message = message_of(7, 8, 'b', ['a'], [np.nan], [-0.0], [np.inf])
    assert_same(reader.read(bytes(serialize_message(message))), message)


def test_a_layout_that_rclpy_reads_otherwise_is_not_remembered(monkeypatch):
    other = JointStateLayout(('a', 'c'), (), ((2, 0), (0, 0), (0, 0)))
    name = 'kron_dynamics.ros.joint_state_bytes.joint_state_layout'
    monkeypatch.setattr(name, lambda data: other)
    reader, message = JointStateReader(), message_of(1, 2, '', ['a', 'b'], [1.0, 2.0], [], [])
    for _ in range(2):
        assert_same(reader.read(bytes(serialize_message(message))), message)


def test_many_publishers_do_not_fill_the_memory():
    reader = JointStateReader()
    for k in range(200):
        message = message_of(1, 2, 'x' * k, ['a'], [1.0], [], [])
        assert_same(reader.read(bytes(serialize_message(message))), message)
    assert len(reader._layouts) <= 32


@given(st.lists(st.floats(), min_size=1, max_size=9))
def test_efforts_are_written_as_rclpy_does(numbers):
    data = SerializedNumbers().message(np.array(numbers))
    usual = bytes(serialize_message(Float64MultiArray(data=numbers)))
    # But for the padding before the numbers, which holds anything.
    assert isinstance(data, bytes) and len(data) == len(usual)
    assert data[-8 * len(numbers) :] == usual[-8 * len(numbers) :]
    read = deserialize_message(data, Float64MultiArray)
    np.testing.assert_array_equal(read.data, numbers)
    assert len(read.layout.dim) == 0


def test_padding_with_anything_in_it_changes_nothing(monkeypatch):
    module, rubbish = 'kron_dynamics.ros.serialized_numbers.serialize_message', iter(range(256))

    def padded(message):
        data = bytes(serialize_message(message))
        return data[:16] + bytes([next(rubbish)] * 4) + data[20:]

    monkeypatch.setattr(module, padded)
    for numbers in ([1.0, -2.5], [3.0]):
        data = SerializedNumbers().message(np.array(numbers))
        assert isinstance(data, bytes)
        assert list(deserialize_message(data, Float64MultiArray).data) == numbers


def test_a_middleware_that_writes_otherwise_is_left_to_write(monkeypatch):
    module = 'kron_dynamics.ros.serialized_numbers.serialize_message'
    monkeypatch.setattr(module, lambda message: b'text: ' + repr(list(message.data)).encode())
    message = SerializedNumbers().message(np.array([1.0, 2.5]))
    assert isinstance(message, Float64MultiArray)
    assert list(message.data) == [1.0, 2.5]


@given(MESSAGE, st.data())
def test_damaged_bytes_are_read_or_refused_as_rclpy_does(content, data):
    reader, message = JointStateReader(), message_of(*content)
    whole = bytes(serialize_message(message))
    assert_same(reader.read(whole), message)
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for at in data.draw(st.lists(st.integers(0, 3), max_size=2)) if damaged else ():
        damaged[at % len(damaged)] = data.draw(st.sampled_from([0, 1, 2, 3, 255]))
    try:
        expected = deserialize_message(bytes(damaged), JointState)
    except Exception:
        with pytest.raises(MessageError, match=f'JointState of {len(damaged)} bytes: .'):
            reader.read(bytes(damaged))
    else:
        assert_same(reader.read(bytes(damaged)), expected)
