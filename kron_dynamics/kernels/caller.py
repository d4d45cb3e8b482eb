# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The extension module `caller.c`, compiled on demand for this Python and NumPy."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.cache import Built, cache_key, fetch
from kron_dynamics.kernels.compiler import compiler_identity, find_compiler, processor_identity
from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.library import address_of, signature_source
from kron_dynamics.kernels.sources import read_beside

_log = logging.getLogger(__name__)
_MODULE, _FUNCTION = 'kron_caller', 'PyInit_kron_caller'  # as in the C text
_PATIENCE = 60.0  # s until a failed compilation is tried again


def call_type(given_up: threading.Event | None = None) -> Any | None:
    """Return the type `Call` of the extension, or None if it cannot be compiled or loaded.

    ``Call(address, sizes, shapes, result_type, slow, limit)`` is called like ``slow``, to which
    it forwards every call with anything but plain float64 arrays, or with ``limit`` states or
    more. ``Call.use_for_batches(address, limit)`` sets other code for batches, and another limit.
    A failure is tried again after a minute, as the disk may have been full.

    Args:
        given_up: cancels the compilation when another thread sets it.
    """
    given_up = given_up or threading.Event()
    if _state.type is None and time.monotonic() >= _state.try_again:
        try:
            _state.type = _extension(given_up).Call
        except (ImportError, OSError, RuntimeError) as error:  # KernelBuildError is a RuntimeError
            if given_up.is_set():
                return None
            _state.try_again = time.monotonic() + _PATIENCE
            _log.info('kernels are called through ctypes, which is slower: %s', error)
    return _state.type


# State of the extension in this process: its type, or the time to try again, s.
_state = SimpleNamespace(type=None, try_again=0.0)


def _extension(given_up: threading.Event) -> Any:
    """Return the extension module, from the cache or newly compiled."""
    command = find_compiler()
    if command is None:
        raise KernelBuildError('there is no C compiler')
    source = read_beside(__file__, 'caller.c')
    made_for = (importlib.machinery.EXTENSION_SUFFIXES[0], np.__version__, processor_identity())
    key = cache_key(*(_MODULE, *made_for, compiler_identity(command), source), origins=(__name__,))
    modules: list[Any] = []

    def build(keys: Sequence[str], folder: Path) -> dict[str, Built]:
        with IMPORTING:
            from kron_dynamics.kernels.compiler_process import compile_library

        started = time.perf_counter()
        library = folder / f'{_MODULE}.so'
        declared = signature_source(_FUNCTION, key)
        compile_library(command, source + declared, library, _include_folders(), given_up)
        _load(library, key)
        return {key: Built(library, _MODULE, 0, (), time.perf_counter() - started)}

    fetch([key], build, lambda key, found: modules.append(_load(found.library, key)), _MODULE)
    return modules[-1]


def _include_folders() -> list[Path]:
    """Return the folders of NumPy's headers and of Python.h (on Debian a separate package)."""
    with IMPORTING:
        import sysconfig  # slow, and not needed at start-up if the extension is cached

    folders = [Path(sysconfig.get_path(name)) for name in ('include', 'platinclude')]
    folders.append(Path(np.get_include()))
    for header in ('Python.h', 'numpy/arrayobject.h'):
        if not any((folder / header).is_file() for folder in folders):
            raise KernelBuildError(f'{header} is not installed')
    return list(dict.fromkeys(folders))


def _load(library: Path, key: str) -> Any:
    """Import the extension from a library whose signature has to match the key."""
    address_of(library, _FUNCTION, key)
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, str(library))
    spec = importlib.util.spec_from_loader(_MODULE, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
