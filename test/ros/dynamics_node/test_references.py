# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A reference is followed from its start on, or refused with the reason."""

from __future__ import annotations

import contextlib
import math
import time

import numpy as np
import pytest

with contextlib.suppress(ImportError):  # then these tests are not collected
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

HELD = np.array([0.1, 0.2, 0.05])
GOAL = np.array([0.4, 0.0, 0.15])
DURATION = 2.0
REST = np.zeros((2, 3))


def quintic(t):
    """Position, velocity and acceleration on the way from HELD to GOAL, by the textbook."""
    s, way = t / DURATION, GOAL - HELD
    return (
        HELD + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION,
        way * (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2,
    )


def effort_along(robot, q, qd, qdd):
    """Effort on a machine that is where it is wanted."""
    return robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)


@pytest.fixture
def active(bench):
    bench.prepare(q=HELD)
    bench.command()
    return bench


@pytest.fixture
def unmoved(bench):
    """The active node of tests whose references are all refused."""

    def prepare():
        bench.prepare(q=HELD)
        bench.command()

    bench.keep('refused references', prepare)
    return bench


def last_refusal(bench):
    values = {item.key: item.value for item in bench.client.next_status().values}
    return values.get('last refused reference')


@pytest.mark.parametrize(
    'given',
    [(REST, REST), (REST, None), (None, None)],
    ids=['with accelerations', 'with velocities', 'positions only'],
)
def test_points_are_joined_without_a_step_of_acceleration(active, assert_close, given):
    times, rows = [0.0, DURATION], [HELD, GOAL]
    start = active.time + 0.5
    assert active.refer(times, rows, *given, start=start) is None
    for moment in (0.25, 0.8, 1.1, 1.9):
        state = quintic(moment)
        effort = active.command(*state[:2], after=start + moment - active.time)
        assert_close(effort, effort_along(active.robot, *state), rel=1e-9)
    # The end is held.
    effort = active.command(GOAL, after=10.0)
    assert_close(effort, active.robot.gravity_vector(GOAL), rel=1e-9)


def test_a_reference_without_stamp_begins_at_once_from_where_the_reference_is(
    active, assert_close
):
    """The only point, in two seconds, is reached from the position held."""
    begin = active.time
    assert active.refer([DURATION], [GOAL]) is None
    state = quintic(1.1)
    effort = active.command(*state[:2], after=begin + 1.1 - active.time)
    assert_close(effort, effort_along(active.robot, *state), rel=1e-9)


def test_until_its_start_the_present_reference_is_followed(active, assert_close):
    start = active.time + 1.0
    assert active.refer([0.0, DURATION], [HELD, GOAL], REST, REST, start=start) is None
    held = active.robot.gravity_vector(HELD)
    for before in (0.9, 0.5, 0.1):
        effort = active.command(HELD, after=start - before - active.time)
        assert_close(effort, held, rel=1e-9)
    state = quintic(0.4)
    effort = active.command(*state[:2], after=start + 0.4 - active.time)
    assert_close(effort, effort_along(active.robot, *state), rel=1e-9)


def test_a_new_reference_replaces_one_that_waits(active, assert_close):
    other = HELD + [-0.2, 0.0, 0.0]
    start = active.time + 1.0
    assert active.refer([0.0, DURATION], [HELD, other], REST, REST, start=start) is None
    assert active.refer([0.0, DURATION], [HELD, GOAL], REST, REST, start=start + 1.0) is None
    effort = active.command(HELD, after=start + 0.9 - active.time)
    assert_close(effort, active.robot.gravity_vector(HELD), rel=1e-9)
    state = quintic(1.0)
    effort = active.command(*state[:2], after=start + 2.0 - active.time)
    assert_close(effort, effort_along(active.robot, *state), rel=1e-9)


def test_names_may_come_in_any_order(active, assert_close):
    order = [2, 0, 1]
    names = [active.robot.joint_names[i] for i in order]
    start = active.time + 0.1
    rows = [HELD[order], GOAL[order]]
    assert active.refer([0.0, DURATION], rows, REST, REST, start=start, names=names) is None
    state = quintic(0.7)
    effort = active.command(*state[:2], after=start + 0.7 - active.time)
    assert_close(effort, effort_along(active.robot, *state), rel=1e-9)


SPINNING = [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ('reference', 'said'),
    [
        (([0, 2], [HELD, HELD + [0, 1.5, 0]], REST), "'lift': position 1.7 rad at t = 2 s"),
        (([0, 0.1], [HELD, GOAL], REST), "'turn': velocity 5.625 rad/s"),
        (([0, 0.05], [HELD, HELD + [0.05, 0, 0]], REST), "'turn': effort"),
        (([0, 2], [HELD + [0.2, 0, 0], GOAL], REST), 'first point is at time 0 but its position'),
        (([0, 2], [HELD, GOAL], SPINNING), 'first point is at time 0 but its velocity'),
        (([0, 2], [HELD, GOAL], SPINNING[::-1]), 'last velocity must be 0'),
        (([2, 1], [HELD, GOAL], REST), 'times must increase'),
        (([0, 2], [HELD, (math.nan, 0, 0)], REST), "positions must be finite, got 'turn'"),
        (([0, 2], [HELD, GOAL[:2]], REST), 'point 1 has 2 positions, expected 3'),
        (([0, 2], [HELD, GOAL], [[0.0] * 3, []]), 'point 1 has 0 velocities'),
        (([0, 2], [HELD, GOAL], None, REST), 'accelerations are given without velocities'),
        (([0, 2], [[], []]), 'no positions'),
        (([], []), 'no points'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_what_cannot_be_followed_is_refused_with_the_reason(
    unmoved, assert_close, reference, said
):
    reason = unmoved.refer(*reference)
    assert said in reason
    assert said in last_refusal(unmoved)
    # What was followed before still is.
    assert_close(unmoved.command(HELD, after=1.0), unmoved.robot.gravity_vector(HELD), rel=1e-9)


@pytest.mark.parametrize(
    ('names', 'said'),
    [
        (['turn', 'lift', 'sledge'], "unknown: 'sledge'; missing: 'slide'"),
        (['turn', 'turn', 'lift'], "repeated: 'turn'"),
        (['turn', 'lift'], 'point 0 has 3 positions, expected 2'),
    ],
)
def test_wrong_names_are_refused(unmoved, names, said):
    assert said in unmoved.refer([0, 2], [HELD, GOAL], names=names)


def test_a_reference_of_the_past_is_refused(active):
    active.command(after=5.0)
    late = active.refer([0, 2], [HELD, GOAL], REST, start=active.time - 3.0)
    assert 'reference starts 3 s in the past' in late
    # One that was sent "now" and is a little late begins at once.
    assert active.refer([0, 2], [HELD, GOAL], REST, start=active.time - 0.2) is None
    assert last_refusal(active) is None


def test_the_start_tolerance_is_the_parameters(bench):
    bench.prepare(q=HELD, joints={'reference_start_tolerance.turn': 0.3})
    bench.command()
    near = [HELD + [0.25, 0.0, 0.0], GOAL]
    assert bench.refer([0, 2], near, REST) is None
    assert "'lift'" in bench.refer([0, 2], [HELD + [0.0, 0.25, 0.0], GOAL], REST)


def test_effort_limits_of_the_parameters_count_for_references(bench):
    limit = float(np.ceil(abs(bench.robot.gravity_vector(HELD)[1])))  # enough to stand there
    bench.prepare(q=HELD, joints={'effort_limit.lift': limit})
    bench.command()
    assert f'beyond the limit {limit:g} N m' in bench.refer([0, 2], [HELD, GOAL], REST)


def test_a_node_that_is_not_active_refuses(bench):
    bench.configure()
    assert bench.refer([0, 2], [HELD, GOAL], REST) == 'the node is not active'
    assert last_refusal(bench) == 'the node is not active'


def test_some_of_the_joints_move_and_the_others_hold(active, assert_close):
    begin = active.time
    assert active.refer([DURATION], [[0.15]], names=['slide']) is None
    state = quintic(1.1)
    q, qd, qdd = (
        np.where([False, False, True], row, still)
        for row, still in zip(state, (HELD, 0, 0), strict=True)
    )
    effort = active.command(q, qd, after=begin + 1.1 - active.time)
    assert_close(effort, effort_along(active.robot, q, qd, qdd), rel=1e-9)


@pytest.mark.parametrize(
    ('start', 'duration', 'said'),
    [(950400.0, 2, 'in the future, expected at most 600 s'), (0.0, 2e9, 'takes 2e+09 s')],
)
def test_a_reference_of_another_age_is_refused(unmoved, start, duration, said):
    assert said in unmoved.refer([0, duration], [HELD, GOAL], start=unmoved.time + start)


def test_points_one_by_one_are_followed_and_the_last_one_is_not_passed(active, assert_close):
    point = JointTrajectoryPoint(positions=(HELD + 0.002).tolist())
    point.time_from_start.nanosec = 200_000_000
    publisher = active.client.publisher(JointTrajectoryPoint, 'dynamics_node/reference_point')
    publisher.publish(point)
    deadline = time.monotonic() + 20.0
    while 'following reference points' not in active.process.output.splitlines()[-1]:
        assert time.monotonic() < deadline, active.process.output
        active.client.spin()
    for _ in range(5):
        active.command(HELD, after=0.03)
    # Half-way between the setpoint and where it was held nothing is passed; then it holds.
    effort = active.command(HELD + 0.002, after=0.5)
    assert effort.shape == (3,)
    values = {item.key: item.value for item in active.client.next_status().values}
    assert values['reference points followed, limited, refused, stops'].startswith('1, 0, 0')


def test_a_point_is_reached_at_its_time_and_not_before(local):
    local.state(HELD)
    point = JointTrajectoryPoint(positions=(HELD + 0.002).tolist())
    point.time_from_start.nanosec = 400_000_000
    local.node._references._on_point(point)
    for time_, share in ((0.2, 0.5), (0.4, 1.0), (2.0, 1.0)):  # from rest to rest
        q, _, _ = local.node._controller.reference_at(local.node._time + time_)
        np.testing.assert_allclose(q, HELD + 0.002 * share, rtol=0, atol=1e-9)


def test_a_goal_is_answered_where_control_msgs_is_installed(active):
    """The semantics are tested with stand-ins; here messages, server and client are real."""
    pytest.importorskip('control_msgs', reason='control_msgs is not installed')
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionClient

    client = ActionClient(
        active.client.node, FollowJointTrajectory, 'dynamics_node/follow_joint_trajectory'
    )

    def wait_for(future):
        deadline = time.monotonic() + 20.0
        while not future.done():
            assert time.monotonic() < deadline, active.process.output
            active.client.spin()
        return future.result()

    def result_of(names, goal, cancel=False):
        request = FollowJointTrajectory.Goal()
        request.trajectory.joint_names = names
        point = JointTrajectoryPoint(positions=goal)
        point.time_from_start.sec = int(DURATION)
        request.trajectory.points = [point]
        handle = wait_for(client.send_goal_async(request))
        assert handle.accepted
        if cancel:
            wait_for(handle.cancel_goal_async())
        with active.sending(HELD):
            return wait_for(handle.get_result_async())

    assert client.wait_for_server(20.0)
    refused = result_of(['nope'], [0.0])
    assert refused.result.error_code == FollowJointTrajectory.Result.INVALID_JOINTS
    assert "unknown: 'nope'" in refused.result.error_string
    reached = result_of(list(active.robot.joint_names), HELD.tolist())
    assert reached.result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    cancelled = result_of(list(active.robot.joint_names), GOAL.tolist(), cancel=True)
    assert cancelled.status == 5
    client.destroy()


def test_a_damaged_reference_is_refused(local):
    """It ended the node, at the next state."""
    node = local.node
    point = JointTrajectoryPoint(positions=HELD.tolist())
    whole = JointTrajectory(joint_names=['turn', 'lift', 'slide'], points=[point])
    data = bytes(serialize_message(whole))
    for damaged in (b'', data[:4], data[: len(data) // 2]):
        node._references._on_bytes(damaged)
        node._background.submit(int).result()  # the reading comes before
        for _ in range(2):
            local.state(HELD)
        refused = node._references.values()
        assert refused['last refused reference'].startswith(f'JointTrajectory of {len(damaged)} b')
        assert refused['code of this refusal'] == 'INVALID_GOAL'
    assert not node._controller.latch.faulted
