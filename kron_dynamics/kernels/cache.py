# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Disk cache of compiled kernels, verified before they are loaded.

Keys: the fingerprint of the robot, the sources, the compiler and the processor.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.cache_folder import (
    cache_directory,
    locked,
    put,
    read_private,
    temporary_directory,
    work_folder,
    write_private,
)
from kron_dynamics.kernels.origins import Origin
from kron_dynamics.kernels.sources import changed_meanwhile, sources_digest

# Free space below which the disk counts as full, bytes: enough for the output of a compiler.
_ROOM = 1 << 20


class NoFolderError(KernelBuildError):
    """There is no folder in which compiled kernels can be stored."""


class CacheEntry(NamedTuple):
    """Record of a compiled kernel in the cache.

    Attributes:
        library: SHA-256 of the shared library that contains it, which is also its file name.
        symbol: name of its function in the library.
        operations: arithmetic operations per state.
        shapes: shape of each result.
        build_seconds: time spent recording and compiling.
        has_lanes: whether separate code with one state per SIMD lane can be compiled.
    """

    library: str
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float
    has_lanes: bool = False


class Built(NamedTuple):
    """Result of a builder for one key: a library in the work folder, and the record's fields."""

    library: Path
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float
    has_lanes: bool = False


class Found(NamedTuple):
    """A kernel on disk: its library, its record, and whether it was in the cache already."""

    library: Path
    entry: CacheEntry
    cached: bool


# Builds libraries for some keys in a work folder.
Builder = Callable[[Sequence[str], Path], Mapping[str, Built]]
# Loads the kernel of a key; raises an error if it cannot be used.
Loader = Callable[[str, Found], None]
# Folders that could not be written in this process, with the error.
_given_up: dict[Path, OSError] = {}


def cache_key(*parts: str, origins: Iterable[Origin] = ()) -> str:
    """Return the cache key of a kernel: a digest of its parts, its sources and the machine type.

    Args:
        parts: inputs that are not in source files: the kernel's name, the lengths of its
            arguments, the model's fingerprint, compiler, processor, code for batches or for single
            states, values read by equations of users; from `kernel_factory.py`.
        origins: modules, functions and classes whose sources define the kernel.
    """
    text = '\n'.join((*parts, sources_digest(*origins), platform.machine(), platform.system()))
    return hashlib.sha256(text.encode()).hexdigest()


def fetch(
    keys: Sequence[str],
    build: Builder,
    load: Loader,
    lock: str,
    origins: Sequence[Origin] = (),
) -> dict[str, Found]:
    """Return the kernels of some keys, loaded; build those that are missing in the cache.

    Processes that need the same kernels at the same time wait for the one that builds them. A
    kernel that was truncated, altered, replaced or written by another user, or that cannot be
    loaded, is built again. If the cache folder is unusable, a temporary folder replaces it.

    Args:
        keys: keys from `cache_key`.
        build: builds the libraries of the missing keys.
        load: loads a kernel or raises `KernelBuildError`, OSError or ImportError.
        lock: name of the lock file that is held while building.
        origins: the origins that the keys were made with.

    Raises:
        KernelBuildError: a kernel cannot be built or loaded.
        NoFolderError: there is no folder to store it in.
    """
    found: dict[str, Found] = {}

    def check(anew: bool = True) -> None:
        if changed := changed_meanwhile(origins, anew=anew):
            raise OSError(f'{changed} has changed since this process started')

    try:
        check(anew=False)  # the keys describe the files as they were read, not as they are now
        _fetch_in(cache_directory, found, keys, build, load, lock, check)
    except OSError as refused:
        reason = refused
        try:
            _fetch_in(lambda: temporary_directory(reason), found, keys, build, load, lock)
        except OSError as error:
            raise NoFolderError(
                f'there is no folder for compiled kernels: {reason}; {error}'
            ) from None
    return found


def _fetch_in(
    directory: Callable[[], Path],
    found: dict[str, Found],
    keys: Sequence[str],
    build: Builder,
    load: Loader,
    lock: str,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Add the missing kernels to `found`, loading or building them in a folder.

    Built kernels are stored only if `check` still passes. An OSError means that the folder cannot
    be used.
    """
    folder = directory()
    for last_try in (False, True):
        try:
            _find(found, keys, folder, load)
            if all(key in found for key in keys):
                return
            if folder in _given_up:
                raise _given_up[folder]
            with locked(folder / f'{lock}.lock'), work_folder(folder) as work:
                _find(found, keys, folder, load, work)  # another process may have built them
                missing = [key for key in keys if key not in found]
                built = _built(missing, work, build)
                check()
                made = _keep(built, work, folder)
                for key, kernel in made.items():
                    load(key, kernel)
                found |= made
                return
        except OSError as error:
            if not last_try and not folder.exists():  # removed meanwhile: try once more
                folder = directory()
                continue
            if str(folder) not in str(error):
                error = OSError(f'{folder}: {error}')
            _given_up[folder] = error
            raise error from None


def _built(keys: Sequence[str], work: Path, build: Builder) -> Mapping[str, Built]:
    if not keys:
        return {}
    try:
        return build(keys, work)
    except KernelBuildError:
        # On a full disk compilers fail with messages of any wording. Writing a file raises the
        # OSError that says so.
        room = work / 'room'
        with open(room, 'wb') as file:
            file.write(bytes(_ROOM))
        room.unlink()
        raise


def _keep(made: Mapping[str, Built], work: Path, folder: Path) -> dict[str, Found]:
    """Move built libraries and their records to the cache folder."""
    kept: dict[str, Found] = {}
    digests: dict[Path, str] = {}
    for key, built in made.items():
        if built.library not in digests:
            built.library.chmod(0o600)
            digests[built.library] = hashlib.sha256(built.library.read_bytes()).hexdigest()
        entry = CacheEntry(digests[built.library], *built[1:])
        write_private(work / f'{key}.json', _record(key, entry))
        kept[key] = Found(folder / f'{entry.library}.so', entry, False)
    # Records are moved last: a library without a record counts as absent.
    for library, digest in digests.items():
        put(library, folder / f'{digest}.so')
    for key in kept:
        put(work / f'{key}.json', folder / f'{key}.json')
    return kept


def _find(
    found: dict[str, Found],
    keys: Sequence[str],
    folder: Path,
    load: Loader,
    work: Path | None = None,
) -> None:
    """Add the cached kernels whose library has the recorded digest and can be loaded.

    Altered libraries are moved to the work folder, if given, which is removed later.
    """
    sound: dict[Path, bool] = {}
    for key in keys:
        if key in found or (entry := _entry(key, folder)) is None:
            continue
        kernel = Found(folder / f'{entry.library}.so', entry, True)
        if kernel.library not in sound:
            content = read_private(kernel.library)
            digest = None if content is None else hashlib.sha256(content).hexdigest()
            sound[kernel.library] = digest == entry.library
            if work is not None and not sound[kernel.library]:
                with contextlib.suppress(OSError):
                    os.replace(kernel.library, work / kernel.library.name)
        if sound[kernel.library]:
            try:
                load(key, kernel)
            except (KernelBuildError, OSError, ImportError):
                continue
            found[key] = kernel


def _record(key: str, entry: CacheEntry) -> bytes:
    """Return the content of a record file: a checksum line, then the entry as JSON."""
    text = json.dumps(entry._asdict()).encode('ascii')
    return _seal(key, text) + b'\n' + text


def _seal(key: str, text: bytes) -> bytes:
    """Return the checksum of a record, which covers its key and its text."""
    return hashlib.sha256(key.encode() + b'\n' + text).hexdigest().encode()


def _entry(key: str, folder: Path) -> CacheEntry | None:
    """Read the record of a key; None if it is missing or its checksum is wrong."""
    seal, _, text = (read_private(folder / f'{key}.json') or b'').partition(b'\n')
    if seal != _seal(key, text):
        return None
    try:
        fields = json.loads(text)
        shapes = tuple(tuple(int(length) for length in shape) for shape in fields['shapes'])
        entry = CacheEntry(**{**fields, 'shapes': shapes})
        # The digest becomes part of a path, so accept nothing but hexadecimal digits.
        return entry if re.fullmatch('[0-9a-f]{64}', entry.library) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
