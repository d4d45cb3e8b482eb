# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulates a constrained robot without drift: every step ends with a constraint projection."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kron_dynamics.arguments import instance, real_array, real_number
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.typing import ArrayLike, FloatArray

Efforts = Callable[[float, FloatArray, FloatArray], ArrayLike]
_MOST_STEPS = 10_000_000


class ConstrainedTrajectory(NamedTuple):
    """A simulated motion.

    Attributes:
        times: s, shape (N,).
        q: coordinates, shape (N, n), rad or m.
        qd: rates of q, shape (N, n), rad/s or m/s.
    """

    times: FloatArray
    q: FloatArray
    qd: FloatArray


def simulate_constrained(
    robot: ConstrainedRobot,
    q: ArrayLike,
    qd: ArrayLike,
    efforts: Efforts | None = None,
    *,
    duration: float,
    step: float = 1e-3,
    time: float = 0.0,
    friction: bool = False,
) -> ConstrainedTrajectory:
    """Return the motion from an initial state, integrated in steps of equal length.

    Fixed-step classical RK4; after each step positions and rates are projected onto the
    constraints, so that constraint errors do not accumulate.

    Args:
        robot: the robot.
        q: initial coordinates, shape (n,); projected onto the constraints first.
        qd: initial rates, shape (n,); projected onto the constraints first.
        efforts: function of (time, q, qd) that returns the joint efforts, shape (n,), N m or N;
            None for zero efforts.
        duration: simulated time, s.
        step: longest step, s.
        time: time at the start, s.
        friction: whether joint friction acts.

    Raises:
        ArgumentTypeError: robot is not a `ConstrainedRobot`.
        ParameterError: duration or step is not positive, time is not finite, or there are too many
            steps.
        SingularConstraintError: the motion reaches a singularity of the constraints.
        ConstraintError: the loops cannot be closed any more.
        ShapeError: an array or the efforts have another shape.
        NonFiniteError: an array or the efforts contain a NaN or an infinity.
    """
    instance(robot, ConstrainedRobot, 'robot', 'a ConstrainedRobot')
    times, h = step_times(duration, step, time)
    n = robot.n

    def rates(t: float, state: FloatArray) -> FloatArray:
        tau = efforts_at(efforts, t, state[:n], state[n:])
        if friction:
            tau = tau - robot.robot.joint_friction(state[n:])
        qdd = robot.forward_dynamics(state[:n], state[n:], tau, t).qdd
        return np.concatenate([state[n:], qdd])

    def projected(t: float, position: ArrayLike, rate: ArrayLike) -> FloatArray:
        # State with position and rate projected onto the constraints.
        closed = robot.close(position, t)
        return np.concatenate([closed, robot.close_rates(closed, rate, t)])

    states = np.empty((len(times), 2 * n))
    states[0] = state = projected(float(times[0]), q, qd)
    for k, t in enumerate(times[:-1].tolist()):
        moved = runge_kutta_step(rates, t, state, h)
        states[k + 1] = state = projected(t + h, *np.split(moved, 2))
    return ConstrainedTrajectory(times, states[:, :n], states[:, n:])


def efforts_at(efforts: Efforts | None, t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Return the joint efforts in a state, shape (n,), N m or N; zeros without a function.

    Raises:
        ArgumentTypeError: the efforts are not real numbers.
        ShapeError: they have another shape.
    """
    if efforts is None:
        return np.zeros(len(q))
    tau = real_array(efforts(t, q, qd), 'tau')
    if tau.shape != q.shape:
        raise ShapeError(f'tau has shape {tau.shape}, expected {q.shape}')
    return tau


def step_times(duration: float, step: float, start: float) -> tuple[FloatArray, float]:
    """Return the N times of equal steps, shape (N,), and the length of each, s.

    Args:
        duration: from the first to the last time, s.
        step: longest step, s.
        start: the first time, s.

    Raises:
        ArgumentTypeError: a value is not a real number.
        ParameterError: duration or step is not positive, start is not finite, or there are too
            many steps.
    """
    for name, value in (('duration', duration), ('step', step)):
        if not 0.0 < real_number(value, name) < np.inf:
            raise ParameterError(f'{name} is {value!r} s, expected a positive number')
    start = real_number(start, 'time')
    if not np.isfinite(start):
        raise ParameterError(f'time is {start:g} s, expected a finite number')
    if duration / step > _MOST_STEPS:
        raise ParameterError(
            f'{duration / step:.3g} steps of {step} s, expected at most {_MOST_STEPS}'
        )
    count = max(1, int(np.ceil(duration / step - 1e-9)))
    h = duration / count
    return np.asarray(start + h * np.arange(count + 1), dtype=np.float64), h


def runge_kutta_step(
    rates: Callable[[float, FloatArray], FloatArray], t: float, state: FloatArray, h: float
) -> FloatArray:
    """Return the state after one classical RK4 step, shape (k,).

    Args:
        rates: function of (time, state) that returns the state's derivative, shape (k,).
        t: time at the start of the step, s.
        state: state at the start of the step, shape (k,).
        h: length of the step, s.
    """
    k1 = rates(t, state)
    k2 = rates(t + h / 2, state + h / 2 * k1)
    k3 = rates(t + h / 2, state + h / 2 * k2)
    k4 = rates(t + h, state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
