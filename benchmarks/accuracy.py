# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Two simulations at equal accuracy: each with the fewest steps that are accurate enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.rows import Outcome
from benchmarks.timing import Comparison, MeasurementError, PythonTask, Spread, pinned, repeats

_MOST = 1 << 17  # steps that are tried
_FEWER = 2.0 ** (1 / 16)  # from trial to trial


class Simulation(NamedTuple):
    """Something that takes a number of steps from the start to the end.

    Attributes:
        name: its settings, for the report.
        run: takes the number of steps.
        is_accurate: whether the end that this number of steps leads to is close enough.
    """

    name: str
    run: Callable[[int], Any]
    is_accurate: Callable[[int], bool]


def compare_simulations(
    ours: Simulation, peers: list[Simulation], first: int, rounds: int
) -> Outcome:
    """Compare with the quickest of a peer's settings; from `first` steps on all are tried."""
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
    """Return the least number of steps that is accurate enough, to 5 %.

    Args:
        is_accurate: takes a number of steps.
        first: tried first; then twice as many each time, and from there downwards.

    Raises:
        MeasurementError: it takes more than can be tried.
    """
    steps = float(first)
    while not is_accurate(round(steps)):
        steps *= 2.0
        if steps > _MOST:
            raise MeasurementError(f'{_MOST} steps are not accurate enough')
    # Step by step: what turns once too often may look accurate again far below.
    while round(steps) > 1 and is_accurate(round(steps / _FEWER)):
        steps /= _FEWER
    return round(steps)


def _task(simulation: Simulation, steps: int) -> PythonTask:
    name = f'{simulation.name} in {steps} steps'
    return PythonTask(name, 'end = run(steps)', '[end]', run=simulation.run, steps=steps)
