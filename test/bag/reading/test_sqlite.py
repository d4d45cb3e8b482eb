# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SQLite files: messages from their pages are the rows that SQLite itself finds."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from bag_damage import write_bag
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader

from kron_dynamics.bag.reading.mcap_storage import BagReader
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.reading.sqlite_storage import RowReader, UncountedRowReader

START = 1_700_000_000_000_000_000


@pytest.fixture(scope='module')
def recording(tmp_path_factory, arm):
    """A recording of joint states, then other topics between them and times of all lengths."""
    path = write_bag(tmp_path_factory.mktemp('recording') / 'bag', arm, 'sqlite3', count=1500)
    rng = np.random.default_rng(1)
    sizes = [0, 1, 57, 58, 300, 301, 4060, 4070, 9000, 50_000]
    rows = [
        (
            int(rng.integers(1, 4)),
            int(rng.choice([0, 1, -5, 200, -40_000, START, START + k])),
            rng.bytes(int(rng.choice(sizes, p=[0.1] * 3 + [0.2] * 2 + [0.06] * 5))),
        )
        for k in range(1500)
    ]
    change(path, 'INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', rows)
    others = [(k, f'/other_{k}', 'a/msg/B', 'cdr', '', '') for k in (2, 3)]
    change(path, 'INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)', others)
    return path


@pytest.fixture
def file(recording, tmp_path):
    """A copy of it, which a test may change."""
    return shutil.copy(recording, tmp_path / recording.name)


def change(path, command, rows=None):
    with closing(sqlite3.connect(path)) as database:
        if rows is None:
            database.execute(command)
        else:
            database.executemany(command, rows)
        database.commit()
        database.execute('VACUUM')


def expected(path, topics):
    """Times and bytes of each topic, by SQLite."""
    found = {topic: [] for topic in topics}
    with closing(sqlite3.connect(path)) as database:
        query = 'SELECT topic_id, timestamp, data FROM messages ORDER BY _rowid_'
        for topic, time, data in database.execute(query):
            if topic in found and isinstance(data, bytes) and isinstance(time, int):
                found[topic].append((time, data))
    return found


def read(path, topics):
    found = {topic: [] for topic in topics}
    with BagReader(path) as reader:
        for connection, time, data in reader.batches(
            [each for each in reader.connections if each.id in topics]
        ):
            if isinstance(data, bytes):
                found[connection.id].append((time, data))
            else:
                rows = [row.tobytes() for row in data.rows]
                found[connection.id] += zip(data.times.tolist(), rows, strict=True)
    return found


@pytest.fixture
def queries(monkeypatch):
    """What SQLite was asked for."""
    asked, selected = [], RowReader._selected

    def recorded(self, wanted, query, bound):
        asked.append((query, bound))
        return selected(self, wanted, query, bound)

    monkeypatch.setattr(RowReader, '_selected', recorded)
    return asked


def test_messages_and_their_order_in_a_topic_are_those_of_sqlite(file, queries):
    for size in (512, 4096, 65536):
        change(file, f'PRAGMA page_size = {size}')
        change(file, 'DELETE FROM messages WHERE id % 7 = 3 AND id > 5')
        for topics in ([1], [2], [1, 2, 3]):
            assert read(file, topics) == expected(file, topics)
        # Only what is longer than a page is left to SQLite, and only that of the topics wanted.
        assert all('_rowid_ =' in query for query, _ in queries)
        queries.clear()
        longer = sum(len(data) > size - 60 for _, data in expected(file, [2])[2])
        read(file, [2])
        assert len(queries) == longer


@pytest.mark.parametrize('schema', [3, 4])
def test_topics_of_a_file_are_those_of_rosbags_without_their_counts(file, schema):
    change(file, f'UPDATE schema SET schema_version = {schema}')
    definitions = [
        ('a/msg/B', 'ros2msg', 'int8 first', ''),
        ('a/msg/B', 'ros2idl', 'int8 second', ''),
        ('c/msg/D', 'unknown', '', ''),
    ]
    names = 'topic_type, encoding, encoded_message_definition, type_description_hash'
    change(file, f'INSERT INTO message_definitions ({names}) VALUES (?, ?, ?, ?)', definitions)
    found = {}
    for kind in (Sqlite3Reader, UncountedRowReader):
        reader = kind(file)
        reader.open()
        found[kind] = [each._replace(owner=None) for each in reader.connections]
        reader.close()
    expected = found[Sqlite3Reader]
    if schema == 4:  # of others rosbags counts, too
        assert [bool(each.msgdef.data) for each in expected] == [True] * 3
        assert all(each.msgcount for each in expected)
        expected = [each._replace(msgcount=0) for each in expected]
    assert found[UncountedRowReader] == expected


def test_joint_states_come_in_batches_without_sqlite(file, queries):
    change(file, 'DELETE FROM messages WHERE id > 1500')
    with BagReader(file) as reader:
        found = [data for _, _, data in reader.batches(reader.connections)]
    # Times of the first take fewer bytes; these stand between them.
    assert sum(len(getattr(data, 'times', '.')) for data in found) == 1500
    assert len(found) < 10
    assert not queries


@pytest.mark.parametrize(
    'commands',
    [
        ["UPDATE messages SET data = 'a text' WHERE id = 2000"],
        ['UPDATE messages SET timestamp = 1.5 WHERE id = 2000'],
        ['ALTER TABLE messages ADD COLUMN more TEXT'],
        [
            'ALTER TABLE messages RENAME TO old',
            'CREATE TABLE messages (data BLOB, timestamp INTEGER, topic_id INTEGER, id)',
            'INSERT INTO messages SELECT data, timestamp, topic_id, id FROM old',
        ],
        [
            'ALTER TABLE messages RENAME TO old',
            'CREATE TABLE messages (id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, '
            'data BLOB) WITHOUT ROWID',
            'INSERT INTO messages SELECT * FROM old',
        ],
    ],
)
def test_what_is_not_as_usual_is_left_to_sqlite(file, queries, commands):
    for command in commands:
        change(file, command)
    query = 'SELECT topic_id, timestamp, data FROM messages'
    with closing(sqlite3.connect(file)) as database:
        rows = [row for row in database.execute(query) if row[0] in (1, 2)]
    usual = [row for row in rows if isinstance(row[2], bytes) and isinstance(row[1], int)]
    assert len(usual) >= len(rows) - 1
    found = read(file, [1, 2])
    assert found == {k: [row[1:] for row in usual if row[0] == k] for k in (1, 2)}
    assert queries


@pytest.mark.parametrize('command', ['VACUUM', 'ALTER TABLE messages ADD COLUMN more TEXT'])
def test_topics_whose_messages_have_the_same_size_are_kept_apart(file, command):
    change(file, 'UPDATE messages SET data = randomblob(64)')
    change(file, command)
    for topics in ([2], [1, 2, 3]):
        assert read(file, topics) == expected(file, topics)


def test_damaged_pages_are_told_by_sqlite(file):
    content = bytearray(file.read_bytes())
    with closing(sqlite3.connect(file)) as database:
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'")
    content[4096 * (root - 1)] = 0x77
    file.write_bytes(content)
    with pytest.raises(Exception, match='malformed'):
        read(file, [1])


@pytest.mark.parametrize('by_sqlite', [False, True])
@pytest.mark.parametrize(
    ('change_of_rows', 'count'),
    [
        ('topic_id = 0 WHERE id IN (7, 9)', 2),
        ('topic_id = 99 WHERE id < 1501', 1500),
        ("timestamp = 'late' WHERE id = 8", 1),
        ("data = 'text' WHERE id = 8", 1),
    ],
)
def test_rows_without_a_topic_or_a_message_are_told(file, change_of_rows, count, by_sqlite):
    if by_sqlite:  # which reads a table with another column
        change(file, 'ALTER TABLE messages ADD COLUMN more')
    before = read_bag(file)
    assert not any('damaged' in note for note in before.notes)
    change(file, f'UPDATE messages SET {change_of_rows}')
    found = read_bag(file)
    assert f'{count} rows of the table of messages are damaged: not read' in found.notes
    lost = sum(map(len, before.joint_states.values())) - sum(map(len, found.joint_states.values()))
    assert lost == count
