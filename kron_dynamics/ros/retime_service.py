# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The service ~/retime_trajectory: the time-optimal motion along a path within all limits.

Names of joints: `control/reference/some_joints.py`. Errors become `success` false in
`services.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.some_joints import moving_and_held
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.ros.batch import check_size, flat, held_positions, table_of
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.controller_factory import effort_rate_limits, known_effort_limits
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.control import RetimedTrajectory

# Largest number of points: it takes a second of one core, and other requests wait meanwhile.
_MOST_POINTS = 1000


def retime_path(
    parameters: ParameterSet, present: ConfiguredRobot, largest: int, request: Any, response: Any
) -> None:
    """Answer a request of ~/retime_trajectory.

    Args:
        parameters: parameters of dynamics_node, those of the joints included.
        present: robot that the node is configured for.
        largest: largest count of numbers in a request or an answer.
        request: RetimeTrajectory request.
        response: answer, to be filled in.

    Raises:
        KronDynamicsError: the request is refused.
    """
    from kron_dynamics.control import retime  # imported late, for a faster start of the node

    robot = present.robot
    held = held_positions(request)
    names, places = moving_and_held(list(request.joint_names) or None, held, robot.joint_names)
    n = len(names)
    count = len(request.position) // n
    check_size('request', count, 1 + 3 * n, largest)
    if count > _MOST_POINTS:
        raise ParameterError(
            f'the path has {count} points, expected at most {_MOST_POINTS}: divide it at rests'
        )
    found = retime(
        robot,
        _path(robot, request, names, places, held),
        rests=list(request.rests),
        velocity_limit=_scale(request, 'velocity') * robot.model.velocity_limit,
        effort_limit=_scale(request, 'effort') * known_effort_limits(parameters, robot),
        effort_rate_limit=_scale(request, 'effort_rate') * effort_rate_limits(parameters, robot),
        acceleration_limit=_acceleration_limit(request, n, places, len(held)),
        friction=request.include_friction,
    )
    times = _times(found, request.sample_period, n, largest)
    q, qd, qdd = found.trajectory.samples(times)
    effort = robot.inverse_dynamics(q, qd, qdd)
    if request.include_friction:
        effort = effort + robot.joint_friction(qd)
    own = np.argsort(places)[:n]
    response.joint_names, response.duration = list(names), found.duration
    response.time_from_start, response.point_time = flat(times), flat(found.point_times)
    response.position, response.velocity = flat(q[:, own]), flat(qd[:, own])
    response.acceleration, response.effort = flat(qdd[:, own]), flat(effort[:, own])
    response.limited_by = list(found.reports)


def _path(
    robot: Robot, request: Any, names: tuple[str, ...], places: Any, held: dict[str, float]
) -> Trajectory | FloatArray:
    """Return the waypoints, or the trajectory through the points of a request with times."""
    n, timed = len(names), len(request.time_from_start) > 0
    count = len(request.time_from_start) if timed else len(request.position) // n

    def whole(field: str, standing: list[float]) -> FloatArray:
        own = table_of(field, getattr(request, field), count, n)
        return np.hstack((own, np.tile(standing, (count, 1))))[:, places]

    rest = [0.0] * len(held)
    positions = whole('position', list(held.values()))
    rates = [
        whole(field, rest) if getattr(request, field) else None
        for field in ('velocity', 'acceleration')
    ]
    if timed:
        times = np.asarray(request.time_from_start, dtype=np.float64)
        return Trajectory.from_points(
            robot.joint_names,
            times - times[0],
            positions,
            *rates,
            continuous=np.array(endless(robot.model.joint_types)),
        )
    if any(rate is not None for rate in rates):
        raise ShapeError(
            'velocity or acceleration without time_from_start, expected that too, or positions '
            'alone'
        )
    return positions


def _scale(request: Any, quantity: str) -> float:
    """Return the requested share of a limit; 1 if the request has 0."""
    scale: float = getattr(request, f'{quantity}_scale')
    if not 0.0 <= scale <= 1.0:
        raise ParameterError(
            f'{quantity}_scale is {scale:g}, expected above 0 to 1, or 0 for all of the limits'
        )
    return scale or 1.0


def _acceleration_limit(request: Any, n: int, places: Any, held: int) -> FloatArray | None:
    """Return the limits of all joints in the robot's order, inf for held ones; None for none."""
    given = request.acceleration_limit
    if not given:
        return None
    if len(given) != n:
        raise ShapeError(f'acceleration_limit has {len(given)} numbers, expected {n}, or none')
    limits: FloatArray = np.array([*given, *[np.inf] * held])[places]
    return limits


def _times(found: RetimedTrajectory, period: float, n: int, largest: int) -> FloatArray:
    """Return the times of the answer's points, s."""
    if not 0.0 <= period < np.inf:
        raise ParameterError(f'sample_period is {period:g} s, expected 0 or more')
    own = found.trajectory.polynomials[0] if found.duration else np.zeros(1)
    samples = found.duration / period + 2.0 if period else len(own)
    check_size('answer', int(min(samples, largest + 1)), 1 + 4 * n, largest)
    if not period:
        return own
    return np.append(np.arange(0.0, found.duration - 1e-9 * period, period), found.duration)
