# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of tracking errors above their tolerances and of missed goals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.control.turns import shorter_error, shorter_way, whole_turns
from kron_dynamics.typing import FloatArray


class TrackingErrors:
    """Tracking errors of a machine and their comparison with the tolerances."""

    def __init__(
        self,
        joint_names: Sequence[str],
        continuous: Sequence[bool],
        tolerances: TrackingTolerances,
    ) -> None:
        """Monitor these joints.

        Args:
            joint_names: the n joints.
            continuous: mask of the continuous joints, whose errors are wrapped to [-pi, pi].
            tolerances: tolerances of the errors.
        """
        self._names = tuple(joint_names)
        self._turns = whole_turns(continuous)
        self._tolerances = tolerances
        allowed = self._turns, tolerances.position, tolerances.velocity
        self._allowed = list(zip(*(row.tolist() for row in allowed), strict=True))
        self.reset()

    def reset(self) -> None:
        """Forget previous errors: the machine now holds its present position."""
        n = len(self._names)
        none = np.zeros(n)
        self._state = none, none, none, none
        self._since = np.full((2, n), np.inf)
        self._pending = False

    @property
    def tolerances(self) -> TrackingTolerances:
        """Tolerances of the errors."""
        return self._tolerances

    @property
    @np.errstate(invalid='ignore')  # of measured positions that are not finite
    def position(self) -> FloatArray:
        """Last position errors, reference minus measured, shape (n,), rad or m."""
        q, _, wanted, _ = self._state
        return shorter_way(wanted - q, self._turns)

    @property
    def velocity(self) -> FloatArray:
        """Last velocity errors, reference minus measured, shape (n,), rad/s or m/s."""
        _, qd, _, wanted = self._state
        return wanted - qd

    def check(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        stamp: float,
        after_end: float,
    ) -> str | None:
        """Return a message if an error exceeds its tolerance for too long; None otherwise.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            reference: position, rate and acceleration at the same time, (n,) each.
            stamp: stamp of the state, s.
            after_end: time since the end of the reference, s; negative before it.
        """
        allowed = self._tolerances
        self._state = q, qd, *reference[:2]
        if not self._pending and after_end <= allowed.goal_time and self._is_small():
            return None  # the usual case
        position, velocity = self.position, self.velocity
        for row, (what, error, most) in enumerate(
            (
                ('position', position, allowed.position),
                ('velocity', velocity, allowed.velocity),
            )
        ):
            far = np.abs(error) > most
            self._since[row] = np.where(far, np.minimum(self._since[row], stamp), np.inf)
            late = stamp - self._since[row] >= allowed.time
            if late.any():
                k = int(np.argmax(late))
                return (
                    f"{what} of joint '{self._names[k]}' is {abs(error[k]):.4g} off its reference "
                    f'for {stamp - self._since[row, k]:.2g} s, allowed are {most[k]:.4g}'
                )
        self._pending = bool(np.isfinite(self._since).any())
        missed = np.abs(position) > allowed.goal
        if after_end > allowed.goal_time and missed.any():
            k = int(np.argmax(missed))
            return (
                f"joint '{self._names[k]}' is {abs(position[k]):.4g} off its goal "
                f'{after_end:.2g} s after the end of the reference, allowed are '
                f'{allowed.goal[k]:.4g}'
            )
        return None

    def _is_small(self) -> bool:
        """Whether no error exceeds its tolerance; plain floats are faster for few joints."""
        rows = (row.tolist() for row in self._state)
        for q, qd, wanted, rate, (turn, far, quick) in zip(*rows, self._allowed, strict=True):
            error = shorter_error(wanted - q, turn) if turn else wanted - q
            if not (abs(error) <= far and abs(rate - qd) <= quick):
                return False
        return True
