# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The timer that checks whether joint states arrive, and knows when it was itself delayed.

What counts as late: `StateSupervision.problem`. The commands that follow: `_watch` of
`dynamics_node.py` with `fault_effort_without_state` of `control/tracking_controller.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock
from rclpy.node import Node

from kron_dynamics.control import watch_period
from kron_dynamics.control.tracking_controller import TrackingController


class Watchdog:
    """Calls a check with the period of `watch_period`.

    After a long callback an executor runs its timers before it takes the joint states that have
    arrived meanwhile. A check that ran more than a period late therefore reports nothing yet: the
    next one, a period later, must find the problem, too. This repeats as long as states are
    accepted in between, as one long callback may follow another.
    """

    def __init__(
        self,
        node: Node,
        clock: Clock,
        timeout: float,
        controller: TrackingController,
        check: Callable[[], None],
    ) -> None:
        """Start the timer.

        Args:
            node: node whose executor runs the check.
            clock: steady clock.
            timeout: time without joint states that is a fault, s.
            controller: controller whose braking efforts must not be held too long.
            check: the check.
        """
        self._node, self._timeout, self._controller = node, timeout, controller
        self._period = self._due_period()
        group = MutuallyExclusiveCallbackGroup()  # destroyed with the timer
        self._timer = node.create_timer(self._period, check, group, clock)
        self._checked = time.monotonic()
        self._doubted: float | None = None  # when the last check was in doubt, s

    def destroy(self) -> None:
        """Stop the timer."""
        self._node.destroy_timer(self._timer)

    def confirmed(self, problem: str | None, now: float, accepted: float) -> str | None:
        """Return the problem that a check has found; None if it has to be found once more.

        Args:
            problem: what is wrong with the joint states, or None.
            now: steady time, s; of every check.
            accepted: steady time of the last plausible state, s; -inf if there was none.
        """
        late, self._checked = now - self._checked > 2.0 * self._period, now
        again = self._doubted is not None and accepted < self._doubted
        self._doubted = now if problem is not None and late and not again else None
        if (period := self._due_period()) != self._period:  # another payload
            self._period, self._timer.timer_period_ns = period, round(1e9 * period)
        if self._doubted is not None:
            self._timer.reset()  # otherwise the next check may follow at once
            return None
        return problem

    def _due_period(self) -> float:
        return watch_period(self._timeout, self._controller.longest_brake)
