# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of bags: what is decoded, what is left alone, and how damage is reported."""

from __future__ import annotations

import sqlite3
import sys

import numpy as np
import pytest
from joint_messages import messages_of
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.exceptions import BagError

STORAGES = ('mcap', 'sqlite3')
STORE = get_typestore(Stores.LATEST)


@pytest.mark.parametrize('storage', STORAGES)
def test_joint_states_come_back_as_sent(make_bag, storage):
    with make_bag(storage=storage) as bag:
        bag.joint_state('/joint_states', 1.5, ['b', 'a'], [1, 2], [3, 4], [5, 6])
        bag.joint_state('/joint_states', 1.6, ['a'], [7])
    first, second = messages_of(read_bag(bag.path).joint_states['/joint_states'])
    assert first.stamp == 1_500_000_000
    assert first.names == ('b', 'a')
    np.testing.assert_array_equal(
        [first.position, first.velocity, first.effort], [[1, 2], [3, 4], [5, 6]]
    )
    assert second.names == ('a',)
    assert len(second.velocity) == len(second.effort) == 0


@pytest.mark.parametrize(('storage', 'suffix'), [('mcap', '.mcap'), ('sqlite3', '.db3')])
def test_bare_file_reads_like_its_directory(make_bag, arm_motion, storage, suffix):
    with make_bag(storage=storage) as bag:
        bag.motion('/joint_states', arm_motion(duration=0.1))
    bare = bag.path / f'bag{suffix}'
    from_file = read_bag(bare).joint_states['/joint_states']
    from_directory = read_bag(bag.path).joint_states['/joint_states']
    np.testing.assert_array_equal(from_file.stamp, from_directory.stamp)
    np.testing.assert_array_equal(from_file.tables[0].effort, from_directory.tables[0].effort)


def test_directory_without_metadata_is_read_file_by_file_and_says_so(make_bag):
    with make_bag() as bag:
        bag.joint_state('/joint_states', 1.0, ['a'], [1])
    (bag.path / 'metadata.yaml').unlink()
    contents = read_bag(bag.path)
    assert len(contents.joint_states['/joint_states']) == 1
    assert 'metadata.yaml is missing' in contents.notes[0]


@pytest.mark.parametrize('storage', STORAGES)
def test_other_topics_are_counted_but_not_decoded(make_bag, storage):
    with make_bag(storage=storage) as bag:
        bag.joint_state('/joint_states', 1.0, ['a'], [1])
        # Bytes that are no image: decoding them would fail.
        bag.raw('/camera', 'sensor_msgs/msg/Image', b'\x00\x01')
        bag.text('/chatter', 'hello')
        bag.text('/arm/robot_description', '<robot/>')
        bag.acceleration('/tip', 1.0, range(6))
    contents = read_bag(bag.path)
    assert set(contents.joint_states) == {'/joint_states'}
    assert contents.robot_descriptions == {'/arm/robot_description': ['<robot/>']}
    np.testing.assert_array_equal(contents.accelerations['/tip'][0].acceleration, range(6))
    assert contents.message_counts['/camera'] == 1
    assert not contents.undecodable


def test_undecodable_messages_are_counted(make_bag):
    with make_bag() as bag:
        bag.joint_state('/joint_states', 1.0, ['a'], [1])
        for length in (0, 3, 4, 7, 13, 21):
            bag.raw(
                '/joint_states',
                'sensor_msgs/msg/JointState',
                b'\x00\x01\x00\x00'[:length] + b'\xff' * max(0, length - 4),
            )
    contents = read_bag(bag.path)
    assert len(contents.joint_states['/joint_states']) == 1
    assert contents.undecodable == {'/joint_states': 6}


def test_joint_states_of_another_encoding_are_named_as_such(make_bag, arm_motion, arm_urdf):
    """Bytes that no reader here understands, such as XCDR2, are no missing topic."""
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for _ in range(20):
            bag.raw('/js', 'sensor_msgs/msg/JointState', b'\x00\x07\x00\x00' + bytes(20))
    told = "'/js' is not read: none of its 20 messages can be decoded, the first begins with 00 07"
    assert any(told in note for note in read_bag(bag.path).notes)
    for topics in ([], ['/js']):
        with pytest.raises(BagError, match=rf'no .*JointState messages .*{told}.* expected 00 01'):
            analyze_bag(bag.path, joint_states=topics)
    with make_bag('both') as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', arm_motion(duration=0.5))
        bag.raw('/js', 'sensor_msgs/msg/JointState', b'\x00\x07\x00\x00' + bytes(20))
    with pytest.raises(BagError, match="on '/js'.*'/js' is not read: none of its 1 messages"):
        analyze_bag(bag.path, joint_states=['/js'])


def test_repeated_description_is_one_text(make_bag):
    with make_bag() as bag:
        bag.text('/robot_description', '<robot/>')
        bag.text('/robot_description', '<robot/>')
        bag.text('/robot_description', '<robot name="b"/>')
    assert read_bag(bag.path).robot_descriptions == {
        '/robot_description': ['<robot/>', '<robot name="b"/>']
    }


def test_missing_bag_is_named(tmp_path):
    with pytest.raises(BagError, match=r"no bag at '.*nowhere'"):
        read_bag(tmp_path / 'nowhere')


def test_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text('<robot/>')
    with pytest.raises(BagError, match=r'not a bag: expected .*\.mcap or \.db3'):
        read_bag(path)


def test_empty_directory_is_refused(tmp_path):
    with pytest.raises(BagError, match=r'neither metadata\.yaml nor'):
        read_bag(tmp_path)


@pytest.mark.parametrize('keep', [0, 5, 60, 400])
def test_mcap_cut_off_before_its_first_message_is_one_clear_error(make_bag, arm_motion, keep):
    with make_bag() as bag:
        bag.motion('/joint_states', arm_motion(duration=0.5))
    file = bag.path / 'bag.mcap'
    file.write_bytes(file.read_bytes()[:keep])
    for path in (file, bag.path):
        with pytest.raises(BagError, match='cannot read bag') as caught:
            read_bag(path)
        assert '\n' not in str(caught.value)


def test_database_without_messages_table_is_one_clear_error(tmp_path):
    path = tmp_path / 'other.db3'
    with sqlite3.connect(path) as database:
        database.execute('CREATE TABLE something (id INTEGER)')
    with pytest.raises(BagError, match='cannot read bag'):
        read_bag(path)


def test_broken_metadata_cost_nothing_but_are_told(make_bag):
    with make_bag() as bag:
        bag.joint_state('/joint_states', 1.0, ['a'], [1])
    (bag.path / 'metadata.yaml').write_text('rosbag2_bagfile_information: [')
    contents = read_bag(bag.path)
    assert len(contents.joint_states['/joint_states']) == 1
    (note,) = contents.notes
    assert 'cannot be read as a whole' in note and 'YAML' in note and '\n' not in note


def test_a_file_of_a_split_bag_that_is_missing_or_broken_costs_no_other(make_bag, arm_motion):
    with make_bag() as bag:
        bag.motion('/joint_states', arm_motion(duration=0.5))
    metadata = bag.path / 'metadata.yaml'
    metadata.write_text(metadata.read_text().replace('- bag.mcap', '- bag.mcap\n  - bag_1.mcap'))
    contents = read_bag(bag.path)
    assert len(contents.joint_states['/joint_states']) == 51
    assert 'bag_1.mcap' in contents.notes[0]
    (bag.path / 'bag_1.mcap').write_bytes(b'no MCAP')
    contents = read_bag(bag.path)
    assert len(contents.joint_states['/joint_states']) == 51
    assert "'bag_1.mcap' is read only up to an error" in contents.notes[1]


def test_missing_library_is_named(make_bag, monkeypatch):
    with make_bag() as bag:
        bag.text('/robot_description', '<robot/>')
    monkeypatch.setitem(sys.modules, 'rosbags.rosbag2', None)
    monkeypatch.delitem(sys.modules, 'kron_dynamics.bag.reading.mcap_storage', raising=False)
    with pytest.raises(BagError, match=r"pip install 'rosbags >= 0.11'"):
        read_bag(bag.path)


@pytest.mark.parametrize('plugin', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize('fields', [None, '?!', 'velocity position effort', 'position velocity'])
def test_definitions_that_are_missing_or_of_other_messages(tmp_path, plugin, fields):
    """Without one a type is what it is in ROS 2; with other fields nothing is guessed."""
    kind, text = 'sensor_msgs/msg/JointState', fields or ''
    is_other = len(text) > 2
    if is_other:
        named = '\n'.join(f'float64[] {name}' for name in text.split())
        text = f'std_msgs/Header header\nstring[] name\n{named}\n'
    types = STORE.types
    stamp = types['builtin_interfaces/msg/Time'](sec=1, nanosec=2)
    values = (np.array([number]) for number in (1.0, 2.0, 3.0))
    message = types[kind](types['std_msgs/msg/Header'](stamp, ''), ['a'], *values)
    with Writer(tmp_path / 'bag', version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection('/joints', kind, msgdef=text, rihs01='unknown')
        writer.write(connection, 5, STORE.serialize_cdr(message, kind))
    contents = read_bag(tmp_path / 'bag')
    assert contents.message_counts == {'/joints': 1}
    if is_other:
        assert not contents.joint_states
        assert contents.notes == [f'/joints is not read: its {kind} differs from that of ROS 2']
    else:
        assert contents.joint_states['/joints'].tables[0].velocity.tolist() == [[2.0]]
        assert not contents.notes
