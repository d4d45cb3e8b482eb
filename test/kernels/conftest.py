# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers that misbehave, caches of one's own, no compiler at all, vectors of every length."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kron_dynamics.kernels import Kernel, compiler, compiler_process, sources
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.compiler_process import compile_library
from kron_dynamics.kernels.emit import emit_c, emit_lanes, symbol
from kron_dynamics.kernels.kernel_factory import make_kernels
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kernels.trace import Trace

# Options for vectors of so many numbers, and the features of the processor that they need.
VECTORS = {
    2: ((), set()),
    4: (('-mavx2', '-mfma'), {'avx2', 'fma'}),
    8: (('-mavx2', '-mfma', '-mavx512f'), {'avx2', 'fma', 'avx512f'}),
}
GUARD = 777.0
# By source, and by the compiler's command with all its options.
LIBRARIES: dict[tuple[str, tuple[str, ...]], ctypes.CDLL] = {}
# Content of libraries, by source and command.
CONTENTS: dict[tuple[str, tuple[str, ...]], bytes] = {}


@pytest.fixture(autouse=True)
def extension(kernel_cache: Path) -> None:
    """It is there before any compiler misbehaves: that it cannot be had would be remembered."""
    call_type()


@pytest.fixture
def fake_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a shell script of these lines the C compiler."""

    def install(script: str) -> Path:
        path = tmp_path / 'fake-cc'
        path.write_text(f'#!/bin/sh\n{script}\n', encoding='utf-8')
        path.chmod(0o755)
        monkeypatch.setenv('CC', str(path))
        return path

    return install


@pytest.fixture
def logging_compiler(
    tmp_path: Path, fake_compiler: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[str]]:
    """Install one that works; the function tells the names of the files it has compiled."""
    log = tmp_path / 'compilations'
    log.touch()
    level = os.environ.get('CC', '').split()[1:]
    program = fake_compiler(
        f'for word; do case $word in *.c) echo "${{word##*/}}" >> "{log}";; esac; done\n'
        'exec cc "$@"'
    )
    monkeypatch.setenv('CC', ' '.join([str(program), *level]))
    return lambda: log.read_text(encoding='utf-8').splitlines()


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that this test alone uses, what stands in for it included."""
    folder = tmp_path / 'cache'
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(folder))
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return folder


@pytest.fixture
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the compiler remember what it has done; the list tells the sources it is asked for.

    For tests of what becomes of its libraries.
    """
    compiled = compiler_process.compile_library
    asked: list[str] = []

    def compile_library(
        command: tuple[str, ...], source: str, target: Path, *more: Any, **options: Any
    ) -> None:
        asked.append(source)
        known = (source, command)
        if known not in CONTENTS:
            compiled(command, source, target, *more, **options)
            CONTENTS[known] = target.read_bytes()
        target.write_bytes(CONTENTS[known])

    monkeypatch.setattr(compiler_process, 'compile_library', compile_library)
    return asked


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', '/nonexistent')


@pytest.fixture
def make_kernel() -> Callable[..., Kernel]:
    """Make the kernel of a function of traced arrays; a name is for one function only."""

    def make(name: str, function: Callable[..., Any], *arguments: tuple[str, int]) -> Kernel:
        specification = KernelSpecification(
            name, arguments, lambda model, *values: function(*values)
        )
        model: Any = SimpleNamespace(joints=(), is_flexible=False, has_closed_loops=False)
        (kernel,) = make_kernels([specification], model, 'test')
        return kernel

    return make


def options_for(lanes: int) -> tuple[str, ...]:
    """Compiler options for vectors of so many numbers; skips where they cannot be run here."""
    options, needed = VECTORS[lanes]
    if platform.machine() != 'x86_64':
        if lanes != 2:
            pytest.skip(f'vectors of {lanes} are of x86_64')
        return ()
    cpuinfo = Path('/proc/cpuinfo')
    features = set(cpuinfo.read_text(encoding='utf-8').split()) if cpuinfo.exists() else set()
    if not needed <= features:
        pytest.skip(f'this processor has no vectors of {lanes}')
    return ('-march=x86-64', *options)


@pytest.fixture(scope='session')
def vector_options() -> Callable[[int], tuple[str, ...]]:
    return options_for


@pytest.fixture(params=VECTORS)
def lanes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compile for vectors of this length."""
    options = options_for(request.param)
    monkeypatch.setattr(compiler, 'flags', lambda: (*compiler._FLAGS, *options))
    return int(request.param)


def library_of(source: str, command: tuple[str, ...], folder: Path) -> ctypes.CDLL:
    """Compile a source, or find it among those that tests have compiled by the same command."""
    if (source, command) not in LIBRARIES:
        with tempfile.TemporaryDirectory(dir=folder) as work:
            library = Path(work) / 'emitted.so'
            compile_library(command, source, library)
            LIBRARIES[source, command] = ctypes.CDLL(str(library))
    return LIBRARIES[source, command]


class Emitted:
    """The functions of some traces, compiled together as they are emitted."""

    def __init__(self, traces: Sequence[Trace], folder: Path, lanes: bool = False) -> None:
        self.traces = traces
        self.source = emit_lanes(traces) if lanes else emit_c(traces)
        command = find_compiler()
        assert command is not None
        self.library = library_of(self.source, tuple(compiler.with_flags(command)), folder)

    def __call__(self, k: int, *rows: Any) -> list[np.ndarray]:
        """Results of trace k, (count, elements) each, from arguments of shape (count, length)."""
        count = len(rows[0]) if rows else 1
        inputs = [_unaligned(np.size(row), row) for row in rows]
        widths = [len(numbers) for numbers in self.traces[k].outputs]
        outputs = [_unaligned(count * width) for width in widths]
        pointer = ctypes.c_void_p
        self.library[symbol(k)](
            ctypes.c_ssize_t(count),
            (pointer * len(inputs))(*(array.ctypes.data for array in inputs)),
            (pointer * len(outputs))(*(array.ctypes.data for array in outputs)),
        )
        for output in outputs:
            assert (output.base[[0, *range(output.size + 1, len(output.base))]] == GUARD).all()
        return [
            output.reshape(count, width) for output, width in zip(outputs, widths, strict=True)
        ]


def _unaligned(size: int, values: Any = GUARD) -> np.ndarray:
    """Within a longer array, so that no vector is aligned and writing beside it is seen."""
    whole = np.full(size + 65, GUARD)
    part = whole[1 : size + 1]
    part[:] = np.ravel(values)
    return part


@pytest.fixture
def emitted(tmp_path: Path) -> Callable[..., Emitted]:
    """Compile some traces together: for single states or, on request, one state per lane."""
    return functools.partial(Emitted, folder=tmp_path)


@pytest.fixture
def read_anew() -> Iterator[None]:
    """Let sources be read again: files are read once a process, but in some tests they change."""

    def forget() -> None:
        for function in vars(sources).values():
            if hasattr(function, 'cache_clear'):
                function.cache_clear()

    forget()
    yield
    forget()
