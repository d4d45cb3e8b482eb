# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Growth of times with the number of joints of a chain: target 7."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from benchmarks import ours, pinocchio_peer
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, PythonTask, Spread, check_equal, pinned, repeats
from kron_dynamics import KronDynamicsError

LENGTHS = (3, 6, 10, 15, 20, 30, 45, 60)
FITTED_FROM = 10  # shortest chain of the fit; below, constant overhead dominates
_TASKS = {'tau': ours.tau, 'C*': ours.symbols}


def fitted_slope(lengths: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent of a power law, by least squares of the logarithms of the times."""
    return float(np.polyfit(np.log(lengths), np.log(times), 1)[0])


def _times(quantity: str, rounds: int) -> list[list[float]]:
    """Return the times of all lengths, s, one list per round, measured in turns.

    Raises:
        MeasurementError: a kernel cannot be made; the failure is cached.
    """
    measured = _attempt(quantity, rounds)
    if isinstance(measured, str):
        raise MeasurementError(measured)
    return measured


@functools.cache
def _attempt(quantity: str, rounds: int) -> list[list[float]] | str:
    try:
        return _measure(quantity, rounds)
    except KronDynamicsError as error:
        return f'{type(error).__name__}: {error}'


def _measure(quantity: str, rounds: int) -> list[list[float]]:
    tasks: list[PythonTask] = [_TASKS[quantity](f'chain{length}') for length in LENGTHS]
    with pinned():
        counts = [repeats(task) for task in tasks]
        return [
            [task.seconds(count) for task, count in zip(tasks, counts, strict=True)]
            for _ in range(rounds)
        ]


def slope(quantity: str, rounds: int) -> Outcome:
    """Return the exponent of the growth, fitted in every round."""
    start = LENGTHS.index(FITTED_FROM)
    fits = [fitted_slope(LENGTHS[start:], row[start:]) for row in _times(quantity, rounds)]
    return Outcome(Spread.of(fits))


def time_of(quantity: str, length: int, rounds: int) -> Outcome:
    """Return the time of one call for one length."""
    column = LENGTHS.index(length)
    return Outcome(Spread.of([row[column] for row in _times(quantity, rounds)]))


def difference(length: int, rounds: int) -> Outcome:
    """Return the largest relative difference from Pinocchio in tau, M, C* and the control step."""
    name = f'chain{length}'
    pairs = (
        (ours.tau(name), pinocchio_peer.tau(name)),
        (ours.mass(name), pinocchio_peer.mass(name)[0]),
        (ours.symbols(name), pinocchio_peer.symbols(name)),
        (ours.step(name), pinocchio_peer.steps(name)[0]),
    )
    worst = max(check_equal(mine, peer, tolerance=np.inf) for mine, peer in pairs)
    return Outcome(Spread(worst, worst, worst))
