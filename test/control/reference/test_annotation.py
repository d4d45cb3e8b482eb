# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts at the points of trajectories, rates that are filled in, and points beyond limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline

import kron_dynamics as kd
from kron_dynamics.control import annotate_trajectory
from kron_dynamics.control.reference.annotation import QUANTITIES

ROBOTS = Path(__file__).parents[2] / 'robots'
COUNT = 40


@pytest.fixture(scope='module')
def robot(kernel_cache):
    """Turn without limits, lift against gravity, slide: limits 200, 400 N m and 150 N."""
    return kd.load(ROBOTS / 'rrp.urdf')


@pytest.fixture(scope='module')
def motion():
    """Times (K,), and q, qd, qdd (K, 3) along sines, within the limits of the robot."""
    t = np.cumsum(np.random.default_rng(5).uniform(0.05, 0.15, COUNT))[:, None]
    size, w = np.array([0.4, 0.3, 0.1]), np.array([0.9, 1.3, 1.7])
    return t[:, 0], size * np.sin(w * t), size * w * np.cos(w * t), -size * w**2 * np.sin(w * t)


@pytest.mark.parametrize('friction', [False, True])
def test_efforts_are_those_of_inverse_dynamics(robot, motion, assert_close, friction):
    t, *states = motion
    found = annotate_trajectory(robot, t, *states, friction=friction)
    expected = robot.inverse_dynamics(*states) + friction * robot.joint_friction(states[1])
    assert_close(found.efforts, expected)
    for given, told in zip(
        states, (found.positions, found.velocities, found.accelerations), strict=True
    ):
        assert_close(told, given)
    assert (found.joint_names, found.reports) == (robot.joint_names, ())


def test_columns_are_matched_by_name(robot, motion, assert_close):
    t, *states = motion
    order = [2, 0, 1]
    names = [robot.joint_names[k] for k in order]
    found = annotate_trajectory(robot, t, *(x[:, order] for x in states), joint_names=names)
    assert found.joint_names == tuple(names)
    assert_close(found.efforts, robot.inverse_dynamics(*states)[:, order])


def test_joints_left_out_stand_where_they_are_held(robot, motion, assert_close):
    t, *states = motion
    found = annotate_trajectory(
        robot,
        t,
        *(x[:, [2, 0]] for x in states),
        joint_names=['slide', 'turn'],
        held={'lift': 0.7},
    )
    for x, still in zip(states, (0.7, 0.0, 0.0), strict=True):
        x = x.copy()
        x[:, 1] = still
        states = [*states[1:], x]
    assert_close(found.efforts, robot.inverse_dynamics(*states)[:, [2, 0]])


def test_a_joint_that_stands_still_has_limits_too(robot):
    found = annotate_trajectory(
        robot, [0.0, 1.0], np.zeros((2, 2)), joint_names=['turn', 'slide'], held={'lift': 1.5}
    )
    assert {robot.joint_names[k] for k in found.violations.joint} == {'lift'}
    (report,) = found.reports
    assert report.startswith("joint 'lift': position is beyond its limit at 2 of 2 points")


def test_accelerations_left_out_are_those_of_the_cubic_pieces(robot, motion, assert_close):
    t, q, qd, _ = motion
    found = annotate_trajectory(robot, t, q, qd)
    pieces = CubicHermiteSpline(t, q, qd).c  # (4, pieces, n)
    before = 6.0 * pieces[0] * np.diff(t)[:, None] + 2.0 * pieces[1]
    after = 2.0 * pieces[1]
    expected = np.vstack((after[:1], (before[:-1] + after[1:]) / 2.0, before[-1:]))
    assert_close(found.accelerations, expected, rel=1e-9)
    assert_close(found.efforts, robot.inverse_dynamics(q, qd, expected), rel=1e-9)


def test_velocities_left_out_are_those_of_a_spline_between_rests(robot, motion, assert_close):
    t, q, *_ = motion
    found = annotate_trajectory(robot, t, q)
    assert_close(found.velocities[[0, -1]], np.zeros((2, 3)), floor=1.0)
    spline = CubicSpline(t, q, bc_type=((1, np.zeros(3)), (1, np.zeros(3))))
    assert_close(found.velocities, spline(t, 1), rel=1e-9)
    assert_close(found.accelerations, spline(t, 2), rel=1e-9)
    # The answer says the same of itself: nothing is left to fill in.
    again = annotate_trajectory(robot, t, q, found.velocities, found.accelerations)
    assert_close(again.efforts, found.efforts)


def test_a_single_point_is_a_rest(robot, assert_close):
    found = annotate_trajectory(robot, [0.0], [[0.1, 0.2, 0.3]])
    assert_close(found.efforts, robot.gravity_vector([[0.1, 0.2, 0.3]]))
    assert_close(found.velocities, np.zeros((1, 3)))


def test_links_that_bend_count_as_stiff(stacker, stacker_files, assert_close):
    bending = kd.load(stacker_files.urdf, flexible=stacker_files.flexible)
    points = [0.0, 5.0], [[10.0, 0.0, 0.0], [10.1, 0.01, 0.001]]
    stiff = annotate_trajectory(stacker, *points)
    assert_close(annotate_trajectory(bending, *points).efforts, stiff.efforts)


def test_every_point_beyond_a_limit_is_named(robot):
    """One point for each quantity, in a motion that otherwise keeps every limit."""
    t = np.arange(6.0)
    q, qd, qdd = np.zeros((3, 6, 3))
    q[1, 2] = -0.3  # slide: from -0.2
    qd[2, 0] = -2.5  # turn: 2
    rest = robot.gravity_vector(np.zeros(3))
    M = robot.mass_matrix(np.zeros(3))
    lift = 500.0 - rest[1]
    qdd[4] = np.linalg.solve(M, [0.0, lift, 0.0])
    found = annotate_trajectory(robot, t, q, qd, qdd, effort_rate_limit=[np.inf, 450.0, np.inf])
    named = [
        (robot.joint_names[j], k, QUANTITIES[quantity], time, value, limit)
        for k, j, quantity, time, value, limit in zip(*found.violations, strict=True)
    ]
    step = 500.0 - rest[1]
    expected = [
        ('slide', 1, 'position', 1.0, -0.3, -0.2),
        ('turn', 2, 'velocity', 2.0, -2.5, -2.0),
        ('lift', 4, 'effort', 4.0, 500.0, 400.0),
        *([('lift', 4, 'effort rate', 4.0, step, 450.0)] if step > 450.0 else []),
        *([('lift', 5, 'effort rate', 5.0, -step, -450.0)] if step > 450.0 else []),
    ]
    assert [row[:3] for row in named] == [row[:3] for row in expected]
    for row, wanted in zip(named, expected, strict=True):
        assert row[3:] == pytest.approx(wanted[3:])
    texts = '\n'.join(found.reports)
    assert "joint 'turn': velocity is beyond its limit at 1 of 6 points" in texts
    assert 'worst at point 2, t = 2 s: -2.5 rad/s, limit -2 rad/s' in texts
    assert 't = 1 s: -0.3 m, limit -0.2 m' in texts


def test_the_effort_rate_is_the_slope_between_points(robot):
    t = [0.0, 0.5, 2.0]
    q = np.zeros((3, 3))
    q[1, 1] = 0.6
    slopes = np.diff(robot.gravity_vector(q)[:, 1]) / np.diff(t)
    rest = np.zeros((3, 3))
    for share, count in ((1.001, 0), (0.999, 1)):
        bound = share * np.abs(slopes).max()
        found = annotate_trajectory(
            robot, t, q, rest, rest, effort_rate_limit=[np.inf, bound, np.inf]
        )
        assert found.violations.point.size == count
    assert found.violations.point[0] == 1 + np.abs(slopes).argmax()
    assert found.violations.value[0] == pytest.approx(slopes[np.abs(slopes).argmax()])
    assert 'N m/s' in found.reports[0]


def test_a_move_at_its_limits_keeps_them(robot):
    qd = np.array([[2.0, -1.5, 0.5]])
    found = annotate_trajectory(robot, [0.0], [[9.0, 1.4, -0.2]], qd, [[0.0, 0.0, 0.0]])
    assert found.reports == ()


def test_given_effort_limits_count_instead_of_the_models(robot, motion):
    t, *states = motion
    found = annotate_trajectory(robot, t, *states, effort_limit=[200.0, 1e-3, 150.0])
    assert set(found.violations.joint) == {1}
    assert set(found.violations.quantity) == {QUANTITIES.index('effort')}
    assert 'limit' in found.reports[0]


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'joint_names': ['turn', 'slide']}, r'leaves out lift, expected all of turn, lift'),
        ({'joint_names': ['turn', 'lift', 'sledge'], 'held': {'slide': 0.1}}, r"'sledge'"),
        ({'joint_names': ['turn', 'lift', 'lift'], 'held': {'slide': 0.1}}, r"repeated: 'lift'"),
        ({'held': {'slide': 0.1}}, r"repeated: 'slide'"),
        ({'held': {'boom': 0.1}}, r"unknown: 'boom'"),
        ({'times': [0.0, 0.0]}, r'times must increase strictly'),
        ({'times': [0.0, np.nan]}, r'times must be finite'),
        ({'times': [0.0, 1.0, 2.0]}, r'positions has shape \(2, 3\), expected \(3, 3\)'),
        ({'positions': [[0.0, np.nan, 0.0]] * 2}, r"'lift' at point 0: nan"),
        ({'accelerations': np.zeros((2, 3))}, r'accelerations are given without velocities'),
    ],
)
def test_what_cannot_be_annotated_is_named(robot, changes, said):
    arguments = {'times': [0.0, 1.0], 'positions': np.zeros((2, 3)), **changes}
    with pytest.raises(kd.TrajectoryError, match=said):
        annotate_trajectory(robot, **arguments)


def test_a_held_position_is_a_number(robot):
    with pytest.raises(kd.TrajectoryError, match='is held at nan, expected a finite'):
        annotate_trajectory(
            robot,
            [0.0],
            np.zeros((1, 2)),
            joint_names=['turn', 'lift'],
            held={'slide': np.nan},
        )


@pytest.mark.filterwarnings('error')
def test_an_effort_that_no_number_can_hold_is_refused(robot):
    rates = np.zeros((2, 3))
    rates[1, 1] = 1e200
    with pytest.raises(kd.NonFiniteError, match=r"effort of joint 'turn' at point 1 is beyond"):
        annotate_trajectory(robot, [0.0, 1.0], np.full((2, 3), 0.3), rates, np.zeros((2, 3)))
    with pytest.raises(kd.NonFiniteError, match=r"acceleration of joint 'turn' at point 0"):
        annotate_trajectory(robot, [0.0, 1e-5], [[0.0, 0.0, 0.0], [1e308, 0.0, 0.0]])
