# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of simulations at equal accuracy, each with the fewest steps that reach it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.rows import Outcome
from benchmarks.timing import Comparison, MeasurementError, PythonTask, Spread, pinned, repeats

_MOST = 1 << 17  # most steps that are tried
_FEWER = 2.0 ** (1 / 16)  # factor by which the number of steps is reduced from trial to trial


class Simulation(NamedTuple):
    """A simulation with a selectable number of steps.

    Attributes:
        name: its settings, for the report.
        run: simulates with a number of steps.
        is_accurate: whether the final state for a number of steps is accurate enough.
    """

    name: str
    run: Callable[[int], Any]
    is_accurate: Callable[[int], bool]


def compare_simulations(
    ours: Simulation, peers: list[Simulation], first: int, rounds: int
) -> Outcome:
    """Compare with the fastest of a peer's settings; searches start at `first` steps."""
    mine = _task(ours, fewest_steps(ours.is_accurate, first))
    with pinned():
        tasks = [_task(peer, fewest_steps(peer.is_accurate, first)) for peer in peers]
        counts = {task: repeats(task) for task in (mine, *tasks)}
        peer = min(tasks, key=lambda task: task.seconds(counts[task]))
        times = [(mine.seconds(counts[mine]), peer.seconds(counts[peer])) for _ in range(rounds)]
    here, there = zip(*times, strict=True)
    ratio = Spread.of([b / a for a, b in times])
    comparison = Comparison(Spread.of(here), Spread.of(there), ratio)
    return Outcome.of(comparison, f'{mine.name}; {peer.name}')


def fewest_steps(is_accurate: Callable[[int], bool], first: int) -> int:
    """Return the smallest number of steps that is accurate enough, to within 5 %.

    Args:
        is_accurate: whether a number of steps is accurate enough.
        first: number tried first; it is doubled until accurate, then reduced in small steps.

    Raises:
        MeasurementError: even the largest number is not accurate enough.
    """
    steps = float(first)
    while not is_accurate(round(steps)):
        steps *= 2.0
        if steps > _MOST:
            raise MeasurementError(f'{_MOST} steps are not accurate enough')
    # Reduce gradually: with far fewer steps a phase error of a whole turn may look accurate.
    while round(steps) > 1 and is_accurate(round(steps / _FEWER)):
        steps /= _FEWER
    return round(steps)


def _task(simulation: Simulation, steps: int) -> PythonTask:
    name = f'{simulation.name} in {steps} steps'
    return PythonTask(name, 'end = run(steps)', '[end]', run=simulation.run, steps=steps)
