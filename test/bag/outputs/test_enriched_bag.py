# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The MCAP file of series, read by two other programs."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from kron_dynamics.bag.outputs.enriched_bag import EnrichedBag, field_of
from kron_dynamics.bag.outputs.files import write_files
from kron_dynamics.bag.outputs.series import quantities_of, series_blocks
from kron_dynamics.bag.reading.storage_files import storage_files

TOPICS = '/analysis/joint_states'


@pytest.fixture(scope='module')
def path(analysis, tmp_path_factory):
    folder = tmp_path_factory.mktemp('mcap')
    write_files(analysis, folder, ['mcap'])
    return folder / 'analysis.mcap'


def numbers_of(message, quantity):
    if quantity.owner != 'tip':
        assert message.name == list(quantity.columns)
        return getattr(message, field_of(quantity))
    assert message.header.frame_id == 'base'
    parts = message.twist if quantity.key == 'tip_velocity' else message.accel
    return [getattr(half, axis) for half in (parts.linear, parts.angular) for axis in 'xyz']


def test_rosbags_reads_every_series_with_its_stamps(analysis, path):
    replay = analysis.runs[0].replay
    found, phases = {}, []
    with AnyReader([path]) as reader:
        for connection, log_time, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            if connection.topic == f'{TOPICS}/phase':
                phases.append((log_time, message.data))
                continue
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            found.setdefault(connection.topic, {})[stamp] = (log_time, message)
    blocks = list(series_blocks(analysis.runs[0]))
    compared = np.concatenate([block.compared for block in blocks])
    time = np.concatenate([block.time for block in blocks])
    stamps = replay.run.log.origin + np.rint(time * 1e9).astype(np.int64)
    # As late as the joint states, which were recorded by another clock.
    states = analysis.contents.joint_states['/joint_states']
    restart = int(np.flatnonzero(np.diff(states.stamp) < 0)[0]) + 1
    delays = np.split(states.log_time - states.stamp, [restart])
    epoch = np.concatenate([np.full(len(block.time), block.epoch) for block in blocks])
    late = np.array([int(np.median(delay)) for delay in delays])[epoch]
    for quantity in quantities_of(replay):
        table = np.concatenate([block.values[quantity.key] for block in blocks])
        messages = found.pop(f'{TOPICS}/{quantity.key}')
        known = compared & np.isfinite(table).any(axis=1)
        assert sorted(messages) == sorted(stamps[known].tolist()), quantity.key
        for k in np.flatnonzero(known)[::37]:
            log_time, message = messages[int(stamps[k])]
            assert log_time - stamps[k] == late[k]
            assert np.array_equal(numbers_of(message, quantity), table[k]), quantity.key
    assert not found
    # One in each segment, stamped as late as the rows of it.
    first = [np.flatnonzero(compared & (epoch == k) & known_phase(blocks))[0] for k in (0, 1)]
    assert phases == [(stamps[k] + late[k], 'moving') for k in first]


def known_phase(blocks):
    return np.concatenate([block.phase for block in blocks]) >= 0


def test_mcap_reads_it_with_its_definitions(analysis, path):
    import mcap.reader as reading

    with path.open('rb') as file:
        reader = reading.make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        counts = {
            channel.topic: summary.statistics.channel_message_counts[key]
            for key, channel in summary.channels.items()
        }
        schemas = {schema.name: schema for schema in summary.schemas.values()}
        times = [message.log_time for *_, message in reader.iter_messages()]
    assert len(counts) == len(quantities_of(analysis.runs[0].replay)) + 1  # phases
    assert len(times) == sum(counts.values()) == summary.statistics.message_count
    assert times == sorted(times)
    assert summary.statistics.message_start_time == times[0]
    assert summary.statistics.message_end_time == times[-1]
    for name in ('sensor_msgs/msg/JointState', 'geometry_msgs/msg/AccelStamped'):
        assert schemas[name].encoding == 'ros2msg' and b'Header header' in schemas[name].data


def test_topics_without_a_slash_at_the_start_have_it_here(analysis, tmp_path):
    replay = analysis.runs[0].replay
    with EnrichedBag(tmp_path / 'analysis.mcap') as bag:
        bag.begin(replace(replay, run=replace(replay.run, topic='joint_states')))
    with AnyReader([tmp_path / 'analysis.mcap']) as reader:
        topics = {connection.topic for connection in reader.connections}
    assert len(topics) > 5 and all(topic.startswith(f'{TOPICS}/') for topic in topics)


def test_runs_whose_topics_differ_by_that_slash_have_topics_of_their_own(analysis, tmp_path):
    replay = analysis.runs[0].replay
    with EnrichedBag(tmp_path / 'analysis.mcap') as bag:
        for topic in ('/joint_states', 'joint_states', '/joint_states_2'):
            bag.begin(replace(replay, run=replace(replay.run, topic=topic)))
    with AnyReader([tmp_path / 'analysis.mcap']) as reader:
        topics = [connection.topic for connection in reader.connections]
    assert len(set(topics)) == len(topics) == 3 * (len(quantities_of(replay)) + 1)
    assert {f'{TOPICS}/phase', f'{TOPICS}_2/phase'} < set(topics)


def test_it_is_no_recording_but_one_of_its_name_is(path, make_bag):
    assert storage_files(path.parent) == []
    # Also one with topics that look like those of results, or without an end.
    for topics in (['/joint_states'], ['/analysis/joint_states/position', '/joint_states']):
        with make_bag(f'{len(topics)}/analysis') as bag:
            for topic in topics:
                bag.joint_state(topic, 1.0, ['a'], [1.0])
        recorded = bag.path / path.name
        (bag.path / 'metadata.yaml').unlink()
        for size in (recorded.stat().st_size, 20, 0):
            os.truncate(recorded, size)
            assert storage_files(bag.path) == [recorded]


def test_nothing_is_left_of_a_file_that_failed(analysis, tmp_path):
    path = tmp_path / 'analysis.mcap'
    path.write_bytes(b'an earlier one')
    (tmp_path / '.analysis').mkdir()  # left by one that was killed
    with pytest.raises(ZeroDivisionError), EnrichedBag(path) as bag:
        bag.begin(analysis.runs[0].replay)
        bag.add(next(series_blocks(analysis.runs[0])))
        raise ZeroDivisionError
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b'an earlier one'
