# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Lead of the reference efforts, compensating actuation delay and zero-order hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.control.law import JointReference
from kron_dynamics.control.terms import EffortTerms, in_order
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


class EffortLead:
    r"""Feed-forward of the time derivative of the efforts, by third-order dynamics.

    .. math:: \Delta\tau = \vartheta \, \frac{d\tau}{dt}(q_r, \dot q_r, \ddot q_r, \dddot q_r)

    The jerk is the mean over the lead, so it includes steps of the acceleration.

    An effort takes effect `delay` after its state and is held for a period T: on average it is
    ``delay + T/2`` late. With this lead the effort is exact in the middle of its hold time, up to
    an error of second order in the lead. Feedback is not changed, so stability margins stay the
    same.
    """

    def __init__(self, robot: Robot, lead: float, *, terms: EffortTerms | None = None) -> None:
        """Make the lead, and compile its kernels before the first control cycle.

        Args:
            robot: the machine.
            lead: lead time theta, s, above 0.
            terms: model terms that the efforts contain; None for all.

        Raises:
            ArgumentTypeError: lead is no number.
            ParameterError: lead cannot be used, or inertia or Coriolis terms are not commanded.
        """
        lead = real_number(lead, 'effort_lead')
        if not 0.0 < lead < np.inf:
            raise ParameterError(f'effort_lead is {lead:g} s, expected more, or 0 for no lead')
        commanded = (EffortTerms() if terms is None else terms).commanded
        if not {'inertia', 'coriolis'} <= commanded:
            raise ParameterError(
                f'effort_lead is {lead:g} s: expected inertia and coriolis in terms, because the '
                f'lead needs both, got [{", ".join(in_order(commanded))}]; 0 is for no lead'
            )
        self._robot, self._lead = robot, lead
        self._compensates_gravity = 'gravity' in commanded
        rest = np.zeros(robot.n)
        robot.inverse_dynamics_rate(rest, rest, rest, rest)

    @property
    def time(self) -> float:
        """The lead time, s."""
        return self._lead

    def effort(self, reference: JointReference, jerk: FloatArray) -> FloatArray:
        """Return the efforts to add to the command, shape (n,), N m or N.

        Args:
            reference: position, rate and acceleration of the reference, shape (n,) each.
            jerk: mean jerk of the reference over the lead time, shape (n,), rad/s^3 or m/s^3.
        """
        added: FloatArray = self._lead * self._robot.inverse_dynamics_rate(*reference, jerk)
        if not self._compensates_gravity:
            q, qd, _ = reference
            ahead = self._robot.gravity_vector(q + self._lead * qd)
            added = added - (ahead - self._robot.gravity_vector(q))
        return added
