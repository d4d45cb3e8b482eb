# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A worker thread for work of callbacks that would delay the commands."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from rclpy.node import Node
from rclpy.task import Future

P = ParamSpec('P')
R = TypeVar('R')


class Worker:
    """One thread that runs jobs one after the other, in the order of submission."""

    def __init__(self, node: Node, name: str) -> None:
        """Make a worker; its thread starts with the first job.

        Args:
            node: node whose callbacks await the jobs.
            name: name of the thread.
        """
        self._node = node
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        node.context.on_shutdown(self._discard)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in the worker thread; return its result or raise its exception."""
        finished: Future[None] = Future(executor=self._node.executor)
        job = self._pool.submit(function, *args, **kwargs)
        job.add_done_callback(lambda _: self._notify(finished))
        await finished
        return job.result()

    def _discard(self) -> None:
        """Discard the jobs that have not begun: the process would do them before it ends."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _notify(self, finished: Future[None]) -> None:
        """Complete the future, and wake the executor, which may be waiting."""
        finished.set_result(None)
        if self._node.executor is not None:
            self._node.executor.wake()
