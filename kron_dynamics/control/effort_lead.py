# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Efforts of the reference a time ahead: what delay and hold would take from computed torque."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.terms import EffortTerms, in_order
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


class EffortLead:
    r"""Feed-forward of the efforts' rate, by third-order dynamics.

    .. math:: \Delta\tau = \vartheta \, \frac{d\tau}{dt}(q_r, \dot q_r, \ddot q_r, \dddot q_r)

    with the mean jerk over the lead, which leaps of the acceleration are part of.

    An effort acts from `delay` after its state for a whole period T: on average it is
    ``delay + T/2`` late. With that for the lead the effort is right in the middle of its period,
    to the second order in the lead. Feedback has no part in it: margins stay what they are.
    """

    def __init__(self, robot: Robot, lead: float, *, terms: EffortTerms | None = None) -> None:
        """Compile what the first cycle may not wait for.

        Args:
            robot: the machine.
            lead: time ahead, s, above 0.
            terms: which terms of the model the efforts carry; None for all.

        Raises:
            ParameterError: lead cannot be used, or inertia or Coriolis terms are not commanded.
        """
        if not 0.0 < lead < np.inf:
            raise ParameterError(f'effort_lead is {lead:g} s, expected more, or 0 for no lead')
        commanded = (EffortTerms() if terms is None else terms).commanded
        if not {'inertia', 'coriolis'} <= commanded:
            raise ParameterError(
                f'effort_lead is {lead:g} s: expected inertia and coriolis in terms, whose rates '
                f'are one, got [{", ".join(in_order(commanded))}]; 0 is for no lead'
            )
        self._robot, self._lead = robot, lead
        self._carries_weight = 'gravity' in commanded
        rest = np.zeros(robot.n)
        robot.inverse_dynamics_rate(rest, rest, rest, rest)

    @property
    def time(self) -> float:
        """How far ahead, s."""
        return self._lead

    def effort(self, reference: JointReference, jerk: FloatArray) -> FloatArray:
        """Return what to add to the efforts, shape (n,), N m or N.

        Args:
            reference: its position, rate and acceleration, shape (n,) each.
            jerk: its mean third derivative over the time ahead, shape (n,), rad/s^3 or m/s^3.
        """
        added: FloatArray = self._lead * self._robot.inverse_dynamics_rate(*reference, jerk)
        if not self._carries_weight:
            q, qd, _ = reference
            ahead = self._robot.gravity_vector(q + self._lead * qd)
            added = added - (ahead - self._robot.gravity_vector(q))
        return added
