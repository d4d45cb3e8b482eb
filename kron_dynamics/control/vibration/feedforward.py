# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What flexible links do while the joints follow their reference, and what that takes."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Longest integration step, in rad of the fastest mode: an error of the amplitude of 2e-5 a turn.
_STEP_PHASE = 0.3


class FlexibleFeedforward:
    r"""Modal coordinates along a reference, and the efforts that keep the joints on it.

    Links of which all is known act on their joints in a way that is known, too. The joints' part
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
        self.start(np.zeros(self._count))
        rest = np.zeros(self._count)
        self.follow(rest, rest, rest, 0.0)  # compiles what the cycle needs

    @property
    def vibrating(self) -> bool:
        """Whether the reference makes the links vibrate, or only bend."""
        return self._vibrating

    @property
    def deflection(self) -> FloatArray:
        """Modal coordinates as of the last `follow`, shape (n_m,)."""
        return self._e.copy()

    @property
    def deflection_rate(self) -> FloatArray:
        """Rates of the modal coordinates as of the last `follow`, shape (n_m,), per s."""
        return self._ed.copy()

    def start(self, q: FloatArray) -> None:
        """Take the links to hang at rest.

        Args:
            q: positions of the joints, shape (n_j,), rad or m.

        Raises:
            ModelError: the links do not carry their weight there.
        """
        self._e = quasi_static_equilibrium(self._robot, q)[self._count :]
        self._ed = np.zeros_like(self._e)
        self._last: FloatArray | None = None

    def follow(self, q: FloatArray, qd: FloatArray, qdd: FloatArray, elapsed: float) -> FloatArray:
        """Move on to a state of the reference; return efforts without friction, shape (n_j,).

        Args:
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
            bent[0, self._count :] = self._e
            M = self._robot.mass_matrix(bent[0])[self._count :, self._count :]
            self._mobility = np.linalg.inv(M)  # hardly changes in so short a time
            if self._last is not None and elapsed > 0.0:
                self._integrate(self._last, reference, elapsed)
            self._last = reference
            bent[1, self._count :] = self._ed
            bent[2, self._count :] = self._acceleration(reference, self._e, self._ed)
        else:
            self._e = quasi_static_equilibrium(self._robot, q, qd, qdd, start=self._e)[
                self._count :
            ]
        bent[0, self._count :] = self._e
        return self._robot.inverse_dynamics(*bent)[: self._count]

    def _acceleration(self, reference: FloatArray, e: FloatArray, ed: FloatArray) -> FloatArray:
        motion = np.zeros((3, self._robot.n))
        motion[:, : self._count] = reference
        motion[0, self._count :], motion[1, self._count :] = e, ed
        force = self._robot.inverse_dynamics(*motion)[self._count :] + self._damping * ed
        acceleration: FloatArray = -self._mobility @ force
        return acceleration

    def _integrate(self, begin: FloatArray, end: FloatArray, duration: float) -> None:
        """Classical fourth-order steps between two states of the reference."""
        steps = max(1, int(np.ceil(duration * self._fastest / _STEP_PHASE)))
        h = duration / steps
        for k in range(steps):
            first, middle, last = (
                begin + (end - begin) * (share / steps) for share in (k, k + 0.5, k + 1)
            )
            e, ed = self._e, self._ed
            a1 = self._acceleration(first, e, ed)
            v2 = ed + 0.5 * h * a1
            a2 = self._acceleration(middle, e + 0.5 * h * ed, v2)
            v3 = ed + 0.5 * h * a2
            a3 = self._acceleration(middle, e + 0.5 * h * v2, v3)
            v4 = ed + h * a3
            a4 = self._acceleration(last, e + h * v3, v4)
            self._e = e + h / 6.0 * (ed + 2.0 * v2 + 2.0 * v3 + v4)
            self._ed = ed + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
