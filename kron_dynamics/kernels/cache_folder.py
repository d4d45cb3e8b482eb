# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Folders for compiled kernels: the user's cache, or else a temporary folder of this process."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from kron_dynamics.kernels.late_imports import IMPORTING

_log = logging.getLogger(__name__)
# Largest file that is read, bytes; files of kernels are far smaller.
_LARGEST = 1 << 28
# Age in s after which a work folder without a lock file is removed. Older versions of this package
# made such folders, and their builds never took that long.
_LONGEST_BUILD = 3600.0
_LOCK = '.lock'


def cache_directory() -> Path:
    """Return the user's private cache folder for kernels, created if missing.

    It is $KRON_DYNAMICS_CACHE, else kron_dynamics below $XDG_CACHE_HOME or ~/.cache.

    Raises:
        OSError: the folder cannot be created, or other users could change its files.
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
    """Raise an error with the reason if a folder is not safe for kernels."""
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
    """Make a folder and its parents with mode 0700, whatever the umask."""
    if os.path.lexists(path):
        return
    if path.parent != path:
        _make_private(path.parent)
    with contextlib.suppress(FileExistsError):  # another process was faster
        path.mkdir(mode=0o700)
        path.chmod(0o700)


_temporary: list[Path] = []


def temporary_directory(reason: OSError) -> Path:
    """Return a temporary folder for the lifetime of this process, and log once why it is needed.

    Forked processes share it; the process that made it removes it.

    Args:
        reason: why the cache folder cannot be used.

    Raises:
        OSError: no temporary folder can be made either.
    """
    if _temporary:
        with contextlib.suppress(OSError):
            _check(_temporary[-1])
            return _temporary[-1]
    with IMPORTING:
        import tempfile  # not needed at start-up if all kernels are cached

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
    """Return whether a file is owned by this user and writable by nobody else."""
    writable = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == os.getuid() and not status.st_mode & writable


def read_private(path: Path) -> bytes | None:
    """Return the content of a file that only this user can write, else None.

    Links are not followed, and pipes and devices are not read, so that the call never blocks.
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
    """Write a new file with mode 0600, whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, 'wb') as file:
        os.fchmod(descriptor, 0o600)
        file.write(content)


def put(file: Path, target: Path) -> None:
    """Move a finished file to its target atomically, replacing a file or folder there."""
    try:
        os.replace(file, target)
    except IsADirectoryError:
        os.replace(target, file.with_name(f'{file.name}.displaced'))
        os.replace(file, target)


# The locks of each thread.
_held = threading.local()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; its file is not removed.

    A thread that has it need not wait: an equation being recorded may ask for another kernel.
    """
    has: set[Path] = _held.__dict__.setdefault('paths', set())
    if path in has:
        yield
        return
    with _open_lock(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        has.add(path)
        try:
            yield
        finally:
            has.remove(path)


@contextlib.contextmanager
def _open_lock(path: Path) -> Iterator[int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        yield descriptor
    finally:
        # Unlock explicitly: a process forked meanwhile has the same file open, and closing the
        # descriptor here would not release the lock.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@contextlib.contextmanager
def work_folder(directory: Path) -> Iterator[Path]:
    """Make a temporary build folder; also remove those left by processes that have died."""
    with IMPORTING:
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
    """Remove a work folder, then its lock file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(_LOCK).unlink(missing_ok=True)


def _sweep(directory: Path) -> None:
    """Remove work folders whose lock is not held; the caller holds the lock for making them."""
    for folder in {path.with_suffix('') for path in directory.glob('build_*')}:
        own = folder.with_suffix(_LOCK)
        with contextlib.suppress(OSError):
            if own.exists():
                with _open_lock(own) as descriptor:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _clear(folder)
            elif time.time() - folder.stat().st_mtime > _LONGEST_BUILD:
                _clear(folder)
