# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of what a dynamics analysis needs from a rosbag2 recording, without ROS.

Only messages of three types are decoded (sensor_msgs/JointState, geometry_msgs/AccelStamped and
the std_msgs/String of topics named ``robot_description``); everything else in the bag is left
alone, whatever its type. Their layout is the same in every ROS 2 distribution, so the definitions
come from the reading library and a bag without embedded definitions reads the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kron_dynamics.bag.cut_mcap import CutFile, is_cut_off
from kron_dynamics.bag.joint_state_decoding import JointStateDecoder
from kron_dynamics.bag.joint_states import JointStates
from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.bag.mcap_storage import BagReader

JOINT_STATE = 'sensor_msgs/msg/JointState'
ACCELERATION = 'geometry_msgs/msg/AccelStamped'
TEXT = 'std_msgs/msg/String'
# Names of the topics of such texts that are read.
DESCRIPTIONS = ('robot_description', 'robot_constraints')
STORAGE_SUFFIXES = ('.mcap', '.db3')


@dataclass(frozen=True)
class AccelerationMessage:
    """One geometry_msgs/AccelStamped.

    Attributes:
        log_time: time of recording, in ns.
        stamp: time in the header, in ns.
        frame_id: frame whose axes the components refer to.
        acceleration: linear (m/s^2) then angular (rad/s^2) components, shape (6,).
    """

    log_time: int
    stamp: int
    frame_id: str
    acceleration: FloatArray


@dataclass(frozen=True)
class BagContents:
    """What :func:`read_bag` found; everything is in the order of recording.

    Attributes:
        path: where the bag is.
        message_counts: messages of each topic of the bag, decoded or not.
        joint_states: what the messages of each JointState topic say.
        accelerations: decoded messages of each AccelStamped topic.
        robot_descriptions: distinct texts of each ``robot_description`` topic.
        robot_constraints: distinct texts of each ``robot_constraints`` topic.
        undecodable: messages of each topic whose bytes do not fit their type.
        notes: oddities of the storage that a reader of the report should know.
    """

    path: Path
    message_counts: dict[str, int] = field(default_factory=dict)
    joint_states: dict[str, JointStates] = field(default_factory=dict)
    accelerations: dict[str, list[AccelerationMessage]] = field(default_factory=dict)
    robot_descriptions: dict[str, list[str]] = field(default_factory=dict)
    robot_constraints: dict[str, list[str]] = field(default_factory=dict)
    undecodable: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_bag(path: str | Path) -> BagContents:
    """Return the joint states, accelerations and robot descriptions of a recording.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.

    Raises:
        BagError: there is no bag, it is damaged, or the library ``rosbags`` is missing.
    """
    contents = BagContents(Path(path))
    decoders: dict[str, JointStateDecoder] = {}
    storages = _storages(contents)
    unread = []
    for storage in storages:
        try:
            _read_storage(storage, contents, decoders)
        except BagError as error:
            unread.append(error)
            contents.notes.append(f"'{storage.name}' is left out from where it fails: {error}")
    if unread and len(unread) == len(storages):
        raise unread[0]
    found: dict[str, JointStates] = {}
    for topic, decoder in decoders.items():
        states, undecodable = decoder.finish()
        if len(states):
            found[topic] = states
        if undecodable:
            contents.undecodable[topic] = undecodable
    contents.joint_states.update(sorted(found.items(), key=lambda item: item[1].log_time[0]))
    return contents


def _storages(contents: BagContents) -> list[Path]:
    """Return what to open: the bag itself, or its files if it was never closed."""
    path = contents.path
    if not path.exists():
        raise BagError(f"no bag at '{path}'")
    if not path.is_dir():
        if path.suffix not in STORAGE_SUFFIXES:
            raise BagError(
                f"'{path}' is not a bag: expected a rosbag2 directory or a file ending in "
                f'{" or ".join(STORAGE_SUFFIXES)}'
            )
        return [path]
    files = [entry for entry in path.iterdir() if entry.suffix in STORAGE_SUFFIXES]
    files.sort(key=lambda file: (len(file.name), file.name))  # they end in _0, _1, ..., _10
    if (path / 'metadata.yaml').exists():
        # Those of a bag that was copied in part are read one by one: rosbags opens all or none.
        return files if any(is_cut_off(file) for file in files) else [path]
    if not files:
        raise BagError(f"'{path}' holds neither metadata.yaml nor a .mcap or .db3 file")
    contents.notes.append('metadata.yaml is missing (recorder not closed?): read file by file')
    return files


def _read_storage(
    path: Path, contents: BagContents, decoders: dict[str, JointStateDecoder]
) -> None:
    try:
        from rosbags.typesys import Stores, get_typestore

        from kron_dynamics.bag.mcap_storage import BagReader
    except ImportError as error:
        raise BagError(
            "reading a bag needs the Python package 'rosbags', 0.11 or later (pip install "
            f"'rosbags >= 0.11'): {error}"
        ) from error
    store = get_typestore(Stores.LATEST)
    try:
        if path.is_file() and is_cut_off(path):
            cut = CutFile(path)
            left = sum(connection.msgcount for connection in cut.connections)
            lost = f', without {cut.lost_chunks} damaged chunks' if cut.lost_chunks else ''
            contents.notes.append(
                f"'{path.name}' is cut off (recorder not closed?): "
                f'its first {left} messages are read{lost}'
            )
            _decode_messages(cut, store, contents, decoders)
        else:
            with BagReader(path) as reader:
                _decode_messages(reader, store, contents, decoders)
    # The storage layers below raise whatever their format library raises (sqlite, zstd, yaml,
    # KeyError for a foreign schema, ...); to the caller each of them means a damaged bag.
    except Exception as error:
        raise BagError(f"cannot read bag '{path}': {_one_line(error)}") from error


def _decode_messages(
    reader: BagReader | CutFile,
    store: Any,
    contents: BagContents,
    decoders: dict[str, JointStateDecoder],
) -> None:
    from rosbags.serde import SerdeError

    def decode(data: bytes, kind: str) -> Any:
        try:
            return store.deserialize_cdr(data, kind)
        except SerdeError:
            return None

    connections: Any = reader.connections
    adders = {}
    for connection in connections:
        topic, kind = connection.topic, connection.msgtype
        count = contents.message_counts.get(topic, 0)
        contents.message_counts[topic] = count + connection.msgcount
        if kind == JOINT_STATE:
            decoder = decoders.setdefault(topic, JointStateDecoder(partial(decode, kind=kind)))
            adders[connection.id] = decoder.add
        elif kind == ACCELERATION or (kind == TEXT and topic.rsplit('/', 1)[-1] in DESCRIPTIONS):
            adders[connection.id] = partial(
                _add_decoded, contents, topic, partial(decode, kind=kind)
            )
    if not adders:
        return
    wanted = [connection for connection in connections if connection.id in adders]
    for connection, log_time, data in reader.messages(wanted):
        adders[connection.id](log_time, data)


def _add_decoded(
    contents: BagContents,
    topic: str,
    decode: Callable[[bytes], Any],
    log_time: int,
    data: bytes,
) -> None:
    """Put an acceleration or a text into the contents."""
    message = decode(data)
    if message is None:
        contents.undecodable[topic] = contents.undecodable.get(topic, 0) + 1
    elif hasattr(message, 'accel'):
        contents.accelerations.setdefault(topic, []).append(_acceleration(message, log_time))
    else:
        constraints = topic.endswith('/robot_constraints')
        known = contents.robot_constraints if constraints else contents.robot_descriptions
        texts = known.setdefault(topic, [])
        if message.data not in texts:
            texts.append(message.data)


def _stamp(header: Any) -> int:
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)


def _acceleration(message: Any, log_time: int) -> AccelerationMessage:
    linear, angular = message.accel.linear, message.accel.angular
    return AccelerationMessage(
        log_time,
        _stamp(message.header),
        message.header.frame_id,
        np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]),
    )


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
