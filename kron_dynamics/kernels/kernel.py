# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled equation: arrays in, one array out, one state or a batch."""

from __future__ import annotations

import ctypes
import functools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError, ShapeError
from kron_dynamics.kernels.build import compile_library, compiler_identity, find_compiler
from kron_dynamics.kernels.cache import CacheEntry, cache_key, fetch, file_digest
from kron_dynamics.kernels.emit import SYMBOL, emit_c, emit_numpy
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.typing import ArrayLike, FloatArray

_log = logging.getLogger(__name__)
_CHUNK = 4096  # states that NumPy code evaluates at once: its temporaries stay in the cache


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What a kernel is and what it cost.

    Attributes:
        name: the quantity.
        operations: arithmetic operations, sines and cosines per state.
        source: 'c' (compiled) or 'numpy' (no compiler was found).
        build_seconds: time spent recording and compiling, when it was built.
        cached: whether it was found ready on disk.
    """

    name: str
    operations: int
    source: str
    build_seconds: float
    cached: bool


class Kernel:
    """A function of row vectors, compiled for one robot."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[tuple[str, int]],
        function: Callable[..., Any],
        fingerprint: str,
    ) -> None:
        """Record and compile a function, or find it compiled.

        Args:
            name: what it computes; with the fingerprint it identifies the function.
            arguments: (name, length) of each argument.
            function: runs on traced arrays of those lengths.
            fingerprint: of the model the function closes over.

        Raises:
            KernelBuildError: there is a compiler and it failed.
        """
        self._arguments = tuple(arguments)
        sizes = [size for _, size in arguments]
        compiler = find_compiler()
        if compiler is None:
            _warn_no_compiler()
            started = time.perf_counter()
            trace = Trace(function, sizes)
            self._evaluate = _numpy_function(trace)
            self._shape, spent = trace.shape, time.perf_counter() - started
            self.report = KernelReport(name, trace.operations, 'numpy', spent, False)
        else:
            key = cache_key(name, repr(self._arguments), fingerprint, compiler_identity(compiler))
            library, entry, found = fetch(key, _builder(function, sizes, compiler))
            self._evaluate = _c_function(library, len(sizes))
            self._shape = entry.shape
            self.report = KernelReport(name, entry.operations, 'c', entry.build_seconds, found)

    def __call__(self, *values: ArrayLike, out: FloatArray | None = None) -> FloatArray:
        """Evaluate for one state or a batch of N.

        Args:
            values: one array an argument, shape (length,) or (N, length); single states are
                repeated beside a batch.
            out: float64, C-contiguous, of the result's shape; None makes a new array.

        Returns:
            shape of the quantity, with N in front where any argument had it.

        Raises:
            ShapeError: an argument or out has another shape, or the batches differ in length.
        """
        rows, batch = self._rows(values)
        shape = self._shape if batch is None else (batch, *self._shape)
        if out is None:
            out = np.empty(shape)
        elif out.shape != shape or out.dtype != np.float64 or not out.flags.carray:
            raise ShapeError(
                f'out of {self.report.name} has shape {out.shape} and type {out.dtype}, expected '
                f'a writable C-contiguous float64 array of shape {shape}'
            )
        self._evaluate(1 if batch is None else batch, rows, out)
        return out

    def _rows(self, values: Sequence[ArrayLike]) -> tuple[list[FloatArray], int | None]:
        arrays = [np.ascontiguousarray(value, dtype=np.float64) for value in values]
        batch: int | None = None
        for (name, size), array in zip(self._arguments, arrays, strict=True):
            if array.ndim not in (1, 2) or array.shape[-1] != size:
                raise ShapeError(
                    f'{name} of {self.report.name} has shape {array.shape}, expected ({size},) '
                    f'or (N, {size})'
                )
            if array.ndim == 2:
                if batch is not None and len(array) != batch:
                    raise ShapeError(
                        f'{name} of {self.report.name} has {len(array)} states, expected {batch} '
                        f'as in the arguments before it'
                    )
                batch = len(array)
        if batch is not None:
            arrays = [array if array.ndim == 2 else np.tile(array, (batch, 1)) for array in arrays]
        return arrays, batch


_Evaluate = Callable[[int, Sequence[FloatArray], FloatArray], None]


def _builder(
    function: Callable[..., Any], sizes: Sequence[int], compiler: tuple[str, ...]
) -> Callable[[Path], CacheEntry]:
    def build(target: Path) -> CacheEntry:
        started = time.perf_counter()
        trace = Trace(function, sizes)
        compile_library(compiler, emit_c(trace), target)
        spent = time.perf_counter() - started
        return CacheEntry(file_digest(target), trace.operations, trace.shape, spent)

    return build


def _c_function(library: Path, arguments: int) -> _Evaluate:
    try:
        function = ctypes.CDLL(str(library))[SYMBOL]  # releases the GIL while it runs
    except (OSError, AttributeError) as error:
        raise KernelBuildError(f'a compiled kernel cannot be loaded: {error}') from None
    function.restype = None
    function.argtypes = [ctypes.c_ssize_t, *[ctypes.c_void_p] * (arguments + 1)]

    def evaluate(count: int, rows: Sequence[FloatArray], out: FloatArray) -> None:
        function(count, *[row.ctypes.data for row in rows], out.ctypes.data)

    return evaluate


def _numpy_function(trace: Trace) -> _Evaluate:
    namespace: dict[str, Any] = {'sin': np.sin, 'cos': np.cos, 'divide': np.divide}
    exec(compile(emit_numpy(trace), '<kernel>', 'exec'), namespace)
    function = namespace[SYMBOL]
    width = len(trace.outputs)

    def evaluate(count: int, rows: Sequence[FloatArray], out: FloatArray) -> None:
        tables = [row.reshape(count, row.shape[-1]) for row in rows]
        results = out.reshape(count, width)
        for start in range(0, count, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            function(*[table[chunk] for table in tables], results[chunk])

    return evaluate


@functools.lru_cache(maxsize=1)
def _warn_no_compiler() -> None:
    _log.warning(
        'no C compiler found (looked for $CC, then cc): kernels run as NumPy code, slower for '
        'single states'
    )
