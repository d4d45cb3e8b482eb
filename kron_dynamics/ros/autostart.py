# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Configures and activates a node without a lifecycle manager."""

from __future__ import annotations

import time
from collections.abc import Callable

from lifecycle_msgs.msg import State
from rclpy.clock import Clock
from rclpy.lifecycle import (
    LifecycleNode,
    LifecycleState,
    ManagedEntity,
    TransitionCallbackReturn,
)

_PERIOD = 0.1  # between checks, s
_WAIT_PERIOD = 5.0  # between log messages while waiting, and between activation attempts, s


class Autostart(ManagedEntity):
    """Configures and activates a node once, each as soon as it can succeed.

    A description with which configuration or activation fails is dropped when another arrives.
    It ends once the node is active, by whomever, and when somebody else cleans it up: a node that
    was switched off by hand must not start on its own.
    """

    def __init__(
        self,
        node: LifecycleNode,
        clock: Clock,
        *,
        description: Callable[[], object | None],
        waits_for: Callable[[], str | None],
        failed: Callable[[], None],
    ) -> None:
        """Start the timer that checks ten times a second.

        Args:
            node: node to configure and activate.
            clock: steady clock for the timer.
            description: returns the description to configure the node for; None if there is none
                yet.
            waits_for: returns what activation waits for, as text; None if it can be attempted.
            failed: called after a transition has failed.
        """
        self._node = node
        self._description = description
        self._waits_for = waits_for
        self._failed = failed
        self._tried: object | None = None
        self._next_try = 0.0
        self._acting = False
        node.add_managed_entity(self)
        self._timer = node.create_timer(_PERIOD, self._check, clock=clock)

    def cancel(self) -> None:
        """Stop checking."""
        self._timer.cancel()

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop checking: the node has been activated, here or by hand."""
        self.cancel()
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop checking if the node is cleaned up by hand."""
        if not self._acting:
            self.cancel()
        return TransitionCallbackReturn.SUCCESS

    def _check(self) -> None:
        self._acting = True
        try:
            self._step()
        finally:
            self._acting = False

    def _step(self) -> None:
        state = self._node._state_machine.current_state[0]
        description = self._description()
        if state == State.PRIMARY_STATE_UNCONFIGURED:
            if description is None:
                self._waiting(self._node.resolve_topic_name('robot_description'))
            elif description is not self._tried:
                self._tried, self._next_try = description, 0.0
                self._require(self._node.trigger_configure())
        elif state == State.PRIMARY_STATE_INACTIVE:
            if description is not self._tried:
                self._node.trigger_cleanup()
            elif (what := self._waits_for()) is not None:
                self._waiting(what)
            elif time.monotonic() >= self._next_try:
                self._next_try = time.monotonic() + _WAIT_PERIOD
                self._require(self._node.trigger_activate())

    def _require(self, outcome: TransitionCallbackReturn) -> None:
        if outcome != TransitionCallbackReturn.SUCCESS:
            self._failed()

    def _waiting(self, what: str) -> None:
        self._node.get_logger().info(
            f'waiting for {what}', throttle_duration_sec=_WAIT_PERIOD, skip_first=True
        )
