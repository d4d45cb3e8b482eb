# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Start-up of imports, the command line and a node, each in turns with its reference.

Measured is the processor time of whole processes with all threads; .pyc files exist.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.robots import ROOT
from benchmarks.rows import Outcome
from benchmarks.timing import PEAK_MEMORY, MeasurementError, Spread

_PYTHON = [sys.executable, '-c']
_EMPTY, _NUMPY, _OURS = ([*_PYTHON, code] for code in ('', 'import numpy', 'import kron_dynamics'))
_JOINTS = ('travel', 'slew', 'luff')


def importing(rounds: int) -> Outcome:
    """`import kron_dynamics` against `import numpy`, both minus the bare interpreter."""
    times = _in_turn([_EMPTY, _OURS, _NUMPY], rounds)
    return _ratio(times[:, 1] - times[:, 0], times[:, 2] - times[:, 0])


def memory(rounds: int) -> Outcome:
    """Resident memory of a process that has imported the package, MB."""
    command = [*_PYTHON, f'import kron_dynamics, numpy; print({PEAK_MEMORY})']
    return Outcome(Spread.of([float(_run(command)[1]) for _ in range(min(rounds, 5))]))


def asking(option: str, rounds: int) -> Outcome:
    """The command with an option, such as `--help`, against a process that imports NumPy."""
    code = f'import sys; from kron_dynamics.cli import main; sys.exit(main([{option!r}]))'
    times = _in_turn([[*_PYTHON, code], _NUMPY], rounds)
    return _ratio(times[:, 0], times[:, 1])


def node(rounds: int) -> Outcome:
    """dynamics_node to its first command, with cached kernels, against a bare node's message."""
    probe = [sys.executable, '-m', 'benchmarks.node_probe']
    files = [str(ROOT / name) for name in ('urdf/stacker_reclaimer.urdf',)]
    files.append(str(ROOT / 'config' / 'stacker_reclaimer.yaml'))
    times = _in_turn([[*probe, 'dynamics', *files, *_JOINTS], [*probe, 'bare']], rounds)
    return _ratio(times[:, 0], times[:, 1])


def _ratio(ours: np.ndarray, peer: np.ndarray) -> Outcome:
    return Outcome(Spread.of(ours / peer), float(np.median(ours)), float(np.median(peer)))


def _in_turn(commands: Sequence[Sequence[str]], rounds: int) -> np.ndarray:
    """Return processor times, s, shape (rounds, commands), after one warm-up round."""
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as cache:
        rows = [[_run(command, cache)[0] for command in commands] for _ in range(rounds + 1)]
    return np.array(rows[1:])


def _run(command: Sequence[str], cache: str | None = None) -> tuple[float, str]:
    """Return the processor time of a process, s, and its output."""
    environment = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    environment.pop('PYTHONDONTWRITEBYTECODE', None)
    environment['PYTHONPATH'] = str(Path(ROOT))
    if cache is not None:
        environment['KRON_DYNAMICS_CACHE'] = cache
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise MeasurementError((done.stderr.strip().splitlines() or ['failed'])[-1])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout
