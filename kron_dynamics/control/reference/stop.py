# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stopping a motion on its own path, and how hard a machine can brake and accelerate."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# Of the cubic along which the speed goes to zero in the time 1: the steepest slope.
STEEPEST = 1.5
# Share of the efforts left beside the weight that derived acceleration limits use: Coriolis and
# friction efforts need the rest, and so does control.
_SHARE = 0.5
# Of the effort limit, where the weight takes more than all the rest.
_LEAST_SHARE = 0.1
_POSES = 32
# Speed assumed where a joint has no velocity limit, rad/s or m/s.
_SPEED = 1.0
_AT_REST = 1e-9
_FEWEST, _MOST = 24, 2000
# Durations that are tried, each so much longer; of the later ones the efforts alone count.
_TRIALS, _GENTLE, _LONGER = 10, 4, 1.5
_MOMENTS = 4
_ROUNDING = 1.0 + 1e-6


def stopped(trajectory: Trajectory, at: float, duration: float) -> Trajectory:
    """Return how a motion comes to rest on its own path, from a moment of it on.

    Time along the path slows down smoothly to a stand: position, velocity and acceleration go on
    from the motion at that moment, and the way is half of that of the same time without a stop.

    Args:
        trajectory: the motion.
        at: moment of it that becomes time 0, s.
        duration: until rest, above 0, s.
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
    """Return how a motion comes to rest on its own path as soon as the machine can.

    Args:
        trajectory: the motion, within the machine's limits.
        at: moment of it that becomes time 0, s.
        robot: the machine.
        acceleration_limit: to brake with, shape (n,), rad/s^2 or m/s^2.
        effort_limit: N m or N, shape (n,).
    """
    q, qd, qdd = trajectory.sample(at)
    if (np.abs(qd) <= _AT_REST).all() and (np.abs(qdd) <= _AT_REST).all():
        return Trajectory.from_points(trajectory.joint_names, [0.0], [q])
    duration = float(np.max(STEEPEST * np.abs(qd) / acceleration_limit, initial=1e-2))
    # The motion itself may accelerate more than that.
    ahead = trajectory.samples(np.linspace(at, at + 0.5 * duration, _FEWEST))[2]
    hardest = np.maximum(acceleration_limit, np.abs(ahead).max(axis=0)) * _ROUNDING
    for trial in range(_TRIALS):
        found = stopped(trajectory, at, duration)
        # On its path and slower than before it leaves no limit but these.
        _, q, qd, qdd = found.grid(_MOMENTS)
        if trial < _GENTLE and (np.abs(qdd) > hardest).any():
            duration *= _LONGER
            continue
        efforts = np.abs(robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd))
        if (efforts <= effort_limit * _ROUNDING).all():
            break
        duration *= _LONGER
    # Else it is as gentle as it gets: the motion itself asks for as much as the machine can do.
    return found


def acceleration_limits(
    robot: Robot, effort_limit: FloatArray, given: ArrayLike | None = None
) -> FloatArray:
    """Return the accelerations that references made here may ask for, shape (n,).

    A URDF has none, so they are derived. All joints together reach their velocity limits in the
    same time; it is the shortest in which half of the efforts that are left beside the weight do
    it, in the least favourable of 32 poses spread over the range. Coriolis forces, friction and
    control have the other half.

    Args:
        robot: the machine.
        effort_limit: N m or N, shape (n,); inf for none.
        given: limits to use instead, shape (n,), rad/s^2 or m/s^2; 0 for a derived one.

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
    # Additive recurrence: the poses are spread evenly in any number of dimensions.
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
