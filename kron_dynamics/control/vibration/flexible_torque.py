# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws that know of flexible links. Unlike others they remember, from call to call."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kron_dynamics.control.computed_torque import ComputedTorque
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


class LawWithMemory(ABC):
    """A law for one thread that calls it once in every period, and tells what came of it."""

    @abstractmethod
    def start(self, q: FloatArray) -> None:
        """Forget what was, with the machine at rest at q, shape (n,).

        Raises:
            ModelError: flexible links do not carry their weight there.
        """

    @abstractmethod
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: tuple[FloatArray, FloatArray, FloatArray],
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured rates, shape (n,).
            reference: its position, rate and acceleration, shape (n,) each.
            elapsed: time since the last call, s; 0 at the first.

        Raises:
            ModelError: flexible links give way in this motion.
            NonFiniteError: the state is not finite.
        """

    def set_applied_effort(self, effort: FloatArray) -> None:  # noqa: B027 - most do not care
        """Tell the efforts that were sent in this period, shape (n,), N m or N."""

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray] | None:
        """Estimated modal coordinates and their rates, (n_m,) each; None without an estimate."""
        return None


class FlexibleTorque(LawWithMemory):
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

    def start(self, q: FloatArray) -> None:
        """Forget what was: see `LawWithMemory`."""
        self._links.start(q)

    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: tuple[FloatArray, FloatArray, FloatArray],
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `LawWithMemory`."""
        reaction = self._links.follow(*reference, elapsed)
        reaction -= self._rigid.inverse_dynamics(*reference)
        return self._law(q, qd, *reference) + reaction
