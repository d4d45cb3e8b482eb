# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fault actions, the fault latch and the period of the joint-state watchdog."""

from __future__ import annotations

from enum import Enum

import numpy as np

from kron_dynamics.exceptions import ParameterError


class FaultAction(str, Enum):
    """What is commanded while a fault is latched.

    No action is harmless on every machine: zero effort lets a loaded boom fall; without commands
    the actuators keep the last effort until their own watchdog acts.
    """

    HOLD_GRAVITY = 'hold_gravity'
    ZERO = 'zero'
    STOP_PUBLISHING = 'stop_publishing'

    @classmethod
    def _missing_(cls, value: object) -> FaultAction:
        choices = ', '.join(repr(action.value) for action in cls)
        raise ParameterError(f'fault action is {value!r}, expected one of {choices}')


class FaultLatch:
    """Healthy until tripped; then faulted, for the first reason given, until cleared."""

    def __init__(self) -> None:
        """Make a healthy latch."""
        self._reason: str | None = None
        self._since: float | None = None

    @property
    def faulted(self) -> bool:
        """Whether a fault is latched."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Reason of the latched fault, the first one given; None while healthy."""
        return self._reason

    @property
    def since(self) -> float | None:
        """Time at which the fault was latched, in s of the caller's clock; None while healthy."""
        return self._since

    def trip(self, reason: str, now: float) -> bool:
        """Latch a fault; return False if one is latched already, whose reason is kept.

        Raises:
            ParameterError: the reason is empty.
        """
        if not reason:
            raise ParameterError('a fault needs a reason')
        if self._reason is not None:
            return False
        self._reason, self._since = reason, now
        return True

    def clear(self, still_bad: str | None) -> bool:
        """Clear the fault unless its cause persists; return whether the latch is healthy now.

        Args:
            still_bad: what is wrong at this moment; a text keeps the fault, None clears it.
        """
        if still_bad is None:
            self._reason = self._since = None
        return self._reason is None


def watch_period(timeout: float, longest_brake: float) -> float:
    """Return the period of the watchdog that checks whether joint states arrive, s.

    At most 0.05 s; short enough that a timeout is detected at most a quarter of it late, and that
    a braking effort is held at most twice `longest_brake`, unless the check itself is delayed.

    Args:
        timeout: time without joint states that is a fault, s.
        longest_brake: longest hold time of an effort computed from a state, s; 0 for no limit.
    """
    return min(0.25 * timeout, 0.05, longest_brake or np.inf)
