# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""~/annotate_trajectory gives what `annotate_trajectory` gives, with the limits of the node."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kron_dynamics_msgs.srv import AnnotateTrajectory

from kron_dynamics.control import annotate_trajectory

pytestmark = pytest.mark.ros

COUNT = 12
FIELDS = {'time_from_start': 'times', 'position': 'q', 'velocity': 'qd', 'acceleration': 'qdd'}


@pytest.fixture
def annotate(bench):
    """Call the service of a configured node with arrays (N, n)."""
    if bench.client.lifecycle_state() == 'unconfigured':
        bench.configure()

    def request(**fields):
        flat = {
            field: np.ravel(value).tolist() if isinstance(value, np.ndarray) else value
            for field, value in fields.items()
        }
        return bench.client.call(AnnotateTrajectory, 'dynamics_node/annotate_trajectory', **flat)

    return request


@pytest.fixture
def motion():
    """Times (K,), and q, qd, qdd (K, 3), which keep every limit."""
    t = np.linspace(0.0, 2.0, COUNT)
    phase = t[:, None] * [0.9, 1.3, 1.7]
    rates = np.array([0.9, 1.3, 1.7])
    q, qd = 0.1 * np.sin(phase), 0.1 * rates * np.cos(phase)
    return dict(zip(FIELDS, (t, q, qd, -(rates**2) * q), strict=True))


@pytest.mark.parametrize('friction', [False, True])
def test_efforts_of_a_trajectory(annotate, bench_robot, motion, assert_close, friction):
    answer = annotate(**motion, include_friction=friction)
    assert (answer.success, answer.message) == (True, '')
    assert tuple(answer.joint_names) == bench_robot.joint_names
    q, qd, qdd = list(motion.values())[1:]
    expected = bench_robot.inverse_dynamics(q, qd, qdd)
    expected = expected + friction * bench_robot.joint_friction(qd)
    assert_close(np.reshape(answer.effort, (COUNT, 3)), expected)
    assert_close(answer.velocity, qd.ravel())
    assert (answer.violation_count, list(answer.violations)) == (0, [])


@pytest.mark.parametrize('given', [1, 2, 3])
def test_some_joints_in_any_order_with_rates_as_far_as_they_are_known(
    annotate, bench_robot, motion, assert_close, given
):
    names, held = ['slide', 'turn'], {'lift': 0.4}
    fields = {name: motion[name][:, [2, 0]] for name in list(FIELDS)[1 : 1 + given]}
    answer = annotate(
        joint_names=names,
        time_from_start=motion['time_from_start'],
        held_joint_names=list(held),
        held_position=list(held.values()),
        **fields,
    )
    assert (answer.success, answer.message) == (True, '')
    expected = annotate_trajectory(
        bench_robot, motion['time_from_start'], *fields.values(), joint_names=names, held=held
    )
    assert list(answer.joint_names) == names
    assert_close(np.reshape(answer.velocity, (COUNT, 2)), expected.velocities)
    assert_close(np.reshape(answer.acceleration, (COUNT, 2)), expected.accelerations)
    assert_close(np.reshape(answer.effort, (COUNT, 2)), expected.efforts)


def test_points_beyond_the_limits_of_the_node_are_named(bench, annotate, motion):
    """Those that the node itself keeps: efforts by parameters, scaled, and their rates."""
    bench.configure(
        effort_limit_scale=0.5,
        joints={'effort_limit.lift': 40.0, 'effort_rate_limit.slide': 1.0},
    )
    motion['position'][3, 1] = 1.5  # lift: 1.4
    answer = annotate(**motion)
    assert answer.success
    found = list(
        zip(
            answer.violation_point,
            answer.violation_time,
            answer.violation_joint,
            answer.violation_quantity,
            answer.violation_value,
            answer.violation_limit,
            strict=True,
        )
    )
    assert len(found) == answer.violation_count
    assert list(answer.violation_point) == sorted(answer.violation_point)
    kinds = {(joint, quantity) for _, _, joint, quantity, *_ in found}
    assert ('lift', AnnotateTrajectory.Response.POSITION) in kinds
    efforts = np.reshape(answer.effort, (COUNT, 3))
    over = np.flatnonzero(np.abs(efforts[:, 1]) > 20.0)
    assert over.size
    effort = AnnotateTrajectory.Response.EFFORT
    told = [row for row in found if row[2:4] == ('lift', effort)]
    assert [row[0] for row in told] == over.tolist()
    for point, time, *_, value, limit in told:
        assert time == motion['time_from_start'][point]
        assert value == pytest.approx(efforts[point, 1])
        assert limit == math.copysign(20.0, value)
    slopes = np.diff(efforts[:, 2]) / np.diff(motion['time_from_start'])
    rate = AnnotateTrajectory.Response.EFFORT_RATE
    told = [row for row in found if row[2:4] == ('slide', rate)]
    assert [row[0] for row in told] == (1 + np.flatnonzero(np.abs(slopes) > 1.0)).tolist()
    assert len(answer.violations) == len(kinds)
    assert any("joint 'lift': position" in text for text in answer.violations)
    bench.configure()


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'position': [0.0] * 5}, 'position has 5 numbers, expected 2 x 3 (points x joints)'),
        ({'velocity': [0.0] * 3}, 'velocity has 3 numbers, expected 2 x 3'),
        ({'acceleration': [0.0] * 6}, 'accelerations are given without velocities'),
        ({'position': [0.0, math.nan] * 3}, "'lift' at point 0: nan"),
        ({'time_from_start': [1.0, 1.0]}, 'times must increase strictly'),
        ({'time_from_start': []}, 'position has 6 numbers, expected 0 x 3'),
        ({'joint_names': ['turn', 'lift'], 'position': [0.1] * 4}, 'leaves out slide'),
        ({'joint_names': ['turn', 'lift', 'sledge']}, "unknown: 'sledge'; missing: 'slide'"),
        ({'held_joint_names': ['boom'], 'held_position': [0.1]}, "unknown: 'boom'"),
        ({'held_joint_names': ['slide']}, 'held_position has 0 numbers, expected 1'),
        ({'velocity': [0.0] * 3 + [1e200] * 3}, "effort of joint 'turn' at point 1 is beyond"),
        ({'position': [1e308] * 3 + [-1e308] * 3}, 'is beyond the range of float64'),
    ],
)
def test_what_is_wrong_is_named(bench, annotate, changes, said):
    answer = annotate(**{'time_from_start': [0.0, 1.0], 'position': [0.1] * 6, **changes})
    assert not answer.success
    assert said in answer.message
    assert len(answer.effort) == len(answer.violations) == 0
    assert 'Warning' not in bench.process.output


def test_an_empty_request_is_refused(annotate):
    answer = annotate()
    assert not answer.success
    assert 'times has shape (0,), expected (K,) with at least one point' in answer.message


def test_batches_have_a_largest_size_and_lists_of_violations_too(bench, annotate):
    bench.configure(max_batch_size=1000)
    fields = {'time_from_start': np.arange(101.0), 'position': np.zeros((101, 3))}
    answer = annotate(**fields)
    assert not answer.success
    assert 'expected at most 1000 (parameter max_batch_size): send at most 100' in answer.message
    fields = {'time_from_start': np.arange(100.0), 'position': np.full((100, 3), 1.5)}
    answer = annotate(**fields)
    assert answer.success
    assert answer.violation_count >= 200  # lift and slide stand behind their stops
    assert len(answer.violation_point) == len(answer.violation_joint) == (1000 - 900) // 6
    bench.configure()


def test_a_node_that_is_not_configured_says_so(bench, annotate):
    bench.unconfigure()
    answer = annotate(time_from_start=[0.0], position=[0.0] * 3)
    assert not answer.success
    assert 'not configured' in answer.message
