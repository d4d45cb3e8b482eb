# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal retiming of random paths, beside toppra and beside a dense search: target 12."""

from __future__ import annotations

import functools
import time

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


def time_of_plan(name: str, rounds: int) -> Outcome:
    """Whole calls with limits of effort rates; the spread is over the plans."""
    robot = ours.robot(name)
    limits, spent = effort_rate_limits(name, robot), []
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
    """How much longer motions with effort rate limits take than a dense search finds, %."""
    robot = ours.robot(name)
    limits, excess = effort_rate_limits(name, robot), []
    for found in _retimed(name, True):
        bound = quickest_duration(
            robot, found.trajectory, robot.model.effort_limit, limits, divisions=3
        )
        excess.append(100.0 * (found.duration / bound - 1.0))
    return Outcome(Spread.of(excess))


def longer_than_toppra(name: str, _rounds: int) -> Outcome:
    """How much longer motions without effort rate limits take than toppra's, %.

    Raises:
        MeasurementError: there is no toppra.
    """
    if toppra is None:
        raise MeasurementError('no toppra')
    excess = [
        100.0 * (found.duration / _toppra_duration(name, points) - 1.0)
        for found, points in zip(_retimed(name, False), _plans(name), strict=True)
    ]
    return Outcome(Spread.of(excess))


def most_used(name: str, _rounds: int) -> Outcome:
    """The greatest share of an effort or effort rate limit in samples 1 ms apart, %."""
    robot, shares = ours.robot(name), []
    limits = effort_rate_limits(name, robot)
    for found in _retimed(name, True):
        tau = robot.inverse_dynamics(
            *found.trajectory.samples(np.arange(0.0, found.duration, 1e-3))
        )
        rates = np.abs(np.diff(tau, axis=0)) / 1e-3
        shares += [(np.abs(tau) / robot.model.effort_limit).max(), (rates / limits).max()]
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


def _toppra_duration(name: str, points: FloatArray) -> float:
    """Of the same spline with the same limits, its own choice of grid points."""
    robot = ours.robot(name)
    model = robot.model
    (section,) = sections_of_waypoints(points, (), model.velocity_limit)
    path = toppra.SplineInterpolator(section.breaks, points, bc_type='natural')
    limits = [
        constraint.JointVelocityConstraint(
            np.column_stack((-model.velocity_limit, model.velocity_limit))
        ),
        constraint.JointTorqueConstraint(
            robot.inverse_dynamics,
            np.column_stack((-model.effort_limit, model.effort_limit)),
            np.zeros(robot.n),
        ),
    ]
    instance = algorithm.TOPPRA(limits, path, parametrizer='ParametrizeConstAccel')
    found = instance.compute_trajectory()
    if found is None:
        raise MeasurementError('toppra finds no motion')
    return float(found.duration)
