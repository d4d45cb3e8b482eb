# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Work that would delay commands, done beside the executor's thread for a callback that waits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from rclpy.node import Node
from rclpy.task import Future

P = ParamSpec('P')
R = TypeVar('R')


class Worker:
    """One thread: what it is given is done in its order, one after the other."""

    def __init__(self, node: Node, name: str) -> None:
        """Make a worker; its thread starts with the first work.

        Args:
            node: whose callbacks wait for it.
            name: of the thread.
        """
        self._node = node
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what a function returns, or raise what it raises, once the thread has run it."""
        finished: Future[None] = Future(executor=self._node.executor)
        job = self._pool.submit(function, *args, **kwargs)
        job.add_done_callback(lambda _: self._tell(finished))
        await finished
        return job.result()

    def _tell(self, finished: Future[None]) -> None:
        """Tell the executor that the work is done; it may be asleep."""
        finished.set_result(None)
        if self._node.executor is not None:
            self._node.executor.wake()
