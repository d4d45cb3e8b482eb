# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Noticing that a machine does not follow its reference, or misses its goal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.typing import FloatArray


class TrackingErrors:
    """The distance between a machine and its reference, and whether it is too large."""

    def __init__(
        self,
        joint_names: Sequence[str],
        continuous: Sequence[bool],
        tolerances: TrackingTolerances,
    ) -> None:
        """Watch over these joints.

        Args:
            joint_names: the n joints.
            continuous: whether each turns without end: its error is the shorter way.
            tolerances: what is too large.
        """
        self._names = tuple(joint_names)
        self._turns = whole_turns(continuous)
        self._tolerances = tolerances
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the machine is to hold where it is."""
        n = len(self._names)
        self._position, self._velocity = np.zeros((2, n))
        self._since = np.full((2, n), np.inf)
        self._pending = False

    @property
    def tolerances(self) -> TrackingTolerances:
        """What is too large."""
        return self._tolerances

    @property
    def position(self) -> FloatArray:
        """Last error of the positions, shape (n,), rad or m."""
        return self._position

    @property
    def velocity(self) -> FloatArray:
        """Last error of the velocities, shape (n,), rad/s or m/s."""
        return self._velocity

    def check(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        stamp: float,
        after_end: float,
    ) -> str | None:
        """Return what is too large, for too long; None while all is well.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            reference: position, rate and acceleration at the same time, (n,) each.
            stamp: of the state, s.
            after_end: time since the end of the reference, s; negative before it.
        """
        allowed = self._tolerances
        self._position = shorter_way(reference[0] - q, self._turns)
        self._velocity = reference[1] - qd
        if not self._pending:
            is_late = after_end > allowed.goal_time
            most = np.minimum(allowed.position, allowed.goal) if is_late else allowed.position
            small = np.abs(self._position) <= most
            small &= np.abs(self._velocity) <= allowed.velocity
            if small.all():  # nearly always
                return None
        for row, (what, error, most) in enumerate(
            (
                ('position', self._position, allowed.position),
                ('velocity', self._velocity, allowed.velocity),
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
        missed = np.abs(self._position) > allowed.goal
        if after_end > allowed.goal_time and missed.any():
            k = int(np.argmax(missed))
            return (
                f"joint '{self._names[k]}' is {abs(self._position[k]):.4g} off its goal "
                f'{after_end:.2g} s after the end of the reference, allowed are '
                f'{allowed.goal[k]:.4g}'
            )
        return None
