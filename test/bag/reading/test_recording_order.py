# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages are in the order in which they were recorded, also where clocks were set back."""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode

from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.reading.recording_order import recorder_epochs
from kron_dynamics.bag.series.runs import find_runs

pytestmark = pytest.mark.interpreted

LOG_START = 1_700_000_000_000_000_000
JOINTS = ('turn', 'lift', 'reach')
COUNT, BACK = 300, 2.0037


def clock(k, back=BACK):
    """Time of the k-th message by a clock that is set back halfway."""
    return 5.0 + 0.02 * k - (back if k >= COUNT // 2 else 0.0)


def position(k):
    """A slow motion, so that two moments seconds apart look alike."""
    return 0.3 * np.sin(0.02 * k * np.array([0.1, 0.2, 0.3]))


def record(bag, topics=None, commands=False, stamp=clock, log=clock):
    """Joint states, of some joints on each topic; bytes between them, to fill several chunks."""
    topics = topics or {'/joint_states': JOINTS}
    with bag:
        for k in range(COUNT):
            log_time = LOG_START + round(1e9 * log(k))
            for topic, names in topics.items():
                q = [position(k)[JOINTS.index(name)] for name in names]
                bag.joint_state(topic, stamp(k), names, q, log_time=log_time)
            if commands:
                late = log_time + 1000
                bag.joint_state('/command_state', stamp(k), JOINTS, effort=3 * [k], log_time=late)
            bag.raw('/camera', 'sensor_msgs/msg/Image', bytes(20_000), log_time)
    return bag.path


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
@pytest.mark.parametrize('mode', [None, CompressionMode.MESSAGE])
def test_messages_stay_in_order_where_both_clocks_are_set_back(make_bag, arm, storage, mode):
    bag = make_bag(storage=storage)
    if mode is not None:
        bag._writer.set_compression(mode, CompressionFormat.ZSTD)
    contents = read_bag(record(bag))
    states = contents.joint_states['/joint_states']
    expected = [round(1e9 * clock(k)) for k in range(COUNT)]
    np.testing.assert_array_equal(states.stamp, expected)
    (note,) = contents.notes
    assert "'/joint_states': the recorder's clock was set back 1 times" in note
    (run,) = find_runs(contents, arm.model)
    assert run.log.dropped.restarts == 1
    first, second = run.log.segments
    assert (first.epoch, second.epoch) == (0, 1)
    for part, firsts in ((first, 0), (second, COUNT // 2)):
        np.testing.assert_array_equal(
            part.position[1].value, [position(k)[1] for k in range(firsts, firsts + COUNT // 2)]
        )


@pytest.mark.parametrize('back', [0.1003, 0.41])
def test_both_clocks_may_be_set_back_by_a_little(make_bag, arm, back):
    topics = {'/arm/joint_states': JOINTS[:2], '/arm/gripper/joint_states': JOINTS[2:]}
    both = {name: lambda k: clock(k, back) for name in ('stamp', 'log')}
    contents = read_bag(record(make_bag(), topics, **both))
    assert all("recorder's clock was set back 1 times" in note for note in contents.notes)
    assert len(contents.notes) == 2
    (run,) = find_runs(contents, arm.model)
    assert run.log.dropped.restarts == 1
    halves = (0, COUNT // 2), (COUNT // 2, COUNT)
    for part, half in zip(run.log.segments, halves, strict=True):
        for joint in range(3):
            expected = [position(k)[joint] for k in range(*half)]
            np.testing.assert_array_equal(part.position[joint].value, expected)
    (run,) = find_runs(read_bag(record(make_bag('other'), commands=True, **both)), arm.model)
    assert run.commands is not None
    for epoch, half in enumerate(halves):
        np.testing.assert_array_equal(run.commands.epochs[epoch][0].value, np.arange(*half))


def test_stamps_tell_no_restart_where_only_the_recorder_is_set_back(make_bag, arm):
    path = record(make_bag(), stamp=lambda k: clock(k, back=0.0))
    (run,) = find_runs(read_bag(path), arm.model)
    assert (run.log.dropped.restarts, run.log.dropped.out_of_order) == (0, 0)
    assert len(run.log.segments) == 1


def test_topics_are_combined_and_commands_assigned_by_clock_epoch(make_bag, arm):
    topics = {'/arm/joint_states': JOINTS[:2], '/arm/gripper/joint_states': JOINTS[2:]}
    contents = read_bag(record(make_bag(), topics))
    (run,) = find_runs(contents, arm.model)
    assert [len(part.position[0].time) for part in run.log.segments] == 2 * [COUNT // 2]
    assert [len(part.position[2].time) for part in run.log.segments] == 2 * [COUNT // 2]
    contents = read_bag(record(make_bag('other'), commands=True))
    (run,) = find_runs(contents, arm.model)
    assert run.commands is not None
    for epoch, firsts in enumerate((0, COUNT // 2)):
        found = run.commands.epochs[epoch][0].value
        np.testing.assert_array_equal(found, np.arange(firsts, firsts + COUNT // 2))


def test_a_file_whose_parts_are_in_another_order_is_sorted():
    parts = np.arange(60).reshape(3, 20) * 10**8
    other = parts[[2, 0, 1]].ravel()
    assert not recorder_epochs(other, other).any()
    # Times that occur twice are of a clock that was set back.
    parts[1] -= 10**9
    np.testing.assert_array_equal(
        recorder_epochs(parts.ravel(), 0 * parts.ravel()), 20 * [0] + 40 * [1]
    )
    assert not recorder_epochs(*np.empty((2, 0), np.int64)).size
