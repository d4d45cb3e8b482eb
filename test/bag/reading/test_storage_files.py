# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of recorders that were killed or that compress: all is read, and nothing changed."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys

import numpy as np
import pytest
from bag_damage import damages, write_bag
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.exceptions import BagError

# Writes as a recorder does, and is killed before it has closed the file.
RECORDER = """
import os, signal, sqlite3, sys
path, mode, added, checkpoint = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
database = sqlite3.connect(path, isolation_level=None)
database.execute(f'PRAGMA journal_mode={mode}')
database.execute('PRAGMA wal_autocheckpoint=0')
database.execute('PRAGMA cache_size=2')
(data,) = database.execute('SELECT data FROM messages ORDER BY id DESC').fetchone()
((last,),) = database.execute('SELECT max(timestamp) FROM messages')
database.execute('BEGIN')
for k in range(added):
    if k == checkpoint:
        database.execute('COMMIT')
        database.execute('PRAGMA wal_checkpoint(FULL)')
        database.execute('BEGIN')
    row = (last + 10_000_000 * (k + 1), data)
    database.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?, ?)', row)
if mode == 'wal':
    database.execute('COMMIT')
os.kill(os.getpid(), signal.SIGKILL)
"""


def recorder_killed(path, mode, added=200, checkpoint=-1):
    command = [sys.executable, '-c', RECORDER, str(path), mode, str(added), str(checkpoint)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


def state_of(folder):
    """Names, contents and times of all files."""
    return {
        file.name: (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in folder.iterdir()
    }


@pytest.fixture
def file(tmp_path, arm):
    return write_bag(tmp_path / 'bag', arm, 'sqlite3', count=300)


def log_times(path):
    contents = read_bag(path)
    return contents.joint_states['/joint_states'].log_time, contents.notes


@pytest.mark.parametrize('metadata', [True, False])
@pytest.mark.parametrize('checkpoint', [-1, 50])
def test_messages_in_a_write_ahead_log_are_read_and_nothing_is_changed(
    file, metadata, checkpoint, tmp_path
):
    recorder_killed(file, 'wal', 200, checkpoint)
    (file.parent / 'bag.db3-shm').unlink()
    if not metadata:
        (file.parent / 'metadata.yaml').unlink()
    before = state_of(file.parent)
    assert 'bag.db3-wal' in before
    link = tmp_path / 'link.db3'
    link.symlink_to(file)
    for path in (file, file.parent, link):
        times, notes = log_times(path)
        assert np.array_equal(times, 10_000_000 * np.arange(500))
        in_log = 200 if checkpoint < 0 else 200 - checkpoint
        (note,) = (each for each in notes if 'write-ahead log' in each)
        assert f'{in_log} of 500 messages are in it' in note
        assert state_of(file.parent) == before


def test_an_unfinished_transaction_is_taken_back_in_a_copy(file):
    recorder_killed(file, 'delete', 20_000)
    before = state_of(file.parent)
    assert 'bag.db3-journal' in before
    times, notes = log_times(file)
    assert np.array_equal(times, 10_000_000 * np.arange(300))
    assert 'journal of an unfinished transaction' in notes[0] and '300 are left' in notes[0]
    assert state_of(file.parent) == before


def test_a_file_killed_while_its_log_was_written_back_is_whole(file):
    recorder_killed(file, 'wal', 2000, 1900)
    whole = file.read_bytes()
    with file.open('r+b') as opened:
        opened.truncate(len(whole) - 20 * 4096)
    # Now pages are missing that no log has: what is left is read, and that is told.
    times, notes = log_times(file)
    assert 300 < len(times) < 2300
    assert any('is cut off' in note for note in notes)


def test_pages_that_only_the_log_has_are_not_missing(file):
    recorder_killed(file, 'wal', 2000)
    head = bytearray(file.read_bytes())
    # As after the first page of a checkpoint: the file says how long it will be.
    head[28:32] = (len(head) // 4096 + 100).to_bytes(4, 'big')
    file.write_bytes(head)
    times, notes = log_times(file)
    assert np.array_equal(times, 10_000_000 * np.arange(2300))
    assert not any('is cut off' in note for note in notes)


def test_a_log_that_is_none_is_told(file):
    log = file.with_name('bag.db3-wal')
    log.write_bytes(b'no log at all' * 100)
    times, notes = log_times(file)
    assert len(times) == 300
    assert '0 of 300 messages are in it' in notes[0]


@pytest.mark.parametrize('damaged', ['bag.db3', 'bag.db3-wal'])
def test_a_damaged_log_or_file_is_an_error_or_told_and_stays_as_it_is(file, damaged):
    recorder_killed(file, 'wal', 200)
    place = file.with_name(damaged)
    for damage in damages(place.read_bytes(), flips=10, seed=2, step=10):
        if len(damage.data) <= 32:  # a log without content is as none
            continue
        place.write_bytes(damage.data)
        before = state_of(file.parent)
        try:
            times, notes = log_times(file)
            assert len(times) == 500 or notes, damage.what
        except (BagError, KeyError) as error:
            assert isinstance(error, BagError) or damaged == 'bag.db3', damage.what
            assert '\n' not in str(error)
        assert state_of(file.parent) == before


def test_a_log_belongs_to_the_bag_of_a_campaign(file):
    assert len(files_of(file.parent)) == 2
    recorder_killed(file, 'wal')
    for path in (file, file.parent):
        assert file.with_name('bag.db3-wal') in files_of(path)


def compressed_bag(folder, arm, mode, plugin):
    """Write a bag of one message a file or message, compressed, and return the plain bag's."""
    store = get_typestore(Stores.LATEST)
    kind = 'sensor_msgs/msg/JointState'
    writer = Writer(folder, version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    types = store.types
    with writer:
        topic = writer.add_connection('/joint_states', kind, typestore=store)
        for k in range(100):
            header = types['std_msgs/msg/Header'](
                types['builtin_interfaces/msg/Time'](sec=1 + k, nanosec=0), ''
            )
            values = (np.full(arm.n, float(k)) for _ in range(3))
            message = types[kind](header, list(arm.joint_names), *values)
            writer.write(topic, 10**9 * (1 + k), store.serialize_cdr(message, kind))


@pytest.mark.parametrize('plugin', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize('mode', [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_bags_need_no_metadata(tmp_path, arm, mode, plugin):
    compressed_bag(tmp_path / 'bag', arm, mode, plugin)
    whole = read_bag(tmp_path / 'bag')
    assert not whole.notes
    (tmp_path / 'bag' / 'metadata.yaml').unlink()
    (file,) = (tmp_path / 'bag').iterdir()
    before = state_of(tmp_path / 'bag')
    for path in (tmp_path / 'bag', file):
        states = read_bag(path).joint_states['/joint_states']
        expected = whole.joint_states['/joint_states']
        assert len(states) == 100
        assert np.array_equal(states.tables[0].position, expected.tables[0].position)
    assert state_of(tmp_path / 'bag') == before


def test_a_compressed_file_that_is_cut_off_is_read_until_there(tmp_path, arm):
    compressed_bag(tmp_path / 'bag', arm, CompressionMode.FILE, StoragePlugin.SQLITE3)
    (file,) = (tmp_path / 'bag').glob('*.zstd')
    data = np.random.default_rng(1).bytes(300_000)
    # What cannot be compressed follows, so that whole blocks stand before the cut.
    plain = tmp_path / 'bag.db3'
    zstd = pytest.importorskip('backports.zstd')
    plain.write_bytes(zstd.decompress(file.read_bytes()) + data)
    file.write_bytes(zstd.compress(plain.read_bytes())[:-100_000])
    contents = read_bag(file)
    assert len(contents.joint_states['/joint_states']) == 100
    assert 'is decompressed only up to an error' in contents.notes[0]


def test_a_file_that_was_being_compressed_is_read_once(tmp_path, arm):
    compressed_bag(tmp_path / 'bag', arm, CompressionMode.FILE, StoragePlugin.MCAP)
    (file,) = (tmp_path / 'bag').glob('*.zstd')
    zstd = pytest.importorskip('backports.zstd')
    file.with_name(file.stem).write_bytes(zstd.decompress(file.read_bytes()))
    file.write_bytes(file.read_bytes()[:50])
    (tmp_path / 'bag' / 'metadata.yaml').unlink()
    assert len(read_bag(tmp_path / 'bag').joint_states['/joint_states']) == 100
