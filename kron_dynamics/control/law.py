# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Common interface of the control laws: measured state and reference in, efforts out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from kron_dynamics.typing import FloatArray

# Names of the control laws a controller can be configured with.
LAWS = ('computed_torque', 'pd', 'gravity')
# Position, rate and acceleration of a reference, shape (n,) each: rad or m, per s, per s^2.
JointReference = tuple[FloatArray, FloatArray, FloatArray]


def unused_settings(law: str, effort_lead: float, ki: FloatArray) -> str | None:
    """Return which settings a control law does not use although they are set, or None.

    Args:
        law: one of `LAWS`.
        effort_lead: s.
        ki: integral gains, shape (n,), 1/s^3.
    """
    unused = []
    if effort_lead and law != 'computed_torque':
        unused.append(f'effort_lead is {effort_lead:g} s')
    if law == 'gravity' and ki.any():
        unused.append('gains.<joint>.ki are not all 0')
    return f'{" and ".join(unused)}, which control_law {law!r} does not use' if unused else None


class LawState:
    """Internal state of one run of a control law; empty for most laws."""

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Report the efforts that were sent in this period, shape (n,), N m or N."""

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray] | None:
        """Estimated modal coordinates and their rates, (n_m,) each; None without an estimate."""
        return None

    @property
    def problem(self) -> str | None:
        """Why the law works in a degraded mode, or None."""
        return None


S = TypeVar('S', bound=LawState)


class ControlLaw(ABC, Generic[S]):
    """A control law of n joints, in the robot's joint order.

    The internal state of a run is the object that `start` returns and every call takes, so one
    law may serve several machines and threads. Laws do not check their input: a NaN position
    gives a NaN effort, without a warning, which `CommandGuard` refuses to pass on.
    """

    # Whether the law tracks references; otherwise the measured position is its reference.
    follows_references = True

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts contain, a subset of `terms.TERMS`."""
        return frozenset()

    @abstractmethod
    def start(self, q: FloatArray) -> S:
        """Return the state of a run that begins with the machine at rest at q, shape (n,).

        Raises:
            ModelError: the flexible links have no stable equilibrium under gravity at q.
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
            reference: position, rate and acceleration of the reference, shape (n,) each.
            state: internal state of this run; updated in place.
            elapsed: time since the last call, s; 0 at the first, and for a state with further
                measurements of the same time, whose efforts replace those of the last call.

        Raises:
            ModelError: the flexible links lose stability in this motion.
            NonFiniteError: a law with internal state was given a non-finite measured state.
            SpeedLimitError: the machine moves faster than the law allows.
        """


class StatelessLaw(ControlLaw[LawState]):
    """A law without internal state: measured state and reference are its only inputs."""

    def start(self, q: FloatArray) -> LawState:
        """Return an empty state."""
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
