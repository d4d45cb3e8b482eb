# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a recording: decompression and SQLite recovery before they are read.

A killed recorder leaves the last messages of an SQLite file in a write-ahead log, or a rollback
journal of an unfinished transaction; recorders may compress files. Recovery and decompression are
done on a temporary copy: nothing is written beside the recording.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from kron_dynamics.bag.reading.mcap_recovery import is_truncated
from kron_dynamics.bag.reading.message_compression import zstd_library
from kron_dynamics.bag.reading.own_results import is_own_result
from kron_dynamics.bag.reading.sqlite_recovery import is_truncated_database
from kron_dynamics.exceptions import BagError

STORAGE_SUFFIXES = ('.mcap', '.db3')
_COMPRESSED = '.zstd'
# Suffixes of SQLite's write-ahead log and of its rollback journal.
_LOG, _JOURNAL = '-wal', '-journal'
_LOG_HEADER = 32  # bytes of the log's header
_JOURNAL_MAGIC = bytes.fromhex('d9d505f920a163d7')  # zeros where nothing is to be rolled back


class StorageFile(NamedTuple):
    """A file that can be read.

    Attributes:
        path: path of the file itself, or of its copy.
        is_cut: whether the file's end is missing.
    """

    path: Path
    is_cut: bool


def is_storage(path: Path) -> bool:
    """Return whether a file's name is that of a storage file, compressed or not.

    Args:
        path: path of the file.
    """
    return path.name.removesuffix(_COMPRESSED).endswith(STORAGE_SUFFIXES)


def bare_name(path: Path) -> str:
    """Return the name of a storage file without the suffixes of storage and compression.

    Args:
        path: path of the file.
    """
    name = path.name.removesuffix(_COMPRESSED)
    return next((name.removesuffix(end) for end in STORAGE_SUFFIXES if name.endswith(end)), name)


def storage_files(folder: Path) -> list[Path]:
    """Return the storage files of a folder, in the order of their numbers.

    Series that `analyze` has written there are not among them.

    If a file exists with and without compression, the uncompressed one is taken: its recorder was
    killed during compression.

    Args:
        folder: the folder.
    """
    files = [
        entry
        for entry in folder.iterdir()
        if is_storage(entry)
        and not entry.name.startswith('.')
        and entry.is_file()
        and not is_own_result(entry)
    ]
    files = [
        file
        for file in files
        if file.suffix != _COMPRESSED or file.with_name(file.stem) not in files
    ]
    # Names end in _0, _1, ..., _10.
    return sorted(files, key=lambda file: (len(_plain_name(file)), file.name))


def files_of(bag: Path) -> list[Path]:
    """Return the files that a recording consists of, in a fixed order.

    Args:
        bag: its folder, in which there may be other files, or its only file.
    """
    if not bag.is_dir():
        stored = [bag]
    else:
        stored = sorted([*storage_files(bag), *bag.glob('metadata.yaml')])
    return [*stored, *filter(None, map(pending_journal, stored))]


def pending_journal(path: Path) -> Path | None:
    """Return the log or journal that has to be applied to an SQLite file; None if there is none.

    Args:
        path: path of the file, or of a link to it.
    """
    if path.suffix != '.db3' or not path.is_file():
        return None
    path = path.resolve()
    log, journal = (path.with_name(path.name + end) for end in (_LOG, _JOURNAL))
    if log.is_file() and log.stat().st_size > _LOG_HEADER:
        return log
    if journal.is_file():
        with journal.open('rb') as file:
            return journal if file.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC else None
    return None


def is_closed(path: Path) -> bool:
    """Return whether a recorder has closed a file properly, by a check without decompression.

    Args:
        path: path of the file.
    """
    return pending_journal(path) is None and (path.suffix == _COMPRESSED or not _is_cut(path))


@contextmanager
def readable(path: Path, notes: list[str]) -> Iterator[StorageFile]:
    """Context of a readable file: decompressed, with its log or journal applied.

    Args:
        path: path of a storage file; a folder is returned as it is.
        notes: list to which notes for the report are appended.

    Raises:
        BagError: a copy is needed and cannot be written.
    """
    journal = pending_journal(path)
    if path.is_dir() or (journal is None and path.suffix != _COMPRESSED):
        yield StorageFile(path, path.is_file() and _is_cut(path))
        return
    with tempfile.TemporaryDirectory(prefix='kron_dynamics') as folder:
        try:
            if path.suffix == _COMPRESSED:
                file = _decompressed(path, Path(folder), notes)
            else:
                assert journal is not None
                file = _settled(path, journal, Path(folder), notes)
        except OSError as error:
            raise BagError(
                f"'{path.name}' needs a copy in {tempfile.gettempdir()}: {error}; set TMPDIR to a "
                'folder with more room'
            ) from error
        yield file


def _is_cut(path: Path) -> bool:
    return is_truncated(path) or is_truncated_database(path)


def _plain_name(path: Path) -> str:
    return path.name.removesuffix(_COMPRESSED)


def _decompressed(path: Path, folder: Path, notes: list[str]) -> StorageFile:
    zstd = zstd_library()
    found = folder / _plain_name(path)
    with path.open('rb') as source, found.open('wb') as target:
        try:
            with zstd.open(source, 'rb') as content:
                shutil.copyfileobj(content, target)
        except (EOFError, zstd.ZstdError) as error:
            notes.append(f"'{path.name}' is decompressed only up to an error: {error}")
    return StorageFile(found, _is_cut(found))


def _settled(path: Path, journal: Path, folder: Path, notes: list[str]) -> StorageFile:
    """Return a copy of an SQLite file with its log or journal applied by SQLite."""
    source, copy = path.resolve(), folder / path.name
    before = [_state(file) for file in (source, journal)]
    ending = journal.name.removeprefix(source.name)
    shutil.copyfile(source, copy)
    shutil.copyfile(journal, copy.with_name(copy.name + ending))
    is_log = ending == _LOG
    what = 'write-ahead log' if is_log else 'journal of an unfinished transaction'
    what += ' beside it (recorder not closed?)'
    if before != [_state(file) for file in (source, journal)]:
        what += ' and was written to while it was read (recorder still running?)'
    stored = _message_count(source, 'immutable=1')
    cut = is_truncated_database(source)
    try:
        with closing(sqlite3.connect(copy)) as database:
            database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            # A log may contain the missing pages.
            ((sound,),) = database.execute('PRAGMA quick_check(1)') if cut else (('ok',),)
    except sqlite3.Error as error:
        notes.append(
            f"'{path.name}' has a {what}, which cannot be applied: {error}; its "
            f'{journal.stat().st_size} bytes are not read'
        )
        return StorageFile(path, cut)
    count = _message_count(copy, 'mode=ro')
    if is_log:
        notes.append(f"'{path.name}' has a {what}: {count - stored} of {count} messages are in it")
    else:
        notes.append(
            f"'{path.name}' has a {what}: {max(0, stored - count)} messages are rolled back, "
            f'{count} are left'
        )
    return StorageFile(copy, sound != 'ok')


def _state(file: Path) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_size, status.st_mtime_ns


def _message_count(path: Path, how: str) -> int:
    """Return how many messages SQLite finds; 0 if it cannot read the table."""
    address = f'file:{quote(str(path.resolve()))}?{how}'
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            ((count,),) = database.execute('SELECT count(*) FROM messages')
    except sqlite3.Error:
        return 0
    return int(count)
