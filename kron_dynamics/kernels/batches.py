# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Division of batches among threads; compiled code and NumPy release the interpreter lock."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from kron_dynamics.arguments import whole_number
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.messages import shown
from kron_dynamics.typing import FloatArray

# evaluate(count, rows, outs): C-contiguous arrays, (count, size) in and (count, width) out.
Evaluate = Callable[[int, Sequence[FloatArray], Sequence[FloatArray]], None]

# Fewest states per thread: a smaller share is done before another thread has started.
STATES_PER_THREAD = 2048


def thread_count(threads: int) -> int:
    """Return the number of threads; 0 becomes the number of cores that this process may use.

    Raises:
        ArgumentTypeError: threads is not a whole number.
        ParameterError: threads is negative.
    """
    threads = whole_number(threads, 'threads')
    if threads < 0:
        raise ParameterError(f'threads is {shown(threads)}, expected 0 (one a core) or more')
    if threads > 0:
        return threads
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(evaluate: Evaluate, threads: int) -> Evaluate:
    """Return `evaluate` with large batches divided among this thread and others.

    Args:
        evaluate: fills arrays of shape (count, width) from arrays of shape (count, size).
        threads: number of threads that share a batch.
    """

    def divided(count: int, rows: Sequence[FloatArray], outs: Sequence[FloatArray]) -> None:
        parts = min(threads, count // STATES_PER_THREAD)
        if parts < 2:
            evaluate(count, rows, outs)
            return

        def part(k: int) -> None:
            start, stop = k * count // parts, (k + 1) * count // parts
            evaluate(
                stop - start,
                [row[start:stop] for row in rows],
                [out[start:stop] for out in outs],
            )

        others = [_pool().submit(part, k) for k in range(1, parts)]
        try:
            part(0)
        finally:  # no thread may still write to the results after the return
            errors = [other.exception() for other in others]
        for error in errors:
            if error is not None:
                raise error

    return evaluate if threads == 1 else divided


@functools.lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_count(0), thread_name_prefix='kron_dynamics')


# A forked process inherits the pool object, but not its threads.
os.register_at_fork(after_in_child=_pool.cache_clear)
