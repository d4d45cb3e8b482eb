# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels on disk: found by what they were made from, checked before they are loaded."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
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
from kron_dynamics.kernels.sources import Origin, changed_meanwhile, sources_digest

# Bytes that a compiler can do with; a disk with less is full.
_ROOM = 1 << 20


class NoFolderError(KernelBuildError):
    """There is no folder that compiled kernels can be kept in."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """Where a compiled kernel is, and what is worth knowing about it.

    Attributes:
        library: SHA-256 of the shared library that holds it, and its name in the cache.
        symbol: name of its function there.
        operations: arithmetic operations per state.
        shapes: shape of each result.
        build_seconds: time spent recording and compiling.
        has_lanes: whether code with one state per SIMD lane can be had beside it.
    """

    library: str
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float
    has_lanes: bool = False


class Built(NamedTuple):
    """What a builder made for one key: a library in its work folder, and the entry's rest."""

    library: Path
    symbol: str
    operations: int
    shapes: tuple[tuple[int, ...], ...]
    build_seconds: float
    has_lanes: bool = False


class Found(NamedTuple):
    """A kernel on disk: its library, its entry, and whether it was there already."""

    library: Path
    entry: CacheEntry
    cached: bool


# Makes libraries for the keys it is given, in the folder it is given.
Builder = Callable[[Sequence[str], Path], Mapping[str, Built]]
# Loads the kernel of a key; raises an error where it cannot be used.
Loader = Callable[[str, Found], None]
# Folders that could not be written in this process, and why.
_given_up: dict[Path, OSError] = {}


def cache_key(*parts: str, origins: Iterable[Origin] = ()) -> str:
    """Return the key of a kernel made from the given parts on this kind of machine.

    Args:
        parts: all that it is made from and that is in no source.
        origins: modules, functions and classes whose sources it is made from.
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
    """Return the kernels of some keys, loaded, building those that are not there.

    Processes that want the same kernels at once wait for the one that builds them. A kernel that
    was truncated, altered, exchanged or put there by somebody else, or that cannot be loaded, is
    built again. Where the cache cannot be used, a folder of this process takes its place.

    Args:
        keys: from `cache_key`.
        build: makes the libraries of the keys that are missing.
        load: makes a kernel ready or raises `KernelBuildError`, OSError or ImportError.
        lock: a name; who holds it may build what belongs to it.
        origins: of the keys.

    Raises:
        KernelBuildError: a kernel cannot be built or loaded.
        NoFolderError: it can be kept nowhere.
    """
    found: dict[str, Found] = {}

    def check(anew: bool = True) -> None:
        if changed := changed_meanwhile(origins, anew=anew):
            raise OSError(f'{changed} has changed since this process started')

    try:
        check(anew=False)  # the keys are of what was read, whatever has changed since
        _fetch_in(cache_directory, found, keys, build, load, lock, check)
    except OSError as refused:
        reason = refused
        try:
            _fetch_in(lambda: temporary_directory(reason), found, keys, build, load, lock)
        except OSError as error:
            raise NoFolderError(
                f'compiled kernels can be kept nowhere: {reason}; {error}'
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
    """Add what is not found yet, from a folder or built there; an OSError means another.

    What was built is kept only if a last check passes.
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
                _find(found, keys, folder, load, work)  # another process may have been quicker
                missing = [key for key in keys if key not in found]
                built = _built(missing, work, build)
                check()
                made = _keep(built, work, folder)
                for key, kernel in made.items():
                    load(key, kernel)
                found |= made
                return
        except OSError as error:
            if not last_try and not folder.exists():  # removed meanwhile: once more
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
        # A compiler on a full disk says so in its own words, and in any language.
        room = work / 'room'
        with open(room, 'wb') as file:
            file.write(bytes(_ROOM))
        room.unlink()
        raise


def _keep(made: Mapping[str, Built], work: Path, folder: Path) -> dict[str, Found]:
    """Move what was built to where others find it."""
    kept: dict[str, Found] = {}
    digests: dict[Path, str] = {}
    for key, built in made.items():
        if built.library not in digests:
            built.library.chmod(0o600)
            digests[built.library] = hashlib.sha256(built.library.read_bytes()).hexdigest()
        entry = CacheEntry(digests[built.library], *built[1:])
        write_private(work / f'{key}.json', _sealed(key, entry))
        kept[key] = Found(folder / f'{entry.library}.so', entry, False)
    # The records go last: a library without one counts as absent.
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
    """Add the kernels that are there, have not changed since they were built, and load.

    Libraries that have changed go to a work folder, which vanishes, where there is one.
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


def _sealed(key: str, entry: CacheEntry) -> bytes:
    """A record: a digest of its key and of the text behind, which names its library's."""
    text = json.dumps(asdict(entry)).encode('ascii')
    return _seal(key, text) + b'\n' + text


def _seal(key: str, text: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b'\n' + text).hexdigest().encode()


def _entry(key: str, folder: Path) -> CacheEntry | None:
    """What a record says, None where it is not there or not as it was written."""
    seal, _, text = (read_private(folder / f'{key}.json') or b'').partition(b'\n')
    if seal != _seal(key, text):
        return None
    try:
        fields = json.loads(text)
        shapes = tuple(tuple(int(length) for length in shape) for shape in fields['shapes'])
        entry = CacheEntry(**{**fields, 'shapes': shapes})
        # The name becomes part of a path.
        return entry if re.fullmatch('[0-9a-f]{64}', entry.library) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
