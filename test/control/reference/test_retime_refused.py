# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Paths and limits that cannot be retimed are refused by name; those at the edge are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from single_carts import cart

import kron_dynamics as kd
from kron_dynamics.control import Trajectory, retime
from kron_dynamics.exceptions import TrajectoryError

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    ('points', 'options', 'words'),
    [
        ([[0.0], [11.0]], {}, r"'slide'.*at 11 m 100 % .* waypoint 0 .*position limit 10 m"),
        ([[0.0], [9.0], [9.9], [1.0]], {}, r'waypoint 2 to the next, beyond the position limit'),
        ([[0.0], [1.0]], {'effort_limit': [0.0]}, "'slide': its effort limit is 0"),
        ([[0.0], [1.0]], {'velocity_limit': [0.0]}, "'slide': its velocity limit is 0"),
        ([[0.0], [1.0]], {'effort_rate_limit': [0.0]}, "'slide': its effort rate limit is 0"),
        ([[0.0], [1.0]], {'effort_limit': [np.inf]}, 'nothing limits the acceleration'),
        ([[0.0], [1.0]], {'effort_limit': [-1.0]}, 'effort_limit cannot be used for .slide.'),
        ([[0.0], [1.0]], {'velocity_limit': [1.0, 1.0]}, 'velocity_limit has shape'),
        ([[0.0, 1.0]], {}, r'path has shape \(1, 2\)'),
        ([[0.0], [np.nan]], {}, 'path holds a NaN'),
        ([[0.0], [1.0]], {'friction': 'yes'}, 'friction is '),
        ([[0.0], [1.0]], {'rests': [2]}, 'rests has 2'),
        ([[0.0], [1.0]], {'rests': 1}, 'rests is 1, expected indices of waypoints'),
        ([[0.0], [1.0]], {'position_tolerance': np.nan}, 'position_tolerance is nan, expected 0'),
        ([[0.0], [1.0]], {'position_tolerance': -1.0}, 'position_tolerance is -1, expected 0'),
        ([[0.0], [1.0]], {'position_tolerance': 'a'}, "position_tolerance is or holds 'a'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(points, options, words):
    with pytest.raises(kd.KronDynamicsError, match=words):
        retime(cart(), points, **options)


def test_without_tolerance_a_path_may_still_end_at_position_limits():
    found = retime(cart(), [[-10.0], [10.0]], position_tolerance=0.0)
    assert found.trajectory.sample(found.duration)[0] == 10.0


def test_weight_beyond_an_effort_limit_is_told_with_its_place():
    robot = kd.load(ROOT / 'test' / 'robots' / 'rrp.urdf')
    start, goal = np.array([0.0, 1.4, 0.1]), np.array([0.0, 0.0, 0.1])
    held = np.abs(robot.gravity_vector(np.array([start, goal])))[:, 1]
    assert held[0] < held[1]
    limits = [200.0, float(held.mean()), 150.0]
    with pytest.raises(TrajectoryError, match=rf'{robot.joint_names[1]}.*holds against weight.*%'):
        retime(robot, [start, goal], effort_limit=limits)


def test_motion_that_bends_at_once_is_refused():
    t, q, v = [0, 1, 2], [[0], [1], [3]], [[0.0], [1.0], [0.0]]
    given = Trajectory.from_points(['slide'], t, q, v)
    with pytest.raises(TrajectoryError, match="path of joint 'slide' bends at once at 1 s"):
        retime(cart(), given)
    moving = Trajectory.from_points(['slide'], [0, 1], [[0], [1]], start=([0], [0.5], [0]))
    with pytest.raises(TrajectoryError, match='begins in motion of .?slide'):
        retime(cart(), moving)
    other = Trajectory.from_points(['lift'], [0, 1], [[0], [1]])
    with pytest.raises(TrajectoryError, match='is for the joints'):
        retime(cart(), other)
    with pytest.raises(TrajectoryError, match='has its own'):
        retime(cart(), Trajectory.from_points(['slide'], [0, 1], [[0], [1]]), rests=[0])
