# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantities of a controller that depend on the payload, for a change while it is active."""

from __future__ import annotations

from typing import NamedTuple

from kron_dynamics.control.assembly import (
    ControlSettings,
    fault_hold_of,
    hand_guiding,
    limit_of_integral,
)
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.hand_guiding import HandGuiding
from kron_dynamics.control.integral_action import IntegralAction
from kron_dynamics.control.reference.planning import ReferenceBounds
from kron_dynamics.control.reference.stop import acceleration_limits
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


class PayloadQuantities(NamedTuple):
    """What a controller derives from the masses of its machine; values that are given stay.

    Attributes:
        hold: law of the fault action `hold_gravity`; None for another action.
        acceleration_limit: limits of stops and motions to streamed setpoints, shape (n,), per s^2.
        guiding: the law 'gravity'; None for another law.
        integral_limit: largest efforts of the integral, shape (n,), N m or N; None without one.
    """

    hold: GravityHold | None
    acceleration_limit: FloatArray
    guiding: HandGuiding | None
    integral_limit: FloatArray | None

    @classmethod
    def of(cls, settings: ControlSettings, rigid: Robot, flexible: Robot) -> PayloadQuantities:
        """Return the quantities of a machine.

        Args:
            settings: settings of the controller.
            rigid: the machine with rigid links and the payload.
            flexible: the same with flexible links; the same object if no link is flexible.

        Raises:
            ParameterError: fault action or hand guiding cannot brake the machine, or gravity
                leaves nothing for the integral of a joint.
        """
        bounds = settings.bounds or ReferenceBounds()
        guided = settings.law == 'gravity'
        return cls(
            fault_hold_of(settings, rigid, flexible),
            acceleration_limits(rigid, settings.effort_limit, bounds.acceleration),
            hand_guiding(settings, rigid, flexible) if guided else None,
            limit_of_integral(settings, rigid),
        )

    def adopt(self, controller: TrackingController) -> None:
        """Let a controller with these settings use the quantities from now on."""
        law = controller.law
        if controller.hold is not None and self.hold is not None:
            controller.hold.adopt(self.hold)
        controller.references.adopt_acceleration_limit(self.acceleration_limit)
        if isinstance(law, HandGuiding) and self.guiding is not None:
            law.adopt(self.guiding)
        if isinstance(law, IntegralAction) and self.integral_limit is not None:
            law.adopt_limit(self.integral_limit)
