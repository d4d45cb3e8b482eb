# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a constrained robot without drift: its loops are closed again after every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kron_dynamics.arguments import instance, real_number
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import ArrayLike, FloatArray

Efforts = Callable[[float, FloatArray, FloatArray], ArrayLike]
_MOST_STEPS = 10_000_000


class ConstrainedTrajectory(NamedTuple):
    """A simulated motion.

    Attributes:
        times: s, shape (N,).
        q: coordinates, shape (N, n), rad or m.
        qd: their rates, shape (N, n), 1/s.
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
    """Return the motion from a state on, in steps of equal length.

    Steps are Runge and Kutta's of fourth order; after each one positions and rates are those next
    to its result that obey the constraints, so that errors of loops do not add up.

    Args:
        robot: the robot.
        q: coordinates at the start, shape (n,); closed first.
        qd: rates at the start, shape (n,); made to obey the constraints first.
        efforts: function of time, q and qd with the joints' efforts, shape (n,), N m or N; None
            for none.
        duration: s.
        step: longest step, s.
        time: at the start, s.
        friction: whether joint friction brakes.

    Raises:
        ArgumentTypeError: robot is no `ConstrainedRobot`.
        ParameterError: duration or step are not positive, or these are too many steps.
        SingularConstraintError: the motion comes to a singularity of the constraints.
        ConstraintError: the loops cannot be closed any more.
        ShapeError: an array or the efforts have another shape.
        NonFiniteError: there is a NaN or an infinity among them.
    """
    instance(robot, ConstrainedRobot, 'robot', 'a ConstrainedRobot')
    count = step_count(duration, step)
    h, n = duration / count, robot.n
    none = np.zeros(n)

    def rates(t: float, state: FloatArray) -> FloatArray:
        tau = none if efforts is None else np.asarray(efforts(t, state[:n], state[n:]))
        if friction:
            tau = tau - robot.robot.joint_friction(state[n:])
        qdd = robot.forward_dynamics(state[:n], state[n:], tau, t).qdd
        return np.concatenate([state[n:], qdd])

    def settled(t: float, place: ArrayLike, rate: ArrayLike) -> FloatArray:
        closed = robot.close(place, t)
        return np.concatenate([closed, robot.close_rates(closed, rate, t)])

    times: FloatArray = np.asarray(time + h * np.arange(count + 1), dtype=np.float64)
    states = np.empty((count + 1, 2 * n))
    states[0] = state = settled(time, q, qd)
    for k, t in enumerate(times[:-1].tolist()):
        moved = runge_kutta_step(rates, t, state, h)
        states[k + 1] = state = settled(t + h, *np.split(moved, 2))
    return ConstrainedTrajectory(times, states[:, :n], states[:, n:])


def step_count(duration: float, step: float) -> int:
    """Return how many equal steps make up a duration, s, none longer than a step, s.

    Raises:
        ParameterError: one of them is not positive, or these are too many steps.
    """
    for name, value in (('duration', duration), ('step', step)):
        if not 0.0 < real_number(value, name) < np.inf:
            raise ParameterError(f'{name} is {value!r} s, expected a positive number')
    if duration / step > _MOST_STEPS:
        raise ParameterError(
            f'{duration / step:.3g} steps of {step} s, expected at most {_MOST_STEPS}'
        )
    return max(1, int(np.ceil(duration / step - 1e-9)))


def runge_kutta_step(
    rates: Callable[[float, FloatArray], FloatArray], t: float, state: FloatArray, h: float
) -> FloatArray:
    """Return the state after a step h, s, of Runge and Kutta's fourth order.

    Args:
        rates: of a state at a time, its derivative, shape (k,).
        t: time, s.
        state: shape (k,).
        h: s.
    """
    k1 = rates(t, state)
    k2 = rates(t + h / 2, state + h / 2 * k1)
    k3 = rates(t + h / 2, state + h / 2 * k2)
    k4 = rates(t + h, state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
