# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and analysing a million joint states, against rosbags only reading: target 13."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import kron_dynamics as kd
from benchmarks.robots import ROOT, description
from benchmarks.rows import Outcome
from benchmarks.timing import PEAK_MEMORY, Spread

MESSAGES = 1_000_000
_BLOCK = 20_000  # messages that are generated together
_ROUNDS = 3
_PERIOD = 0.001  # s
_STORE: Any = get_typestore(Stores.LATEST)
_KIND = 'sensor_msgs/msg/JointState'

# Each task runs in a process of its own, so that its peak memory can be measured.
_OURS = """
from kron_dynamics.bag import analyze_bag
import kron_dynamics.bag.reading.mcap_storage
from rosbags.typesys import Stores, get_typestore
get_typestore(Stores.LATEST)  # imports the definitions of ROS 2: as theirs, before time is taken
started = time.perf_counter()
analysis = analyze_bag(bag, urdf=urdf)
seconds = time.perf_counter() - started
assert analysis.runs[0].replay.run.log.message_count == count
"""
_THEIRS = """
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
store, found = get_typestore(Stores.LATEST), 0
started = time.perf_counter()
with Reader(bag) as reader:
    for connection, _, data in reader.messages():
        store.deserialize_cdr(data, connection.msgtype)
        found += 1
seconds = time.perf_counter() - started
assert found == count
"""
_BEGIN = 'import sys, time\nbag, urdf, count = sys.argv[1], sys.argv[2], int(sys.argv[3])\n'
_END = f"""
import json; print(json.dumps([seconds, {PEAK_MEMORY}]))
"""


@functools.cache
def _measured(storage: str, count: int, rounds: int) -> tuple[tuple[float, float, float], ...]:
    """Return our time, s, the time of rosbags, s, and our peak memory, MB, for each round."""
    robot = kd.loads(description('ur5').text)
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / 'ur5.urdf'
        urdf.write_text(description('ur5').text)
        bag = Path(folder) / 'bag'
        _write(bag, storage, robot, count)
        found = []
        for _ in range(rounds):
            theirs, _ = _run(_THEIRS, bag, urdf, count)
            ours, memory = _run(_OURS, bag, urdf, count)
            found.append((ours, theirs, memory))
        return tuple(found)


def share(storage: str, rounds: int) -> Outcome:
    """Return our time as a share of the time of rosbags."""
    found = np.array(_measured(storage, MESSAGES, min(rounds, _ROUNDS)))
    return Outcome(
        Spread.of((found[:, 0] / found[:, 1]).tolist()),
        float(np.median(found[:, 0])),
        float(np.median(found[:, 1])),
    )


def memory(storage: str, rounds: int) -> Outcome:
    """Return the peak memory of the analysis, MB."""
    found = np.array(_measured(storage, MESSAGES, min(rounds, _ROUNDS)))
    return Outcome(Spread.of(found[:, 2].tolist()))


def _run(task: str, bag: Path, urdf: Path, count: int) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, '-c', _BEGIN + task + _END, str(bag), str(urdf), str(count)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    seconds, megabytes = json.loads(done.stdout)
    return float(seconds), float(megabytes)


def _write(path: Path, storage: str, robot: kd.Robot, count: int) -> None:
    """Write a recording of a motion and its efforts, both with noise."""
    types, rng = _STORE.types, np.random.default_rng(1)
    frequency, phase = rng.uniform(0.5, 2.0, (3, 6)), rng.uniform(0.0, 6.0, (3, 6))
    names = list(robot.joint_names)
    writer = Writer(
        path, version=9, storage_plugin=StoragePlugin[storage.partition('-')[0].upper()]
    )
    if storage.endswith('zstd'):
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        topic = writer.add_connection('/joint_states', _KIND, typestore=_STORE)
        for first in range(0, count, _BLOCK):
            time = _PERIOD * np.arange(first, min(first + _BLOCK, count))
            angle = time[:, None, None] * frequency + phase
            q = 0.4 * np.sin(angle).sum(axis=1)
            qd = 0.4 * (frequency * np.cos(angle)).sum(axis=1)
            effort = robot.inverse_dynamics(
                q, qd, -0.4 * (frequency**2 * np.sin(angle)).sum(axis=1)
            )
            noise = rng.normal(size=(3, *q.shape))
            values = (q + 1e-5 * noise[0], qd + 1e-3 * noise[1], effort + 0.3 * noise[2])
            for k, row in enumerate(zip(*values, strict=True), start=first):
                sec, nanosec = divmod(k * 1_000_000, 1_000_000_000)
                stamp = types['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec)
                header = types['std_msgs/msg/Header'](stamp=stamp, frame_id='')
                message = types[_KIND](header, names, *row)
                writer.write(topic, k * 1_000_000, _STORE.serialize_cdr(message, _KIND))
