# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a recording, made whole before they are read.

A recorder that was killed leaves the last messages of an SQLite file in a log beside it, or takes
a transaction back by a journal; recorders compress files. All this is done in a copy: nothing is
ever written beside the recording.
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

from kron_dynamics.bag.reading.cut_database import is_cut_database
from kron_dynamics.bag.reading.cut_mcap import is_cut_off
from kron_dynamics.bag.reading.message_compression import zstd_library
from kron_dynamics.exceptions import BagError

STORAGE_SUFFIXES = ('.mcap', '.db3')
# What `analyze` itself writes for plotting programs is no recording.
OWN_FILE = 'analysis.mcap'
_COMPRESSED = '.zstd'
# What SQLite appends to a file's name for the log of what is not in the file yet, and for the
# journal of what an unfinished transaction has changed in it.
_LOG, _JOURNAL = '-wal', '-journal'
_LOG_HEADER = 32  # bytes before what was written
_JOURNAL_MAGIC = bytes.fromhex('d9d505f920a163d7')  # zeros where nothing has to be taken back


class StorageFile(NamedTuple):
    """A file that can be read.

    Attributes:
        path: of the file itself, or of its copy.
        is_cut: whether its end is missing.
    """

    path: Path
    is_cut: bool


def is_storage(path: Path) -> bool:
    """Return whether a file is named as those that hold messages, compressed or not.

    Args:
        path: of the file.
    """
    return path.name.removesuffix(_COMPRESSED).endswith(STORAGE_SUFFIXES)


def storage_files(folder: Path) -> list[Path]:
    """Return the files of a folder that hold messages, in the order of their numbers.

    A file that is there compressed, too, is taken as it is: its recorder was killed meanwhile.

    Args:
        folder: the folder.
    """
    files = [
        entry
        for entry in folder.iterdir()
        if is_storage(entry)
        and entry.name != OWN_FILE
        and not entry.name.startswith('.')
        and entry.is_file()
    ]
    files = [
        file
        for file in files
        if file.suffix != _COMPRESSED or file.with_name(file.stem) not in files
    ]
    # Names end in _0, _1, ..., _10.
    return sorted(files, key=lambda file: (len(_plain_name(file)), file.name))


def pending_journal(path: Path) -> Path | None:
    """Return the log or journal of an SQLite file that has to be taken into account.

    Args:
        path: of the file, or of a link to it.
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
    """Return whether a file is as a recorder leaves it that was closed, as far as is seen at once.

    Args:
        path: of the file.
    """
    return pending_journal(path) is None and (path.suffix == _COMPRESSED or not _is_cut(path))


@contextmanager
def readable(path: Path, notes: list[str]) -> Iterator[StorageFile]:
    """Give a file as what can be read: decompressed, with what its log or journal says.

    Args:
        path: of a file that holds messages; a folder is given back as it is.
        notes: gets what a reader of the report should know.

    Raises:
        BagError: there is no room for a copy.
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
    return is_cut_off(path) or is_cut_database(path)


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
            notes.append(f"'{path.name}' is decompressed until where it fails: {error}")
    return StorageFile(found, _is_cut(found))


def _settled(path: Path, journal: Path, folder: Path, notes: list[str]) -> StorageFile:
    """Return a copy of an SQLite file that is as SQLite itself leaves it with its journal."""
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
    cut = is_cut_database(source)
    try:
        with closing(sqlite3.connect(copy)) as database:
            database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
            # A log may hold the very pages that are missing.
            ((sound,),) = database.execute('PRAGMA quick_check(1)') if cut else (('ok',),)
    except sqlite3.Error as error:
        notes.append(
            f"'{path.name}' has a {what}, which cannot be applied: {error}; of its "
            f'{journal.stat().st_size} bytes nothing is read'
        )
        return StorageFile(path, cut)
    count = _message_count(copy, 'mode=ro')
    if is_log:
        notes.append(f"'{path.name}' has a {what}: {count - stored} of {count} messages are in it")
    else:
        notes.append(
            f"'{path.name}' has a {what}: {max(0, stored - count)} messages are taken back, "
            f'{count} are left'
        )
    return StorageFile(copy, sound != 'ok')


def _state(file: Path) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_size, status.st_mtime_ns


def _message_count(path: Path, how: str) -> int:
    """Return how many messages SQLite finds; none where it cannot tell."""
    address = f'file:{quote(str(path.resolve()))}?{how}'
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            ((count,),) = database.execute('SELECT count(*) FROM messages')
    except sqlite3.Error:
        return 0
    return int(count)
