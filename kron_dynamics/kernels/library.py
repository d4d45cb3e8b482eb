# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loading of compiled libraries: checks signatures and keeps the floating-point environment."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError

_SMALLEST = sys.float_info.min
_ENVIRONMENT_BYTES = 512  # at least the size of fenv_t on any platform


def signature(key: str, sizes: Sequence[int], shapes: Sequence[Sequence[int]]) -> str:
    """Return the signature of a compiled function: its key, sizes of arguments, result shapes."""
    results = ' '.join('x'.join(map(str, shape)) or '-' for shape in shapes)
    return f'{key}: {" ".join(map(str, sizes))} -> {results}'


def signature_source(symbol: str, text: str) -> str:
    """Return C source that stores the signature of a function in its library."""
    return f'const char {symbol}_is[] = "{text}";\n'


def address_of(library: Path, symbol: str, expected: str) -> int:
    """Load a library for the lifetime of the process, and return the address of a function.

    Args:
        library: file of the library.
        symbol: name of the function.
        expected: its `signature`.

    Raises:
        KernelBuildError: the library cannot be loaded, lacks the function or has one with another
            signature, or changes the floating-point environment.
    """
    try:
        loaded = _loaded(library)
        address = ctypes.cast(loaded[symbol], ctypes.c_void_p).value
        found = (ctypes.c_char * (len(expected) + 1)).in_dll(loaded, f'{symbol}_is').value
    except (OSError, AttributeError, ValueError) as error:
        raise KernelBuildError(f'a compiled kernel cannot be loaded: {error}') from None
    if found != expected.encode():
        raise KernelBuildError(f'a compiled kernel is not the one asked for: {library}, {symbol}')
    assert address is not None  # for the type checker: an existing function has an address
    return address


@functools.cache
def _loaded(library: Path) -> ctypes.CDLL:
    """Return a library, which is loaded once.

    No other one gets its path: in the cache its name is the digest of its content, and folders in
    which kernels are built are new ones.
    """
    with unchanged_arithmetic(library):
        return ctypes.CDLL(str(library))


@contextlib.contextmanager
def unchanged_arithmetic(library: Path) -> Iterator[None]:
    """Restore the floating-point environment after a library has been loaded.

    Raises:
        KernelBuildError: loading it makes subnormal numbers flush to zero in this thread, as a
            library linked with -Ofast or -ffast-math does.
    """
    before = ctypes.create_string_buffer(_ENVIRONMENT_BYTES)
    functions = _environment_functions()
    had = _has_smallest()
    if functions:
        functions[0](before)
    try:
        yield
    finally:
        has = _has_smallest()
        if functions:
            functions[1](before)
    if had and not has:
        raise KernelBuildError(
            f'{library} makes the processor flush subnormal numbers to zero when it is loaded: '
            'check the options in $CC, such as -Ofast'
        )


def _has_smallest() -> bool:
    """Return whether subnormal numbers are not flushed to zero in this thread."""
    half = _SMALLEST / 2
    return half * 2 == _SMALLEST


@functools.lru_cache(maxsize=1)
def _environment_functions() -> tuple[ctypes._NamedFuncPointer, ...]:
    """Return the C functions fegetenv and fesetenv, or () if the process has none."""
    this = ctypes.CDLL(None)
    try:
        return this.fegetenv, this.fesetenv
    except AttributeError:
        return ()
