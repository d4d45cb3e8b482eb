# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An action server whose goals end in the cycle of the states, not in a callback that waits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.lifecycle import LifecycleNode


class GoalServer:
    """Serves an action: every goal is taken, and ended with a result by `finish`."""

    def __init__(
        self, node: LifecycleNode, action: Any, name: str, on_goal: Callable[[Any], None]
    ) -> None:
        """Serve an action.

        Args:
            node: serves it.
            action: its type.
            name: its name.
            on_goal: called with the handle of every goal.
        """
        self._server = _Server(
            node,
            action,
            name,
            execute_callback=lambda handle: action.Result(),
            goal_callback=lambda request: GoalResponse.ACCEPT,
            handle_accepted_callback=on_goal,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )

    def finish(self, handle: Any, result: Any) -> None:
        """Send the result of a goal that has ended.

        At once, not by a task of the executor: that may have stopped when the node ends.
        """
        execution = self._server._execute_goal(lambda _: result, handle)
        with contextlib.suppress(StopIteration):  # it has nothing to wait for
            execution.send(None)


class _Server(ActionServer):
    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Execute nothing by itself: a goal that is followed has no result yet.

        A callback that waits for the end of the motion would need a thread, or keep a
        single-threaded executor busy all the time.
        """
