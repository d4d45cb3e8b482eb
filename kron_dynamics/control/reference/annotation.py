# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Feed-forward efforts at the points of a trajectory, and all points that exceed a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.limits import check_position_tolerance
from kron_dynamics.control.reference.polynomials import spline_velocities
from kron_dynamics.control.reference.some_joints import moving_and_held
from kron_dynamics.control.reference.waypoints import checked_points
from kron_dynamics.exceptions import NonFiniteError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray

QUANTITIES = ('position', 'velocity', 'effort', 'effort rate')
"""Quantities with limits; `PointViolations.quantity` is an index into them."""

# Relative tolerance on limits for rounding: a motion planned to run at a limit is accepted.
_ROUNDING = 1e-6


class PointViolations(NamedTuple):
    """Limit violations at points, one entry per point, joint and quantity, in point order.

    Arrays have the shape (V,); values are in the unit of the quantity.

    Attributes:
        point: index of the point.
        joint: index of the joint in the robot's order.
        quantity: index in `QUANTITIES`.
        time: time of the point, s.
        value: value of the quantity.
        limit: the violated limit, with its sign.
    """

    point: IndexArray
    joint: IndexArray
    quantity: IndexArray
    time: FloatArray
    value: FloatArray
    limit: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedTrajectory:
    """A trajectory with all rates and efforts at its K points; arrays have the shape (K, n).

    Attributes:
        joint_names: the n joints of the trajectory, in the order of the columns.
        times: shape (K,), s.
        positions: rad or m.
        velocities: as given, or computed.
        accelerations: as given, or computed.
        efforts: N m or N.
        violations: limit violations, including those of held joints.
        reports: the violations as one sentence for each joint and quantity.
    """

    joint_names: tuple[str, ...]
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    efforts: FloatArray
    violations: PointViolations
    reports: tuple[str, ...]


def annotate_trajectory(
    robot: Robot,
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    *,
    joint_names: Sequence[str] | None = None,
    held: Mapping[str, float] | None = None,
    friction: bool = False,
    effort_limit: ArrayLike | None = None,
    effort_rate_limit: ArrayLike | None = None,
    position_tolerance: float = 1e-6,
) -> AnnotatedTrajectory:
    """Return a trajectory with its efforts by inverse dynamics, and its limit violations.

    Only the points are checked, not the interpolation between them; `limit_violations` checks
    that for a `Trajectory`.

    Missing rates are computed. Accelerations are those of the cubic pieces through positions and
    velocities, at inner points the mean of the left and right limits. Missing velocities are those
    of the C2 cubic spline that begins and ends at rest. A controller that receives all of them and
    joins the points by quintic polynomials has at each point exactly the acceleration that the
    effort was computed for.

    Args:
        robot: the machine; flexible links are treated as rigid.
        times: times of the points, shape (K,), s, 0 or later, strictly increasing.
        positions: shape (K, n), rad or m.
        velocities: shape (K, n), rad/s or m/s.
        accelerations: shape (K, n), rad/s^2 or m/s^2; requires velocities.
        joint_names: the joints, in the order of the columns; None for all, in the robot's order.
        held: constant positions of all other joints, rad or m, by joint name.
        friction: whether to add the joint friction.
        effort_limit: limits of all joints of the robot, shape (n_j,), N m or N; None for the
            model's.
        effort_rate_limit: limits of the difference quotient of the effort between points, shape
            (n_j,), N m/s or N/s; None for none.
        position_tolerance: accepted violation of a position limit, rad or m.

    Raises:
        TrajectoryError: a shape, a number, the times or a name is wrong; names the joint.
        ParameterError: a limit or position_tolerance cannot be used.
        NonFiniteError: an acceleration, effort or effort rate overflows float64; names joint and
            point.
    """
    check_position_tolerance(position_tolerance)
    rigid = robot.rigid
    names, places = moving_and_held(joint_names, held or {}, rigid.joint_names)
    t, p, v, a = checked_points(names, times, positions, velocities, accelerations)
    still = np.array(list((held or {}).values()), dtype=np.float64)
    with np.errstate(all='ignore'):
        v, a = _filled(t, p, v, a)
        standing = np.zeros((t.size, still.size))
        q, qd, qdd = (
            np.hstack((moving, rest))[:, places]
            for moving, rest in ((p, standing + still), (v, standing), (a, standing))
        )
        tau = rigid.inverse_dynamics(q, qd, qdd)
        if friction:
            tau += rigid.joint_friction(qd)
        rate = np.zeros_like(tau)
        rate[1:] = np.diff(tau, axis=0) / np.diff(t)[:, None]
    for what, values in (('acceleration', qdd), ('effort', tau), ('effort rate', rate)):
        if not np.isfinite(values).all():
            point, joint = np.argwhere(~np.isfinite(values))[0]
            raise NonFiniteError(
                f"{what} of joint '{rigid.joint_names[joint]}' at point {point} is beyond the "
                f'range of float64: the points are too far apart or too close in time'
            )
    limits = (
        rigid.model.effort_limit if effort_limit is None else effort_limit,
        np.full(rigid.n, np.inf) if effort_rate_limit is None else effort_rate_limit,
    )
    violations = _violations(rigid, t, (q, qd, tau, rate), limits, position_tolerance)
    own = np.argsort(places)[: len(names)]
    reports = _reports(rigid, violations, t.size)
    return AnnotatedTrajectory(names, t, p, v, a, tau[:, own], violations, reports)


def _filled(
    t: FloatArray, p: FloatArray, v: FloatArray | None, a: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Velocities and accelerations at the points, computed where they are None."""
    if t.size == 1:  # a hold
        return (np.zeros_like(p) if v is None else v), (np.zeros_like(p) if a is None else a)
    if v is None:
        v = spline_velocities(t, p, np.zeros(p.shape[1]))
    if a is not None:
        return v, a
    h = np.diff(t)[:, None]
    slope = np.diff(p, axis=0) / h
    a = np.zeros_like(p)
    a[:-1] += (6.0 * slope - 4.0 * v[:-1] - 2.0 * v[1:]) / h
    a[1:] += (4.0 * v[1:] + 2.0 * v[:-1] - 6.0 * slope) / h
    a[1:-1] /= 2.0
    return v, a


def _violations(
    robot: Robot,
    t: FloatArray,
    motion: tuple[FloatArray, ...],
    efforts: tuple[ArrayLike, ArrayLike],
    tolerance: float,
) -> PointViolations:
    """Compare q, qd, tau and the effort rate, shape (K, n) each, with the limits."""
    model, values = robot.model, np.stack(motion, axis=-1)  # (K, n, 4)
    bounds = [
        positive_per_joint(
            label, limit, model.joint_names, zero_allowed=True, infinity_allowed=True
        )
        for label, limit in zip(('effort_limit', 'effort_rate_limit'), efforts, strict=True)
    ]
    largest = np.stack([model.position_upper, model.velocity_limit, *bounds], axis=-1)
    smallest = np.stack([model.position_lower, *-largest[:, 1:].T], axis=-1)
    slack = _ROUNDING * np.where(np.isfinite(largest), np.abs(largest), 0.0)
    slack[:, 0] = tolerance
    above, below = values > largest + slack, values < smallest - slack
    point, joint, quantity = np.nonzero(above | below)
    limit = np.where(above, largest, smallest)[point, joint, quantity]
    found = values[point, joint, quantity]
    return PointViolations(point, joint, quantity, t[point], found, limit)


def _reports(robot: Robot, violations: PointViolations, count: int) -> tuple[str, ...]:
    """One sentence for each joint and quantity that exceeds a limit."""
    point, joint, quantity, time, value, limit = violations
    excess = np.abs(value - limit)
    reports = []
    for j, k in sorted(set(zip(joint.tolist(), quantity.tolist(), strict=True))):
        among = np.flatnonzero((joint == j) & (quantity == k))
        worst = among[excess[among].argmax()]
        unit = _unit(k, robot.model.joint_types[j])
        reports.append(
            f'joint {robot.joint_names[j]!r}: {QUANTITIES[k]} is beyond its limit at '
            f'{among.size} of {count} points, worst at point {point[worst]}, '
            f't = {time[worst]:.6g} s: {value[worst]:.6g} {unit}, limit {limit[worst]:.6g} {unit}'
        )
    return tuple(reports)


def _unit(quantity: int, joint_type: str) -> str:
    kind = joint_kind(joint_type)
    units = kind.unit('position'), kind.unit('velocity'), kind.unit('effort')
    return (*units, f'{units[2]}/s')[quantity]
