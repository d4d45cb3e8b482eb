# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What flexible links do while the joints follow their reference, and what that takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Longest integration step, in rad of the fastest mode: an error of the amplitude of 2e-5 a turn.
_STEP_PHASE = 0.3


@dataclass(slots=True, eq=False)
class FollowedLinks:
    """Links along a reference.

    Attributes:
        deflection: modal coordinates, shape (n_m,).
        rate: their rates, shape (n_m,), per s.
        reference: the last state of the reference, shape (3, n_j); None at the start.
    """

    deflection: FloatArray
    rate: FloatArray
    reference: FloatArray | None = None


class FlexibleFeedforward:
    r"""Modal coordinates along a reference, and the efforts that keep the joints on it.

    A known link model gives known joint reactions. The joints' part
    of inverse dynamics of the flexible robot makes the joints follow the reference exactly, so
    that links vibrate as with joints that are held, whatever the joints' friction does:

    .. math:: M_{ee} \ddot e = -M_{eq} \ddot q_{ref} - h_e(q_{ref}, e, \dot q_{ref}, \dot e)

    Either the links vibrate so, as they do after a reference that is shaped for these modes, or
    not at all: then e is the quasi-static deflection, and its rates count as zero.
    """

    def __init__(self, flexible: Robot, *, vibrating: bool) -> None:
        """Make links that have not moved yet.

        Args:
            flexible: the robot with its modal coordinates.
            vibrating: whether the reference makes the links vibrate, or only bend.

        Raises:
            ModelError: no link bends.
        """
        self._robot = flexible
        self._count = flexible.model.joint_count
        self._vibrating = vibrating
        self._damping = flexible.model.structural_damping[self._count :]
        self._fastest = float(ClampedJointModes(flexible)(np.zeros(self._count))[0][-1])
        rest = np.zeros(self._count)
        self.follow(self.start(rest), rest, rest, rest, 0.0)  # compiles what the cycle needs

    @property
    def vibrating(self) -> bool:
        """Whether the reference makes the links vibrate, or only bend."""
        return self._vibrating

    def start(self, q: FloatArray) -> FollowedLinks:
        """Return links that hang at rest.

        Args:
            q: positions of the joints, shape (n_j,), rad or m.

        Raises:
            ModelError: the links do not carry their weight there.
        """
        e = quasi_static_equilibrium(self._robot, q)[self._count :]
        return FollowedLinks(e, np.zeros_like(e))

    def follow(
        self,
        links: FollowedLinks,
        q: FloatArray,
        qd: FloatArray,
        qdd: FloatArray,
        elapsed: float,
    ) -> FloatArray:
        """Move on to a state of the reference; return efforts without friction, shape (n_j,).

        Args:
            links: along the reference so far; they are changed.
            q: positions of the joints, shape (n_j,), rad or m.
            qd: their rates, shape (n_j,).
            qdd: their accelerations, shape (n_j,).
            elapsed: time since the last state, s. The accelerations change evenly in it.

        Raises:
            ModelError: links that only bend give way under this motion.
        """
        reference = np.array((q, qd, qdd))
        bent = np.zeros((3, self._robot.n))
        bent[:, : self._count] = reference
        if self._vibrating:
            bent[0, self._count :] = links.deflection
            M = self._robot.mass_matrix(bent[0])[self._count :, self._count :]
            mobility = np.asarray(
                np.linalg.inv(M), dtype=np.float64
            )  # hardly changes in so short a time
            if links.reference is not None and elapsed > 0.0:
                self._integrate(links, links.reference, reference, elapsed, mobility)
            links.reference = reference
            e, ed = links.deflection, links.rate
            bent[1, self._count :] = ed
            bent[2, self._count :] = self._acceleration(reference, e, ed, mobility)
        else:
            full = quasi_static_equilibrium(self._robot, q, qd, qdd, start=links.deflection)
            links.deflection = full[self._count :]
        bent[0, self._count :] = links.deflection
        return self._robot.inverse_dynamics(*bent)[: self._count]

    def _acceleration(
        self, reference: FloatArray, e: FloatArray, ed: FloatArray, mobility: FloatArray
    ) -> FloatArray:
        motion = np.zeros((3, self._robot.n))
        motion[:, : self._count] = reference
        motion[0, self._count :], motion[1, self._count :] = e, ed
        force = self._robot.inverse_dynamics(*motion)[self._count :] + self._damping * ed
        acceleration: FloatArray = -mobility @ force
        return acceleration

    def _integrate(
        self,
        links: FollowedLinks,
        begin: FloatArray,
        end: FloatArray,
        duration: float,
        mobility: FloatArray,
    ) -> None:
        """Classical fourth-order steps between two states of the reference."""
        steps = max(1, int(np.ceil(duration * self._fastest / _STEP_PHASE)))
        h = duration / steps
        for k in range(steps):
            first, middle, last = (
                begin + (end - begin) * (share / steps) for share in (k, k + 0.5, k + 1)
            )
            e, ed = links.deflection, links.rate
            a1 = self._acceleration(first, e, ed, mobility)
            v2 = ed + 0.5 * h * a1
            a2 = self._acceleration(middle, e + 0.5 * h * ed, v2, mobility)
            v3 = ed + 0.5 * h * a2
            a3 = self._acceleration(middle, e + 0.5 * h * v2, v3, mobility)
            v4 = ed + h * a3
            a4 = self._acceleration(last, e + h * v3, v4, mobility)
            links.deflection = e + h / 6.0 * (ed + 2.0 * v2 + 2.0 * v3 + v4)
            links.rate = ed + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
