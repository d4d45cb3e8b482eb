# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements without a C compiler: target 6.

Usage, in a process whose CC names no compiler: python -m benchmarks.without_compiler NAME ROUNDS
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict

from benchmarks import batches, ours, pinocchio_peer
from benchmarks.rows import Outcome
from benchmarks.starts import in_process
from benchmarks.timing import MeasurementError, Spread, alone, check_equal, pinned


def batch_tau(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics of a batch on one core."""
    return _in_process(robot, 'batch', rounds)


def one_tau(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics, one call; the requirement is its time."""
    return _in_process(robot, 'call', rounds)


def _in_process(robot: str, name: str, rounds: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as cache:
        answer = in_process(
            ['benchmarks.without_compiler', robot, name, str(rounds)],
            {'CC': '/nonexistent', 'KRON_DYNAMICS_CACHE': cache},
        )
    fields = json.loads(answer)
    return Outcome(**{**fields, 'value': Spread(**fields['value'])})


def _one_tau_here(robot: str, rounds: int) -> Outcome:
    task = ours.tau(robot)
    check_equal(task, pinocchio_peer.tau(robot))
    with pinned():
        return Outcome(alone(task, rounds))


_MEASURED = {'batch': batches.tau, 'call': _one_tau_here}


def main() -> None:
    """Measure in this process and print the outcome as JSON."""
    robot, name, rounds = sys.argv[1:]
    outcome = _MEASURED[name](robot, int(rounds))
    sources = {report.source for report in ours.robot(robot).kernel_report()}
    if sources != {'numpy'}:
        raise MeasurementError(f'kernels came from {sources} in spite of there being no compiler')
    print(json.dumps(asdict(outcome)))


if __name__ == '__main__':
    main()
