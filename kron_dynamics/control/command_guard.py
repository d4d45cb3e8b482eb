# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Last check of every command: finite values, effort saturation and rate limiting.

`tracking_controller.py` tells the law which effort was applied; anti-windup: `integral_action.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.typing import ArrayLike, FloatArray, IntArray


class CommandGuard:
    """Limits the efforts sent to a machine; remembers the last one sent.

    The first command after construction or ``reset()`` is limited in magnitude only, because the
    present effort of the actuators is unknown. For a start without a step, reset with the effort
    the actuators already apply, or with the one they need first (the gravity vector).
    """

    def __init__(
        self,
        effort_limit: ArrayLike,
        rate_limit: ArrayLike,
        joint_names: Sequence[str],
        *,
        longest_step: float = 0.1,
    ) -> None:
        """Make a guard that has sent nothing yet.

        Args:
            effort_limit: greatest magnitudes, shape (n,), in N m or N, above 0; inf for none.
                Use the smaller of the model's limit and the parameter's.
            rate_limit: greatest changes, shape (n,), in N m/s or N/s, above 0; inf for none.
            joint_names: the n joints, for messages.
            longest_step: upper bound, in s, of the time used for the rate limit, so that the
                command cannot jump after the loop has stalled.

        Raises:
            ParameterError: a limit cannot be used; names the joint.
        """
        self._joint_names = tuple(joint_names)
        self._effort_limit = positive_per_joint(
            'effort_limit', effort_limit, self._joint_names, infinity_allowed=True
        )
        rate = positive_per_joint(
            'rate_limit', rate_limit, self._joint_names, infinity_allowed=True
        )
        # Finite, because 0 s times inf would give NaN instead of no change.
        self._rate_limit = np.minimum(rate, 1e300)
        limits = self._effort_limit.tolist(), self._rate_limit.tolist()
        self._limits = list(zip(*limits, strict=True))
        if not 0.0 < longest_step < np.inf:
            raise ParameterError(f'longest_step is {longest_step} s, expected a time above 0')
        self._longest_step = longest_step
        self._last: FloatArray | None = None
        # The command before the last one, and the time between these two, for `replace`.
        self._before: FloatArray | None = None
        self._step = 0.0
        self._effort_saturations: IntArray = np.zeros(len(self._joint_names), dtype=np.int64)
        self._rate_saturations: IntArray = np.zeros(len(self._joint_names), dtype=np.int64)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The n joints."""
        return self._joint_names

    @property
    def effort_limit(self) -> FloatArray:
        """Greatest magnitudes commanded, shape (n,), in N m or N."""
        return np.array(self._effort_limit)

    @property
    def last(self) -> FloatArray | None:
        """The last command, shape (n,), in N m or N; None before the first."""
        return None if self._last is None else np.array(self._last)

    @property
    def effort_saturations(self) -> IntArray:
        """How often each joint's command was cut to its effort limit, shape (n,)."""
        return np.array(self._effort_saturations)

    @property
    def rate_saturations(self) -> IntArray:
        """How often each joint's command was held back by its rate limit, shape (n,)."""
        return np.array(self._rate_saturations)

    def reset(self, tau0: ArrayLike | None = None) -> None:
        """Set the last command to tau0, shape (n,), in N m or N, or forget it if None.

        The saturation counts are kept.

        Raises:
            ShapeError: tau0 has another shape.
            NonFiniteError: tau0 is not finite; names the joints.
        """
        self._last = None if tau0 is None else self._within_effort_limit(self._checked(tau0))
        self._before, self._step = self._last, 0.0

    def allowed(self, dt: float) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest command that would pass, shape (n,) each, N m or N.

        Args:
            dt: time since the last command, in s, 0 or more.

        Raises:
            ParameterError: dt is negative or NaN.
        """
        if not dt >= 0.0:
            raise ParameterError(f'time since the last command is {dt} s, expected 0 s or more')
        lower, upper = -self._effort_limit, self._effort_limit
        if self._last is not None:
            step = self._rate_limit * min(dt, self._longest_step)
            lower = np.maximum(lower, self._last - step)
            upper = np.minimum(upper, self._last + step)
        return lower, upper

    def apply(self, tau: ArrayLike, dt: float) -> FloatArray:
        """Return the command to send in place of tau, shape (n,), in N m or N.

        Args:
            tau: the efforts wanted, shape (n,).
            dt: time since the last command, in s, 0 or more.

        Raises:
            ShapeError: tau has another shape.
            NonFiniteError: tau is not finite; names the joints. The caller must send nothing, and
                the stored last command is unchanged.
            ParameterError: dt is negative or NaN.
        """
        wanted = self._checked(tau)
        if self._passes(wanted, dt):
            self._before, self._step = self._last, dt
            self._last = np.array(wanted)
            return np.array(wanted)
        lower, upper = self.allowed(dt)
        self._before, self._step = self._last, dt
        limited = self._within_effort_limit(wanted)
        safe = np.minimum(np.maximum(wanted, lower), upper)
        self._effort_saturations += limited != wanted
        self._rate_saturations += safe != limited
        self._last = safe
        return np.array(safe)

    def replace(self, tau: ArrayLike) -> FloatArray:
        """Return the command to send in place of the last one, at its time, shape (n,), N m or N.

        The rate limit is that of the last command: around the one before it, with the time between
        the two. So an answer to further measurements of the same time does not come a period late.

        Args:
            tau: the efforts wanted, shape (n,), in N m or N.

        Raises:
            ShapeError: tau has another shape.
            NonFiniteError: tau is not finite; see `apply`.
        """
        wanted = self._checked(tau)
        self._last = self._before
        return self.apply(wanted, self._step)

    def _passes(self, wanted: FloatArray, dt: float) -> bool:
        """Whether a command is within all limits; plain floats are faster for few joints."""
        if self._last is None or not dt >= 0.0:
            return False
        step = min(dt, self._longest_step)
        for x, last, (limit, rate) in zip(
            wanted.tolist(), self._last.tolist(), self._limits, strict=True
        ):
            if not (-limit <= x <= limit and last - rate * step <= x <= last + rate * step):
                return False
        return True

    def _checked(self, tau: ArrayLike) -> FloatArray:
        array = np.asarray(tau, dtype=np.float64)
        if array.shape != self._effort_limit.shape:
            raise ShapeError(
                f'effort command has shape {array.shape}, expected {self._effort_limit.shape}'
            )
        if not all(map(isfinite, array.tolist())):
            bad = ', '.join(
                f'{self._joint_names[i]!r}: {array[i]:g}'
                for i in np.flatnonzero(~np.isfinite(array))
            )
            raise NonFiniteError(f'effort command is not finite for {bad}')
        return array

    def _within_effort_limit(self, tau: FloatArray) -> FloatArray:
        limited: FloatArray = np.minimum(np.maximum(tau, -self._effort_limit), self._effort_limit)
        return limited
