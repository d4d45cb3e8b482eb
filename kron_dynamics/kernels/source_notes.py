# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier processes found in source files, kept beside the kernels: reading takes longer.

A file is the one that was read if its time of change, which nobody can set, and its size are.
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
# A clock may stand still for that long, ns: a file could change again and nobody would see it.
_TICK = 10_000_000_000


class Note(NamedTuple):
    """What a source file was when it was read.

    Attributes:
        changed: time of its last change, ns.
        size: bytes.
        digest: SHA-256 of its text, in hexadecimal digits.
        imports: modules of this package that it may import.
    """

    changed: int
    size: int
    digest: str
    imports: tuple[str, ...]


class SourceNotes:
    """Notes of files, for one set of modules of this package: imports depend on what there is."""

    def __init__(self, modules: str) -> None:
        """Read the notes; there are none where they cannot be read or are for other modules."""
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
        """Return the note of a file as it is now, None where there is none."""
        note = self._notes.get(file)
        same = note is not None and note[:2] == (status.st_ctime_ns, status.st_size)
        return note if same else None

    def add(self, file: str, note: Note) -> None:
        """Note a file, unless it has changed so lately that it may change unseen."""
        if time.time_ns() - note.changed > _TICK:
            self._notes[file] = note
            self._has_new = True

    def keep(self) -> None:
        """Write the notes for other processes, if there are new ones and a place for them."""
        if not self._has_new:
            return
        self._has_new = False
        content = json.dumps({'modules': self._modules, 'files': self._notes}).encode('ascii')
        with contextlib.suppress(OSError):
            folder = cache_directory()
            with work_folder(folder) as work:
                write_private(work / _NAME, content)
                put(work / _NAME, Path(folder, _NAME))
