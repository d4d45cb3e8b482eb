# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels on disk: found by what they were made from, checked before they are loaded."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A compiled kernel and what is worth knowing about it.

    Attributes:
        digest: SHA-256 of the shared library.
        operations: arithmetic operations per state.
        shape: shape of the result.
        build_seconds: time spent recording and compiling.
    """

    digest: str
    operations: int
    shape: tuple[int, ...]
    build_seconds: float


@lru_cache(maxsize=1)
def equations_digest() -> str:
    """Return a digest of this package's equations and kernel generator.

    A kernel made by other equations must never be met again, so their text is part of its key.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    sources = [root / 'kronecker.py', *(root / 'model').glob('*.py')]
    for folder in ('kinematics', 'dynamics', 'kernels'):
        sources.extend((root / folder).glob('*.py'))
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def cache_key(*parts: str) -> str:
    """Return the key of a kernel made from the given parts on this kind of machine."""
    text = '\n'.join((*parts, equations_digest(), platform.machine(), platform.system()))
    return hashlib.sha256(text.encode()).hexdigest()


def cache_directory() -> Path:
    """Return the folder for kernels, private to the user, created where needed.

    $KRON_DYNAMICS_CACHE, else kron_dynamics below $XDG_CACHE_HOME or ~/.cache; a new temporary
    folder where that cannot be written or belongs to somebody else.
    """
    try:
        if given := os.environ.get('KRON_DYNAMICS_CACHE'):
            path = Path(given)
        else:
            path = Path(
                os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache', 'kron_dynamics'
            )
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(path) and os.access(path, os.W_OK | os.X_OK):
            return path
    except (OSError, RuntimeError):  # not writable, or a user without a home
        pass
    return _temporary_directory()


@lru_cache(maxsize=1)
def _temporary_directory() -> Path:
    """One for the life of the process."""
    folder = tempfile.mkdtemp(prefix='kron_dynamics_')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _is_private(path: Path) -> bool:
    """Owned by this user, and writable for nobody else."""
    status = path.lstat()
    writable = stat.S_IWGRP | stat.S_IWOTH
    return (
        not stat.S_ISLNK(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & writable
    )


def fetch(
    key: str, build: Callable[[Path], CacheEntry], directory: Path | None = None
) -> tuple[Path, CacheEntry, bool]:
    """Return a kernel's library, its entry, and whether it was there already.

    Processes that want the same kernel at once wait for the one that builds it. A library that
    was truncated, altered or put there by somebody else is built again.

    Args:
        key: from `cache_key`.
        build: writes the library to the path it is given and returns its entry.
        directory: the cache; None for `cache_directory()`.
    """
    directory = directory or cache_directory()
    library, record = directory / f'{key}.so', directory / f'{key}.json'
    entry = _valid_entry(library, record)
    if entry is not None:
        return library, entry, True
    with _locked(directory / f'{key}.lock'):
        entry = _valid_entry(library, record)
        if entry is not None:
            return library, entry, True
        with tempfile.TemporaryDirectory(dir=directory, prefix='build_') as work:
            made = Path(work) / 'kernel.so'
            entry = build(made)
            note = Path(work) / 'kernel.json'
            note.write_text(json.dumps(asdict(entry)), encoding='ascii')
            made.chmod(0o600)
            # The record goes last: a library without one counts as absent.
            record.unlink(missing_ok=True)
            os.replace(made, library)
            os.replace(note, record)
    return library, entry, False


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _valid_entry(library: Path, record: Path) -> CacheEntry | None:
    try:
        if not (_is_private(library) and _is_private(record)):
            return None
        fields = json.loads(record.read_text(encoding='ascii'))
        entry = CacheEntry(**{**fields, 'shape': tuple(fields['shape'])})
        return entry if file_digest(library) == entry.digest else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
