# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio in C++: the tensors of second order that its Python module lacks."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import subprocess
from pathlib import Path

import numpy as np

from benchmarks import native_code, pinocchio_peer, tree
from benchmarks.robots import ROOT, state
from benchmarks.timing import MeasurementError
from kron_dynamics.typing import FloatArray

NAME = 'Pinocchio C++'
_SOURCE = ROOT / 'benchmarks' / 'native' / 'pinocchio_tensors.cpp'
_FLAGS = (
    *('-std=c++17', '-O3', '-march=native', '-DNDEBUG'),
    # What Pinocchio's own CMake files define for who uses it.
    *('-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30'),
    *('-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12'),
)


class Program:
    """Our C++ program beside this process, for one robot; close it with `with`."""

    def __init__(self, robot: str) -> None:
        """Start it; compile it the first time.

        Raises:
            MeasurementError: there is no compiler, or headers are missing.
        """
        model = pinocchio_peer.model(robot)
        numbers = native_code.folder() / f'{robot}.txt'
        numbers.write_text(tree.as_text(model, state(model.nv)))
        self._process = subprocess.Popen(
            [_compiled(), numbers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Program:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End the program."""
        self._process.communicate(timeout=60)

    def ask(self, command: str) -> list[float]:
        """Send a line and return the numbers of the answer."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        stdin.write(command + '\n')
        stdin.flush()
        return [float(word) for word in stdout.readline().split()]


class CppTask:
    """A function called in a loop inside the program: no crossing from Python is timed."""

    def __init__(self, program: Program, function: str) -> None:
        """Refer to a function of the program."""
        self.name = f'{NAME}, {function}'
        self._program = program
        self._function = function

    def values(self) -> list[FloatArray]:
        """Return the results of one call."""
        return [np.array(self._program.ask(f'values {self._function}'))]

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s."""
        return self._program.ask(f'{self._function} {repeat}')[0]


class SymbolsTask(CppTask):
    """All Christoffel symbols from the second derivatives of tau."""

    def __init__(self, program: Program, n: int) -> None:
        """Refer to the function that computes the tensors."""
        super().__init__(program, 'tensors')
        self._n = n

    def values(self) -> list[FloatArray]:
        """Return Gamma[i, j, k]: tau is quadratic in the rates, the tensor twice its symbols."""
        (tensor,) = super().values()
        return [tensor.reshape(3 * (self._n,), order='F') / 2]


@functools.cache
def _compiled() -> Path:
    target = native_code.folder() / 'pinocchio_tensors'
    folders = {_include('pin', ''), _include('cmeel-boost', ''), _include('cmeel-eigen', 'eigen3')}
    command = [
        os.environ.get('CXX', 'c++'),
        *_FLAGS,
        *(f'-I{folder}' for folder in sorted(folders)),
        *(str(_SOURCE), '-o', str(target)),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise MeasurementError(f'no C++ compiler: {error}') from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if 'error' in line]
        raise MeasurementError(f'Pinocchio C++ does not compile: {(errors or ["?"])[0]}')
    return target


def _include(package: str, folder: str) -> Path:
    """Return the folder of a wheel's headers."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        raise MeasurementError(f'{package}, whose headers are needed, is not installed') from None
    for file in files:
        if 'include' in file.parts:
            above = Path(*file.parts[: file.parts.index('include') + 1])
            return Path(str(importlib.metadata.distribution(package).locate_file(above))) / folder
    # A wheel without headers of its own takes them from the one below it.
    if package == 'pin':
        return _include('libpinocchio', folder)
    raise MeasurementError(f'{package} has no headers')
