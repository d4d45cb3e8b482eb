# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Timing in turns: what two tasks cost, and their ratio, under the same load."""

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

ROUND_SECONDS = 2e-3  # a round is at least this long: the clock and one interruption weigh little
# Processor time of this thread: what other processes take of the core meanwhile does not count.
CLOCK = time.thread_time
_TRIAL_ROUNDS = 5  # by which the quickest of several tasks is chosen


class MeasurementError(Exception):
    """Something cannot be measured; the message says why."""


class Task(Protocol):
    """Something that can be timed."""

    name: str

    def values(self) -> list[FloatArray]:
        """Return copies of the results of one call."""

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s."""


AnyTask = TypeVar('AnyTask', bound=Task)


class PythonTask:
    """Statements, timed in a loop without a function call around them."""

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
            name: what it is, for the report.
            statement: what is timed.
            results: expression of a tuple or list of arrays, after the statement has run.
            clock: gives s; another one for work of several threads.
            names: values the statement uses; local variables while it is timed.
        """
        self.name = name
        self.statement = statement
        self._results = results
        self._names = names
        setup = '\n'.join(f'{key} = names[{key!r}]' for key in names)
        self._timer = timeit.Timer(statement, setup, timer=clock, globals={'names': names})

    def values(self) -> list[FloatArray]:
        """Return copies of the results of one call."""
        scope = dict(self._names)
        exec(self.statement, scope)
        return [np.array(value, dtype=np.float64) for value in eval(self._results, scope)]

    def seconds(self, repeat: int) -> float:
        """Return the mean time of one of `repeat` calls, s; garbage collection is off."""
        return self._timer.timeit(repeat) / repeat


@dataclass(frozen=True)
class Spread:
    """A median with the 10 % and the 90 % quantile around it."""

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
    """Two tasks timed in turn: s per call, and peer/ours of the rounds."""

    ours: Spread
    peer: Spread
    ratio: Spread


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Hold this thread, and what it starts, to one processor core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def check_equal(ours: Task, peer: Task, tolerance: float = 1e-9) -> float:
    """Return the largest difference, relative to the largest number of its array.

    Raises:
        MeasurementError: it exceeds the tolerance: these tasks do not do the same.
    """
    worst = 0.0
    for index, (mine, theirs) in enumerate(zip(ours.values(), peer.values(), strict=True)):
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
    """Return how many calls fill a round; also warms the task."""
    task.seconds(1)
    count = 1
    while (spent := task.seconds(count) * count) < ROUND_SECONDS:
        # By steps: the first calls are slow, and one of them says little about the later ones.
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
    """Time both in turn; see that they give the same numbers first."""
    check_equal(ours, peer)
    counts = repeats(ours), repeats(peer)
    times = [(ours.seconds(counts[0]), peer.seconds(counts[1])) for _ in range(rounds)]
    mine, theirs = zip(*times, strict=True)
    return Comparison(Spread.of(mine), Spread.of(theirs), Spread.of([b / a for a, b in times]))
