# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts at the points of a trajectory, for feed-forward, and every point beyond a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.reference.polynomials import spline_velocities
from kron_dynamics.control.reference.some_joints import moving_and_held
from kron_dynamics.control.reference.waypoints import checked_points
from kron_dynamics.exceptions import NonFiniteError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray

QUANTITIES = ('position', 'velocity', 'effort', 'effort rate')
"""What has limits; `PointViolations.quantity` counts in this order."""

# Rounding allowed on top of a limit, relative: a move planned to run at a limit keeps it.
_ROUNDING = 1e-6


class PointViolations(NamedTuple):
    """Points beyond a limit, once for each joint and quantity, in the order of the points.

    Arrays have the shape (V,), numbers the unit of the quantity.

    Attributes:
        point: place of the point.
        joint: place of the joint in the robot's order.
        quantity: place in `QUANTITIES`.
        time: of the point, s.
        value: of the quantity.
        limit: that it is beyond, with the sign of the value.
    """

    point: IndexArray
    joint: IndexArray
    quantity: IndexArray
    time: FloatArray
    value: FloatArray
    limit: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedTrajectory:
    """A trajectory with every rate and effort at its K points; arrays have the shape (K, n).

    Attributes:
        joint_names: the n joints of the trajectory, in the order of the columns.
        times: shape (K,), s.
        positions: rad or m.
        velocities: as given, or filled in.
        accelerations: as given, or filled in.
        efforts: N m or N.
        violations: points beyond a limit, those of joints that stand still included.
        reports: the same in a sentence for each joint and quantity.
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
    """Return a trajectory with its efforts by inverse dynamics, and what leaves the limits.

    Only the points are looked at, not what a controller makes of the time between them;
    `limit_violations` does that for a `Trajectory`.

    Rates that are not given are filled in. Accelerations: those of the cubic pieces through
    positions and velocities, the mean of both sides at a point between two. Velocities too: those
    of the cubic spline with continuous acceleration that begins and ends at rest. A controller
    that gets all of them and joins the points by quintic polynomials passes each point with just
    the acceleration that its effort is for.

    Args:
        robot: the machine; links that bend count as stiff.
        times: of the points, shape (K,), s, 0 or later, strictly increasing.
        positions: shape (K, n), rad or m.
        velocities: shape (K, n), rad/s or m/s.
        accelerations: shape (K, n), rad/s^2 or m/s^2; not without velocities.
        joint_names: the joints, in the order of the columns; None for all, in the robot's order.
        held: where all other joints stand still, rad or m, by their names.
        friction: whether to add the joint friction.
        effort_limit: of every joint of the robot, shape (n_j,), N m or N; None for the model's.
        effort_rate_limit: greatest slopes of the effort between points, shape (n_j,), N m/s or
            N/s; None for none.
        position_tolerance: how far beyond a position limit is still within it, rad or m.

    Raises:
        TrajectoryError: a shape, a number, the times or a name is wrong; names the joint.
        ParameterError: a limit cannot be used.
        NonFiniteError: an effort is beyond the range of float64; names joint and point.
    """
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
                f'range of float64: the points are out of all proportion'
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
    """Velocities and accelerations at the points, filled in where they are None."""
    if t.size == 1:  # it stands there
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
    """Compare q, qd, tau and its rate, shape (K, n) each, with what the machine may do."""
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
    """One sentence for each joint and quantity that leaves a limit."""
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
