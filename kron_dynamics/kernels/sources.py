# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel is made of: every file that its equations and its generator import.

Nothing is listed here: files are found by following imports in the sources, those inside functions
too. Text that only looks like an import counts as one: a file too many costs a compilation, a file
too few would keep a kernel of other equations alive.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from kron_dynamics.kernels.source_notes import Note, SourceNotes

_log = logging.getLogger(__name__)
_PACKAGE = __name__.partition('.')[0]
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What this process computes with was read from files before.
_IMPORTED = time.time_ns()
# Files by the time of their last change when they were read, ns.
_seen: dict[str, int] = {}
_PYTHON = ('.py', '.pyc', '.pyo')

# Patterns begin with plain letters: then searching for them takes no time.
_NAME = re.compile(rf'{_PACKAGE}(?:\.\w+)*')
# Names in parentheses may have comments beside them, and these parentheses of their own.
_FROM = re.compile(
    rf'from\s*(\.[.\w]*|{_PACKAGE}[.\w]*)\s*import\b\s*'
    r'(\((?:#[^\n]*|[^)#])*\)|(?:[^\n\\;#]|\\\n)*)'
)
_WORD = re.compile(r'\w+')
# Imports whose module is a value: followed where it is a plain text, in brackets right behind.
_CALLS = ('import_' + 'module', '__import' + '__')  # this very file has none
_TEXT = re.compile(r'\s*\(\s*[\'"]([.\w]+)[\'"]\s*[,)]')


# A module's name, or what is written in one.
Origin = str | FunctionType | type


class _Module(NamedTuple):
    """What is known of a module's files.

    Attributes:
        digest: of its text; of a package, of all in its folder that is not Python too.
        imports: modules of this package that it may import, those around it included.
    """

    digest: bytes
    imports: frozenset[str]


def origins_of(function: Callable[..., Any]) -> set[FunctionType | type]:
    """Return the functions and classes that a function's equations are written in.

    Bodies of partial, bound and wrapped functions, what functions have captured, and the classes
    of the objects among all these. What is typed in by hand is followed to what it calls.
    """
    found: set[FunctionType | type] = set()
    waiting: list[Any] = [function]
    while waiting:
        item = waiting.pop()
        if isinstance(item, functools.partial):
            waiting += [item.func, *item.args, *item.keywords.values()]
        elif isinstance(item, MethodType):
            waiting += [item.__func__, item.__self__]
        elif not isinstance(item, FunctionType):
            found.update(item.__mro__ if isinstance(item, type) else type(item).__mro__)
        elif item not in found:
            found.add(item)
            waiting += [cell.cell_contents for cell in item.__closure__ or () if _is_filled(cell)]
            waiting += [item.__wrapped__] if hasattr(item, '__wrapped__') else []
            if _file_of(item.__module__) is None:
                known = item.__globals__
                names = known.keys() & set(item.__code__.co_names)
                waiting += [known[k] for k in names if isinstance(known[k], FunctionType | type)]
    return found


def sources_digest(*origins: Origin) -> str:
    """Return a digest of all files that some modules, functions and classes are made of.

    Args:
        origins: names of modules, or what `origins_of` returns. Those of other packages count with
            the file that they are in and with what it imports from here; those that are in no
            file, by their code.
    """
    names: set[str] = set()
    codes: set[str] = set()
    for origin in origins:
        module = origin if isinstance(origin, str) else origin.__module__
        if isinstance(origin, str) or _is_ours(module) or _file_of(module) is not None:
            names.add(module)
        elif module not in sys.builtin_module_names:
            parts = vars(origin).values() if isinstance(origin, type) else [origin]
            codes |= {_text_of(part.__code__) for part in parts if isinstance(part, FunctionType)}
    digest = hashlib.sha256(_closure_digest(frozenset(names)).encode())
    for code in sorted(codes):
        digest.update(code.encode())
    return digest.hexdigest()


@functools.cache
def _closure_digest(roots: frozenset[str]) -> str:
    digest = hashlib.sha256()
    for name in sorted(closure(roots)):
        digest.update(name.encode() + b'\0' + _module(name).digest)
    return digest.hexdigest()


def closure(roots: Iterable[str]) -> set[str]:
    """Return the modules that some modules are made of: themselves and all they may import."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found and name not in sys.builtin_module_names:
            found.add(name)
            waiting += _module(name).imports
    return found


@functools.cache
def _module(name: str) -> _Module:
    """A module of this package, or the one file of another's."""
    file = _files().get(name) if _is_ours(name) else _file_of(name)
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
    return _Module(digest.digest(), frozenset(found.imports))


def _noted(file: str, package: str) -> Note:
    """What a module's file is and imports, read only if nobody has since it changed."""
    status = os.stat(file)
    if (note := _notes().find(file, status)) is not None:
        _seen[file] = status.st_ctime_ns
        return note
    text = _read(file)
    imports = sorted(_imports(text.decode('utf-8', 'replace'), package))
    note = Note(_seen[file], len(text), hashlib.sha256(text).hexdigest(), tuple(imports))
    _notes().add(file, note)
    return note


@functools.lru_cache(maxsize=1)
def _notes() -> SourceNotes:
    return SourceNotes(hashlib.sha256(' '.join(sorted(_files())).encode()).hexdigest())


def keep_notes() -> None:
    """Spare other processes the reading of what was read here."""
    _notes().keep()


def read_beside(file: str, name: str) -> str:
    """Return an ASCII text that lies beside a module of this package, in an archive too."""
    assert __spec__ is not None
    loader: Any = __spec__.loader
    content: bytes = loader.get_data(os.path.join(os.path.dirname(file), name))
    return content.decode('ascii')


def forget_changed() -> None:
    """Read anew what has changed since it was read."""
    if any(_changed_at(file) != then for file, then in _seen.items()):
        _seen.clear()
        for function in (_closure_digest, _module, _files, _notes, _whole_package):
            function.cache_clear()


def changed_meanwhile(origins: Iterable[Origin], *, anew: bool = True) -> str | None:
    """Return a source that has changed since this process imported it, None if there is none.

    What is in memory, and so what is recorded, may be neither the old text nor the new one.

    Args:
        origins: as of `sources_digest`; this package's own files count anyhow.
        anew: look at the files again; False takes them as they were read for the digest.
    """
    theirs = {_file_of(o if isinstance(o, str) else o.__module__) for o in origins}
    for file, then in _seen.items():
        if file in theirs or file.startswith(_ROOT):
            if not 0 < (_changed_at(file) if anew else then) <= _IMPORTED:
                return file
    return None


def _changed_at(file: str) -> int:
    """When a file was changed or put there, ns, which nobody can set; 0 where it is gone."""
    try:
        return os.stat(file).st_ctime_ns
    except OSError:
        return 0


def _read(file: str) -> bytes:
    _seen[file] = _changed_at(file)
    with open(file, 'rb') as stream:
        return stream.read()


def _imports(text: str, package: str) -> frozenset[str]:
    """Modules of this package that a text of a module in some package may import."""
    candidates = set(_NAME.findall(text))
    for base, listed in _FROM.findall(text):
        base = _absolute(base, package)
        candidates.add(base)
        if _files().get(base, '').endswith('__init__.py'):
            candidates.update(f'{base}.{word}' for word in _WORD.findall(listed))
            candidates |= _all_below(base) if '*' in listed else set()
    for call in _CALLS:
        for behind in text.split(call)[1:]:
            told = _TEXT.match(behind)
            candidates |= {_absolute(told[1], package)} if told else _all_below(_PACKAGE)
    modules: set[str] = set()
    for name in filter(_is_ours, (*candidates, package)):
        # Importing a module runs the packages around it; what is no module is a name in one.
        while name and name not in modules:
            if name in _files():
                modules.add(name)
            name = name.rpartition('.')[0]
    return frozenset(modules)


def _absolute(name: str, package: str) -> str:
    """A module's name without the dots that it may begin with in a package."""
    dots = len(name) - len(name.lstrip('.'))
    if dots == 0:
        return name
    around = package.split('.')
    return '.'.join([*around[: len(around) - dots + 1], *filter(None, [name[dots:]])])


def _is_ours(name: str) -> bool:
    return name == _PACKAGE or name.startswith(f'{_PACKAGE}.')


@functools.lru_cache(maxsize=1)
def _files() -> dict[str, str]:
    """The source of every module of this package."""
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
    """Files of a folder that are not Python, in a fixed order: C, or numbers in tables."""
    names = sorted(n for n in os.listdir(folder) if n[0] != '.' and not n.endswith(_PYTHON))
    return [path for name in names if os.path.isfile(path := os.path.join(folder, name))]


def _all_below(package: str) -> set[str]:
    """All modules of this package below one of its packages."""
    return {name for name in _files() if name.startswith(f'{package}.')}


def _file_of(module: str) -> str | None:
    """The file of an imported module of another package."""
    return getattr(sys.modules.get(module), '__file__', None)


def _without_source(name: str, error: OSError) -> _Module:
    """All of the package's files stand for a module of it whose text cannot be read."""
    whole = _whole_package(str(error)) if _is_ours(name) else repr(error).encode()
    return _Module(whole, frozenset())


@functools.lru_cache(maxsize=1)
def _whole_package(reason: str) -> bytes:
    """Of an installation without sources, or one in an archive."""
    root = Path(_ROOT)
    archives = [path for path in root.parents if path.is_file()]
    files = archives or sorted(path for path in root.rglob('*') if path.is_file())
    _log.info('%s: kernels are found by the %d files in %s', reason, len(files), root)
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(root.parent)).encode() if not archives else b'')
        digest.update(path.read_bytes())
    return digest.digest()


def _text_of(code: CodeType) -> str:
    """What a function does, the same in every process of one Python."""
    constants = [
        _text_of(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts
    ]
    return repr((sys.version, code.co_code, code.co_names, code.co_varnames, constants))


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
