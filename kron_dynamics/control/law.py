# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What every control law can be called as: measured state and reference in, efforts out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from kron_dynamics.typing import FloatArray

# What a controller can be made with.
LAWS = ('computed_torque', 'pd', 'gravity')
# Position, rate and acceleration of a reference, shape (n,) each: rad or m, per s, per s^2.
JointReference = tuple[FloatArray, FloatArray, FloatArray]


class LawState:
    """What a run of a control law remembers: nothing, for most laws."""

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Tell the efforts that were sent in this period, shape (n,), N m or N."""

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray] | None:
        """Estimated modal coordinates and their rates, (n_m,) each; None without an estimate."""
        return None

    @property
    def problem(self) -> str | None:
        """What keeps the law from being what it should, or None."""
        return None


S = TypeVar('S', bound=LawState)


class ControlLaw(ABC, Generic[S]):
    """A control law of n joints, in the robot's joint order.

    What a run of it remembers is in the state that `start` returns and every call takes. So one
    law may serve several machines and threads. Laws do not check their input: a NaN position
    gives a NaN effort, which `CommandGuard` refuses to pass on.
    """

    # Whether the law moves the machine along references; without it, the reference is where the
    # machine is.
    follows_references = True

    @property
    def terms(self) -> frozenset[str]:
        """Terms of the model that are in its efforts, some of `terms.TERMS`."""
        return frozenset()

    @abstractmethod
    def start(self, q: FloatArray) -> S:
        """Return the state of a run that begins with the machine at rest at q, shape (n,).

        Raises:
            ModelError: flexible links do not carry their weight there.
        """

    @abstractmethod
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: S,
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured rates, shape (n,).
            reference: its position, rate and acceleration, shape (n,) each.
            state: of this run, which moves on.
            elapsed: time since the last call, s; 0 at the first.

        Raises:
            ModelError: flexible links give way in this motion.
            NonFiniteError: a law that remembers was given a state that is not finite.
            SpeedLimitError: the machine moves faster than the law allows.
        """


class StatelessLaw(ControlLaw[LawState]):
    """A law that remembers nothing: it may be called with measured state and reference alone."""

    def start(self, q: FloatArray) -> LawState:
        """Return a state that holds nothing."""
        return LawState()

    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: LawState | None = None,
        elapsed: float = 0.0,
    ) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N: see `ControlLaw`."""
        return self.effort(q, qd, reference)

    @abstractmethod
    def effort(self, q: FloatArray, qd: FloatArray, reference: JointReference) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N."""
