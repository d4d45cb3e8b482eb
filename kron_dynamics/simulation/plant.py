# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine itself: equations of motion with friction, stops and brakes, integrated in time."""

from __future__ import annotations

import numpy as np

from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# A stop is a stiff unilateral spring, critically damped: frequency in rad/s. It gives way by
# v / (e * frequency) to a joint that arrives with speed v.
_STOP_FREQUENCY = 40.0
# Set brakes slow a joint at this rate, 1/s, and hold it.
_BRAKE_RATE = 5.0


class Plant:
    """A robot moving under efforts: ``M qdd + c + g + friction = tau + stops``.

    Attributes:
        robot: its model.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: accelerations at the end of the last step, shape (n,).
        effort: efforts on the joints in the last step, shape (n,), N m or N: those of the drives,
            or of the brakes where they are set, as load cells or cylinder pressures tell them.
        brakes_set: whether brakes instead of drives move the joints.
    """

    def __init__(self, robot: Robot, position: ArrayLike) -> None:
        """Start at rest.

        Args:
            robot: model with limits and friction.
            position: start coordinates, shape (n,), within the position limits.

        Raises:
            ShapeError: position has another shape.
            ParameterError: a start position is not finite or outside its limits.
        """
        self.robot = robot
        self.q = np.array(position, dtype=np.float64)
        if self.q.shape != (robot.n,):
            raise ShapeError(f'start position has shape {self.q.shape}, expected ({robot.n},)')
        model = robot.model
        inside = (self.q >= model.position_lower) & (self.q <= model.position_upper)
        for i in np.flatnonzero(~inside):
            raise ParameterError(
                f"joint '{model.joint_names[i]}' starts at {self.q[i]:g}, expected a position "
                f'within [{model.position_lower[i]:g}, {model.position_upper[i]:g}]'
            )
        self.qd = np.zeros(robot.n)
        self.qdd = np.zeros(robot.n)
        self.effort = np.zeros(robot.n)
        self.brakes_set = False
        # Stops are as stiff as this inertia asks for.
        self._stop_inertia = robot.mass_matrix(self.q).diagonal().copy()

    def advance(self, command: ArrayLike, duration: float, step: float) -> None:
        """Integrate over a duration with constant efforts.

        Args:
            command: efforts wanted from the drives, shape (n,), N m or N; they give no more than
                the model's effort limits.
            duration: s.
            step: longest integration step, s; the duration is divided evenly.

        Raises:
            NonFiniteError: the motion left the numbers (the step is too long for this machine).
        """
        limit = self.robot.model.effort_limit
        self.effort = np.clip(np.asarray(command, dtype=np.float64), -limit, limit)
        count = max(1, int(np.ceil(duration / step - 1e-9)))
        with np.errstate(over='ignore', invalid='ignore'):  # told below, in words
            for _ in range(count):
                self._runge_kutta(duration / count)
            self.qdd = self.acceleration(self.q, self.qd)
        if self.brakes_set:
            carried = self.robot.inverse_dynamics(self.q, self.qd, self.qdd)
            self.effort = carried + self.robot.joint_friction(self.qd)
        if not (np.isfinite(self.q).all() and np.isfinite(self.qd).all()):
            raise NonFiniteError(
                f'the simulated motion is not finite any more: q = {self.q.tolist()}; the step of '
                f'{step:g} s is too long for this machine'
            )

    def acceleration(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return the accelerations, shape (n,), in a state under the present efforts."""
        if self.brakes_set:
            # Brakes carry whatever force it takes.
            return np.asarray(-_BRAKE_RATE * qd)
        effort = self.effort - self.robot.joint_friction(qd) + self._stop_effort(q, qd)
        return self.robot.forward_dynamics(q, qd, effort)

    def _stop_effort(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        model = self.robot.model
        depth = np.minimum(q - model.position_lower, 0.0)
        depth = depth + np.maximum(q - model.position_upper, 0.0)
        if not depth.any():
            return np.zeros(self.robot.n)
        push = _STOP_FREQUENCY**2 * depth + 2.0 * _STOP_FREQUENCY * qd * (depth != 0.0)
        # A stop pushes back, it never pulls.
        push = np.where(depth > 0.0, np.maximum(push, 0.0), np.minimum(push, 0.0))
        return np.asarray(-self._stop_inertia * push)

    def _runge_kutta(self, h: float) -> None:
        """One classical fourth-order step."""
        q, qd = self.q, self.qd
        a1 = self.acceleration(q, qd)
        v2 = qd + 0.5 * h * a1
        a2 = self.acceleration(q + 0.5 * h * qd, v2)
        v3 = qd + 0.5 * h * a2
        a3 = self.acceleration(q + 0.5 * h * v2, v3)
        v4 = qd + h * a3
        a4 = self.acceleration(q + h * v3, v4)
        self.q = q + h / 6.0 * (qd + 2.0 * v2 + 2.0 * v3 + v4)
        self.qd = qd + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
