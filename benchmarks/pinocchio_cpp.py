# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio in C++: its functions in a C++ loop, and tensors that its Python module lacks."""

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
# Variants of the control step as sequences of calls.
STEPS = ('step_nle', 'step_rnea', 'step_difference', 'step_all')
_SOURCE = ROOT / 'benchmarks' / 'native' / 'pinocchio_functions.cpp'
_FLAGS = (
    *('-std=c++17', '-O3', '-march=native', '-DNDEBUG'),
    # Definitions from Pinocchio's CMake files for its users.
    *('-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30'),
    *('-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12'),
)


class Program:
    """Our C++ program for one robot, run as a subprocess; a context manager that ends it."""

    def __init__(self, robot: str) -> None:
        """Start the program; compile it the first time.

        Raises:
            MeasurementError: there is no compiler, or headers are missing.
        """
        model = pinocchio_peer.model(robot)
        numbers = native_code.folder() / f'{robot}.txt'
        joint, placement = pinocchio_peer.tip(robot)
        numbers_of = [*placement[:3, 3], *placement[:3, :3].ravel()]
        place = ' '.join(repr(float(number)) for number in numbers_of)
        numbers.write_text(f'{tree.as_text(model, state(model.nv))}{joint + 1} {place}\n')
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
        """Send a command and return the numbers of the response."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        stdin.write(command + '\n')
        stdin.flush()
        return [float(word) for word in stdout.readline().split()]


class CppTask:
    """A function timed in a loop inside the program, without the overhead of a Python call."""

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


class StepTask(CppTask):
    """M, c, g, J and dJ/dt qd by one of the sequences of calls in `STEPS`."""

    def __init__(self, program: Program, function: str, n: int) -> None:
        """Refer to a sequence of the program, for a robot with n coordinates."""
        super().__init__(program, function)
        self._shapes = ((n, n), (n,), (n,), (6, n), (6,))

    def values(self) -> list[FloatArray]:
        """Return the five results."""
        (numbers,) = super().values()
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        parts = np.split(numbers, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]


class SymbolsTask(CppTask):
    """All Christoffel symbols from the second derivatives of tau."""

    def __init__(self, program: Program, n: int) -> None:
        """Refer to the function that computes the tensors."""
        super().__init__(program, 'tensors')
        self._n = n

    def values(self) -> list[FloatArray]:
        """Return Gamma[i, j, k], half the second derivatives of tau with respect to the rates."""
        (tensor,) = super().values()
        return [tensor.reshape(3 * (self._n,), order='F') / 2]


@functools.cache
def _compiled() -> Path:
    target = native_code.folder() / 'pinocchio_functions'
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
    # The wheel `pin` has no headers of its own; they are in a wheel that it depends on.
    if package == 'pin':
        return _include('libpinocchio', folder)
    raise MeasurementError(f'{package} has no headers')
