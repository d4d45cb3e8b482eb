# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The recomputed series as an MCAP file, for PlotJuggler and Foxglove.

Each quantity of a run is a topic below ``/analysis`` and the run's own topic: a
sensor_msgs/JointState for joints, a geometry_msgs/TwistStamped or AccelStamped for the tip; a
std_msgs/String is published at the beginning of each phase.
Rows that are not compared are left out. Stamps are those of the recording. Times of recording have
the same offset to the stamps as those of the joint states, so that both files can be shown
together.
"""

from __future__ import annotations

import contextlib
import shutil
from itertools import chain, count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.bag.outputs.mcap_blocks import BlockWriter
from kron_dynamics.bag.outputs.series import Quantity, SeriesBlock, quantities_of
from kron_dynamics.bag.outputs.slow_series import NO_PHASE
from kron_dynamics.bag.phases import KINDS
from kron_dynamics.bag.reading.own_results import PREFIX
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.joint_state_layout import STAMP, joint_state_layout
from kron_dynamics.typing import FloatArray, IntArray

_ROWS = 1024  # rows whose messages are written together
_SECOND = 1_000_000_000
_STORE = get_typestore(Stores.LATEST)
_TYPES = _STORE.types


class _Topic(NamedTuple):
    """A topic of one quantity.

    Attributes:
        key: key of the quantity.
        connection: connection of the writer.
        message: serialized template with zeros for stamp and numbers.
        numbers: offset of the numbers in it.
    """

    key: str
    connection: Any
    message: bytes
    numbers: int


class EnrichedBag:
    """An MCAP file of recomputed series; a context that completes the file at its end."""

    def __init__(self, path: Path) -> None:
        """Make a file.

        Args:
            path: the file; an existing one is replaced at the end.
        """
        self._path = path
        # rosbags writes a folder that contains one file with the folder's name.
        self._folder = path.with_name(f'.{path.stem}')
        shutil.rmtree(self._folder, ignore_errors=True)  # left over from a killed process
        self._writer = BlockWriter(self._folder)
        self._bases: set[str] = set()
        self._topics: list[_Topic] = []
        self._phase: tuple[int, int] | None = None  # segment and phase last written

    def __enter__(self) -> EnrichedBag:
        """Begin to write."""
        self._writer.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Complete the file; after an error no file is written."""
        try:
            if error is None:
                self._writer.close()
                (self._folder / f'{self._folder.name}.mcap').replace(self._path)
            else:
                with contextlib.suppress(OSError):  # the first error is raised
                    self._writer.close()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def begin(self, replay: Replay) -> None:
        """Create the topics of a run, before its blocks are added."""
        whole = f'{PREFIX}/{replay.run.topic.lstrip("/")}'
        # Topics may differ by a slash at the start only.
        numbered = chain([whole], (f'{whole}_{number}' for number in count(2)))
        base = next(name for name in numbered if name not in self._bases)
        self._bases.add(base)
        self._log = replay.run.log
        self._topics = []
        for quantity in quantities_of(replay):
            kind, message, numbers = _template(quantity, replay.robot.model.root_link)
            connection = self._writer.add_connection(
                f'{base}/{quantity.key}', kind, typestore=_STORE
            )
            self._topics.append(_Topic(quantity.key, connection, message, numbers))
        self._phase = None
        self._phases = self._writer.add_connection(
            f'{base}/phase', 'std_msgs/msg/String', typestore=_STORE
        )

    def add(self, block: SeriesBlock) -> None:
        """Write the compared rows of a block."""
        rows = np.flatnonzero(block.compared)
        log = self._log
        late = int(log.epoch_delays[block.epoch])
        for first in range(0, len(rows), _ROWS):
            some = rows[first : first + _ROWS]
            stamps = log.origin + np.rint(block.time[some] * _SECOND).astype(np.int64)
            recorded = stamps + late
            self._add_phases(block.segment, block.phase[some], recorded)
            for topic in self._topics:
                values = block.values[topic.key][some]
                known = np.isfinite(values).any(axis=1)
                if known.any():
                    messages = _messages(topic, stamps[known], values[known])
                    self._writer.write_rows(topic.connection, recorded[known], messages)
            self._writer.end_block()

    def _add_phases(self, segment: int, phase: IntArray, recorded: IntArray) -> None:
        """Write the phases that begin in some rows; rows in no phase do not end a phase."""
        for k in np.flatnonzero(np.diff(phase, prepend=NO_PHASE - 1)):
            now = segment, int(phase[k])
            if now[1] != NO_PHASE and now != self._phase:
                self._phase = now
                text = _TYPES['std_msgs/msg/String'](data=KINDS[now[1]])
                data = bytes(_STORE.serialize_cdr(text, 'std_msgs/msg/String'))
                message = np.frombuffer(data, dtype=np.uint8)[None, :]
                self._writer.write_rows(self._phases, recorded[k : k + 1], message)


def _messages(topic: _Topic, stamps: IntArray, values: FloatArray) -> Any:
    """Return serialized messages as rows of bytes, shape (N, size)."""
    rows = np.tile(np.frombuffer(topic.message, dtype=np.uint8), (len(stamps), 1))
    time = np.empty((len(stamps), 2), dtype='<u4')
    time[:, 0], time[:, 1] = np.divmod(stamps, _SECOND)
    rows[:, STAMP] = time.view(np.uint8)
    end = topic.numbers + 8 * values.shape[1]
    rows[:, topic.numbers : end] = np.ascontiguousarray(values, dtype='<f8').view(np.uint8)
    return rows


def _template(quantity: Quantity, root_link: str) -> tuple[str, bytes, int]:
    """Return type, template bytes and offset of the numbers of a quantity's messages."""
    stamp = _TYPES['builtin_interfaces/msg/Time'](sec=0, nanosec=0)
    if quantity.owner != 'tip':
        field = field_of(quantity)
        numbers = {name: np.zeros(0) for name in ('position', 'velocity', 'effort')}
        numbers[field] = np.zeros(len(quantity.columns))
        kind = 'sensor_msgs/msg/JointState'
        header = _TYPES['std_msgs/msg/Header'](stamp=stamp, frame_id='')
        message = _TYPES[kind](header=header, name=list(quantity.columns), **numbers)
        data = bytes(_STORE.serialize_cdr(message, kind))
        layout = joint_state_layout(data)
        assert layout is not None
        return kind, data, next(at for count, at in layout.numbers if count)
    vector = _TYPES['geometry_msgs/msg/Vector3']
    inner, field = ('Twist', 'twist') if quantity.key == 'tip_velocity' else ('Accel', 'accel')
    parts = _TYPES[f'geometry_msgs/msg/{inner}'](
        linear=vector(0.0, 0.0, 0.0), angular=vector(0.0, 0.0, 0.0)
    )
    header = _TYPES['std_msgs/msg/Header'](stamp=stamp, frame_id=root_link)
    kind = f'geometry_msgs/msg/{inner}Stamped'
    data = bytes(_STORE.serialize_cdr(_TYPES[kind](header=header, **{field: parts}), kind))
    return kind, data, len(data) - 6 * 8


def field_of(quantity: Quantity) -> str:
    """Return the JointState field that holds a quantity of joints.

    Efforts and their rates are in ``effort``, other rates in ``velocity``.
    """
    unit = quantity.units[0]
    if unit.startswith('N'):
        return 'effort'
    return 'velocity' if '/s' in unit else 'position'
