# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compile and call exported libraries."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from compilers import clang

from kron_dynamics.export import Library
from kron_dynamics.export.quantities import Function
from kron_dynamics.kernels import compiler as kernel_compiler

STRICT = ('-Wall', '-Wextra', '-Wpedantic', '-Werror')
SANITIZED = ('-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')
COMPILERS = {
    'gcc': ('gcc', '-std=c11'),
    'clang': (*clang('c'), '-std=c11'),
    'g++': ('g++', '-x', 'c++', '-std=c++17'),
    'clang++': (*clang('c++'), '-std=c++17'),
}


def run(*command: str | Path) -> str:
    """Return what a command prints; assert that it succeeds."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]
    return done.stdout


def source(library: Library, folder: Path) -> Path:
    return folder / 'src' / f'{library.prefix}.c'


def self_test(library: Library, folder: Path, compiler: str, options: Sequence[str]) -> str:
    """Compile a library with its self-test, run it, and return what it prints."""
    program = folder / 'self_test'
    files = (source(library, folder), folder / 'test' / 'self_test.c')
    include = f'-I{folder / "include"}'
    run(*COMPILERS[compiler], *STRICT, *options, include, *files, '-o', program, '-lm')
    return run(program)


def loaded(
    library: Library,
    folder: Path,
    compiler: str = 'gcc',
    options: Sequence[str] = (),
    level: str = '-O2',
) -> ctypes.CDLL:
    """Compile a library, without options with those of kernels at a level, and load it."""
    target = folder / 'exported.so'
    if not options:
        flags = kernel_compiler.with_flags((level,))
        options = [flag for flag in flags if flag not in ('-std=c99', '-w')]
    include = f'-I{folder / "include"}'
    files = (source(library, folder), '-o', target, '-lm')
    run(*COMPILERS[compiler], '-fPIC', '-shared', *options, include, *files)
    return ctypes.CDLL(str(target))


def call(
    dll: Any, library: Library, function: Function, arguments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Call a function for one state; results and workspace are filled with NaN before."""
    real = np.float32 if library.real == 'float' else np.float64
    given = [np.ascontiguousarray(array, dtype=real) for array in arguments]
    outs = [np.full(shape, np.nan, dtype=real) for _, shape in function.results]
    work = (
        [np.full(function.code.workspace, np.nan, dtype=real)] if function.code.workspace else []
    )
    address = dll[f'{library.prefix}_{function.name}']
    address(*(ctypes.c_void_p(array.ctypes.data) for array in [*given, *outs, *work]))
    return outs


def stack_use(library: Library, folder: Path, *options: str) -> dict[str, int]:
    """Return the stack use of each function of a source in bytes, as reported by gcc."""
    run(
        *('gcc', '-std=c11', '-fstack-usage', *options, f'-I{folder / "include"}', '-c'),
        *(source(library, folder), '-o', folder / 'use.o'),
    )
    used: dict[str, int] = {}
    for line in (folder / 'use.su').read_text().splitlines():
        place, size, kind = line.split('\t')
        assert kind in ('static', 'dynamic,bounded'), line
        used[place.rpartition(':')[2]] = int(size)
    return used
