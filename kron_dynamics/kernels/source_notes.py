# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Digests and imports of source files, stored beside the kernels to avoid reading the sources.

A file counts as unchanged if its size and its ctime, which programs cannot set, are the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.kernels.cache_folder import (
    cache_directory,
    put,
    read_private,
    work_folder,
    write_private,
)

_NAME = 'sources.notes'
# Age of a change from which on it is noted, ns. A younger file could change again within the
# resolution of the clock without a new ctime.
_TICK = 10_000_000_000


class Note(NamedTuple):
    """Digest and imports of a source file when it was read.

    Attributes:
        changed: its ctime, ns.
        size: its size, bytes.
        digest: SHA-256 of its text, in hexadecimal digits.
        imports: modules of this package that it may import.
    """

    changed: int
    size: int
    digest: str
    imports: tuple[str, ...]


class SourceNotes:
    """Stored notes of source files.

    They hold for one set of modules in this package, because imports are resolved in it.
    """

    def __init__(self, modules: str) -> None:
        """Read the notes; start without any if they are unreadable or for other modules.

        Args:
            modules: digest of the names of this package's modules.
        """
        self._modules = modules
        self._notes: dict[str, Note] = {}
        self._has_new = False
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            kept = json.loads(read_private(cache_directory() / _NAME) or b'')
            if kept['modules'] == modules:
                self._notes = {
                    file: Note(int(changed), int(size), str(digest), tuple(map(str, imports)))
                    for file, (changed, size, digest, imports) in kept['files'].items()
                }

    def find(self, file: str, status: os.stat_result) -> Note | None:
        """Return the note of a file, or None if there is none or the file has changed since."""
        note = self._notes.get(file)
        same = note is not None and note[:2] == (status.st_ctime_ns, status.st_size)
        return note if same else None

    def add(self, file: str, note: Note) -> None:
        """Add the note of a file, unless it changed within the last 10 s.

        Times in the future are of changes before the clock was set back.
        """
        if abs(time.time_ns() - note.changed) > _TICK:
            self._notes[file] = note
            self._has_new = True

    def keep(self) -> None:
        """Write the notes for other processes if there are new ones; ignore errors.

        Those of files that do not exist any more are left out.
        """
        if not self._has_new:
            return
        self._has_new = False
        files = {file: note for file, note in self._notes.items() if os.path.exists(file)}
        content = json.dumps({'modules': self._modules, 'files': files}).encode('ascii')
        with contextlib.suppress(OSError):
            folder = cache_directory()
            with work_folder(folder) as work:
                write_private(work / _NAME, content)
                put(work / _NAME, Path(folder, _NAME))
