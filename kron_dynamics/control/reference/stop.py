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
_STEEPEST = 1.5
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
# Even pieces of a stop, most further ones, and the least size of a piece, as a share of the stop.
_FEWEST, _MOST, _APART = 24, 2000, 1e-4
# Shortest piece of a stop, s: rounding of positions spoils the acceleration of shorter ones.
_BRIEF = 1e-5
# Time before the end of a motion from which on it counts as ended, s.
_ENDED = 1e-4
# Samples of the time law that the breaks of the motion are found by.
_FINE = 2001
# Number of durations tried, number of them that are checked for accelerations too, and the factor
# from one to the next.
_TRIALS, _GENTLE, _LONGER = 10, 4, 1.5
# Samples per piece at which limits are checked.
_MOMENTS = 4
_ROUNDING = 1.0 + 1e-6
# Share of the effort limits that a stop may use, if otherwise the motion would go on to its
# end: a motion that brakes at an effort limit cannot brake harder within it.
_EXCESS = 1.05
# Halvings of an interval until its ends are neighbouring numbers.
_HALVINGS = 53
# A time just before the end of a motion, s: there its acceleration may step.
_BEFORE = 1e-9


def stopped(trajectory: Trajectory, at: float, duration: float) -> Trajectory:
    """Return the stop of a motion on its path, beginning at a given time.

    The trajectory time is slowed down smoothly to a standstill: position, velocity and
    acceleration are continuous at the beginning, and the stop covers the trajectory times from
    `at` to `at` + `duration` / 2. Where the motion ends before that, so does the stop.

    Args:
        trajectory: the motion.
        at: trajectory time at which the stop begins, s; becomes time 0.
        duration: time until rest, above 0, s.
    """
    ahead = trajectory.duration - at
    cut = 0.0 < ahead < 0.5 * duration
    last = _slowed_until(ahead / duration) if cut else 1.0
    u = _nodes(trajectory.breaks_between(at, at + min(ahead, 0.5 * duration)), at, duration, last)
    along = at + duration * (u - u**3 + 0.5 * u**4)
    speed = 1.0 - 3.0 * u**2 + 2.0 * u**3
    slowing = 6.0 * (u**2 - u) / duration
    if cut:
        along[-1] = trajectory.duration
    q, qd, qdd = trajectory.samples(along)
    v = qd * speed[:, np.newaxis]
    a = qdd * speed[:, np.newaxis] ** 2 + qd * slowing[:, np.newaxis]
    arriving = a.copy()
    if cut:
        arriving[-1] = trajectory.sample(trajectory.duration - _BEFORE)[2] * speed[-1] ** 2
    return Trajectory.from_states(trajectory.joint_names, duration * u, (q, v, a), arriving)


def _nodes(breaks: FloatArray, at: float, duration: float, last: float) -> FloatArray:
    """Normalised times of the states of a stop, from 0 to `last`: even ones, and the breaks.

    The acceleration may change quickly at the breaks: a piece across would overshoot there.
    """
    apart = max(_APART * last, _BRIEF / duration)
    even = np.linspace(0.0, last, 1 + max(1, min(_FEWEST, int(0.5 * last / apart))))
    some = breaks[:: 1 + len(breaks) // _MOST]
    fine = np.linspace(0.0, last, _FINE)
    met = np.interp((some - at) / duration, fine - fine**3 + 0.5 * fine**4, fine)
    u = np.union1d(even, met[(met > apart) & (met < last - apart)])
    kept = np.diff(u, append=np.inf) > apart
    kept[0] = True
    return u[kept]


def _slowed_until(way: float) -> float:
    """The u in [0, 1] at which ``u - u^3 + u^4 / 2``, which grows to 1/2, is `way`."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        u = 0.5 * (low + high)
        low, high = (u, high) if u - u**3 + 0.5 * u**4 < way else (low, u)
    return high


def shortest_stop(
    trajectory: Trajectory,
    at: float,
    robot: Robot,
    acceleration_limit: FloatArray,
    effort_limit: FloatArray,
) -> Trajectory:
    """Return the shortest of the tried stops on the path that keeps the machine's limits.

    A motion that brakes at a limit can hardly be braked harder. If no stop before the end of the
    motion keeps the limits, the one that exceeds them least is returned, as long as its efforts
    exceed theirs by 5 % at most; otherwise one that goes on to the end of the motion.

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
    if trajectory.duration - at <= _ENDED:
        return Trajectory.from_points(trajectory.joint_names, [0.0], [trajectory.final_position])
    duration = float(np.max(_STEEPEST * np.abs(qd) / acceleration_limit, initial=1e-2))
    # The motion itself may exceed the acceleration limit.
    ahead = trajectory.samples(np.linspace(at, at + 0.5 * duration, _FEWEST))[2]
    hardest = np.maximum(acceleration_limit, np.abs(ahead).max(axis=0))
    least = highest = np.inf
    for trial in range(_TRIALS):
        if at + 0.5 * duration >= trajectory.duration and highest <= _EXCESS:
            break
        found = stopped(trajectory, at, duration)
        duration *= _LONGER
        # On the same path at lower speed, only accelerations and efforts can exceed a limit.
        _, q, qd, qdd = found.grid(_MOMENTS)
        efforts = np.abs(robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd))
        excess = float((efforts / effort_limit).max())
        harder = float((np.abs(qdd) / hardest).max()) if trial < _GENTLE else 0.0
        if max(excess, harder) <= _ROUNDING:
            return found
        if trial == 0 or max(excess, harder) < least:
            least, highest, best = max(excess, harder), excess, found
    return best


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
