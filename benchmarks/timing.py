# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing of two tasks, and their ratio, under the same load of the machine."""

from __future__ import annotations

import contextlib
import os
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from kron_dynamics.typing import FloatArray

# Python code for a process's peak memory, MB. What getrusage reports includes its parent's peak.
PEAK_MEMORY = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"

ROUND_SECONDS = 2e-3  # least duration of a round, so that clock and interrupts matter little
# Processor time of this thread, which excludes other processes on the same core.
CLOCK = time.thread_time
_TRIAL_ROUNDS = 5  # rounds by which the fastest of several tasks is chosen


class MeasurementError(Exception):
    """A measurement is impossible; the message gives the reason."""


class Task(Protocol):
    """A task that can be timed."""

    name: str

    def values(self) -> list[FloatArray]:
        """Return copies of the results of one call."""

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s."""


AnyTask = TypeVar('AnyTask', bound=Task)


class PythonTask:
    """Python statements, timed in a loop without the overhead of a function call."""

    def __init__(
        self,
        name: str,
        statement: str,
        results: str,
        *,
        clock: Callable[[], float] = CLOCK,
        **names: Any,
    ) -> None:
        """Prepare a task.

        Args:
            name: name for the report.
            statement: the timed statement.
            results: expression for a tuple or list of result arrays after the statement.
            clock: returns s; another clock is needed for work of several threads.
            names: values that the statement uses, as local variables.
        """
        self.name = name
        self.statement = statement
        self._results = results
        self._names = names
        setup = '\n'.join(f'{key} = names[{key!r}]' for key in names)
        self._timer = timeit.Timer(statement, setup, timer=clock, globals={'names': names})

    def values(self) -> list[FloatArray]:
        """Return copies of the results of one call."""
        return self.results_of()

    def results_of(self, **names: Any) -> list[FloatArray]:
        """Return copies of the results of one call with other values of some names."""
        scope = self._names | names
        exec(self.statement, scope)
        return [np.array(value, dtype=np.float64) for value in eval(self._results, scope)]

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s, with garbage collection off."""
        return self._timer.timeit(repeat) / repeat


@dataclass(frozen=True)
class Spread:
    """A median with the 10 % and 90 % quantiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise measured values."""
        low, median, high = np.quantile(values, (0.1, 0.5, 0.9))
        return cls(float(median), float(low), float(high))


@dataclass(frozen=True)
class Comparison:
    """Two tasks timed in turns: s per call, and the ratio peer/ours of the rounds."""

    ours: Spread
    peer: Spread
    ratio: Spread


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Pin this thread, and threads and processes that it starts, to one processor core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def check_equal(ours: Task, peer: Task, tolerance: float = 1e-9) -> float:
    """Return the largest difference of results, relative to the largest number of its array.

    Raises:
        MeasurementError: it exceeds the tolerance, so the tasks do not compute the same; or there
            are no results.
    """
    worst, pairs = 0.0, list(zip(ours.values(), peer.values(), strict=True))
    if not pairs or not all(mine.size for mine, _ in pairs):
        raise MeasurementError(f'{ours.name} and {peer.name} give no numbers to compare')
    for index, (mine, theirs) in enumerate(pairs):
        theirs = theirs.reshape(mine.shape)
        scale = max(float(np.abs(theirs).max()), np.finfo(float).tiny)
        difference = float(np.abs(mine - theirs).max()) / scale
        if not difference <= tolerance:
            raise MeasurementError(
                f'result {index} of {ours.name} and {peer.name} differs by {difference:.1e}'
            )
        worst = max(worst, difference)
    return worst


def repeats(task: Task) -> int:
    """Return the number of calls per round; this also warms up the task."""
    task.seconds(1)
    count = 1
    while (spent := task.seconds(count) * count) < ROUND_SECONDS:
        # Increase by steps of at most 10, as the first calls are slower than later ones.
        count = int(count * min(10.0, 1.2 * ROUND_SECONDS / max(spent, 1e-7))) + 1
    return count


def alone(task: Task, rounds: int) -> Spread:
    """Time one task by itself."""
    count = repeats(task)
    return Spread.of([task.seconds(count) for _ in range(rounds)])


def quickest(tasks: Sequence[AnyTask]) -> AnyTask:
    """Return the task with the smallest median time."""
    if len(tasks) == 1:
        return tasks[0]
    counts = [repeats(task) for task in tasks]
    rounds = [
        [task.seconds(count) for task, count in zip(tasks, counts, strict=True)]
        for _ in range(_TRIAL_ROUNDS)
    ]
    return tasks[int(np.argmin(np.median(rounds, axis=0)))]


def compare(ours: Task, peer: Task, rounds: int) -> Comparison:
    """Check that both give the same numbers, then time them in turns."""
    check_equal(ours, peer)
    return in_turns(ours, peer, rounds)


def in_turns(ours: Task, peer: Task, rounds: int) -> Comparison:
    """Time two tasks in turns, whatever they compute."""
    counts = repeats(ours), repeats(peer)
    times = [(ours.seconds(counts[0]), peer.seconds(counts[1])) for _ in range(rounds)]
    mine, theirs = zip(*times, strict=True)
    return Comparison(Spread.of(mine), Spread.of(theirs), Spread.of([b / a for a, b in times]))
