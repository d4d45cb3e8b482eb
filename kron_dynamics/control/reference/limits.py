# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Check of a trajectory against the position, velocity and effort limits of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from kron_dynamics.arguments import finite_array, real_number
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import ParameterError, TrajectoryError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import ArrayLike, BoolArray, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Relative tolerance on limits for rounding: a motion planned to run at a limit is accepted.
_ROUNDING = 1e-6
# Rounding of positions, rad or m, where the motion starts beyond a limit: motions one after the
# other must not creep farther out.
_EXACT = 1e-9
# Number of effort samples: about this many in total, and at least so many in each piece.
_EFFORT_SAMPLES = 2000
_EFFORT_SAMPLES_PER_PIECE = 9
# Pieces per call: limits memory, and lets other threads run in between.
_EFFORT_CHUNK = 256


class LimitViolation(NamedTuple):
    """The largest violation of one limit of a joint.

    ``got`` and ``limit`` are in the unit of the quantity, ``time`` is in s.
    """

    joint: str
    quantity: Literal['position', 'velocity', 'effort']
    time: float
    got: float
    limit: float
    unit: str

    def __str__(self) -> str:
        """Return the violation in words."""
        return (
            f'joint {self.joint!r}: {self.quantity} {self.got:.6g} {self.unit} at '
            f't = {self.time:.4g} s is beyond the limit {self.limit:.6g} {self.unit}'
        )


def check_trajectory(
    trajectory: Trajectory,
    robot: Robot,
    *,
    position_tolerance: float = 1e-6,
    effort_limit: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> None:
    """Raise TrajectoryError unless the trajectory stays within the limits of the machine.

    Arguments as for :func:`limit_violations`.

    Raises:
        TrajectoryError: a limit is violated; the message lists joint, quantity, time, value and
            limit of every violation. Also if the trajectory is for other joints.
    """
    violations = limit_violations(
        trajectory,
        robot,
        position_tolerance=position_tolerance,
        effort_limit=effort_limit,
        start=start,
    )
    if violations:
        raise TrajectoryError(
            f'the trajectory leaves the limits of {robot.model.name!r}: '
            + '; '.join(str(violation) for violation in violations)
        )


def limit_violations(
    trajectory: Trajectory,
    robot: Robot,
    *,
    position_tolerance: float = 1e-6,
    effort_limit: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> tuple[LimitViolation, ...]:
    """Return the violations of position, velocity and effort limits, at most one per limit.

    Positions and velocities are compared at their exact extrema. Efforts (inverse dynamics plus
    joint friction) are sampled: 2000 samples in total, but at least 9 per piece, including its
    left and right limits at both ends. An effort peak between two samples can be missed.

    Args:
        trajectory: the motion, for the robot's joints in the robot's order.
        robot: the machine; its model has the limits.
        position_tolerance: accepted violation of a position limit, in rad or m: a machine that
            rests on a stop may measure a position slightly behind it.
        effort_limit: limits that replace the model's, shape (n,), in N m or N.
        start: positions to which the position limits are widened, shape (n,), in rad or m: a
            machine that rests beyond a limit can be moved, but not farther beyond it.

    Raises:
        TrajectoryError: the joints of the trajectory are not those of the robot in its order.
        ParameterError: effort_limit, position_tolerance or start cannot be used.
    """
    model = robot.model
    check_position_tolerance(position_tolerance)
    if start is not None:
        start = finite_array(start, 'start')
        if start.shape != (robot.n,):
            raise ParameterError(f'start has shape {start.shape}, expected ({robot.n},)')
    if trajectory.joint_names != tuple(model.joint_names):
        raise TrajectoryError(
            f'the trajectory is for the joints {list(trajectory.joint_names)}, '
            f'expected {list(model.joint_names)} in this order'
        )
    if effort_limit is None:
        efforts = model.effort_limit
    else:
        efforts = positive_per_joint(
            'effort_limit', effort_limit, model.joint_names, infinity_allowed=True
        )
    return (
        *_position_violations(trajectory, robot, position_tolerance, start),
        *_velocity_violations(trajectory, robot),
        *_effort_violations(trajectory, robot, efforts),
    )


def check_position_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that would switch the check of position limits off.

    Raises:
        ParameterError: the tolerance is negative or not finite.
    """
    if not 0.0 <= real_number(tolerance, 'position_tolerance') < np.inf:
        raise ParameterError(
            f'position_tolerance is {tolerance:g} rad or m, expected a finite one of 0 or more'
        )


def _position_violations(
    trajectory: Trajectory, robot: Robot, tolerance: float, start: FloatArray | None
) -> list[LimitViolation]:
    model, found = robot.model, trajectory.extrema(0)
    lower, upper = model.position_lower - tolerance, model.position_upper + tolerance
    if start is not None:
        lower, upper = np.minimum(lower, start - _EXACT), np.maximum(upper, start + _EXACT)
    below, above = found.lowest < lower, found.highest > upper
    return [
        *_violations(
            robot, 'position', below, found.lowest_time, found.lowest, model.position_lower
        ),
        *_violations(
            robot, 'position', above, found.highest_time, found.highest, model.position_upper
        ),
    ]


def _velocity_violations(trajectory: Trajectory, robot: Robot) -> list[LimitViolation]:
    limit, found = robot.model.velocity_limit, trajectory.extrema(1)
    backward = -found.lowest > found.highest
    fastest = np.where(backward, found.lowest, found.highest)
    times = np.where(backward, found.lowest_time, found.highest_time)
    bad = np.abs(fastest) > limit * (1.0 + _ROUNDING)
    return _violations(robot, 'velocity', bad, times, fastest, np.copysign(limit, fastest))


def _effort_violations(
    trajectory: Trajectory, robot: Robot, limit: FloatArray
) -> list[LimitViolation]:
    if not np.isfinite(limit).any():
        return []
    pieces = trajectory.piece_count
    samples = max(_EFFORT_SAMPLES_PER_PIECE, _EFFORT_SAMPLES // pieces)
    found = []
    for begin in range(0, pieces, _EFFORT_CHUNK):
        times, q, qd, qdd = trajectory.grid(samples, slice(begin, begin + _EFFORT_CHUNK))
        tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
        # argmax returns the first NaN, and the negated comparison below makes it a violation.
        worst = np.abs(tau).argmax(axis=0)
        found.append((tau[worst, np.arange(robot.n)], times[worst]))
    efforts, moments = map(np.array, zip(*found, strict=True))
    most = np.abs(efforts).argmax(axis=0), np.arange(robot.n)
    got = efforts[most]
    bad = ~(np.abs(got) <= limit * (1.0 + _ROUNDING))
    return _violations(robot, 'effort', bad, moments[most], got, np.copysign(limit, got))


def _violations(
    robot: Robot,
    quantity: Literal['position', 'velocity', 'effort'],
    bad: BoolArray,
    times: FloatArray,
    got: FloatArray,
    limit: FloatArray,
) -> list[LimitViolation]:
    model = robot.model
    return [
        LimitViolation(
            joint=model.joint_names[i],
            quantity=quantity,
            time=float(times[i]),
            got=float(got[i]),
            limit=float(limit[i]),
            unit=joint_kind(model.joint_types[i]).unit(quantity),
        )
        for i in np.flatnonzero(bad)
    ]
