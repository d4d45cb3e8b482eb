# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated plant: forward dynamics with friction, stops, brakes and saturating drives.

Fixed-step RK4; stops are penalty springs, Coulomb friction is regularised by tanh.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.arguments import (
    finite_array,
    instance,
    real_array,
    real_number,
    whole_number,
)
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import (
    InvalidInertiaError,
    ModelWarning,
    NonFiniteError,
    ParameterError,
    ShapeError,
)
from kron_dynamics.kernels.compiled import prepare
from kron_dynamics.messages import named, shown
from kron_dynamics.robot import Robot
from kron_dynamics.simulation.compiled_motion import compiled_motion
from kron_dynamics.simulation.friction_rate import fastest_friction
from kron_dynamics.simulation.motion import BRAKE_RATE, Motion
from kron_dynamics.simulation.stepper import Stepper, kernel_names
from kron_dynamics.typing import ArrayLike, FloatArray

# Largest product of the step and the rate of brakes, or the fastest rate of flexible links in the
# start pose: a natural frequency, or the magnitude of a pole, which is larger if a mode is
# overdamped. RK4 is stable up to 2.78; the margin is for poses with faster rates.
_STABLE = 2.0
_MOST_STEPS = 1e12  # weeks of computing
# Largest number of parts into which friction divides a step: more would take longer than the time
# that is simulated.
_MOST_PARTS = 100
# Relative rounding error within which a duration counts as a whole number of steps.
_ROUNDED = 4.0 * float(np.finfo(float).eps)


class Recording(NamedTuple):
    """N recorded states of a simulated motion.

    Attributes:
        time: time since the start of the recording, shape (N,), s.
        q: coordinates, shape (N, n), rad or m.
        qd: rates of q, shape (N, n).
        qdd: accelerations, shape (N, n).
        effort: joint efforts, shape (N, n_j), see `Plant.effort`.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    effort: FloatArray


class Plant:
    """A robot moving under efforts: ``M qdd + c + g + friction = tau + stops``.

    The n_j joints have drives, brakes and stops. The modal coordinates of flexible links, the
    last of the n coordinates, have none of these.

    Attributes:
        robot: the machine's model.
        q: coordinates, shape (n,), rad or m.
        qd: rates of q, shape (n,).
        qdd: accelerations at the end of the last step, shape (n,).
        effort: joint efforts in the last step, shape (n_j,), N m or N: of the drives, or of the
            brakes and the stops beside them if the brakes are engaged, as load cells or cylinder
            pressures would measure them.
        brakes_set: whether the brakes are engaged and the drives off.
        highest_frequency: highest natural frequency of flexible links in the start pose, with
            free joints, rad/s; 0 if all links are rigid.
    """

    def __init__(self, robot: Robot, position: ArrayLike) -> None:
        """Start at rest, with flexible links in static equilibrium under gravity.

        Args:
            robot: model with limits and friction.
            position: start positions of the joints, shape (n_j,), within the position limits.

        Raises:
            ArgumentTypeError: robot is not a `Robot`, or position is not real numbers.
            ShapeError: position has another shape.
            ParameterError: a start position is not finite or outside its limits.
            ModelError: flexible links buckle under their weight.
            InvalidInertiaError: M is singular: a joint moves no mass.
        """
        instance(robot, Robot, 'robot', 'a Robot')
        if robot.singular_mass is not None:
            raise InvalidInertiaError(robot.singular_mass)
        self.robot = robot
        model, count = robot.model, robot.model.joint_count
        start = real_array(position, 'start position')
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
        self.highest_frequency = self._fastest_decay = self._fastest_rate = 0.0
        if model.is_flexible:
            # Holding joints does not raise the fastest rates, so brakes need no extra check.
            near = robot.linearize(self.q, self.qd, self.qdd)
            poles = near.poles()
            self.highest_frequency = float(near.frequencies()[-1])
            self._fastest_decay = float(-poles.real.min())
            self._fastest_rate = max(self.highest_frequency, float(abs(poles[-1])))
        self._limit = model.effort_limit[:count]
        self._motion = Motion(
            dynamics=robot,
            joint_count=count,
            lower=model.position_lower,
            upper=model.position_upper,
        )
        self._steppers: dict[bool, Stepper | Motion] = {}
        self._friction: tuple[float, str] | None = None  # see `_parts`

    def __getstate__(self) -> dict[str, Any]:
        """Omit the steppers: they hold addresses of this process. A copy has stops of its own."""
        return {**vars(self), '_motion': copy.copy(self._motion), '_steppers': {}}

    def advance(self, command: ArrayLike, duration: float, step: float) -> None:
        """Integrate over a duration with constant efforts.

        With compiled kernels the steps run in C. Equal steps give bit-identical results, whether
        in one call or in several.

        Args:
            command: commanded drive efforts, shape (n_j,), N m or N, possibly infinite; the
                drives saturate at the model's effort limits.
            duration: s, 0 or more; with 0 only effort and qdd are updated.
            step: longest integration step, s; the duration is divided evenly. Steps that are too
                long for the stops, beyond 25 ms divided by the number of joints that have them,
                make the stops softer. Steps too long for the friction of light joints are divided
                into up to 100 parts; if that does not suffice, a `ModelWarning` says so.

        Raises:
            ArgumentTypeError: an argument, q or qd is not real numbers.
            ShapeError: command, or a q or qd set from outside, has another shape.
            ParameterError: duration or step is out of range, or the step is too long for the
                vibrations of flexible links or their damping, or for engaged brakes.
            NonFiniteError: command, q or qd contains a NaN, and the state is unchanged; or the
                integration diverged (the step is too long for this machine).
            ModelError: a flexible link is bent beyond the validity of its equations.
            KernelBuildError: the compiler failed.
        """
        count, h = self._steps(command, duration, step)
        parts = self._parts(h or step)
        self._integrate(count * parts, h / parts, step)

    def record(
        self, command: ArrayLike, duration: float, step: float, every: int = 1
    ) -> Recording:
        """Advance, and return every `every`-th state.

        Args:
            command: as in `advance`.
            duration: as in `advance`, s.
            step: as in `advance`, s.
            every: number of steps between recorded states, 1 or more.

        Raises:
            ParameterError: the steps are not a multiple of `every`, or as in `advance`.
            KronDynamicsError: as in `advance`.
        """
        every = whole_number(every, 'every')
        count, h = self._steps(command, duration, step)
        if every < 1 or count % every:
            raise ParameterError(
                f'every is {shown(every)}, expected a divisor of the {count} steps of the duration'
            )
        states, parts = [], self._parts(h or step)
        for _ in range(count // every):
            self._integrate(every * parts, h / parts, step)
            states.append((self.q, self.qd, self.qdd, self.effort))
        time: FloatArray = every * h * np.arange(1.0, len(states) + 1.0)
        return Recording(time, *map(np.array, zip(*states, strict=True)))

    def acceleration(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """Return the accelerations, shape (n,), in a state under the current efforts or brakes.

        Raises:
            ArgumentTypeError: q or qd is not real numbers.
            ShapeError: q or qd does not have shape (n,).
            NonFiniteError: q or qd contains a NaN or an infinity.
        """
        state = self._state(q, 'q'), self._state(qd, 'qd')
        return self._motion.acceleration(*state, None if self.brakes_set else self.effort)

    def _steps(self, command: ArrayLike, duration: float, step: float) -> tuple[int, float]:
        """Check and store a command; return the number of steps and their length, s."""
        instance(self.brakes_set, (bool, np.bool_), 'brakes_set of the plant', 'True or False')
        wanted = real_array(command, 'command')
        if wanted.shape != self.effort.shape:
            raise ShapeError(f'command has shape {wanted.shape}, expected {self.effort.shape}')
        for value, joint in zip(wanted.tolist(), self.robot.joint_names, strict=False):
            if math.isnan(value):
                joint = named('joint', joint)
                raise NonFiniteError(f'the command for {joint} is nan, expected a number')
        duration, step = real_number(duration, 'duration'), real_number(step, 'step')
        if not 0.0 <= duration < math.inf:
            raise ParameterError(f'duration is {duration:g} s, expected 0 or more, finite')
        if not 0.0 < step < math.inf:
            raise ParameterError(f'step is {step:g} s, expected more than 0, finite')
        if duration / step > _MOST_STEPS:
            raise ParameterError(
                f'the duration of {duration:g} s has more than {_MOST_STEPS:g} steps of {step:g} s'
            )
        self.q = self._state(self.q, 'q of the plant')
        self.qd = self._state(self.qd, 'qd of the plant')
        count = max(1, math.ceil(duration / step - 1e-9))
        # If the duration is a multiple of the step, use the step itself: bit-identical results
        # however the duration is divided among calls.
        is_whole = abs(count * step - duration) <= _ROUNDED * duration
        h = step if is_whole else duration / count
        judged = h or step  # of no duration, the step of durations to come
        if judged * self._fastest_rate > _STABLE:
            # The message has three digits, which may round the limit up by half a percent.
            allowed = 0.995 * _STABLE / self._fastest_rate
            raise ParameterError(
                f'the step of {judged:g} s is too long for flexible links that vibrate at '
                f'{self.highest_frequency:.4g} rad/s and decay at up to '
                f'{self._fastest_decay:.4g} 1/s, expected at most {allowed:.3g} s'
            )
        if self.brakes_set and judged * BRAKE_RATE > _STABLE:
            raise ParameterError(
                f'the step of {judged:g} s is too long for engaged brakes, with which velocities '
                f'decay at {BRAKE_RATE:g} 1/s, expected at most {_STABLE / BRAKE_RATE:g} s'
            )
        self.effort = np.minimum(np.maximum(wanted, -self._limit), self._limit)
        return count, h

    def _parts(self, h: float) -> int:
        """Return into how many parts steps of h seconds are divided, and fit the stops to them.

        Coulomb friction saturates: with longer steps a joint would not diverge but chatter about
        standstill, with wrong accelerations. The number is the same in all poses, so that results
        do not depend on how a duration is divided among calls.
        """
        if self.brakes_set not in self._steppers:
            # In one go, which starts the compiler once.
            names = kernel_names(self._motion, self.brakes_set)
            prepare(self.robot, names=(*names, 'inverse_dynamics') if self.brakes_set else names)
        parts = 1
        if not self.brakes_set:
            self._friction = self._friction or fastest_friction(self.robot, self.q)
            rate, joint = self._friction
            parts = max(1, math.ceil(h * rate / _STABLE))
            if parts > _MOST_PARTS:
                warnings.warn(
                    ModelWarning(
                        'step_too_long_for_friction',
                        named('joint', joint),
                        f'friction stops it at {rate:.4g} 1/s, too fast for the step of {h:g} s '
                        f'in {_MOST_PARTS} parts: accelerations near standstill are wrong',
                        f'simulate with a step of at most {0.995 * _STABLE / rate:.3g} s',
                    ),
                    stacklevel=3,
                )
                parts = _MOST_PARTS
        self._motion.fit_stops(h / parts)
        return parts

    def _state(self, values: ArrayLike, name: str) -> FloatArray:
        """Check coordinates or rates from outside; return them as an array, shape (n,)."""
        state = finite_array(values, name)
        if state.shape != (self.robot.n,):
            raise ShapeError(f'{name} has shape {state.shape}, expected ({self.robot.n},)')
        return state

    def _integrate(self, count: int, h: float, step: float) -> None:
        """Take steps under the current efforts or brakes."""
        motion = self._steppers.get(self.brakes_set)
        if motion is None:
            motion = compiled_motion(self._motion, self.brakes_set) or self._motion
            self._steppers[self.brakes_set] = motion
        effort = None if self.brakes_set else self.effort
        self.q, self.qd, self.qdd = motion.after(self.q, self.qd, effort, count, h)
        if self.brakes_set:
            carried = self.robot.inverse_dynamics(self.q, self.qd, self.qdd)
            carried += self.robot.joint_friction(self.qd)
            self.effort = carried[: len(self.effort)]
        if not all(map(math.isfinite, (*self.q.tolist(), *self.qd.tolist()))):
            raise NonFiniteError(
                f'the simulated motion is not finite any more: q = {self.q.tolist()}; the step of '
                f'{step:g} s is too long for this machine'
            )
        self.robot.check_deflections(self.q, stacklevel=4)
