# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Folders that several programs write to: locks, and a work folder for each unfinished run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

_PREFIX = '.unfinished-'
_WORK = re.compile(rf'{re.escape(_PREFIX)}\w{{8}}')  # the names that `tempfile` makes


@contextlib.contextmanager
def locked(folder: Path, *, waits: bool = True) -> Iterator[bool]:
    """Context that locks a folder against other programs on this machine.

    Args:
        folder: the folder.
        waits: whether to wait until no other program has locked it.

    Yields:
        whether it is locked: some file systems have no locks.

    Raises:
        BlockingIOError: another program has locked it, and ``waits`` is False.
    """
    try:
        place = os.open(folder, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        yield _lock(place, waits)
    finally:
        # Unlock explicitly: a process forked meanwhile has the folder open, too.
        with contextlib.suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_UN)
        os.close(place)


def _lock(place: int, waits: bool) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # the file system does not support locks
        return False
    return True


@contextlib.contextmanager
def work_folder(place: Path) -> Iterator[Path]:
    """Context of an empty folder inside another one, for files until they are complete.

    Each run has its own, whatever others write at the same time; those of killed runs are removed.

    Args:
        place: the other folder, which exists.

    Raises:
        OSError: the folder cannot be written to.
    """
    import tempfile  # not needed by commands that write no file

    with contextlib.ExitStack() as held:
        with locked(place):
            _sweep(place)
            work = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            held.callback(shutil.rmtree, work, ignore_errors=True)
            held.enter_context(locked(work))
        yield work


def _sweep(place: Path) -> None:
    """Remove work folders that nobody has locked; the caller has locked the folder they are in."""
    for path in place.iterdir():
        if _WORK.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            with contextlib.suppress(BlockingIOError), locked(path, waits=False) as is_left:
                if is_left:
                    shutil.rmtree(path, ignore_errors=True)
