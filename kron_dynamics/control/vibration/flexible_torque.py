# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Computed torque for flexible links that vibrate along a shaped reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.computed_torque import ComputedTorque
from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward, FollowedLinks
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


@dataclass(slots=True, eq=False)
class FlexibleTorqueState(LawState):
    """State of the links along the reference."""

    links: FollowedLinks


class FlexibleTorque(ControlLaw[FlexibleTorqueState]):
    r"""Computed torque of the rigid robot plus the predicted reaction of flexible links.

    .. math:: \tau = \tau_{rigid} + ID_{flexible}(ref, e) - ID_{rigid}(ref)

    The modal coordinates e are predicted by `FlexibleFeedforward`. The joints follow the reference
    as with rigid links, so the links vibrate as with clamped joints. The predicted vibration
    causes no tracking error; prediction errors are controlled by the gains of the rigid robot.
    """

    def __init__(self, law: ComputedTorque, rigid: Robot, links: FlexibleFeedforward) -> None:
        """Make the law.

        Args:
            law: control law of the rigid robot.
            rigid: the rigid robot.
            links: feedforward of its flexible links.
        """
        self._law = law
        self._rigid = rigid
        self._links = links

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts contain."""
        return self._law.terms | {'flexible'}

    def start(self, q: FloatArray) -> FlexibleTorqueState:
        """Return the state of a run from rest: see `ControlLaw`."""
        return FlexibleTorqueState(self._links.start(q))

    @np.errstate(over='ignore', invalid='ignore')  # see `ControlLaw`
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: FlexibleTorqueState,
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `ControlLaw`."""
        reaction = self._links.follow(state.links, *reference, elapsed)
        reaction -= self._rigid.inverse_dynamics(*reference)
        return self._law.effort(q, qd, reference) + reaction
