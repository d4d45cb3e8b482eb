# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal retiming of a given path within velocity, effort and effort rate limits."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from kron_dynamics.arguments import finite_array, instance, real_array, real_number, whole_number
from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_sections import (
    PathSection,
    sections_of_trajectory,
    sections_of_waypoints,
)
from kron_dynamics.control.reference.path_terms import QUANTITIES, Limits
from kron_dynamics.control.reference.retimed_trajectory import RetimedTrajectory, joined_motions
from kron_dynamics.control.reference.retiming_refusals import refuse_positions
from kron_dynamics.control.reference.section_timing import quickest
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import ParameterError, TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray


def retime(
    robot: Robot,
    path: Trajectory | ArrayLike,
    *,
    rests: Sequence[int] = (),
    velocity_limit: ArrayLike | None = None,
    acceleration_limit: ArrayLike | None = None,
    effort_limit: ArrayLike | None = None,
    effort_rate_limit: ArrayLike | None = None,
    friction: bool = False,
    position_tolerance: float = 1e-6,
) -> RetimedTrajectory:
    """Return the fastest motion along a path that keeps the limits of the machine.

    The path and its rests are kept; all other timing is new. Efforts are computed by inverse
    dynamics, with the payloads that the robot has when this begins. Efforts and their exact rates
    are also checked between the states of the result: none exceeds its limit. The rates exclude
    the step of Coulomb friction where a joint reverses.

    With effort rate limits, position, velocity and acceleration are continuous, and the motion
    begins and ends with zero acceleration. Without them, it steps at rests, but nowhere else; as
    points do not hold such steps, points for a controller need effort rate limits.

    Args:
        robot: the machine; flexible links are treated as rigid.
        path: waypoints, shape (K, n), rad or m, joined by a natural cubic spline; or a trajectory,
            whose rests are the points where all velocities are 0. The trajectory must begin and
            end at rest, and its acceleration may step only at rests.
        rests: indices of waypoints to rest at, besides the first and the last one; the path may
            have a corner there.
        velocity_limit: shape (n,), rad/s or m/s; None for the model's, inf for none.
        acceleration_limit: shape (n,), rad/s^2 or m/s^2; None for none.
        effort_limit: shape (n,), N m or N; None for the model's.
        effort_rate_limit: shape (n,), N m/s or N/s; None for none.
        friction: whether efforts include the joint friction, as in `check_trajectory` and nodes.
        position_tolerance: accepted violation of a position limit, rad or m.

    Raises:
        TrajectoryError: the path violates a position limit, a limit forbids any motion along it,
            or the path is malformed; names joint, limit and position on the path.
        ParameterError: a limit or the tolerance cannot be used.
        ArgumentTypeError: an argument has a wrong type.
        KernelBuildError: a kernel could not be compiled.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    instance(friction, (bool, np.bool_), 'friction', 'True or False')
    instance(rests, (Sequence, np.ndarray), 'rests', 'indices of waypoints')
    tolerance = real_number(position_tolerance, 'position_tolerance')
    if not tolerance >= 0.0:
        raise ParameterError(f'position_tolerance is {tolerance:g}, expected 0 or more')
    rigid = _with_payloads_of_now(robot.rigid)
    limits = _limits(rigid, (velocity_limit, acceleration_limit, effort_limit, effort_rate_limit))
    if isinstance(path, Trajectory):
        sections, start, count = _of_trajectory(rigid, path, rests)
    else:
        sections, start, count = _of_waypoints(rigid, finite_array(path, 'path'), rests, limits)
    refuse_positions(rigid, sections, tolerance)
    limits = _usable(rigid, sections, limits)
    motions, point_times = _timed(rigid, sections, count, limits, friction)
    return joined_motions(rigid, motions, start, point_times, limits)


def _with_payloads_of_now(robot: Robot) -> Robot:
    """The robot, or a copy whose payloads nobody sets meanwhile."""
    return copy.copy(robot) if isinstance(robot, CarryingRobot) else robot


def _timed(
    robot: Robot, sections: list[PathSection], count: int, limits: Limits, friction: bool
) -> tuple[list[MotionSamples], FloatArray]:
    """Motions along the sections, and times at the points of the path, (count,)."""
    motions, point_times = [], np.full(count, np.nan)
    point_times[0], begin = 0.0, 0.0
    for section in sections:
        motion, times = quickest(robot, section, limits, friction)
        motions.append(motion)
        point_times[list(section.points)] = begin + times
        begin += motion.duration
    for k in np.flatnonzero(np.isnan(point_times)):  # points equal to their predecessor
        point_times[k] = point_times[k - 1]
    return motions, point_times


def _limits(robot: Robot, given: tuple[ArrayLike | None, ...]) -> Limits:
    none = np.full(robot.n, np.inf)
    default = (robot.model.velocity_limit, none, robot.model.effort_limit, none)
    return Limits(
        *(
            positive_per_joint(
                label,
                other if values is None else real_array(values, label),
                robot.joint_names,
                zero_allowed=True,
                infinity_allowed=True,
            )
            for label, values, other in zip(
                ('velocity_limit', 'acceleration_limit', 'effort_limit', 'effort_rate_limit'),
                given,
                default,
                strict=True,
            )
        )
    )


def _of_trajectory(
    robot: Robot, path: Trajectory, rests: Sequence[int]
) -> tuple[list[PathSection], FloatArray, int]:
    if path.joint_names != tuple(robot.joint_names):
        raise TrajectoryError(
            f'the trajectory is for the joints {list(path.joint_names)}, '
            f'expected {list(robot.joint_names)} in this order'
        )
    if len(rests):
        raise TrajectoryError('rests are for waypoints, expected none: a trajectory has its own')
    breaks, pieces = path.polynomials
    return sections_of_trajectory(path), pieces[0, 0], breaks.size if path.duration else 1


def _of_waypoints(
    robot: Robot, points: FloatArray, rests: Sequence[int], limits: Limits
) -> tuple[list[PathSection], FloatArray, int]:
    if points.ndim != 2 or points.shape[1] != robot.n or not len(points):
        raise TrajectoryError(
            f'path has shape {points.shape}, expected (K, {robot.n}): waypoints of '
            f'{list(robot.joint_names)}, or a Trajectory'
        )
    for place in rests:
        if not -len(points) <= whole_number(place, 'rests') < len(points):
            raise TrajectoryError(
                f'rests has {place}, expected indices of {len(points)} waypoints'
            )
    speed = limits.velocity
    scale = np.where(np.isfinite(speed) & (speed > 0.0), speed, 1.0)
    return sections_of_waypoints(points, rests, scale), points[0], len(points)


def _usable(robot: Robot, sections: list[PathSection], limits: Limits) -> Limits:
    """Limits with zero limits of resting joints removed; refuse limits that permit no motion."""
    moves = np.zeros(robot.n, dtype=bool)
    for section in sections:
        moves |= (np.abs(section.table[:, 1:]) > 0.0).any(axis=(0, 1))
    for quantity, limit in zip(QUANTITIES, limits, strict=True):
        stuck = np.flatnonzero((limit == 0.0) & (moves | (quantity == 'effort')))
        if sections and stuck.size:
            raise TrajectoryError(
                f"joint '{robot.joint_names[stuck[0]]}': its {quantity} limit is 0, expected more "
                f'for a motion'
            )
    found = Limits(*(np.where(limit > 0.0, limit, np.inf) for limit in limits))
    if sections and not np.isfinite(found.acceleration[moves]).any():
        if not np.isfinite(found.effort).any():
            raise TrajectoryError('nothing limits the acceleration, expected effort limits')
    return found
