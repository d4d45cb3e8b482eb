# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writing the series of an analysis as an MCAP file, against rosbags per message: target 13."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from benchmarks.robots import description
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, check_equal, compare, pinned
from kron_dynamics import loads
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.enriched_bag import EnrichedBag, field_of
from kron_dynamics.bag.outputs.series import Quantity, SeriesBlock, quantities_of, series_blocks
from kron_dynamics.bag.outputs.slow_series import NO_PHASE
from kron_dynamics.bag.phases import KINDS
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.robot import Robot

SAMPLES = 5_000
_STORE: Any = get_typestore(Stores.LATEST)
_TYPES = _STORE.types
_STATES = 'sensor_msgs/msg/JointState'
_TEXT = 'std_msgs/msg/String'
_ROUNDS = 5


def writing(rounds: int) -> Outcome:
    """Compare both ways of writing an analysis of a UR5."""
    with tempfile.TemporaryDirectory() as name, pinned():
        folder = Path(name)
        robot = loads(description('ur5').text)
        _record(robot, folder / 'bag')
        (folder / 'ur5.urdf').write_text(description('ur5').text, encoding='utf-8')
        (run,) = analyze_bag(folder / 'bag', urdf=folder / 'ur5.urdf').runs
        names = {'replay': run.replay, 'blocks': list(series_blocks(run))}
        ours = PythonTask(
            'kron_dynamics',
            'write(path, replay, blocks)',
            'contents(path)',
            write=_write,
            contents=_contents,
            path=folder / 'ours.mcap',
            **names,
        )
        theirs = PythonTask(
            'rosbags',
            'write(path, replay, blocks)',
            'contents(path)',
            write=_write_one_by_one,
            contents=_contents,
            path=folder / 'theirs',
            **names,
        )
        check_equal(ours, theirs, 0.0)
        return Outcome.of(compare(ours, theirs, min(rounds, _ROUNDS)))


def _record(robot: Robot, path: Path) -> None:
    """Write a recording of a robot's motion and its efforts, at 500 Hz."""
    time = np.arange(SAMPLES) / 500.0
    rate = 0.7 + 0.31 * np.arange(robot.n)
    angle = np.outer(time, rate) + np.arange(robot.n)
    motion = 0.5 * np.sin(angle), 0.5 * rate * np.cos(angle), -0.5 * rate**2 * np.sin(angle)
    efforts = robot.inverse_dynamics(*motion)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', _STATES, typestore=_STORE)
        for k, values in enumerate(zip(*motion[:2], efforts, strict=True)):
            stamp = 2_000_000 * k
            message = _TYPES[_STATES](_header(stamp), list(robot.joint_names), *values)
            writer.write(topic, stamp, _STORE.serialize_cdr(message, _STATES))


def _write(path: Path, replay: Replay, blocks: Sequence[SeriesBlock]) -> None:
    with EnrichedBag(path) as bag:
        bag.begin(replay)
        for block in blocks:
            bag.add(block)


def _write_one_by_one(path: Path, replay: Replay, blocks: Sequence[SeriesBlock]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        topics = []
        for quantity in quantities_of(replay):
            kind = _kind(quantity)
            name = f'/analysis/joint_states/{quantity.key}'
            topics.append((quantity, writer.add_connection(name, kind, typestore=_STORE)))
        phases = writer.add_connection('/analysis/joint_states/phase', _TEXT, typestore=_STORE)
        last = None
        for block in blocks:
            for k in np.flatnonzero(block.compared):
                stamp = round(block.time[k] * 1e9)
                phase = block.segment, int(block.phase[k])
                if phase[1] != NO_PHASE and phase != last:
                    last = phase
                    text = _TYPES[_TEXT](data=KINDS[phase[1]])
                    writer.write(phases, stamp, _STORE.serialize_cdr(text, _TEXT))
                for quantity, connection in topics:
                    values = block.values[quantity.key][k]
                    if np.isfinite(values).any():
                        message = _message(quantity, stamp, values, replay.robot.model.root_link)
                        data = _STORE.serialize_cdr(message, connection.msgtype)
                        writer.write(connection, stamp, data)


def _kind(quantity: Quantity) -> str:
    if quantity.owner != 'tip':
        return _STATES
    return f'geometry_msgs/msg/{"Twist" if quantity.key == "tip_velocity" else "Accel"}Stamped'


def _message(quantity: Quantity, stamp: int, values: np.ndarray, root_link: str) -> Any:
    kind = _kind(quantity)
    if kind == _STATES:
        arrays = {name: np.zeros(0) for name in ('position', 'velocity', 'effort')}
        arrays[field_of(quantity)] = np.ascontiguousarray(values)
        return _TYPES[kind](header=_header(stamp), name=list(quantity.columns), **arrays)
    vector = _TYPES['geometry_msgs/msg/Vector3']
    halves = _TYPES[kind.removesuffix('Stamped')](vector(*values[:3]), vector(*values[3:]))
    return _TYPES[kind](_header(stamp, root_link), halves)


def _header(stamp: int, frame_id: str = '') -> Any:
    time = _TYPES['builtin_interfaces/msg/Time'](*divmod(stamp, 1_000_000_000))
    return _TYPES['std_msgs/msg/Header'](time, frame_id)


def _contents(path: Path) -> list[list[float]]:
    """Return times and digests of topics and bytes of all messages, by topic and time."""
    with AnyReader([path]) as reader:
        found = sorted((c.topic, time, bytes(data)) for c, time, data in reader.messages())
    return [
        [time for _, time, _ in found],
        [_digest(topic.encode()) for topic, _, _ in found],
        [_digest(data) for _, _, data in found],
    ]


def _digest(data: bytes) -> int:
    # Six bytes are an integer that float64 holds exactly.
    return int.from_bytes(hashlib.blake2b(data, digest_size=6).digest(), 'little')
