# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stops that begin just before the end of a motion, or hardly before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kron_dynamics import Robot
from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.stop import shortest_stop

FREE = np.full(3, np.inf)


@pytest.fixture(scope='module')
def robot(robot_text: Any) -> Robot:
    import kron_dynamics as kd

    return kd.loads(robot_text('spatial_3r'))


def motion(robot: Robot, quintic: bool, duration: float = 2.0) -> Trajectory:
    """From rest to rest through one point between."""
    zeros, between = np.zeros(3), np.array([0.3, -0.2, 0.4])
    return Trajectory.from_points(
        robot.joint_names,
        [0.0, 0.5 * duration, duration],
        [zeros, between, 2.0 * between],
        [zeros, between, zeros],
        [zeros, zeros, zeros] if quintic else None,
    )


@pytest.mark.parametrize('quintic', [True, False])
@pytest.mark.parametrize('left', [0.0, 1e-13, 2.4e-7, 1e-5, 5e-5, 1e-4, 2e-4, 1e-3, 1e-2, 0.1])
def test_the_stop_ends_where_the_motion_does(robot: Robot, quintic: bool, left: float) -> None:
    """It begins with the motion's state, as far as that is not the end within rounding."""
    before = motion(robot, quintic)
    at = before.duration - left
    stop = shortest_stop(before, at, robot, np.full(3, 0.5), FREE)
    np.testing.assert_allclose(stop.final_position, before.final_position, rtol=0, atol=1e-3)
    q, qd, qdd = before.sample(at)
    found = stop.sample(0.0)
    np.testing.assert_allclose(found[0], q, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found[1], qd, rtol=0, atol=2e-3)
    if left > 1e-4:
        np.testing.assert_allclose(found[2], qdd, rtol=1e-6, atol=1e-6)
    _, _, _, accelerations = stop.grid(9)
    assert np.abs(accelerations).max(initial=0.0) < 2.0 * np.abs(before.grid(9)[3]).max()


@pytest.mark.parametrize('left', [0.3, 0.1, 0.03, 0.01, 0.001])
def test_a_stop_that_no_limit_allows_goes_on_to_the_end(robot: Robot, left: float) -> None:
    """However slow the stops are that were tried."""
    before = motion(robot, True, 0.6)
    at = before.duration - left
    efforts = np.abs(robot.inverse_dynamics(*before.samples(np.linspace(at, 0.6, 50)[:-1])))
    limit = 0.5 * efforts.max(axis=0)
    stop = shortest_stop(before, at, robot, np.full(3, 0.2), limit)
    np.testing.assert_allclose(stop.final_position, before.final_position, rtol=0, atol=1e-9)
    assert stop.duration < 2.0 * left + 1e-3
