# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of C code for measurements, and timing of functions in a C loop."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.robots import ROOT
from benchmarks.timing import CLOCK, MeasurementError
from kron_dynamics.typing import FloatArray

FLAGS = ('-O3', '-march=native', '-fPIC', '-shared')


class LoopTask:
    """A function ``void f(ptrdiff_t count, const double *const *in, double *const *out)``."""

    def __init__(
        self, name: str, address: int, inputs: Sequence[FloatArray], *outs: FloatArray
    ) -> None:
        """Refer to a function by its address; it is called for one state."""
        self.name = name
        self._address = ctypes.c_void_p(address)
        self._inputs, self._outs = list(inputs), outs
        self._in, self._out = _pointers(inputs), _pointers(outs)

    def values(self) -> list[FloatArray]:
        """Return copies of the results of one call."""
        for out in self._outs:
            out.fill(np.nan)
        self.seconds(1)
        return [out.copy() for out in self._outs]

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s."""
        loop = _loop()
        started = CLOCK()
        loop(self._address, repeat, self._in, self._out)
        return (CLOCK() - started) / repeat


def compile_c(source: Path, *options: str) -> Path:
    """Compile a C file into a shared library in a temporary folder.

    Args:
        source: the file.
        options: options besides the common ones of all measurements.

    Raises:
        MeasurementError: there is no compiler, or it failed.
    """
    target = folder() / f'{source.stem}.so'
    command = [os.environ.get('CC', 'cc'), *FLAGS, *options, str(source), '-o', str(target), '-lm']
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise MeasurementError(f'no C compiler: {error}') from None
    if done.returncode:
        raise MeasurementError(f'{source.name} does not compile: {done.stderr[:200]}')
    return target


@functools.cache
def folder() -> Path:
    """Return a temporary folder for the lifetime of this process."""
    made = tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_')
    atexit.register(made.cleanup)
    return Path(made.name)


@functools.cache
def library(path: Path) -> ctypes.CDLL:
    """Return a loaded library."""
    return ctypes.CDLL(str(path))


@functools.cache
def _loop() -> Any:
    function = library(compile_c(ROOT / 'benchmarks' / 'native' / 'loop.c')).loop
    function.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p]
    function.restype = None
    return function


def _pointers(arrays: Sequence[FloatArray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
