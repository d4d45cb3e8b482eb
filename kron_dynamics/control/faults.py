# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Noticing that something is wrong, remembering it, and what to do about it."""

from __future__ import annotations

from enum import Enum

import numpy as np

from kron_dynamics.exceptions import ParameterError


class FaultAction(str, Enum):
    """What is commanded while a fault is latched.

    There is no harmless choice for every machine: zero effort lets a loaded boom fall, silence
    leaves the actuators with the last effort they got until their own watchdog acts.
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
        """Why the fault was latched first; None while healthy."""
        return self._reason

    @property
    def since(self) -> float | None:
        """When the fault was latched first, in s of the caller's clock; None while healthy."""
        return self._since

    def trip(self, reason: str, now: float) -> bool:
        """Latch a fault; return whether it is a new one, as the first reason stays.

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
        """Return whether the latch is healthy now.

        Args:
            still_bad: what is wrong at this moment; a text keeps the fault, None clears it.
        """
        if still_bad is None:
            self._reason = self._since = None
        return self._reason is None


def watch_period(timeout: float, longest_brake: float) -> float:
    """Return how often to look whether joint states still come, s.

    Silence is noticed a quarter of the timeout late at most, and a braking effort stays twice
    `longest_brake` at most; 20 times a second in any case.

    Args:
        timeout: silence that counts as a fault, s.
        longest_brake: how long an effort that answers a state may stay, s; 0 for any time.
    """
    return min(0.25 * timeout, 0.05, longest_brake or np.inf)
