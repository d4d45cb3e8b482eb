# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results that are computed ahead of their use, by two threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar('Result')
# Results that are computed ahead or wait for their use.
_AHEAD = 4


@dataclass
class _Pending(Generic[Result]):
    task: Callable[[], Result]
    future: Future[Result]


def computed_ahead(tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """Yield the results of tasks in their order, while a second thread computes the next ones.

    The tasks have to release Python's GIL most of the time, as NumPy and the kernels do. Where the
    caller would wait, it works on a task, too. A third thread is slower on two cores: the one that
    holds the GIL is then often not running.

    Args:
        tasks: functions that may be called in any thread, and at the same time.
    """
    waiting: deque[_Pending[Result]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for task in tasks:
            waiting.append(_Pending(task, pool.submit(task)))
            if len(waiting) > _AHEAD:
                yield _first(waiting)
        while waiting:
            yield _first(waiting)


def _first(waiting: deque[_Pending[Result]]) -> Result:
    """Return the first result and remove it; until it is ready, work on tasks not yet begun."""
    for pending in waiting:
        if waiting[0].future.done():
            break
        if pending.future.cancel():
            pending.future = _done(pending.task)
    return waiting.popleft().future.result()


def _done(task: Callable[[], Result]) -> Future[Result]:
    """Return the outcome of a task; an error is raised where its result is used."""
    future: Future[Result] = Future()
    try:
        future.set_result(task())
    except Exception as error:
        future.set_exception(error)
    return future
