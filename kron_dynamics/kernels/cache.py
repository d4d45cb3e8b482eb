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
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """Where a compiled kernel is, and what is worth knowing about it.

    Attributes:
        library: SHA-256 of the shared library that holds it, and its name in the cache.
        symbol: name of its function there.
        operations: arithmetic operations per state.
        shapes: shape of each result.
        build_seconds: time spent recording and compiling.
    """

    library: str
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float


class Built(NamedTuple):
    """What a builder made for one key: a library in its work folder, and the entry's rest."""

    library: Path
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float


class Found(NamedTuple):
    """A kernel on disk: its library, its entry, and whether it was there already."""

    library: Path
    entry: CacheEntry
    cached: bool


# Makes libraries for the keys it is given, in the folder it is given.
Builder = Callable[[Sequence[str], Path], Mapping[str, Built]]


# Beside the folders: what equations are made of, and where methods are written as equations.
_MODULES = ('dual', 'elementary', 'frame', 'kronecker', 'robot')


@lru_cache(maxsize=1)
def equations_digest() -> str:
    """Return a digest of this package's equations and kernel generator.

    A kernel made by other equations must never be met again, so their text is part of its key.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    sources = [root / f'{name}.py' for name in _MODULES]
    for folder in ('model', 'kinematics', 'dynamics', 'kernels'):
        sources.extend((root / folder).glob('*.[pch]*'))
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
    keys: Sequence[str], build: Builder, lock: str, directory: Path | None = None
) -> dict[str, Found]:
    """Return the kernels of some keys, building those that are not there.

    Processes that want the same kernels at once wait for the one that builds them. A library
    that was truncated, altered or put there by somebody else is built again.

    Args:
        keys: from `cache_key`.
        build: makes the libraries of the keys that are missing.
        lock: a name, hexadecimal digits; who holds it may build what belongs to it.
        directory: the cache; None for `cache_directory()`.
    """
    directory = directory or cache_directory()
    there = _valid_entries(keys, directory)
    missing = [key for key in keys if key not in there]
    if not missing:
        return there
    with _locked(directory / f'{lock}.lock'):
        there |= _valid_entries(missing, directory)
        missing = [key for key in keys if key not in there]
        if not missing:
            return there
        with tempfile.TemporaryDirectory(dir=directory, prefix='build_') as folder:
            made = build(missing, Path(folder))
            digests: dict[Path, str] = {}
            for key in missing:
                library = made[key].library
                if library not in digests:
                    digests[library] = file_digest(library)
                    library.chmod(0o600)
                entry = CacheEntry(digests[library], *made[key][1:])
                note = Path(folder) / f'{key}.json'
                note.write_text(json.dumps(asdict(entry)), encoding='ascii')
                there[key] = Found(directory / f'{entry.library}.so', entry, False)
            # The records go last: a library without one counts as absent.
            for library, digest in digests.items():
                os.replace(library, directory / f'{digest}.so')
            for key in missing:
                os.replace(Path(folder) / f'{key}.json', directory / f'{key}.json')
    return there


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _valid_entries(keys: Sequence[str], directory: Path) -> dict[str, Found]:
    """The kernels that are there and may be loaded."""
    found: dict[str, Found] = {}
    sound: dict[str, bool] = {}
    for key in keys:
        entry = _read_entry(directory / f'{key}.json')
        if entry is None:
            continue
        library = directory / f'{entry.library}.so'
        if entry.library not in sound:
            sound[entry.library] = _is_sound(library, entry.library)
        if sound[entry.library]:
            found[key] = Found(library, entry, True)
    return found


def _read_entry(record: Path) -> CacheEntry | None:
    try:
        if not _is_private(record):
            return None
        fields = json.loads(record.read_text(encoding='ascii'))
        shapes = tuple(tuple(int(length) for length in shape) for shape in fields['shapes'])
        entry = CacheEntry(**{**fields, 'shapes': shapes})
        # The name becomes part of a path.
        return entry if re.fullmatch('[0-9a-f]{64}', entry.library) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _is_sound(library: Path, digest: str) -> bool:
    try:
        return _is_private(library) and file_digest(library) == digest
    except OSError:
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
