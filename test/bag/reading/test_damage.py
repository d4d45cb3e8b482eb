# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files: a report or one error of a line, and all that is left of what was cut off."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bag_damage import STORAGES, check, write_bag
from rosbags.rosbag2 import Reader

from kron_dynamics.bag import analyze_bag, read_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.exceptions import BagError


@pytest.fixture
def arm_file(tmp_path, arm_urdf):
    path = tmp_path / 'arm.urdf'
    path.write_text(arm_urdf)
    return path


@pytest.mark.filterwarnings('error::RuntimeWarning')
@pytest.mark.parametrize('storage', STORAGES)
def test_nothing_but_reports_and_errors(arm_file, storage):
    # The fewer messages, the more of the flipped bytes are of what holds them together.
    assert check(arm_file, storage, flips=12, seed=3, step=20, count=500) == []


def test_rows_that_are_left_of_a_cut_database(arm, arm_file, tmp_path):
    file = write_bag(tmp_path / 'bag', arm, 'sqlite3', count=600)
    with Reader(tmp_path / 'bag') as reader:
        whole = [data for _, _, data in reader.messages()]
    stamps = read_bag(file).joint_states['/joint_states'].stamp
    data, cut = file.read_bytes(), tmp_path / 'cut.db3'
    least = 0
    for share in (0.5, 0.8, 0.97):
        cut.write_bytes(data[: int(share * len(data))])
        contents = read_bag(cut)
        states = contents.joint_states['/joint_states']
        # The rows that are left are the first ones, and most of what is in as many bytes.
        assert np.array_equal(states.stamp, stamps[: len(states)])
        assert least < len(states) < len(whole)
        assert len(states) > 0.7 * share * len(whole)
        least = len(states)
        assert f'first {len(states)} messages are read' in contents.notes[0]
        assert contents.message_counts == {'/joint_states': len(states)}
        assert 'cut.db3' in format_report(analyze_bag(cut, urdf=arm_file))
    cut.write_bytes(data[:3000])
    with pytest.raises(BagError, match='cut off before its first message'):
        read_bag(cut)


def test_rows_that_are_left_of_a_database_with_a_damaged_page(arm, tmp_path):
    file = write_bag(tmp_path / 'bag', arm, 'sqlite3', count=600)
    whole = read_bag(file).joint_states['/joint_states']
    data = bytearray(file.read_bytes())
    page = len(data) // 4096 // 2 * 4096
    data[page : page + 4096] = 4096 * b'\xff'
    file.write_bytes(data)
    for path in (file, file.parent):
        contents = read_bag(path)
        states = contents.joint_states['/joint_states']
        assert set(states.stamp.tolist()) < set(whole.stamp.tolist())
        # The rows of one page are missing, in the middle.
        assert 0 < len(whole) - len(states) < 30
        assert (states.stamp[0], states.stamp[-1]) == (whole.stamp[0], whole.stamp[-1])
        told = rf'cannot be read as a whole \(.*malformed\): {len(states)} messages are read'
        assert re.search(told, contents.notes[-1])


def test_a_directory_with_a_cut_database_is_read_file_by_file(arm, tmp_path):
    file = write_bag(tmp_path / 'bag', arm, 'sqlite3', count=300)
    file.write_bytes(file.read_bytes()[:-9000])
    contents = read_bag(tmp_path / 'bag')
    assert 100 < len(contents.joint_states['/joint_states']) < 300
    assert 'is cut off' in contents.notes[0]


def test_absurd_numbers_are_counted(make_bag, arm_motion, arm_urdf):
    motion = arm_motion(4.0)
    motion.q[40, 0], motion.effort[50, 1], motion.qd[60, 2] = 1e200, -1e13, np.inf
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/js', motion)
    analysis = analyze_bag(bag.path)
    lost = analysis.runs[0].replay.run.log.dropped.non_finite
    assert lost == {'turn position': 1, 'lift effort': 1, 'reach velocity': 1}
    assert all(joint.ratio < 0.01 for joint in analysis.runs[0].joints)


def test_stamps_in_bursts_make_no_endless_series(make_bag, arm_motion, arm_urdf):
    motion = arm_motion(4.0, 20.0)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for k, time in enumerate(motion.time):
            for again in range(6):
                stamp, q = time + 1e-8 * again, motion.q[k] + 1e-9 * again
                bag.joint_state('/js', stamp, motion.robot.joint_names, q)
    with pytest.raises(BagError, match='has no stretch|come in bursts|at fewer than two times'):
        analyze_bag(bag.path)


def test_stamps_that_come_in_bursts_after_a_while_are_told(make_bag, arm_motion, arm_urdf):
    even, late = arm_motion(10.0, 20.0), arm_motion(4.0, 5.0, start=20.0)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/js', even, 'p')
        for k, time in enumerate(late.time):
            for again in range(6):
                stamp, q = time + 1e-8 * again, late.q[k] + 1e-9 * again
                bag.joint_state('/js', stamp, late.robot.joint_names, q)
    with pytest.raises(BagError, match=r"'/js' come in bursts: 126 in 4 s, most .* 1e-08 s apart"):
        analyze_bag(bag.path)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_topic_without_messages_is_no_damage(make_bag, storage):
    with make_bag(storage=storage) as bag:
        bag.text('/other', 'x')
        bag.declare('/joint_states', 'sensor_msgs/msg/JointState')
    contents = read_bag(bag.path)
    assert contents.message_counts == {'/other': 1, '/joint_states': 0}
    with make_bag('nothing', storage=storage) as bag:
        bag.declare('/joint_states', 'sensor_msgs/msg/JointState')
    assert read_bag(bag.path).joint_states == {}


def test_single_message_is_told_as_what_it_is(make_bag, arm, arm_urdf):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.joint_state('/js', 5.0, arm.joint_names, (0.1, 0.2, 0.3))
        bag.joint_state('/js', 5.0, arm.joint_names, (0.1, 0.2, 0.4))
    with pytest.raises(
        BagError, match='all joints at fewer than two times; messages: 2; 1 samples with'
    ):
        analyze_bag(bag.path)
