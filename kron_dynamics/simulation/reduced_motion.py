# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulates a constrained robot in its independent speeds, in microseconds per step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.constraints.state_arguments import state_vector
from kron_dynamics.exceptions import SingularConstraintError
from kron_dynamics.kernels.compiled import prepare
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.simulation.constrained_motion import (
    ConstrainedTrajectory,
    Efforts,
    efforts_at,
    runge_kutta_step,
    step_times,
)
from kron_dynamics.typing import ArrayLike, FloatArray

# Largest loop-closure error before the loops are closed again, relative to each constraint's
# scale (1 rad, or the robot's length).
_OPEN = 1e-12


def simulate_reduced(
    robot: ReducedRobot,
    q: ArrayLike,
    u: ArrayLike,
    efforts: Efforts | None = None,
    *,
    duration: float,
    step: float = 1e-3,
    time: float = 0.0,
    friction: bool = False,
) -> ConstrainedTrajectory:
    """Return the motion from an initial state, integrated in steps of equal length.

    Like `simulate_constrained`, for robots whose constraints do not depend on time. The rates
    follow from u and always obey the constraints; positions are projected onto the constraints
    after a step whose closure error exceeds rounding.

    Args:
        robot: the robot.
        q: initial coordinates, shape (n,); projected onto the constraints first.
        u: initial independent speeds, shape (m,), rad/s or m/s.
        efforts: function of (time, q, qd) that returns the joint efforts, shape (n,), N m or N;
            None for zero efforts.
        duration: simulated time, s.
        step: longest step, s.
        time: time at the start, s.
        friction: whether joint friction acts.

    Raises:
        ArgumentTypeError: robot is not a `ReducedRobot`.
        ParameterError: duration or step is not positive, time is not finite, or there are too many
            steps.
        SingularConstraintError: the speeds do not determine the motion any more.
        ConstraintError: the loops cannot be closed any more.
        ShapeError: an array has another shape.
        NonFiniteError: an array contains a NaN or an infinity.
    """
    instance(robot, ReducedRobot, 'robot', 'a ReducedRobot')
    times, h = step_times(duration, step, time)
    n = robot.n
    rates, scale = _rates(robot, efforts, friction), robot.constrained._system.row_scale
    speeds = state_vector(u, 'u', robot.degrees_of_freedom)
    states = np.empty((len(times), n + robot.degrees_of_freedom))
    states[0] = state = np.concatenate([robot.constrained.close(q), speeds])
    directions = robot.velocity_matrix(state[:n])
    for k, t in enumerate(times[:-1].tolist()):
        state, before = runge_kutta_step(rates, t, state, h), directions
        if np.isfinite(state).all():
            if (np.abs(robot.residual(state[:n])) > _OPEN * scale).any():
                state[:n] = robot.constrained.close(state[:n])
            directions = robot.velocity_matrix(state[:n])
        if not np.isfinite(state).all() or _is_reversed(before, directions):
            raise SingularConstraintError(
                f'the speeds of {", ".join(robot.independent)} do not determine the motion at '
                f'{t:.6g} s; choose other independent speeds'
            )
        states[k + 1] = state
    q_all = states[:, :n]
    return ConstrainedTrajectory(times, q_all, robot.velocities(q_all, states[:, n:]))


def _is_reversed(before: FloatArray, after: FloatArray) -> bool:
    """Whether the directions of motion turned round between two poses.

    The independent rows of B are those of the identity, so its columns change continuously until
    the speeds no longer determine the motion: there the dependent rates pass through infinity, and
    the tangent space that B spans is entered again with the opposite orientation.

    Args:
        before: velocity matrix B of the first pose, shape (n, m).
        after: that of the second pose, shape (n, m).
    """
    return not np.linalg.det(before.T @ after) > 0.0


def _rates(
    robot: ReducedRobot, efforts: Efforts | None, friction: bool
) -> Callable[[float, FloatArray], FloatArray]:
    """Return the function of time and state (q, u) that yields the state's derivative.

    With it all kernels of the motion are made.
    """
    # In one go, which starts the compiler once.
    prepare(robot, names=('velocity_matrix', 'residual', 'velocities', 'forward_dynamics'))
    n, machine = robot.n, robot.constrained.robot

    def rates(t: float, state: FloatArray) -> FloatArray:
        place, speed = state[:n], state[n:]
        qd = robot.velocities(place, speed)
        tau = efforts_at(efforts, t, place, qd)
        if friction:
            tau = tau - machine.joint_friction(qd)
        return np.concatenate([qd, robot.forward_dynamics(place, speed, tau).u_dot])

    return rates
