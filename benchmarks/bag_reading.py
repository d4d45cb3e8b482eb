# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the joint states of a long bag into arrays, against rosbags: target 13."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, check_equal, compare, pinned
from kron_dynamics.bag import read_bag

MESSAGES = 200_000
_JOINTS = 7
_TOPIC, _KIND = '/joint_states', 'sensor_msgs/msg/JointState'
_ARRAYS = ('position', 'velocity', 'effort')
_STORE: Any = get_typestore(Stores.LATEST)
_ROUNDS = 5


def reading(storage: str, rounds: int) -> Outcome:
    """Compare `read_bag` with deserializing each message, on one file in the page cache."""
    with tempfile.TemporaryDirectory() as folder, pinned():
        path = Path(folder) / 'bag'
        _write(path, storage)
        ours = PythonTask(
            'read_bag',
            'states = read_bag(path).joint_states[topic]',
            '[states.stamp, *(getattr(states.tables[0], name) for name in arrays)]',
            read_bag=read_bag,
            path=path,
            topic=_TOPIC,
            arrays=_ARRAYS,
        )
        theirs = PythonTask(
            'rosbags',
            'messages = deserialized(path)',
            '[[m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages],'
            ' *([getattr(m, name) for m in messages] for name in arrays)]',
            deserialized=_deserialized,
            path=path,
            arrays=_ARRAYS,
        )
        check_equal(ours, theirs, 0.0)
        return Outcome.of(compare(ours, theirs, min(rounds, _ROUNDS)))


def _write(path: Path, storage: str) -> None:
    types, rng = _STORE.types, np.random.default_rng(5)
    names = [f'panda_joint{k + 1}' for k in range(_JOINTS)]
    with Writer(path, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        topic = writer.add_connection(_TOPIC, _KIND, typestore=_STORE)
        for k, values in enumerate(rng.uniform(-3, 3, (MESSAGES, 3, _JOINTS))):
            sec, nanosec = divmod(k * 1_000_000, 1_000_000_000)
            stamp = types['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec)
            header = types['std_msgs/msg/Header'](stamp=stamp, frame_id='')
            message = types[_KIND](header, names, *values)
            writer.write(topic, k * 1_000_000, _STORE.serialize_cdr(message, _KIND))


def _deserialized(path: Path) -> list[Any]:
    with Reader(path) as reader:
        return [
            _STORE.deserialize_cdr(data, connection.msgtype)
            for connection, _, data in reader.messages()
        ]
