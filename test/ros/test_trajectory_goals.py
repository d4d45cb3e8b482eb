# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals with an answer: they are followed, monitored, refused, cancelled, with the reason."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest
from goal_desk import END, GOAL, HELD, INVALID, JOINTS, OLD, PATH, Desk, Handle, tolerance

pytestmark = pytest.mark.ros


@pytest.fixture
def desk(ros):
    return Desk()


def test_a_goal_is_followed_with_feedback_and_succeeds_at_its_end(desk):
    handle = desk.send()
    assert handle.status == 'executing'
    desk.off[0] = 0.01
    desk.see(1.9)
    assert handle.outcome is None
    assert desk.goals.progress(desk.time) == 'goal, 95%'
    desk.see(0.2)
    assert handle.outcome == ('succeeded', 0)
    assert 18 <= len(handle.feedback) <= 22  # 0.1 s apart
    told = handle.feedback[10]
    assert told.joint_names == list(desk.robot.joint_names)
    np.testing.assert_allclose(told.error.positions, [-0.01, 0.0], atol=1e-12)
    np.testing.assert_allclose(
        np.subtract(told.desired.positions, told.actual.positions), told.error.positions
    )
    assert len(told.desired.accelerations) == 2
    assert told.desired.time_from_start.sec == 1
    np.testing.assert_allclose(desk.reference[0], GOAL)
    assert desk.goals.progress(desk.time) is None
    # What replaces it later is no news of it.
    desk.send(goal=HELD)
    assert not any('aborted' in line for line in desk.logger.lines)


@pytest.mark.parametrize(
    ('goal', 'code', 'said'),
    [
        ({'names': ['nope', 'other']}, JOINTS, "unknown: 'nope'"),
        ({'start': 3.0}, OLD, 'starts 7.02 s in the past'),
        ({'start': 1e6}, INVALID, 'in the future, expected at most 600 s'),
        ({'duration': 0.001}, INVALID, 'velocity'),
        ({'goal': [0.1]}, INVALID, '1 positions, expected 2'),
        ({'path': [('nope', 0.1)]}, JOINTS, "path_tolerance is for joint 'nope'"),
        ({'end': [(0, -2.0)]}, INVALID, 'is -2, expected above 0'),
    ],
)
def test_a_refused_goal_says_why_and_moves_nothing(desk, goal, code, said):
    names = desk.robot.joint_names
    for which in {'path', 'end'} & set(goal):
        joint, value = goal[which][0]
        goal[which] = [tolerance(names[joint] if joint == 0 else joint, value)]
    handle = desk.send(**goal)
    assert handle.outcome == ('aborted', code)
    assert said in handle.result.error_string
    desk.see(1.0)
    np.testing.assert_array_equal(desk.reference[0], HELD)


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('component_path_tolerance', [SimpleNamespace()]),
        ('component_goal_tolerance', [SimpleNamespace()]),
        ('multi_dof_trajectory', SimpleNamespace(points=[SimpleNamespace()], joint_names=[])),
        ('multi_dof_trajectory', SimpleNamespace(points=[], joint_names=['float'])),
    ],
)
def test_a_goal_with_anything_about_joints_of_several_freedoms_is_refused(desk, field, value):
    handle = desk.send(more={field: value})
    assert handle.outcome == ('aborted', INVALID)
    assert 'joints of several degrees of freedom' in handle.result.error_string
    nothing = {'multi_dof_trajectory': SimpleNamespace(points=[], joint_names=[])}
    assert desk.send(more=nothing).status == 'executing'


def test_a_cancelled_goal_stops_without_a_jump_and_is_then_canceled(desk):
    handle = desk.send()
    desk.see(0.8)
    before = desk.reference
    assert np.abs(before[1]).min() > 0.1
    handle.cancel()
    desk.see()
    assert handle.outcome is None
    stop = desk.controller.references.present
    for k, (got, wanted) in enumerate(zip(desk.reference, before, strict=True)):
        np.testing.assert_allclose(got, wanted, atol=(0.01, 0.05, 1.0)[k])
    desk.see(3.0)
    assert handle.outcome == ('canceled', 0)
    assert desk.controller.references.present is stop  # planned once
    q, qd, _ = desk.reference
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)
    way = (q - HELD) / (GOAL - HELD)
    assert 0.2 < way[0] < 0.9
    assert way[0] == pytest.approx(way[1], abs=1e-4)  # still on the straight way


def test_a_goal_cancelled_before_its_start_moves_nothing(desk):
    handle = desk.send(start=desk.time + 2.0)
    desk.see(0.5)
    handle.cancel()
    desk.see(4.0)
    assert handle.outcome == ('canceled', 0)
    np.testing.assert_allclose(desk.reference[0], HELD)


def test_a_goal_cancelled_while_it_is_checked_leaves_what_is_followed(desk):
    first = desk.send()
    never = SimpleNamespace(submit=lambda work: Future())
    desk.input._background = never  # a goal of many points is checked there
    second = desk.send(goal=HELD, count=100)
    desk.see(0.5)
    second.cancel()
    desk.see()
    assert second.outcome == ('canceled', 0)
    assert second.result.error_string == 'the goal was cancelled before it was followed'
    desk.see(1.6)
    assert first.outcome == ('succeeded', 0)
    np.testing.assert_allclose(desk.reference[0], GOAL)


def test_leaving_the_path_aborts_and_stops(desk):
    handle = desk.send(path=[tolerance(desk.robot.joint_names[1], 0.03)])
    desk.off[0] = 0.2
    desk.see(0.6)
    assert handle.outcome is None
    desk.off[1] = 0.04
    desk.see()
    assert handle.outcome == ('aborted', PATH)
    assert 'position off by 0.04, tolerance 0.03' in handle.result.error_string
    assert any('aborted (PATH_TOLERANCE_VIOLATED)' in line for line in desk.logger.lines)
    desk.see(3.0)
    q, qd, _ = desk.reference
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)
    assert np.abs(q - GOAL).min() > 0.05


def test_a_goal_that_is_not_reached_in_time_is_aborted_and_its_end_held(desk):
    handle = desk.send(end=[tolerance(desk.robot.joint_names[0], 0.001)], seconds=2)
    desk.off[0] = 0.01
    desk.see(3.9)
    assert handle.outcome is None
    desk.see(0.3)
    assert handle.outcome == ('aborted', END)
    np.testing.assert_allclose(desk.reference[0], GOAL)


def test_none_as_a_tolerance_lets_a_goal_succeed_anywhere(desk):
    names = desk.robot.joint_names
    handle = desk.send(end=[tolerance(name, -1.0, -1.0) for name in names])
    desk.off[:] = 0.7
    desk.see(2.1)
    assert handle.outcome == ('succeeded', 0)


def test_a_newer_goal_that_is_refused_changes_nothing(desk):
    first = desk.send()
    desk.see(0.5)
    assert desk.send(goal=[90.0, 0.0]).outcome == ('aborted', INVALID)
    desk.see(1.7)
    assert first.outcome == ('succeeded', 0)


def test_a_goal_for_some_joints_holds_the_others(desk):
    handle = desk.send(goal=[0.4], names=desk.robot.joint_names[1:])
    desk.see(2.1)
    assert handle.outcome == ('succeeded', 0)
    np.testing.assert_allclose(desk.reference[0], [HELD[0], 0.4])


def test_a_fault_while_a_goal_is_being_cancelled_ends_it(desk):
    handle = desk.send()
    desk.see(0.8)
    handle.cancel()
    desk.see()
    desk.input.drop('a fault stopped the machine: stale')
    assert handle.outcome == ('canceled', 0)
    assert 'stale' in handle.result.error_string


def test_a_node_that_is_not_active_says_so(desk):
    handle = Handle(None)
    desk.goals.take(handle, None, 0.0)
    assert handle.outcome == ('aborted', INVALID)
    assert handle.result.error_string == 'the node is not active'


def test_tolerances_of_accelerations_are_told_to_count_for_nothing(desk):
    desk.send(path=[tolerance(desk.robot.joint_names[0], 0.0, 0.0, 1.0)])
    assert any('accelerations are ignored' in line for line in desk.logger.lines)


def test_a_result_is_sent_although_the_executor_has_stopped(ros):
    """At the end of a node: what is left to a task is never done."""
    from rclpy.executors import SingleThreadedExecutor

    from kron_dynamics.ros.goal_server import GoalServer, _Server

    executor, sent = SingleThreadedExecutor(), []
    answer = executor.create_future()
    answer.add_done_callback(lambda future: sent.append(future.result()))
    executor.shutdown()
    server = object.__new__(_Server)
    server._logger = SimpleNamespace(debug=lambda line: None, warning=None, error=None)
    server._result_futures = {bytes(16): answer}
    response = SimpleNamespace(Response=SimpleNamespace)
    server._action_type = SimpleNamespace(Impl=SimpleNamespace(GetResultService=response))
    goals = object.__new__(GoalServer)
    goals._server = server
    handle = SimpleNamespace(goal_id=SimpleNamespace(uuid=bytes(16)), is_active=False, status=6)
    goals.finish(handle, 'the reason')
    assert [(each.status, each.result) for each in sent] == [(6, 'the reason')]
