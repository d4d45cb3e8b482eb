# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time from a URDF to compiled kernels: target 5."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.robots import ROOT, description
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, Spread


def empty_cache(robot: str, rounds: int) -> Outcome:
    """All kernels compiled, in fresh processes with empty caches."""
    return Outcome(Spread.of([_in_folder(robot, 1)[0][0] for _ in range(_processes(rounds))]))


def checking(robot: str, rounds: int) -> Outcome:
    """Processor time of checking compiled kernels in `empty_cache`."""
    return Outcome(Spread.of([_in_folder(robot, 1)[0][1] for _ in range(_processes(rounds))]))


def filled_cache(robot: str, rounds: int) -> Outcome:
    """All kernels loaded from the cache, in fresh processes."""
    processes = _in_folder(robot, 1 + _processes(rounds))
    return Outcome(Spread.of([times[0] for times in processes[1:]]))


def against_casadi(robot: str, rounds: int) -> Outcome:
    """Processor time with an empty cache against derivation and compilation with CasADi."""
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as folder:
        file = Path(folder) / f'{robot}.urdf'
        file.write_text(description(robot).text, encoding='utf-8')
        rest = [str(file), description(robot).tip]
        times = [
            (
                _in_folder(robot, 1)[0][2],
                float(in_process(['benchmarks.casadi_start', *rest], {}).split()[1]),
            )
            for _ in range(_processes(rounds))
        ]
    ours, peer = zip(*times, strict=True)
    ratios = [mine / other for mine, other in times]
    return Outcome(Spread.of(ratios), median(ours), median(peer))


def _processes(rounds: int) -> int:
    return min(rounds, 5)


def _in_folder(robot: str, count: int) -> list[tuple[float, ...]]:
    """Return the times, s, of consecutive processes that share an initially empty cache.

    For each process: wall-clock time, processor time of checking, and all processor time.
    """
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as folder:
        file = Path(folder) / f'{robot}.urdf'
        file.write_text(description(robot).text, encoding='utf-8')
        command = ['benchmarks.start_probe', str(file), description(robot).tip]
        cache = {'KRON_DYNAMICS_CACHE': f'{folder}/cache'}
        times = [in_process(command, cache).split() for _ in range(count)]
        return [tuple(map(float, words)) for words in times]


def in_process(module: list[str], environment: dict[str, str]) -> str:
    """Run a module with arguments in a fresh process and return its output.

    Raises:
        MeasurementError: the process failed; the message has the last line of its output.
    """
    done = subprocess.run(
        [sys.executable, '-m', *module],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ['failed'])[-1]
        raise MeasurementError(
            last.removeprefix(f'{MeasurementError.__module__}.MeasurementError: ')
        )
    return done.stdout
