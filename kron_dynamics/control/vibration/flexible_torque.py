# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Computed torque for links that vibrate along a shaped reference."""

from __future__ import annotations

from dataclasses import dataclass

from kron_dynamics.control.computed_torque import ComputedTorque
from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward, FollowedLinks
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


@dataclass(slots=True, eq=False)
class FlexibleTorqueState(LawState):
    """Links as they vibrate along the reference."""

    links: FollowedLinks


class FlexibleTorque(ControlLaw[FlexibleTorqueState]):
    r"""Computed torque of the rigid robot, and the reaction of links that vibrate.

    .. math:: \tau = \tau_{rigid} + ID_{flexible}(ref, e) - ID_{rigid}(ref)

    With e predicted by `FlexibleFeedforward`. The joints follow the reference as they would under
    stiff links, so that the links vibrate as with joints that are held. Feedback sees nothing of
    it, and what the prediction misses meets the same gains as before.
    """

    def __init__(self, law: ComputedTorque, rigid: Robot, links: FlexibleFeedforward) -> None:
        """Make the law.

        Args:
            law: for the rigid robot.
            rigid: that robot.
            links: its flexible links, vibrating or not.
        """
        self._law = law
        self._rigid = rigid
        self._links = links

    @property
    def terms(self) -> frozenset[str]:
        """Terms of the model that are in its efforts."""
        return self._law.terms | {'flexible'}

    def start(self, q: FloatArray) -> FlexibleTorqueState:
        """Return the state of a run from rest: see `ControlLaw`."""
        return FlexibleTorqueState(self._links.start(q))

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
