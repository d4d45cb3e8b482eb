# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion with drives, friction, stops and brakes, integrated by fixed-step RK4.

Stops are penalty springs, Coulomb friction is regularised by tanh. ``stepper.c`` implements the
same in C, for robots whose kernels are compiled.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kron_dynamics.typing import FloatArray

# Natural frequency, rad/s, of a stop: a unilateral penalty spring with critical damping. A joint
# that arrives with speed v penetrates it by v / (e * frequency).
STOP_FREQUENCY = 40.0
# Largest product of the step and the fastest rate of the stops; RK4 is stable up to 2.78.
_STABLE = 2.0
# Engaged brakes make joint velocities decay exponentially with this rate, 1/s.
BRAKE_RATE = 5.0


class Dynamics(Protocol):
    """The methods of `Robot` that the integrator uses."""

    def forward_dynamics(self, q: FloatArray, qd: FloatArray, tau: FloatArray, /) -> FloatArray:
        """Return qdd = M^-1 (tau - c - g), (n,)."""

    def inverse_dynamics(self, q: FloatArray, qd: FloatArray, qdd: FloatArray, /) -> FloatArray:
        """Return tau = M qdd + c + g, (n,)."""

    def mass_matrix(self, q: FloatArray, /) -> FloatArray:
        """Return M, (n, n)."""

    def joint_friction(self, qd: FloatArray, /) -> FloatArray:
        """Return the friction efforts, (n,)."""


class Motion:
    """Motion of a machine with n coordinates, the first n_j of which are joints.

    Attributes:
        dynamics: the robot.
        joint_count: n_j.
        lower: positions of the lower stops, shape (n,), rad or m; -inf where there is none.
        upper: positions of the upper stops, shape (n,), rad or m; inf where there is none.
        stop_frequency: natural frequency of the stops, rad/s.
    """

    def __init__(
        self, dynamics: Dynamics, joint_count: int, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Describe a machine."""
        self.dynamics = dynamics
        self.joint_count = joint_count
        self.lower, self.upper = lower, upper
        self.stop_frequency = STOP_FREQUENCY

    def fit_stops(self, h: float) -> None:
        """Make the stops softer than `STOP_FREQUENCY` if they are too fast for steps of h seconds.

        Rates of k active stops are at most ``2 k stop_frequency``: the eigenvalues of their
        block of M^-1, scaled by its diagonal, are positive and sum up to k.
        """
        most = max(1, int(np.count_nonzero(np.isfinite(self.lower) | np.isfinite(self.upper))))
        self.stop_frequency = min(STOP_FREQUENCY, _STABLE / (2.0 * most * h))

    def driven(self, q: FloatArray, qd: FloatArray, effort: FloatArray) -> FloatArray:
        """Return the accelerations, shape (n,), under the drives' efforts, shape (n_j,)."""
        tau = np.zeros(len(self.lower))
        tau[: self.joint_count] = effort
        tau = tau - self.dynamics.joint_friction(qd) + self._stop_effort(q, qd)
        return self.dynamics.forward_dynamics(q, qd, tau)

    def braked(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return the accelerations with engaged brakes of unlimited force, shape (n,).

        A stop that pushes its joint decelerates it alone, as it does without brakes.
        """
        count = self.joint_count
        stopped = -self._push(q, qd)
        qdd = np.where(stopped != 0.0, stopped, -BRAKE_RATE * qd)
        qdd[count:] = 0.0
        if count < len(qdd):
            # The joints' accelerations are prescribed; solve the modal rows of the equations of
            # motion for those of the flexible links.
            missing = self.dynamics.inverse_dynamics(q, qd, qdd) + self.dynamics.joint_friction(qd)
            M = self.dynamics.mass_matrix(q)
            qdd[count:] = np.linalg.solve(M[count:, count:], -missing[count:])
        return qdd

    def acceleration(self, q: FloatArray, qd: FloatArray, effort: FloatArray | None) -> FloatArray:
        """Return the accelerations, shape (n,); an effort of None means engaged brakes."""
        return self.braked(q, qd) if effort is None else self.driven(q, qd, effort)

    def after(
        self, q: FloatArray, qd: FloatArray, effort: FloatArray | None, steps: int, h: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, qd and qdd, shape (n,) each, after `steps` classical RK4 steps.

        Args:
            q: coordinates, shape (n,), rad or m.
            qd: rates of q, shape (n,).
            effort: drive efforts, shape (n_j,), N m or N; None with engaged brakes.
            steps: number of steps.
            h: length of a step, s.
        """
        # The integration diverges if steps are too long; the caller checks for NaN and Inf.
        with np.errstate(over='ignore', invalid='ignore'):
            for _ in range(steps):
                a1 = self.acceleration(q, qd, effort)
                v2 = qd + 0.5 * h * a1
                a2 = self.acceleration(q + 0.5 * h * qd, v2, effort)
                v3 = qd + 0.5 * h * a2
                a3 = self.acceleration(q + 0.5 * h * v2, v3, effort)
                v4 = qd + h * a3
                a4 = self.acceleration(q + h * v3, v4, effort)
                q = q + h / 6.0 * (qd + 2.0 * v2 + 2.0 * v3 + v4)
                qd = qd + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            return q, qd, self.acceleration(q, qd, effort)

    def _stop_effort(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        push = self._push(q, qd)
        if not push.any():
            return push
        # A joint meets its stop while the others are free. M_ii is its inertia if they are held.
        inertia = 1.0 / np.linalg.inv(self.dynamics.mass_matrix(q)).diagonal()
        return np.asarray(-inertia * push)

    def _push(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return the decelerations by the stops, shape (n,); 0 where they do not push."""
        # A NaN is not outside, as in C.
        depth = np.where(q < self.lower, q - self.lower, 0.0)
        depth += np.where(q > self.upper, q - self.upper, 0.0)
        if not depth.any():
            return np.zeros(len(depth))
        push = (frequency := self.stop_frequency) * (frequency * depth + 2.0 * qd * (depth != 0.0))
        # A stop only pushes, it never pulls.
        return np.asarray(np.where(depth > 0.0, np.maximum(push, 0.0), np.minimum(push, 0.0)))
