# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An action server whose goals are ended by the control cycle, not by a blocking callback."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.lifecycle import LifecycleNode


class GoalServer:
    """Action server that accepts every goal; `finish` ends it with a result."""

    def __init__(
        self, node: LifecycleNode, action: Any, name: str, on_goal: Callable[[Any], None]
    ) -> None:
        """Start the action server.

        Args:
            node: node that serves the action.
            action: type of the action.
            name: name of the action.
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

        It is sent synchronously, not by an executor task: the executor has stopped already when
        the node ends.
        """
        answer = self._server._result_futures[bytes(handle.goal_id.uuid)]
        answer._set_executor(None)  # which would get a task, however late
        execution = self._server._execute_goal(lambda _: result, handle)
        with contextlib.suppress(StopIteration):  # the coroutine awaits nothing
            execution.send(None)


class _Server(ActionServer):
    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Do nothing: the result of a goal is sent by `GoalServer.finish`.

        An execute callback that waits for the end of the motion would need a thread, or block a
        single-threaded executor.
        """
