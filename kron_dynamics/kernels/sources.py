# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Digests of a kernel's sources: every file that its equations and its generator import.

Files are found by following the imports in the sources, including those inside functions. Text
that only looks like an import counts as one: a superfluous file costs a compilation, but a missing
file would let an outdated kernel be used. From a user's equations also the user's own modules are
followed, but not the libraries that they import.

Threads may ask at the same time; one at a time looks at the files.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.named_imports import (
    absolute,
    file_of,
    is_library,
    named_imports,
    top_level,
)
from kron_dynamics.kernels.origins import Origin
from kron_dynamics.kernels.source_notes import Note, SourceNotes

_log = logging.getLogger(__name__)
_PACKAGE = __name__.partition('.')[0]
_INSIDE = f'{_PACKAGE}.'
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Times of this module's import, ns: files changed later may differ from the code in memory.
_IMPORTED, _STARTED = time.time_ns(), time.monotonic_ns()
# Difference between two clocks from which on one of them has been set, ns.
_SET = 1_000_000_000
# ctime of each file when it was read, ns.
_seen: dict[str, int] = {}
_PYTHON = ('.py', '.pyc', '.pyo')
_lock = threading.RLock()
P = ParamSpec('P')
R = TypeVar('R')

# Patterns begin with plain letters, for which searching is fast. They are compiled when a source
# has changed, as compiling takes time in every start.
_NAME = rf'{_PACKAGE}(?:\.\w+)*'
# Names in parentheses may be followed by comments, which may contain parentheses.
_FROM = (
    rf'from\s*(\.[.\w]*|{_PACKAGE}[.\w]*)\s*import\b\s*'
    r'(\((?:#[^\n]*|[^)#])*\)|(?:[^\n\\;#]|\\\n)*)'
)
_WORD = r'\w+'
# Functions that import a module by name; followed if the name is a string literal. Written in two
# parts so that this file does not count as calling them.
_CALLS = ('import_' + 'module', '__import' + '__')
_TEXT = r'\s*\(\s*[\'"]([.\w]+)[\'"]\s*[,)]'


class _Module(NamedTuple):
    """Digest and imports of a module.

    Attributes:
        digest: digest of its text; for a package also of the files in its folder that are not
            Python.
        imports: modules of this package that it may import, including its parent packages; of a
            module of another package also others.
    """

    digest: bytes
    imports: frozenset[str]


def _one_at_a_time(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that waits while another thread runs one of these."""

    @functools.wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with _lock:
            return function(*args, **kwargs)

    return alone


def _unlock() -> None:
    """Replace the lock in a child process: its thread has not been copied."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_unlock)


@_one_at_a_time
def sources_digest(*origins: Origin) -> str:
    """Return a digest of all source files of some modules, functions and classes.

    Args:
        origins: names of modules, or functions and classes from `origins_of`. If they are in
            another package, their file and the modules that it imports are included; if they are
            in no file, their byte code and the values that they use.
    """
    names = _modules_of(origins)
    other = {*names, *sys.builtin_module_names}
    typed = [o for o in origins if not isinstance(o, str) and o.__module__ not in other]
    codes = set()
    if typed:
        with IMPORTING:
            from kron_dynamics.kernels.typed_code import text_of

        codes = {text_of(origin) for origin in typed}
    digest = hashlib.sha256(_closure_digest(frozenset(names)).encode())
    for code in sorted(codes):
        digest.update(code.encode())
    return digest.hexdigest()


def _modules_of(origins: Iterable[Origin]) -> set[str]:
    """Return the names of the modules that origins are in, but for those in no file."""
    modules = {o if isinstance(o, str) else o.__module__ for o in origins}
    given = {o for o in origins if isinstance(o, str)}
    return {m for m in modules if m in given or _is_ours(m) or file_of(m) is not None}


@functools.cache
def _closure_digest(roots: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(_closure(roots)):
        digest.update(name.encode() + b'\0' + _module(name).digest)
    return digest.hexdigest()


def closure(roots: Iterable[str]) -> set[str]:
    """Return the modules themselves and all that they may import, directly or indirectly.

    Of libraries, the modules that are imported count, but not those that they import.
    """
    return set(_closure(frozenset(roots)))


@functools.cache
def _closure(roots: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    new = set(roots).difference(sys.builtin_module_names)
    users = {top_level(name) for name in new}
    while new:
        found |= new
        followed = [n for n in new if _is_ours(n) or top_level(n) in users or not _in_library(n)]
        imports = set().union(*(_module(name).imports for name in followed))
        new = imports.difference(found, sys.builtin_module_names)
    return frozenset(found)


@functools.cache
def _files_of_others(roots: frozenset[str]) -> frozenset[str | None]:
    """Return the files of the modules of other packages in a closure."""
    return frozenset(file_of(name) for name in _closure(roots) if not _is_ours(name))


@functools.cache
def _module(name: str) -> _Module:
    """Return digest and imports of a module of this package, or of a single file of another."""
    file = _files().get(name) if _is_ours(name) else file_of(name)
    try:
        if file is None:
            raise FileNotFoundError(f'{name} has no source file')
        is_package = os.path.basename(file) == '__init__.py'
        found = _noted(file, name if is_package else name.rpartition('.')[0])
        digest = hashlib.sha256(found.digest.encode())
        if is_package and _is_ours(name):
            for other in _beside(os.path.dirname(file)):
                digest.update(os.path.basename(other).encode() + b'\0' + _read(other))
    except OSError as error:
        return _without_source(name, error)
    if _is_ours(name):  # imports of others are not among those of the package's own modules
        return _Module(digest.digest(), frozenset(found.imports))
    known = (m for m in found.imports if _is_ours(m) or file_of(m) is not None)
    return _Module(digest.digest(), frozenset(known))


def _noted(file: str, package: str) -> Note:
    """Return the note of a module's file, which is read only if it has changed since the last."""
    status = os.stat(file)
    if (note := _notes().find(file, status)) is not None:
        _seen[file] = status.st_ctime_ns
        return note
    text = _read(file)
    source = text.decode('utf-8', 'replace')
    imports = sorted(_imports(source, package) | _others(source, package))
    note = Note(_seen[file], len(text), hashlib.sha256(text).hexdigest(), tuple(imports))
    _notes().add(file, note)
    return note


@functools.lru_cache(maxsize=1)
def _notes() -> SourceNotes:
    """Return the notes of earlier processes; those of the first kind lack imports of others."""
    modules = ' '.join(['2', *sorted(_files())])
    return SourceNotes(hashlib.sha256(modules.encode()).hexdigest())


@_one_at_a_time
def keep_notes() -> None:
    """Store the notes of the files read here, so that other processes need not read them."""
    _notes().keep()


def read_beside(file: str, name: str) -> str:
    """Return an ASCII file in the folder of a module of this package, also from a zip archive."""
    assert __spec__ is not None
    loader: Any = __spec__.loader
    content: bytes = loader.get_data(os.path.join(os.path.dirname(file), name))
    return content.decode('ascii')


@_one_at_a_time
def forget_changed() -> None:
    """Clear all caches if a file has changed since it was read."""
    now = {file: _changed_at(file) for file in _seen}
    if now != _seen:
        # Files that have changed stay: another thread may have a digest of their old text.
        _seen.update(now)
        for file in [file for file, changed in now.items() if not changed]:
            del _seen[file]
        read = (_closure_digest, _closure, _files_of_others, _module, _files, _notes)
        for function in (*read, _whole_package):
            function.cache_clear()


@_one_at_a_time
def changed_meanwhile(origins: Iterable[Origin], *, anew: bool = True) -> str | None:
    """Return a source file that has changed since this process imported it, or None.

    If there is one, the code in memory may correspond neither to its old nor to its new text.

    Args:
        origins: as for `sources_digest`; this package's own files are always checked.
        anew: whether to look at the files again; False checks their state when they were read
            for the digest.
    """
    theirs = _files_of_others(frozenset(_modules_of(origins)))
    is_of_this_process = _is_of_this_process()
    for file, then in _seen.items():
        if is_of_this_process(_changed_at(file) if anew else then):
            if file in theirs or file.startswith(_ROOT):
                return file
    return None


def _is_of_this_process() -> Callable[[int], bool]:
    """Return whether a ctime, ns, may be of a change since this process imported the package.

    The clock may be set meanwhile, as on a computer that has none without a network: then such a
    change has a time shortly after the import by the old clock, or shortly before now by the new
    one. Other times after the import are of changes before the clock was wrong.
    """
    now, elapsed = time.time_ns(), time.monotonic_ns() - _STARTED
    old_clock = _IMPORTED + elapsed + _SET
    if abs(now - _IMPORTED - elapsed) <= _SET:
        return lambda changed: changed == 0 or _IMPORTED < changed <= old_clock
    begin, end = now - elapsed - _SET, now + _SET
    return lambda changed: (
        changed == 0 or _IMPORTED < changed <= old_clock or begin <= changed <= end
    )


def _changed_at(file: str) -> int:
    """Return the ctime of a file, ns, which programs cannot set; 0 if the file is missing."""
    try:
        return os.stat(file).st_ctime_ns
    except OSError:
        return 0


def _read(file: str) -> bytes:
    _seen[file] = _changed_at(file)
    with open(file, 'rb') as stream:
        return stream.read()


def _imports(text: str, package: str) -> frozenset[str]:
    """Return the modules of this package that the text of a module in a package may import."""
    candidates = set(re.findall(_NAME, text))
    for base, listed in re.findall(_FROM, text):
        base = absolute(base, package)
        candidates.add(base)
        if _files().get(base, '').endswith('__init__.py'):
            candidates.update(f'{base}.{word}' for word in re.findall(_WORD, listed))
            candidates |= _all_below(base) if '*' in listed else set()
    for call in _CALLS:
        for behind in text.split(call)[1:]:
            named = re.match(_TEXT, behind)
            candidates |= {absolute(named[1], package)} if named else _all_below(_PACKAGE)
    modules: set[str] = set()
    for name in filter(_is_ours, (*candidates, package)):
        # Importing a module also runs its parent packages. A name that is no module may be an
        # attribute of one.
        while name and name not in modules:
            if name in _files():
                modules.add(name)
            name = name.rpartition('.')[0]
    return frozenset(modules)


def _others(text: str, package: str) -> set[str]:
    """Return the modules of other packages that a module of another package may import."""
    return (
        set()
        if _is_ours(package)
        else {m for m in named_imports(text, package) if not _is_ours(m)}
    )


def _in_library(name: str) -> bool:
    return is_library(file_of(name))


def _is_ours(name: str) -> bool:
    return name.startswith(_INSIDE) or name == _PACKAGE


@functools.lru_cache(maxsize=1)
def _files() -> dict[str, str]:
    """Return the source file of every module of this package."""
    found = {}
    for folder, folders, names in os.walk(_ROOT):
        folders[:] = [name for name in folders if name != '__pycache__']
        package = '.'.join((_PACKAGE, *folder[len(_ROOT) :].split(os.sep)[1:]))
        for name in names:
            if name.endswith('.py'):
                module = package if name == '__init__.py' else f'{package}.{name[:-3]}'
                found[module] = os.path.join(folder, name)
    return found


def _beside(folder: str) -> list[str]:
    """Return the files of a folder that are not Python, sorted: C sources and data tables."""
    names = sorted(n for n in os.listdir(folder) if n[0] != '.' and not n.endswith(_PYTHON))
    return [path for name in names if os.path.isfile(path := os.path.join(folder, name))]


def _all_below(package: str) -> set[str]:
    """Return all modules of this package below one of its packages."""
    return {name for name in _files() if name.startswith(f'{package}.')}


def _without_source(name: str, error: OSError) -> _Module:
    """Return a substitute for a module that cannot be read: a digest of the whole package."""
    whole = _whole_package(str(error)) if _is_ours(name) else repr(error).encode()
    return _Module(whole, frozenset())


@functools.lru_cache(maxsize=1)
def _whole_package(reason: str) -> bytes:
    """Return a digest of all files of an installation without sources, or of its archive."""
    root = Path(_ROOT)
    archives = [path for path in root.parents if path.is_file()]
    files = archives or sorted(path for path in root.rglob('*') if path.is_file())
    _log.info('%s: kernels are found by the %d files in %s', reason, len(files), root)
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(root.parent)).encode() if not archives else b'')
        digest.update(path.read_bytes())
    return digest.digest()
