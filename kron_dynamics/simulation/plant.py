# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine itself: equations of motion with friction, stops and brakes, integrated in time."""

from __future__ import annotations

import numpy as np

from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# A stop is a stiff unilateral spring, critically damped: frequency in rad/s. It gives way by
# v / (e * frequency) to a joint that arrives with speed v.
_STOP_FREQUENCY = 40.0
# Set brakes slow a joint at this rate, 1/s, and hold it.
_BRAKE_RATE = 5.0
# Steps times the highest frequency of flexible links: the integrator is stable up to 2.78. What
# is left is for poses in which links vibrate faster than at the start.
_STABLE = 2.0


class Plant:
    """A robot moving under efforts: ``M qdd + c + g + friction = tau + stops``.

    The n_j joints have drives, brakes and stops. The modal coordinates of flexible links, the
    last of the n coordinates, have none of them: they follow from the equations of motion.

    Attributes:
        robot: its model.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: accelerations at the end of the last step, shape (n,).
        effort: efforts on the joints in the last step, shape (n_j,), N m or N: those of the
            drives, or of the brakes where they are set, as load cells or cylinder pressures tell
            them.
        brakes_set: whether brakes instead of drives move the joints.
        highest_frequency: of flexible links at the start, with free joints, rad/s; 0 where all
            links are rigid.
    """

    def __init__(self, robot: Robot, position: ArrayLike) -> None:
        """Start at rest, with flexible links bent by gravity as they are then.

        Args:
            robot: model with limits and friction.
            position: start positions of the joints, shape (n_j,), within the position limits.

        Raises:
            ShapeError: position has another shape.
            ParameterError: a start position is not finite or outside its limits.
            ModelError: flexible links do not carry their weight.
            InvalidInertiaError: a joint moves no mass, so that nothing holds it back.
        """
        robot.model.require_mass()
        self.robot = robot
        model, count = robot.model, robot.model.joint_count
        start = np.array(position, dtype=np.float64)
        if start.shape != (count,):
            raise ShapeError(f'start position has shape {start.shape}, expected ({count},)')
        lower, upper = model.position_lower[:count], model.position_upper[:count]
        for i in np.flatnonzero(~((start >= lower) & (start <= upper))):
            raise ParameterError(
                f"joint '{model.joint_names[i]}' starts at {start[i]:g}, expected a position "
                f'within [{lower[i]:g}, {upper[i]:g}]'
            )
        self.q = quasi_static_equilibrium(robot, start)
        self.qd = np.zeros(robot.n)
        self.qdd = np.zeros(robot.n)
        self.effort = np.zeros(count)
        self.brakes_set = False
        self.highest_frequency = 0.0
        if model.is_flexible:
            # Joints that are held leave no higher one.
            self.highest_frequency = float(
                robot.linearize(self.q, self.qd, self.qdd).frequencies()[-1]
            )
        # Stops are as stiff as this inertia asks for.
        self._stop_inertia = robot.mass_matrix(self.q).diagonal().copy()

    def advance(self, command: ArrayLike, duration: float, step: float) -> None:
        """Integrate over a duration with constant efforts.

        Args:
            command: efforts wanted from the drives, shape (n_j,), N m or N; they give no more
                than the model's effort limits.
            duration: s.
            step: longest integration step, s; the duration is divided evenly.

        Raises:
            ShapeError: command has another shape.
            ParameterError: flexible links vibrate too fast for the step.
            NonFiniteError: the motion left the numbers (the step is too long for this machine).
            ModelError: a flexible link is bent further than its equations hold.
        """
        wanted = np.asarray(command, dtype=np.float64)
        if wanted.shape != self.effort.shape:
            raise ShapeError(f'command has shape {wanted.shape}, expected {self.effort.shape}')
        if step * self.highest_frequency > _STABLE:
            # Three digits of the limit may be rounded up by half a percent.
            allowed = 0.995 * _STABLE / self.highest_frequency
            raise ParameterError(
                f'the step of {step:g} s is too long for flexible links that vibrate at '
                f'{self.highest_frequency:.4g} rad/s, expected at most {allowed:.3g} s'
            )
        limit = self.robot.model.effort_limit[: len(wanted)]
        self.effort = np.clip(wanted, -limit, limit)
        count = max(1, int(np.ceil(duration / step - 1e-9)))
        with np.errstate(over='ignore', invalid='ignore'):  # told below, in words
            for _ in range(count):
                self._runge_kutta(duration / count)
            self.qdd = self.acceleration(self.q, self.qd)
        if self.brakes_set:
            carried = self.robot.inverse_dynamics(self.q, self.qd, self.qdd)
            carried += self.robot.joint_friction(self.qd)
            self.effort = carried[: len(wanted)]
        if not (np.isfinite(self.q).all() and np.isfinite(self.qd).all()):
            raise NonFiniteError(
                f'the simulated motion is not finite any more: q = {self.q.tolist()}; the step of '
                f'{step:g} s is too long for this machine'
            )
        self.robot.check_deflections(self.q, stacklevel=3)

    def acceleration(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return the accelerations, shape (n,), in a state under the present efforts."""
        if self.brakes_set:
            return self._braked(q, qd)
        effort = np.zeros(self.robot.n)
        effort[: len(self.effort)] = self.effort
        effort = effort - self.robot.joint_friction(qd) + self._stop_effort(q, qd)
        return self.robot.forward_dynamics(q, qd, effort)

    def _braked(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Accelerations where brakes carry whatever force it takes."""
        robot, count = self.robot, len(self.effort)
        qdd = np.zeros(robot.n)
        qdd[:count] = -_BRAKE_RATE * qd[:count]
        if count < robot.n:
            # Nothing but their own forces moves the links: modal rows of the equations of motion.
            missing = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
            M = robot.mass_matrix(q)
            qdd[count:] = np.linalg.solve(M[count:, count:], -missing[count:])
        return qdd

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
