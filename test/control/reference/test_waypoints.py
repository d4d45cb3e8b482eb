# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trajectory's points may be, and how they continue the present reference."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.some_joints import trajectory_from
from kron_dynamics.exceptions import TrajectoryError

NAMES = ('travel', 'slew')
START = ([0.1, -0.2], [0.3, 0.05], [-0.4, 0.6])
POSITIONS = np.array([[0.5, 0.5], [1.0, 0.0]])
VELOCITIES = np.array([[0.2, -0.1], [0.0, 0.0]])
ACCELERATIONS = np.array([[0.1, 0.1], [0.0, 0.0]])
KINDS = {'spline': (), 'cubic': (VELOCITIES,), 'quintic': (VELOCITIES, ACCELERATIONS)}


@pytest.mark.parametrize('kind', KINDS)
def test_later_first_point_is_reached_from_the_start_state(kind):
    trajectory = Trajectory.from_points(NAMES, [1.0, 2.0], POSITIONS, *KINDS[kind], start=START)
    q, qd, qdd = trajectory.sample(0.0)
    np.testing.assert_allclose(q, START[0], atol=1e-12)
    np.testing.assert_allclose(qd, START[1], atol=1e-12)
    np.testing.assert_allclose(qdd, START[2], atol=1e-12)
    np.testing.assert_allclose(trajectory.sample(1.0)[0], POSITIONS[0], atol=1e-12)
    assert trajectory.duration == 2.0


def test_one_goal_point_is_a_move_from_the_start_state():
    trajectory = Trajectory.from_points(NAMES, [3.0], [[1.0, 1.0]], start=START)
    np.testing.assert_allclose(trajectory.sample(0.0)[1], START[1], atol=1e-12)
    np.testing.assert_allclose(trajectory.sample(3.0 - 1e-9)[1], 0.0, atol=1e-7)
    np.testing.assert_array_equal(trajectory.final_position, [1.0, 1.0])


@pytest.mark.parametrize('kind', KINDS)
def test_first_point_at_time_zero_is_replaced_by_the_start_it_agrees_with(kind):
    near = (POSITIONS[0] + 5e-4, VELOCITIES[0] - 5e-4, [9.0, 9.0])
    trajectory = Trajectory.from_points(NAMES, [0.0, 2.0], POSITIONS, *KINDS[kind], start=near)
    q, qd, qdd = trajectory.sample(0.0)
    np.testing.assert_allclose(q, near[0], atol=1e-12)
    np.testing.assert_allclose(qd, near[1], atol=1e-12)
    np.testing.assert_allclose(qdd, near[2], atol=1e-12)


@pytest.mark.parametrize(
    ('start', 'words'),
    [
        (([0.5, 0.6], VELOCITIES[0], [0, 0]), "position .*'slew': 0.5 instead of 0.6"),
        (([0.5, 0.5], [0.3, -0.1], [0, 0]), "velocity .*'travel': 0.2 instead of 0.3"),
    ],
)
def test_first_point_at_time_zero_that_is_elsewhere_is_refused(start, words):
    with pytest.raises(TrajectoryError, match=words):
        Trajectory.from_points(NAMES, [0.0, 2.0], POSITIONS, VELOCITIES, start=start)


def test_start_tolerance_is_the_callers():
    start = ([0.5, 0.6], VELOCITIES[0], [0, 0])
    trajectory = Trajectory.from_points(
        NAMES, [0.0, 2.0], POSITIONS, VELOCITIES, start=start, start_tolerance=0.2
    )
    np.testing.assert_allclose(trajectory.sample(0.0)[0], [0.5, 0.6])


@pytest.mark.parametrize(
    'tolerance', [np.nan, [0.1, np.nan], -1.0, [0.1, 0.1, 0.1], '1', 1j, None, [[0.1, 0.1]]]
)
def test_start_tolerance_that_is_none_is_refused(tolerance):
    """With NaN any start was accepted."""
    start, points = (np.zeros(2), np.zeros(2), np.zeros(2)), [[5.0, 0.0], [1.0, 0.0]]
    with pytest.raises(TrajectoryError, match='start_tolerance'):
        Trajectory.from_points(
            ('a', 'b'), [0.0, 1.0], points, start=start, start_tolerance=tolerance
        )


@pytest.mark.parametrize('joints', [None, np.array([0, 1])])
@pytest.mark.parametrize('wrong', [np.array([[1j, 0.0]]), [['1', '0']], [[True, False]], 'abc'])
@pytest.mark.parametrize('argument', [0, 1, 2])
def test_points_that_are_no_real_numbers_are_refused(argument, wrong, joints):
    """Imaginary parts were dropped, and texts read."""
    points = [[[1.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]]]
    points[argument] = wrong
    start, mask = (np.zeros(2), np.zeros(2), np.zeros(2)), np.zeros(2, bool)
    with pytest.raises(TrajectoryError, match='expected real numbers'):
        trajectory_from(
            start, ('a', 'b'), [1.0], points, joints, continuous=mask, start_tolerance=np.ones(2)
        )


def test_hold_cannot_begin_in_motion():
    with pytest.raises(TrajectoryError, match="velocity .*'slew'"):
        Trajectory.from_points(NAMES, [0.0], [[0.5, 0.5]], start=([0.5, 0.5], [0, 1e-4], [0, 0]))


def test_start_of_a_continuous_joint_is_the_nearest_turn():
    turns = 2.0 * np.pi * np.array([3.0, 3.0])
    start = (POSITIONS[0] + turns - 0.1, [0.0, 0.0], [0.0, 0.0])
    trajectory = Trajectory.from_points(
        NAMES, [1.0, 2.0], POSITIONS, start=start, continuous=[False, True]
    )
    np.testing.assert_allclose(
        trajectory.sample(0.0)[0], [POSITIONS[0, 0] + turns[0] - 0.1, POSITIONS[0, 1] - 0.1]
    )


def test_without_start_a_later_first_point_is_held_until_its_time():
    trajectory = Trajectory.from_points(NAMES, [1.0, 2.0], POSITIONS)
    np.testing.assert_array_equal(trajectory.sample(0.5)[0], POSITIONS[0])
    with pytest.raises(TrajectoryError, match='no start state'):
        Trajectory.from_points(NAMES, [1.0, 2.0], POSITIONS, VELOCITIES)


@pytest.mark.parametrize(
    ('times', 'words'),
    [
        ([], r'at least one point'),
        ([[0.0, 1.0]], r'expected \(K,\)'),
        ([0.0, np.nan], 'times must be finite'),
        ([-0.5, 1.0], r'times\[0\] is -0.5'),
        ([1.0, 1.0], r'times\[1\] = 1 s follows times\[0\] = 1 s'),
        ([2.0, 1.0], 'increase strictly'),
        ('soon', 'times is not an array of numbers'),
    ],
)
def test_bad_times_are_refused(times, words):
    with pytest.raises(TrajectoryError, match=words):
        Trajectory.from_points(NAMES, times, POSITIONS)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('argument', ['positions', 'velocities', 'accelerations'])
def test_every_joint_with_a_value_that_is_not_finite_is_named(argument, bad):
    points = {
        'positions': POSITIONS.copy(),
        'velocities': VELOCITIES.copy(),
        'accelerations': ACCELERATIONS.copy(),
    }
    points[argument][1, 1] = bad
    with pytest.raises(TrajectoryError, match=f"{argument} .* 'slew' at point 1: {bad}"):
        Trajectory.from_points(NAMES, [0.0, 1.0], **points)


@pytest.mark.parametrize('argument', ['positions', 'velocities', 'accelerations'])
def test_wrong_shapes_are_refused(argument):
    points = {
        'positions': POSITIONS,
        'velocities': VELOCITIES,
        'accelerations': ACCELERATIONS,
    }
    points[argument] = points[argument][:, :1]
    with pytest.raises(TrajectoryError, match=rf'{argument} has shape \(2, 1\), .*\(2, 2\)'):
        Trajectory.from_points(NAMES, [0.0, 1.0], **points)


def test_ragged_points_are_refused():
    with pytest.raises(TrajectoryError, match='positions is not an array of numbers'):
        Trajectory.from_points(NAMES, [0.0, 1.0], [[0.0, 0.0], [1.0]])


def test_start_of_the_wrong_length_is_refused():
    with pytest.raises(TrajectoryError, match='start velocity has shape'):
        Trajectory.from_points(NAMES, [1.0, 2.0], POSITIONS, start=([0.0, 0.0], [0.0], [0.0, 0.0]))


def test_start_that_is_not_finite_is_refused():
    with pytest.raises(TrajectoryError, match="start position .*'travel'"):
        Trajectory.from_points(
            NAMES, [1.0, 2.0], POSITIONS, start=([np.nan, 0.0], [0.0, 0.0], [0.0, 0.0])
        )


def test_last_velocity_must_be_zero():
    moving = VELOCITIES.copy()
    moving[-1, 1] = 0.25
    with pytest.raises(TrajectoryError, match="last velocity .*'slew': 0.25"):
        Trajectory.from_points(NAMES, [0.0, 1.0], POSITIONS, moving)


def test_accelerations_need_velocities():
    with pytest.raises(TrajectoryError, match='without velocities'):
        Trajectory.from_points(NAMES, [0.0, 1.0], POSITIONS, None, ACCELERATIONS)


@pytest.mark.parametrize('names', [(), ('slew', 'slew')])
def test_joint_names_must_be_given_and_differ(names):
    with pytest.raises(TrajectoryError, match='must be given and differ'):
        Trajectory.from_points(names, [0.0, 1.0], POSITIONS)
