# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal retiming of random paths, against toppra and a dense optimization: target 12."""

from __future__ import annotations

import functools
import time
from typing import NamedTuple

import numpy as np

from benchmarks import ours
from benchmarks.retiming_bound import quickest_duration
from benchmarks.retiming_plans import PLANS, effort_rate_limits, waypoints
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, Spread, pinned
from kron_dynamics.control import RetimedTrajectory, retime
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.typing import FloatArray

try:
    import toppra
    from toppra import algorithm, constraint
except ImportError:
    toppra = None

_REPEATS = 5


def time_of_plan(rated: bool, name: str, rounds: int) -> Outcome:
    """Time of a whole call, with or without effort rate limits; the spread is over the plans."""
    robot = ours.robot(name)
    limits, spent = effort_rate_limits(name, robot) if rated else None, []
    with pinned():
        for points in _plans(name):
            times = []
            for _ in range(min(rounds, _REPEATS)):
                begin = time.thread_time()
                retime(robot, points, effort_rate_limit=limits)
                times.append(time.thread_time() - begin)
            spent.append(float(np.median(times)))
    return Outcome(Spread.of(spent))


def longer_than_bound(name: str, _rounds: int) -> Outcome:
    """Excess duration of motions with effort rate limits over a dense optimization, %."""
    robot = ours.robot(name)
    limits, excess = effort_rate_limits(name, robot), []
    for found in _retimed(name, True):
        bound = quickest_duration(
            robot, found.trajectory, robot.model.effort_limit, limits, divisions=3
        )
        excess.append(100.0 * (found.duration / bound - 1.0))
    return Outcome(Spread.of(excess))


def longer_than_toppra(name: str, _rounds: int) -> Outcome:
    """Excess duration of motions without effort rate limits over toppra's, %.

    Raises:
        MeasurementError: there is no toppra.
    """
    return Outcome(Spread.of(_excess(name, 'collocation')))


def longest_beside_toppra(peer: str, name: str, _rounds: int) -> Outcome:
    """Return the greatest of these excesses, %.

    Args:
        peer: 'collocation', toppra that keeps limits at its grid points; 'slowed', its motions
            slowed until they keep them everywhere; 'interpolation', toppra that keeps them
            between its grid points too.
        name: name of the robot.
        _rounds: not used; all plans are compared once.

    Raises:
        MeasurementError: there is no toppra.
    """
    most = max(_excess(name, peer))
    return Outcome(Spread(most, most, most))


def most_used_by_toppra(name: str, _rounds: int) -> Outcome:
    """The largest share of an effort limit used by toppra's motions, %.

    Raises:
        MeasurementError: there is no toppra.
    """
    if toppra is None:
        raise MeasurementError('no toppra')
    most = 100.0 * max(_toppra(name, seed, False).share for seed in range(PLANS[name]))
    return Outcome(Spread(most, most, most))


def most_used(rated: bool, name: str, _rounds: int) -> Outcome:
    """The largest share of a limit in samples 1 ms apart, %.

    Args:
        rated: whether motions have effort rate limits.
        name: name of the robot.
        _rounds: not used; all plans are looked at once.
    """
    robot, shares = ours.robot(name), []
    for found in _retimed(name, rated):
        motion = found.trajectory.samples(np.arange(0.0, found.duration, 1e-3))
        tau = robot.inverse_dynamics(*motion)
        shares.append((np.abs(motion[1]) / robot.model.velocity_limit).max())
        shares.append((np.abs(tau) / robot.model.effort_limit).max())
        if rated:
            rates = np.abs(np.diff(tau, axis=0)) / 1e-3
            shares.append((rates / effort_rate_limits(name, robot)).max())
    most = 100.0 * max(shares)
    return Outcome(Spread(most, most, most))


@functools.cache
def _plans(name: str) -> tuple[FloatArray, ...]:
    return tuple(waypoints(ours.robot(name), seed) for seed in range(PLANS[name]))


@functools.cache
def _retimed(name: str, rated: bool) -> tuple[RetimedTrajectory, ...]:
    robot = ours.robot(name)
    limits = effort_rate_limits(name, robot) if rated else None
    return tuple(retime(robot, points, effort_rate_limit=limits) for points in _plans(name))


def _excess(name: str, peer: str) -> list[float]:
    if toppra is None:
        raise MeasurementError('no toppra')
    excess = []
    for seed, found in enumerate(_retimed(name, False)):
        theirs = _toppra(name, seed, peer == 'interpolation')
        duration = theirs.duration * (theirs.slowing if peer == 'slowed' else 1.0)
        excess.append(100.0 * (found.duration / duration - 1.0))
    return excess


class _Motion(NamedTuple):
    """A motion of toppra.

    Attributes:
        duration: s.
        share: largest share of an effort limit.
        slowing: least factor of all times, at least 1, with which efforts keep their limits.
    """

    duration: float
    share: float
    slowing: float


@functools.cache
def _toppra(name: str, seed: int, between: bool) -> _Motion:
    """Return toppra's motion along the same spline with the same limits, on its own grid points.

    Args:
        name: name of the robot.
        seed: number of the plan.
        between: whether limits hold between grid points, too.
    """
    robot, points = ours.robot(name), _plans(name)[seed]
    model = robot.model
    (section,) = sections_of_waypoints(points, (), model.velocity_limit)
    path = toppra.SplineInterpolator(section.breaks, points, bc_type='natural')
    scheme = constraint.DiscretizationType
    limits = [
        constraint.JointVelocityConstraint(
            np.column_stack((-model.velocity_limit, model.velocity_limit))
        ),
        constraint.JointTorqueConstraint(
            robot.inverse_dynamics,
            np.column_stack((-model.effort_limit, model.effort_limit)),
            np.zeros(robot.n),
            discretization_scheme=scheme.Interpolation if between else scheme.Collocation,
        ),
    ]
    instance = algorithm.TOPPRA(limits, path, parametrizer='ParametrizeConstAccel')
    found = instance.compute_trajectory()
    if found is None:
        raise MeasurementError('toppra finds no motion')
    times = np.linspace(0.0, found.duration, 20001)[1:-1]
    q, qd, qdd = (found(times, order) for order in range(3))
    efforts, weight = robot.inverse_dynamics(q, qd, qdd), robot.gravity_vector(q)
    # All but the weight falls with the square of the speed.
    moving = efforts - weight
    slowing = np.abs(moving) / (model.effort_limit - np.sign(moving) * weight)
    return _Motion(
        float(found.duration),
        float((np.abs(efforts) / model.effort_limit).max()),
        float(np.sqrt(max(1.0, slowing.max()))),
    )
