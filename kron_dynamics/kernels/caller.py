# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The extension module `caller.c`, compiled on this machine for this Python and this NumPy."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import logging
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.build import (
    compile_library,
    compiler_identity,
    find_compiler,
    processor_identity,
)
from kron_dynamics.kernels.cache import Built, cache_key, fetch

_log = logging.getLogger(__name__)
_MODULE = 'kron_caller'  # PyInit_kron_caller of the C text


@functools.lru_cache(maxsize=1)
def call_type() -> Any | None:
    """Return the type `Call` of the extension, None where it cannot be had here.

    ``Call(address, sizes, shapes, result_type, slow, limit)`` is called like ``slow``, which
    gets every call that is not one of plain float64 arrays, or of ``limit`` states or more.
    """
    try:
        return _load(_library()).Call
    except (ImportError, OSError, RuntimeError) as error:  # the package's errors are among them
        _log.info('kernels are called through ctypes, which is slower: %s', error)
        return None


def _library() -> Path:
    """The compiled extension, from the cache or made now."""
    command = find_compiler()
    if command is None:
        raise KernelBuildError('there is no C compiler')
    source = Path(__file__).with_suffix('.c').read_text(encoding='ascii')
    includes = _include_folders()
    made_for = (str(sysconfig.get_config_var('SOABI')), np.__version__, processor_identity())
    key = cache_key(_MODULE, *made_for, compiler_identity(command), source)

    def build(keys: Sequence[str], folder: Path) -> dict[str, Built]:
        started = time.perf_counter()
        library = folder / f'{_MODULE}.so'
        compile_library(command, source, library, includes)
        return {key: Built(library, _MODULE, 0, (), time.perf_counter() - started)}

    return fetch([key], build, lock=key)[key].library


def _include_folders() -> list[Path]:
    """Where Python.h and numpy/arrayobject.h are: the first is a package of its own on Debian."""
    folders = [Path(sysconfig.get_path(name)) for name in ('include', 'platinclude')]
    folders.append(Path(np.get_include()))
    for header in ('Python.h', 'numpy/arrayobject.h'):
        if not any((folder / header).is_file() for folder in folders):
            raise KernelBuildError(f'{header} is not installed')
    return list(dict.fromkeys(folders))


def _load(library: Path) -> Any:
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, str(library))
    spec = importlib.util.spec_from_loader(_MODULE, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
