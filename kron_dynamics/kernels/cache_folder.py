# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Folders for compiled kernels: the user's own, or one for this process where that cannot be."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import logging
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

_log = logging.getLogger(__name__)
# Nothing that a kernel consists of is larger by far.
_LARGEST = 1 << 28
# Work that no lock belongs to is that of an older version, which gave up sooner than this.
_LONGEST_BUILD = 3600.0
_LOCK = '.lock'


def cache_directory() -> Path:
    """Return the user's folder for kernels, created where needed, for the user alone.

    $KRON_DYNAMICS_CACHE, else kron_dynamics below $XDG_CACHE_HOME or ~/.cache.

    Raises:
        OSError: it cannot be made, or somebody else could change what is in it.
    """
    if given := os.environ.get('KRON_DYNAMICS_CACHE'):
        path = Path(given)
    else:
        try:
            base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
        except RuntimeError as error:
            raise OSError(f'there is no home folder: {error}') from None
        path = Path(base, 'kron_dynamics')
    _make_private(path)
    _check(path)
    return path


def _check(path: Path) -> None:
    """Raise an error that tells why a folder is not fit for kernels."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise PermissionError(f'{path} is a symbolic link')
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f'{path} is no folder')
    if status.st_uid != os.getuid():
        raise PermissionError(f'{path} belongs to user {status.st_uid}')
    if not _is_private(status):
        raise PermissionError(f'{path} can be written by others, mode {status.st_mode & 0o777:o}')
    if os.statvfs(path).f_flag & getattr(os, 'ST_NOEXEC', 0):
        raise PermissionError(f'{path} is on a file system mounted noexec')


def _make_private(path: Path) -> None:
    """Make a folder and those above it, for the user alone whatever the umask."""
    if os.path.lexists(path):
        return
    if path.parent != path:
        _make_private(path.parent)
    with contextlib.suppress(FileExistsError):  # another process was quicker
        path.mkdir(mode=0o700)
        path.chmod(0o700)


_temporary: list[Path] = []


def temporary_directory(reason: OSError) -> Path:
    """Return a folder for the life of this process, and say once why there has to be one.

    A forked process shares it; the process that made it removes it.

    Raises:
        OSError: that cannot be made either.
    """
    if _temporary:
        with contextlib.suppress(OSError):
            _check(_temporary[-1])
            return _temporary[-1]
    import tempfile  # a start that finds all its kernels does without it

    folder = Path(tempfile.mkdtemp(prefix='kron_dynamics_'))
    folder.chmod(0o700)
    atexit.register(_remove, folder, os.getpid())
    if not _temporary:
        _log.warning(
            'the cache of compiled kernels cannot be used: %s; until this process ends they are '
            'kept in %s',
            reason,
            folder,
        )
    _temporary.append(folder)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _is_private(status: os.stat_result) -> bool:
    """Owned by this user, and writable for nobody else."""
    writable = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.getuid() and not status.st_mode & writable


def read_private(path: Path) -> bytes | None:
    """Return what is in a file of this user's, None where it cannot be trusted or read.

    No link is followed, and nothing is waited for: a pipe or a device is no file.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, 'rb') as file:
            status = os.fstat(descriptor)
            is_file = stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST
            return file.read() if is_file and _is_private(status) else None
    except OSError:
        return None


def write_private(path: Path, content: bytes) -> None:
    """Make a new file for the user alone, whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, 'wb') as file:
        os.fchmod(descriptor, 0o600)
        file.write(content)


def put(file: Path, target: Path) -> None:
    """Move a finished file to its place at once, whatever stands there."""
    try:
        os.replace(file, target)
    except IsADirectoryError:
        os.replace(target, file.with_name(f'{file.name}.displaced'))
        os.replace(file, target)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that processes share: a file, which stays."""
    with _open_lock(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _open_lock(path: Path) -> Iterator[int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        yield descriptor
    finally:
        # Said aloud: a process forked meanwhile has the same file open and would keep the lock.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@contextlib.contextmanager
def work_folder(directory: Path) -> Iterator[Path]:
    """Make a folder to build in, which vanishes; remove those of processes that have died."""
    import tempfile

    with contextlib.ExitStack() as stack:
        with locked(directory / f'work{_LOCK}'):
            _sweep(directory)
            folder = Path(tempfile.mkdtemp(prefix='build_', dir=directory))
            folder.chmod(0o700)
            own = folder.with_suffix(_LOCK)
            fcntl.flock(stack.enter_context(_open_lock(own)), fcntl.LOCK_EX)
            stack.callback(_clear, folder)
        yield folder


def _clear(folder: Path) -> None:
    """Remove a work folder, then the lock that belongs to it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(_LOCK).unlink(missing_ok=True)


def _sweep(directory: Path) -> None:
    """Remove work that nobody holds any longer; no other process makes any meanwhile."""
    for folder in {path.with_suffix('') for path in directory.glob('build_*')}:
        own = folder.with_suffix(_LOCK)
        with contextlib.suppress(OSError):
            if own.exists():
                with _open_lock(own) as descriptor:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _clear(folder)
            elif time.time() - folder.stat().st_mtime > _LONGEST_BUILD:
                _clear(folder)
