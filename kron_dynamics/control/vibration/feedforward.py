# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of flexible links while the joints follow the reference, and the efforts it requires."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Longest integration step, in rad of the fastest mode: amplitude error 2e-5 per vibration period.
_STEP_PHASE = 0.3


@dataclass(slots=True, eq=False)
class FollowedLinks:
    """State of the flexible links along a reference.

    Attributes:
        deflection: modal coordinates, shape (n_m,).
        rate: rates of the modal coordinates, shape (n_m,), per s.
        reference: last (q, qd, qdd) of the reference, shape (3, n_j); None at the start.
    """

    deflection: FloatArray
    rate: FloatArray
    reference: FloatArray | None = None


class FlexibleFeedforward:
    r"""Modal coordinates along a reference, and the efforts that keep the joints on it.

    With the joint part of the flexible robot's inverse dynamics as efforts, the joints follow the
    reference exactly. The links then vibrate as with clamped joints, independent of the joint
    friction:

    .. math:: M_{ee} \ddot e = -M_{eq} \ddot q_{ref} - h_e(q_{ref}, e, \dot q_{ref}, \dot e)

    Either this vibration is integrated, for references shaped for these modes, or the links are
    assumed not to vibrate: then e is the quasi-static deflection with zero rates.
    """

    def __init__(self, flexible: Robot, *, vibrating: bool) -> None:
        """Make the feedforward, and compile its kernels.

        Args:
            flexible: the robot with its modal coordinates.
            vibrating: whether to integrate the vibration, or to use quasi-static deflections.

        Raises:
            ModelError: the robot has no flexible links.
        """
        self._robot = flexible
        self._count = flexible.model.joint_count
        self._vibrating = vibrating
        self._damping = flexible.model.structural_damping[self._count :]
        self._fastest = float(ClampedJointModes(flexible)(np.zeros(self._count))[0][-1])
        rest = np.zeros(self._count)
        self.follow(self.start(rest), rest, rest, rest, 0.0)  # compiles the kernels

    @property
    def vibrating(self) -> bool:
        """Whether the vibration is integrated; otherwise deflections are quasi-static."""
        return self._vibrating

    def start(self, q: FloatArray) -> FollowedLinks:
        """Return the links at rest in static deflection.

        Args:
            q: positions of the joints, shape (n_j,), rad or m.

        Raises:
            ModelError: the links have no stable equilibrium under gravity at q.
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
        """Advance the links to a reference state; return efforts without friction, shape (n_j,).

        Args:
            links: state of the links; updated in place.
            q: reference positions of the joints, shape (n_j,), rad or m.
            qd: reference rates, shape (n_j,).
            qdd: reference accelerations, shape (n_j,).
            elapsed: time since the last state, s; the reference is interpolated linearly in it.

        Raises:
            ModelError: the links have no quasi-static equilibrium in this motion.
        """
        reference = np.array((q, qd, qdd))
        bent = np.zeros((3, self._robot.n))
        bent[:, : self._count] = reference
        if self._vibrating:
            bent[0, self._count :] = links.deflection
            M = self._robot.mass_matrix(bent[0])[self._count :, self._count :]
            mobility = np.asarray(
                np.linalg.inv(M), dtype=np.float64
            )  # assumed constant during the step
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
        """Classical RK4 steps between two states of the reference."""
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
