# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stopping a motion on its path, and default acceleration limits of a machine."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# Steepest slope of the cubic along which a speed of 1 goes to zero in the time 1.
STEEPEST = 1.5
# Share of the efforts remaining after gravity that derived acceleration limits use; the other
# half is for Coriolis forces, friction and control.
_SHARE = 0.5
# Lower bound of the remaining efforts, as a share of the effort limit, for poses where gravity
# uses nearly all of it.
_LEAST_SHARE = 0.1
_POSES = 32
# Speed assumed for joints without a velocity limit, rad/s or m/s.
_SPEED = 1.0
# Rate and acceleration that count as rest.
_AT_REST = 1e-9
# Fewest and most pieces of a stop.
_FEWEST, _MOST = 24, 2000
# Number of durations tried, number of them that are checked for accelerations too, and the factor
# from one to the next.
_TRIALS, _GENTLE, _LONGER = 10, 4, 1.5
# Samples per piece at which limits are checked.
_MOMENTS = 4
_ROUNDING = 1.0 + 1e-6


def stopped(trajectory: Trajectory, at: float, duration: float) -> Trajectory:
    """Return the stop of a motion on its path, beginning at a given time.

    The trajectory time is slowed down smoothly to a standstill: position, velocity and
    acceleration are continuous at the beginning, and the stop covers the trajectory times from
    `at` to `at` + `duration` / 2.

    Args:
        trajectory: the motion.
        at: trajectory time at which the stop begins, s; becomes time 0.
        duration: time until rest, above 0, s.
    """
    knots = trajectory.breaks_between(at, at + 0.5 * duration)
    count = int(np.clip(4 * knots, _FEWEST, _MOST))
    u = np.linspace(0.0, 1.0, count + 1)
    along = at + duration * (u - u**3 + 0.5 * u**4)
    speed = 1.0 - 3.0 * u**2 + 2.0 * u**3
    slowing = 6.0 * (u**2 - u) / duration
    q, qd, qdd = trajectory.samples(along)
    v = qd * speed[:, np.newaxis]
    a = qdd * speed[:, np.newaxis] ** 2 + qd * slowing[:, np.newaxis]
    return Trajectory.from_states(trajectory.joint_names, duration * u, (q, v, a))


def shortest_stop(
    trajectory: Trajectory,
    at: float,
    robot: Robot,
    acceleration_limit: FloatArray,
    effort_limit: FloatArray,
) -> Trajectory:
    """Return the shortest of the tried stops on the path that keeps the machine's limits.

    Args:
        trajectory: the motion, within the machine's limits.
        at: trajectory time at which the stop begins, s; becomes time 0.
        robot: the machine.
        acceleration_limit: limits of the deceleration, shape (n,), rad/s^2 or m/s^2.
        effort_limit: N m or N, shape (n,).
    """
    q, qd, qdd = trajectory.sample(at)
    if (np.abs(qd) <= _AT_REST).all() and (np.abs(qdd) <= _AT_REST).all():
        return Trajectory.from_points(trajectory.joint_names, [0.0], [q])
    duration = float(np.max(STEEPEST * np.abs(qd) / acceleration_limit, initial=1e-2))
    # The motion itself may exceed the acceleration limit.
    ahead = trajectory.samples(np.linspace(at, at + 0.5 * duration, _FEWEST))[2]
    hardest = np.maximum(acceleration_limit, np.abs(ahead).max(axis=0)) * _ROUNDING
    for trial in range(_TRIALS):
        found = stopped(trajectory, at, duration)
        # On the same path at lower speed, only accelerations and efforts can exceed a limit.
        _, q, qd, qdd = found.grid(_MOMENTS)
        if trial < _GENTLE and (np.abs(qdd) > hardest).any():
            duration *= _LONGER
            continue
        efforts = np.abs(robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd))
        if (efforts <= effort_limit * _ROUNDING).all():
            break
        duration *= _LONGER
    # If no trial keeps the limits, the slowest is used: the motion itself is at the limits.
    return found


def acceleration_limits(
    robot: Robot, effort_limit: FloatArray, given: ArrayLike | None = None
) -> FloatArray:
    """Return the acceleration limits of generated references, shape (n,).

    A URDF has no acceleration limits, so they are derived: all joints accelerate to their velocity
    limits in one common time, the shortest that needs at most half of the efforts remaining after
    gravity, in the worst of 32 poses spread over the range. The other half is for Coriolis
    forces, friction and control.

    Args:
        robot: the machine.
        effort_limit: N m or N, shape (n,); inf for none.
        given: limits that replace the derived ones, shape (n,), rad/s^2 or m/s^2; 0 for derived.

    Raises:
        ParameterError: given cannot be used.
    """
    model = robot.model
    lower, upper = (
        np.where(np.isfinite(bound), bound, end)
        for bound, end in ((model.position_lower, -np.pi), (model.position_upper, np.pi))
    )
    speeds = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, _SPEED)
    speeds = np.where(speeds > 0.0, speeds, _SPEED)
    # Additive recurrence (quasi-random): evenly spread poses in any number of dimensions.
    steps = np.sqrt(np.arange(2.0, 2.0 + robot.n) * np.pi)
    spread = np.modf(0.5 + np.arange(_POSES)[:, np.newaxis] * steps)[0]
    longest = 0.0
    for q in lower + (upper - lower) * spread:
        needed = np.abs(robot.mass_matrix(q)) @ speeds
        left = effort_limit - np.abs(robot.gravity_vector(q))
        usable = _SHARE * np.maximum(left, _LEAST_SHARE * effort_limit)
        longest = max(longest, float(np.max(needed / usable)))
    derived = speeds / longest if longest > 0.0 else np.full(robot.n, np.inf)
    if given is None:
        return derived
    chosen = positive_per_joint(
        'acceleration_limit', given, robot.joint_names, zero_allowed=True, infinity_allowed=True
    )
    return np.where(chosen > 0.0, chosen, derived)
