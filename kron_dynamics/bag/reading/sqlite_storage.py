# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Block-wise reading of the messages of SQLite files."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.interfaces import (
    Connection,
    ConnectionExtRosbag2,
    MessageDefinition,
    MessageDefinitionFormat,
)
from rosbags.rosbag2.metadata import parse_qos
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader

from kron_dynamics.bag.reading.mcap_records import Batch
from kron_dynamics.bag.reading.table_rows import PageError, Rows, TableFile

_ROWS = 4096  # rows that are fetched from SQLite at a time
_COLUMNS = ['id', 'topic_id', 'timestamp', 'data']
_SELECT = 'SELECT topic_id, timestamp, data FROM messages'
_TABLES = {'schema', 'topics', 'messages', 'message_definitions'}
_SCHEMA = 4  # schema version whose topics and message definitions are read here
_FORMATS = {'ros2msg': MessageDefinitionFormat.MSG, 'ros2idl': MessageDefinitionFormat.IDL}


class RowReader(Sqlite3Reader):
    """Storage reader that reads many rows of the message table at once.

    Attributes:
        in_batches: whether messages of one size are returned as one :class:`Batch`; the messages
            of each topic are in the order of the table.
        damaged: number of rows read that name no topic of the file, or hold no message.
    """

    in_batches = False
    damaged = 0

    def messages(
        self,
        connections: Collection[Connection],
        start: int | None = None,
        stop: int | None = None,
    ) -> Generator[tuple[Connection, int, Any], None, None]:
        """Return an iterator of connection, time of recording (ns) and bytes, in file order."""
        if start is not None or stop is not None:
            yield from super().messages(connections, start, stop)
            return
        wanted = {connection.id: connection for connection in connections}
        if not self.in_batches:
            yield from self._singly(self._all(_SELECT), wanted)
            return
        last: int | None = None  # number of the last row read from the file's pages
        try:
            for rows in self._blocks():
                yield from self._found(rows, wanted)
                last = int(rows.number[-1]) if len(rows.number) else last
        except PageError:
            where, bound = ('', ()) if last is None else (' WHERE _rowid_ > ?', (last,))
            yield from self._selected(wanted, _SELECT + where, bound)

    def _blocks(self) -> Iterator[Rows]:
        """Yield rows from the pages of the file.

        Raises:
            PageError: the pages are unusual; SQLite has to read the remaining rows.
        """
        columns = [(each[1], each[5]) for each in self._all('PRAGMA table_info(messages)')]
        usual = columns == [(name, int(name == 'id')) for name in _COLUMNS]
        if not usual or not isinstance(self.path, Path):
            raise PageError
        ((size,),) = self._all('PRAGMA page_size')
        ((root,),) = self._all("SELECT rootpage FROM sqlite_master WHERE name = 'messages'")
        with self.path.open('rb') as file, ThreadPoolExecutor(1) as pool:
            head = file.read(100)
            table = TableFile(file.fileno(), size, head[20])
            blocks = table.blocks(table.leaves(root))
            # The next pages are read while the current ones are decoded.
            waiting = pool.submit(next, blocks, None)
            while (rows := waiting.result()) is not None:
                waiting = pool.submit(next, blocks, None)
                yield rows

    def _found(
        self, rows: Rows, wanted: Mapping[int, Connection]
    ) -> Iterator[tuple[Connection, int, bytes | Batch]]:
        """Yield the messages of some topics; those of a topic as one batch if of equal size."""
        one = len(rows.topic) > 0 and bool((rows.topic == rows.topic[0]).all())
        topics = rows.topic[:1] if one else np.unique(rows.topic)
        for topic in topics.tolist():
            if topic not in wanted:
                if all(topic != each.id for each in self.connections):
                    self.damaged += int(np.count_nonzero(rows.topic == topic))
                continue
            chosen = np.flatnonzero(rows.topic == topic)
            times, sizes = rows.time[chosen], rows.size[chosen]
            if sizes[0] > 0 and (sizes == sizes[0]).all():
                yield wanted[topic], int(times[0]), Batch(times, rows.data(chosen))
                continue
            for k, time, size in zip(chosen, times.tolist(), sizes.tolist(), strict=True):
                if size < 0:
                    query = _SELECT + ' WHERE _rowid_ = ?'
                    yield from self._selected(wanted, query, (int(rows.number[k]),))
                else:
                    begin = int(rows.start[k])
                    yield wanted[topic], time, rows.content[begin : begin + size].tobytes()

    def _selected(
        self, wanted: Mapping[int, Connection], query: str, bound: tuple[int, ...]
    ) -> Iterator[tuple[Connection, int, bytes | Batch]]:
        """Yield messages read by SQLite, in the order of the table, which needs no index."""
        rows = iter(self._all(query, bound))
        while found := list(islice(rows, _ROWS)):
            topics, times, data = zip(*found, strict=True)
            topic = topics[0]
            if topic in wanted and topics.count(topic) == len(topics):
                batch = _joined_batch(times, data)
                if batch is not None:
                    yield wanted[topic], times[0], batch
                    continue
            yield from self._singly(found, wanted)

    def _singly(
        self, rows: Iterable[Any], wanted: Mapping[int, Connection]
    ) -> Iterator[tuple[Connection, int, bytes]]:
        others = {each.id for each in self.connections} - wanted.keys()
        for topic, time, message in rows:
            if topic in wanted and isinstance(message, bytes) and isinstance(time, int):
                yield wanted[topic], time, message
            elif topic not in others:
                self.damaged += 1

    def _all(self, query: str, bound: tuple[int, ...] = ()) -> Any:
        assert self.dbconn is not None
        return self.dbconn.execute(query, bound)


class UncountedRowReader(RowReader):
    """Reader of a bag's file that leaves message counts to metadata.yaml.

    The base class counts the messages of each topic, for which SQLite sorts the whole table. The
    counts of the connections are 0 here.
    """

    def _open(self) -> None:
        tables = {
            name for (name,) in self._all("SELECT name FROM sqlite_master WHERE type='table'")
        }
        usual = tables >= _TABLES
        if not usual or list(self._all('SELECT schema_version FROM schema')) != [(_SCHEMA,)]:
            super()._open()
            return
        definitions = {
            name: MessageDefinition(_FORMATS[encoding], text)
            for name, encoding, text in self._all(
                'SELECT topic_type, encoding, encoded_message_definition FROM message_definitions '
                'ORDER BY id DESC'  # the first definition of a type is used
            )
            if encoding in _FORMATS
        }
        none = MessageDefinition(MessageDefinitionFormat.NONE, '')
        self.schema = _SCHEMA
        self.connections = [
            Connection(
                number,
                topic,
                kind,
                definitions.get(kind, none),
                digest,
                0,
                ConnectionExtRosbag2(serialization, parse_qos(profiles)),
                self,
            )
            for number, topic, kind, serialization, profiles, digest in self._all(
                'SELECT id, name, type, serialization_format, offered_qos_profiles, '
                'type_description_hash FROM topics ORDER BY id'
            )
        ]


def _joined_batch(times: Sequence[int], data: Sequence[bytes]) -> Batch | None:
    """Return messages as one batch; None if their sizes differ or a row is no message."""
    try:
        joined, size = b''.join(data), len(data[0])
        if not size or not all(map(size.__eq__, map(len, data))):
            return None
        stamps = np.array(times, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    return Batch(stamps, np.frombuffer(joined, np.uint8).reshape(len(data), size))
