# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Random paths to retime, and the effort rate limits of their robots."""

from __future__ import annotations

import numpy as np

import kron_dynamics as kd
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.typing import FloatArray

PLANS = {'ur5': 20, 'panda': 20, 'stacker': 5}
# Share of the position ranges, about their middle, in which waypoints are drawn; ranges of several
# turns are reduced to one.
_SHARE = 0.8


def effort_rate_limits(name: str, robot: kd.Robot) -> FloatArray:
    """Return effort rate limits, shape (n,), N m/s or N/s.

    The Panda's are those of its controller. Full effort is reached in 0.1 s by the UR5, and in
    2 s by the stacker-reclaimer.
    """
    if name == 'panda':
        return np.full(robot.n, 1000.0)
    return robot.model.effort_limit * (0.5 if name == 'stacker' else 10.0)


def waypoints(robot: kd.Robot, seed: int) -> FloatArray:
    """Return 2 to 5 waypoints, shape (K, n), whose spline stays within the position limits."""
    rng = np.random.default_rng(seed)
    model = robot.model
    lower, upper = model.position_lower.copy(), model.position_upper.copy()
    turning = upper - lower > 2.0 * np.pi
    if robot.n > 3:
        lower[turning], upper[turning] = -np.pi, np.pi
    middle, half = 0.5 * (lower + upper), 0.5 * _SHARE * (upper - lower)
    while True:
        points = middle + half * rng.uniform(-1.0, 1.0, (rng.integers(2, 6), robot.n))
        (section,) = sections_of_waypoints(points, (), model.velocity_limit)
        if section.beyond(model.position_lower, model.position_upper) is None:
            return points
