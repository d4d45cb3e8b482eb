# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loading what was compiled: functions that say what they are, in an unchanged environment."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError

_SMALLEST = sys.float_info.min
_ENVIRONMENT_BYTES = 512  # more than any fenv_t


def signature(key: str, sizes: Sequence[int], shapes: Sequence[Sequence[int]]) -> str:
    """Return what a compiled function says of itself: its key, its arguments, its results."""
    results = ' '.join('x'.join(map(str, shape)) or '-' for shape in shapes)
    return f'{key}: {" ".join(map(str, sizes))} -> {results}'


def signature_source(symbol: str, text: str) -> str:
    """Return the C text by which a library says what a function of its is."""
    return f'const char {symbol}_is[] = "{text}";\n'


def address_of(library: Path, symbol: str, expected: str) -> int:
    """Load a library, for as long as the process lives, and find a function in it.

    Args:
        library: its file.
        symbol: name of the function.
        expected: its `signature`.

    Raises:
        KernelBuildError: the library cannot be loaded, has no such function or another one by
            this name, or changes how the processor computes.
    """
    try:
        with unchanged_arithmetic(library):
            loaded = ctypes.CDLL(str(library))
        address = ctypes.cast(loaded[symbol], ctypes.c_void_p).value
        told = (ctypes.c_char * (len(expected) + 1)).in_dll(loaded, f'{symbol}_is').value
    except (OSError, AttributeError, ValueError) as error:
        raise KernelBuildError(f'a compiled kernel cannot be loaded: {error}') from None
    if told != expected.encode():
        raise KernelBuildError(f'a compiled kernel is not the one asked for: {library}, {symbol}')
    assert address is not None  # a function that was found is somewhere
    return address


@contextlib.contextmanager
def unchanged_arithmetic(library: Path) -> Iterator[None]:
    """Put the processor's way of computing back after a library has been loaded.

    Raises:
        KernelBuildError: loading it took the smallest numbers from this thread, as a library
            does that was linked with -Ofast or -ffast-math.
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
            f'{library} makes the processor take the smallest numbers for zero when it is loaded: '
            'check the options in $CC, such as -Ofast'
        )


def _has_smallest() -> bool:
    """Whether numbers below the smallest normal one count in this thread."""
    half = _SMALLEST / 2
    return half * 2 == _SMALLEST


@functools.lru_cache(maxsize=1)
def _environment_functions() -> tuple[ctypes._NamedFuncPointer, ...]:
    """Fegetenv and fesetenv of this process, nothing where it has none."""
    this = ctypes.CDLL(None)
    try:
        return this.fegetenv, this.fesetenv
    except AttributeError:
        return ()
