# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reader of rosbag2 recordings without ROS, for the data that a dynamics analysis needs.

Only messages of three types are decoded: sensor_msgs/JointState, geometry_msgs/AccelStamped, and
std_msgs/String on topics named ``robot_description`` or ``robot_constraints``. Their layout is the
same in every ROS 2 distribution, so the definitions come from the library rosbags, and bags
without embedded definitions can be read as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kron_dynamics.bag.reading.acceleration_decoding import AccelerationDecoder, Accelerations
from kron_dynamics.bag.reading.joint_mapping import JointMapping, NamesError
from kron_dynamics.bag.reading.joint_state_decoding import JointStateDecoder
from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.bag.reading.mcap_recovery import McapRecovery
from kron_dynamics.bag.reading.message_compression import decompressed, is_compressed
from kron_dynamics.bag.reading.recording_order import recorder_epochs
from kron_dynamics.bag.reading.recovery import one_line, recovered, recovery_note
from kron_dynamics.bag.reading.sqlite_recovery import SqliteRecovery
from kron_dynamics.bag.reading.storage_files import (
    STORAGE_SUFFIXES,
    is_closed,
    is_storage,
    readable,
    storage_files,
)
from kron_dynamics.bag.samples import Progress
from kron_dynamics.exceptions import BagError
from kron_dynamics.joint_state_layout import XCDR1

if TYPE_CHECKING:
    from kron_dynamics.bag.reading.mcap_storage import BagReader

JOINT_STATE = 'sensor_msgs/msg/JointState'
ACCELERATION = 'geometry_msgs/msg/AccelStamped'
TEXT = 'std_msgs/msg/String'
# Names of the std_msgs/String topics that are read.
DESCRIPTIONS = ('robot_description', 'robot_constraints')
_Decoders = dict[tuple[str, str], JointStateDecoder | AccelerationDecoder]  # by topic and type


@dataclass(frozen=True)
class BagContents:
    """Contents of a bag from :func:`read_bag`, in the order of recording.

    Attributes:
        path: path of the bag.
        message_counts: number of messages of each topic of the bag, decoded or not.
        joint_states: messages of each JointState topic.
        accelerations: messages of each AccelStamped topic.
        robot_descriptions: distinct texts of each ``robot_description`` topic.
        robot_constraints: distinct texts of each ``robot_constraints`` topic.
        undecodable: number of messages of each topic whose bytes do not fit their type.
        unread: notes about JointState topics without any message that can be decoded.
        notes: irregularities of the storage that a reader of the report should know.
    """

    path: Path
    message_counts: dict[str, int] = field(default_factory=dict)
    joint_states: dict[str, JointStates] = field(default_factory=dict)
    accelerations: dict[str, Accelerations] = field(default_factory=dict)
    robot_descriptions: dict[str, list[str]] = field(default_factory=dict)
    robot_constraints: dict[str, list[str]] = field(default_factory=dict)
    undecodable: dict[str, int] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class _Options(NamedTuple):
    """Options of :func:`read_bag`."""

    rename: Mapping[str, str] | None
    scale: Mapping[str, float | str] | None
    progress: Progress | None


def read_bag(
    path: str | Path,
    *,
    rename: Mapping[str, str] | None = None,
    scale: Mapping[str, float | str] | None = None,
    progress: Progress | None = None,
) -> BagContents:
    """Return the joint states, accelerations and robot descriptions of a recording.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.
        rename: new names of joints, by their names in the bag.
        scale: factors or units of their values, see :class:`JointMapping`.
        progress: called with the share of each file that is read.

    Raises:
        BagError: there is no bag, it is damaged, or the library ``rosbags`` is missing; or a joint
            to be renamed or scaled is not in the bag.
        ParameterError: a name or a factor is invalid.
    """
    path = Path(path)
    options = _Options(rename, scale, progress)
    try:
        return _read(path, *_storages(path), options, {})
    except NamesError:
        raise
    except BagError as error:
        files = storage_files(path) if path.is_dir() else []
        if not files or not (path / 'metadata.yaml').exists():
            raise
        first = error
    # A missing or damaged file, or damaged metadata, must not prevent reading of the other files.
    notes = [f'the bag cannot be read as a whole ({first}): read file by file']
    try:
        return _read(path, files, notes, options, {})
    except NamesError:
        raise
    except BagError:
        raise first from None


def _read(
    path: Path,
    storages: Sequence[Path],
    notes: Sequence[str],
    options: _Options,
    errors: Mapping[Path, tuple[BagError, ...]],
) -> BagContents:
    """Return the contents of some files or folders, with notes about them.

    Reading begins again where a file turns out to be damaged, as some of its messages are among
    the contents: after a first error with the reader that recovers the file; if that fails, too,
    only what comes before its error is kept.
    """
    mapping = JointMapping(options.rename, options.scale)
    contents = BagContents(path, notes=[*notes])
    decoders: _Decoders = {}
    unread = []
    for storage in storages:
        known = errors.get(storage, ())
        try:
            damage = known[0] if len(known) == 1 else None
            _read_storage(storage, contents, decoders, mapping, options.progress, damage)
        except BagError as error:
            if isinstance(error, NamesError):
                raise
            if storage.is_file() and len(known) < 2:
                return _read(path, storages, notes, options, {**errors, storage: (*known, error)})
            unread.append(error)
            contents.notes.append(f"'{storage.name}' is read only up to an error: {error}")
    if unread and len(unread) == len(storages):
        raise unread[0]
    _finish(decoders, contents)
    if contents.joint_states:
        mapping.check()
    return contents


def _finish(decoders: _Decoders, contents: BagContents) -> None:
    """Add the decoded messages to the contents."""
    found: dict[str, JointStates] = {}
    for (topic, _), decoder in decoders.items():
        messages, undecodable = decoder.finish()
        if isinstance(messages, Accelerations):
            if len(messages):
                contents.accelerations[topic] = messages
        elif len(messages):
            found[topic] = messages
            if set_back := int(recorder_epochs(messages.log_time, messages.stamp)[-1]):
                contents.notes.append(
                    f"'{topic}': the recorder's clock was set back {set_back} times: messages are "
                    'in the order of the file'
                )
        elif undecodable and isinstance(decoder, JointStateDecoder):
            contents.unread[topic] = _unread(topic, undecodable, decoder.unknown_head)
            contents.notes.append(contents.unread[topic])
        if undecodable:
            contents.undecodable[topic] = contents.undecodable.get(topic, 0) + undecodable
    contents.joint_states.update(sorted(found.items(), key=lambda item: item[1].log_time[0]))


def _unread(topic: str, count: int, head: bytes) -> str:
    """Return a note about a topic of which no message can be decoded."""
    return (
        f"'{topic}' is not read: none of its {count} messages can be decoded, the first begins "
        f'with {head.hex(" ") or "nothing"}, expected {XCDR1.hex(" ")} or 00 00 (XCDR1)'
    )


def _storages(path: Path) -> tuple[list[Path], list[str]]:
    """Return the paths to open, the bag itself or its files, and notes about them."""
    if not path.exists():
        raise BagError(f"no bag at '{path}'")
    if not path.is_dir():
        if not is_storage(path):
            raise BagError(
                f"'{path}' is not a bag: expected a rosbag2 directory or a file ending in "
                f'{" or ".join(STORAGE_SUFFIXES)}'
            )
        return [path], []
    files = storage_files(path)
    if (path / 'metadata.yaml').exists():
        # Files of an incomplete copy are read one by one: rosbags opens either all or none.
        return ([path] if all(map(is_closed, files)) else files), []
    if not files:
        raise BagError(f"'{path}' holds neither metadata.yaml nor a .mcap or .db3 file")
    return files, ['metadata.yaml is missing (recorder not closed?): read file by file']


def _read_storage(
    path: Path,
    contents: BagContents,
    decoders: _Decoders,
    mapping: JointMapping,
    progress: Progress | None,
    damage: BagError | None,
) -> None:
    """Add the contents of a file or folder; what is left of a damaged one."""
    try:
        from rosbags.typesys import Stores, get_typestore

        from kron_dynamics.bag.reading.mcap_storage import BagReader
    except ImportError as error:
        raise BagError(
            "reading a bag needs the Python package 'rosbags', 0.11 or later (pip install "
            f"'rosbags >= 0.11'): {error}"
        ) from error
    store = get_typestore(Stores.LATEST)
    try:
        with readable(path, contents.notes) as (found, is_cut):
            if is_cut or damage is not None:
                rest = recovered(found)
                contents.notes.append(recovery_note(path.name, rest, damage))
                _decode_messages(rest, store, contents, decoders, mapping, progress)
            else:
                with BagReader(found) as reader:
                    _decode_messages(reader, store, contents, decoders, mapping, progress)
    except NamesError:
        raise
    # The storage layers below pass on the exceptions of their format libraries (sqlite, zstd,
    # yaml, KeyError for a foreign schema, ...); to the caller each of them means a damaged bag.
    except Exception as error:
        raise BagError(f"cannot read bag '{path}': {one_line(error)}") from error


def _decode_messages(
    reader: BagReader | McapRecovery | SqliteRecovery,
    store: Any,
    contents: BagContents,
    decoders: _Decoders,
    mapping: JointMapping,
    progress: Progress | None,
) -> None:
    from rosbags.serde import SerdeError

    def decode(data: bytes, kind: str) -> Any:
        try:
            return store.deserialize_cdr(data, kind)
        except SerdeError:
            return None

    connections: Any = reader.connections
    adders = {}
    decoders_of: dict[int, JointStateDecoder | AccelerationDecoder] = {}
    for connection in connections:
        topic, kind = connection.topic, connection.msgtype
        count = contents.message_counts.get(topic, 0)
        contents.message_counts[topic] = count + connection.msgcount
        made = partial(decode, kind=kind)
        if kind in (JOINT_STATE, ACCELERATION, TEXT) and _is_foreign(connection, store):
            contents.notes.append(f'{topic} is not read: its {kind} differs from that of ROS 2')
        elif kind in (JOINT_STATE, ACCELERATION):
            if (topic, kind) not in decoders:
                decoders[topic, kind] = (
                    JointStateDecoder(made, mapping)
                    if kind == JOINT_STATE
                    else AccelerationDecoder(made)
                )
            decoders_of[connection.id] = decoders[topic, kind]
            adders[connection.id] = decoders[topic, kind].add
        elif kind == TEXT and topic.rsplit('/', 1)[-1] in DESCRIPTIONS:
            adders[connection.id] = partial(_add_decoded, contents, topic, made)
    if not adders:
        return
    wanted = [connection for connection in connections if connection.id in adders]
    found: Any = getattr(reader, 'batches', reader.messages)
    done, total = 0, sum(connection.msgcount for connection in wanted)
    for connection, log_time, data in found(wanted):
        done += 1 if isinstance(data, bytes) else len(data.times)
        if progress is not None:
            progress('reading', min(done / max(total, 1), 1.0))
        if isinstance(data, bytes):
            adders[connection.id](log_time, decompressed(data))
        elif connection.id in decoders_of and not is_compressed(data.rows[0]):
            decoders_of[connection.id].add_rows(data.times, data.rows)
        else:
            for each, row in zip(data.times.tolist(), data.rows, strict=True):
                adders[connection.id](each, decompressed(row.tobytes()))
    _note_losses(reader, contents, wanted, done)


def _note_losses(
    reader: BagReader | McapRecovery | SqliteRecovery,
    contents: BagContents,
    wanted: Sequence[Any],
    done: int,
) -> None:
    """Add notes about messages that were not read.

    Raises:
        BagError: a damaged index may hide the missing ones: the file has to be scanned.
    """
    if damaged := getattr(reader, 'damaged', 0):
        contents.notes.append(f'{damaged} rows of the table of messages are damaged: not read')
    total = sum(connection.msgcount for connection in wanted)
    if done >= total:
        return
    missing = (
        f'{total - done} of {total} messages are missing that the index counts on '
        f'{", ".join(sorted({connection.topic for connection in wanted}))}'
    )
    if getattr(reader, 'has_chunks', False):
        raise BagError(missing)
    contents.notes.append(missing)


def _is_foreign(connection: Any, store: Any) -> bool:
    """Return whether the fields of a topic's messages differ from their type in ROS 2."""
    from rosbags.interfaces import MessageDefinitionFormat
    from rosbags.typesys import get_types_from_msg

    definition: Any = getattr(connection, 'msgdef', None)  # not read from truncated files
    if definition is None or definition.format != MessageDefinitionFormat.MSG:
        return False
    if not definition.data.strip():
        return False
    try:
        found = get_types_from_msg(definition.data, connection.msgtype)
    except Exception:  # the parser's various errors: a text that is no definition is ignored
        return False
    known = store.fielddefs
    return any(name in known and fields != known[name][1] for name, (_, fields) in found.items())


def _add_decoded(
    contents: BagContents,
    topic: str,
    decode: Callable[[bytes], Any],
    log_time: int,
    data: bytes,
) -> None:
    """Add the text of a description or constraints message to the contents."""
    message = decode(data)
    if message is None:
        contents.undecodable[topic] = contents.undecodable.get(topic, 0) + 1
    else:
        constraints = topic.endswith('/robot_constraints')
        known = contents.robot_constraints if constraints else contents.robot_descriptions
        texts = known.setdefault(topic, [])
        if message.data not in texts:
            texts.append(message.data)
