# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""On doubt the node goes to its fault action, says why, and stays there until told otherwise."""

from __future__ import annotations

import time
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import serialize_message
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = pytest.mark.ros

Q, QD = np.array([0.1, 0.2, 0.05]), np.array([0.3, -0.2, 0.1])
DAMPING, PERIOD = 1.0, 0.02
TIMEOUT = 0.5
# Wall time that a busy computer may take on top, s; at the timeout of the other tests it is over.
MARGIN = 30.0


def braked(robot):
    """The fault action on the state that is sent."""
    weight = robot.gravity_vector(Q + PERIOD * QD)
    return weight - DAMPING * robot.mass_matrix(Q) @ QD


def clear_fault(bench):
    return bench.client.call(Trigger, 'dynamics_node/clear_fault')


def wait_for_fault(bench):
    bench.client.wait_for(
        lambda: bench.client.next_status().message.startswith('fault'), 'fault on /diagnostics'
    )
    return bench.client.status()


@pytest.fixture
def run_then_fall_silent(bench):
    """Run the node on states in real time, then stop sending; return when the last one went."""

    def healthy():
        """States that a busy computer sends late are a fault, which is none of the node's."""
        if bench.client.next_status().level == DiagnosticStatus.OK:
            return True
        clear_fault(bench)
        return False

    def run(**settings):
        bench.configure(state_timeout=TIMEOUT, **settings)
        with bench.sending(Q, QD):
            bench.client.wait_for(lambda: bench.twists, 'first state')
            assert bench.client.transition('activate')
            bench.client.wait_for(lambda: len(bench.commands) > 5, 'commands')
            bench.client.wait_for(healthy, 'healthy node')
            return time.monotonic()

    return run


@pytest.mark.parametrize('action', ['hold_gravity', 'zero'])
def test_silence_of_the_states_is_a_fault_within_the_timeout(
    bench, run_then_fall_silent, assert_close, action
):
    silent_since = run_then_fall_silent(fault_action=action)
    status = wait_for_fault(bench)
    assert TIMEOUT - 0.05 < time.monotonic() - silent_since < TIMEOUT + MARGIN
    assert status.level == DiagnosticStatus.ERROR
    assert f'joint states are not fresh (timeout {TIMEOUT} s)' in status.message
    assert {item.key: item.value for item in status.values}['fault action'] == action
    assert f'action: {action}' in bench.process.output.splitlines()[-1]
    # Kept up, and from the last known position, as there is no velocity to brake by.
    bench.forget()
    bench.client.wait_for(lambda: len(bench.commands) > 3, 'fault action')
    expected = bench.robot.gravity_vector(Q) if action == 'hold_gravity' else np.zeros(3)
    for message in bench.commands:
        assert_close(message.data, expected)


def test_the_fault_action_stop_publishing_is_silence(bench, run_then_fall_silent):
    run_then_fall_silent(fault_action='stop_publishing')
    wait_for_fault(bench)
    bench.forget()
    for _ in range(5):
        bench.client.next_status()
    assert not bench.commands
    assert not bench.command_states


def test_a_fault_is_cleared_by_order_and_only_on_fresh_states(
    bench, run_then_fall_silent, assert_close
):
    run_then_fall_silent()
    wait_for_fault(bench)
    answer = clear_fault(bench)
    assert not answer.success
    assert 'joint states are not fresh' in answer.message
    with bench.sending(Q, QD):
        bench.client.wait_for(lambda: bench.twists, 'states')
        bench.forget()
        bench.client.wait_for(lambda: bench.twists and len(bench.commands) > 2, 'fault action')
        # States alone do not end it; with them the machine is braked too.
        assert_close(bench.commands[-1].data, braked(bench.robot))
        assert 'a fault is latched' in bench.refer([1.0], [Q])
        answer = clear_fault(bench)
        assert answer.success
        assert answer.message == 'fault cleared: holding the measured position'
        stamp = bench.send(None, Q, QD).header.stamp
        bench.client.wait_for(
            lambda: any(m.header.stamp == stamp for m in bench.command_states), 'command'
        )
        bench.client.next_status()
        assert bench.client.status().level == DiagnosticStatus.OK


def test_clear_fault_without_a_fault(bench):
    bench.prepare(q=Q)
    answer = clear_fault(bench)
    assert (answer.success, answer.message) == (True, 'there is no fault')
    bench.configure()
    answer = clear_fault(bench)
    assert (answer.success, answer.message) == (False, 'the node is not active')


@pytest.mark.parametrize(
    ('step', 'said'),
    [(-50.0, 'stamps of joint_states stepped back'), (100.0, 'jumped ahead by 100 s')],
    ids=['back', 'ahead'],
)
def test_a_clock_that_was_set_is_a_fault(bench, assert_close, step, said):
    """The reference would leap with it."""
    bench.prepare(q=Q)
    bench.command()
    bench.forget()
    bench.send(None, Q, QD, after=step)
    status = wait_for_fault(bench)
    assert said in status.message
    bench.client.wait_for(lambda: bench.commands, 'fault action')
    assert_close(bench.commands[0].data, braked(bench.robot))
    # No state comes after it: the brake by its velocity must not stay.
    bench.client.wait_for(lambda: len(bench.commands) > 2, 'weight alone')
    for message in list(bench.commands)[1:]:
        assert_close(message.data, bench.robot.gravity_vector(Q))
    # The new time is the time from now on.
    assert clear_fault(bench).success
    assert_close(bench.command(Q), bench.robot.gravity_vector(Q))


def test_the_rate_limit_holds_on_the_way_into_the_fault_action(bench, run_then_fall_silent):
    rate = 40.0
    joints = {f'effort_rate_limit.{joint}': rate for joint in bench.robot.joint_names}
    run_then_fall_silent(fault_action='zero', joints=joints)
    wait_for_fault(bench)
    bench.client.wait_for(lambda: not any(bench.commands[-1].data), 'zero effort')
    efforts = np.array([message.data for message in bench.commands])
    steps = np.abs(np.diff(efforts, axis=0))
    assert steps.max() > 0.0
    # A step takes at most 0.1 s of change, whatever the time since the last command.
    assert steps.max() <= rate * 0.1 * (1.0 + 1e-9)


def test_answers_to_states_change_no_faster_in_a_fault(bench):
    """By the time since the command before, however many states are answered."""
    rate = 1.0
    joints = {f'effort_rate_limit.{joint}': rate for joint in bench.robot.joint_names}
    bench.prepare(q=Q, fault_action='zero', joints=joints)
    bench.command()
    began = time.monotonic()
    bench.send(None, Q, QD, after=-50.0)
    wait_for_fault(bench)
    efforts = [bench.command(Q) for _ in range(40)]
    change = np.abs(efforts[-1] - efforts[0])
    assert 0.0 < change.max() <= rate * (time.monotonic() - began)


def test_the_fault_action_answers_every_state(bench, assert_close):
    """Not a timer of its own: a brake is as good as the rate at which it is computed."""
    bench.prepare(q=Q)
    bench.command()
    bench.send(None, Q, QD, after=-50.0)
    wait_for_fault(bench)
    for k in range(20):
        qd = QD * (1.0 + 0.1 * k)
        expected = bench.robot.gravity_vector(Q + PERIOD * qd)
        expected = expected - DAMPING * bench.robot.mass_matrix(Q) @ qd
        assert_close(bench.command(Q, qd), expected)


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({'hold_damping': 200.0}, "hold_gravity' is 200 1/s, expected "),
        ({'state_period': 0.9}, "cannot brake 'rrp' with states 0.9 s apart"),
    ],
)
def test_configure_refuses_a_fault_action_that_is_not_stable(bench, settings, said):
    bench.unconfigure()
    # Gains of pd are checked at activation.
    other = settings | {'fault_action': 'zero', 'control_law': 'pd'}
    for changes, configured in ((settings, False), (other, True)):
        bench.configure()
        bench.unconfigure()
        assert bench.client.set_parameters(changes) == ''
        assert bool(bench.client.transition('configure')) is configured
        assert configured or said in bench.process.output.splitlines()[-1]
    bench.configure()


def test_what_was_asked_for_before_a_fault_does_not_move_the_machine_afterwards(bench):
    """Neither what is followed nor what waits for its start."""
    bench.prepare(q=Q)
    bench.command(Q)
    assert bench.refer([1.0], [Q + 0.02], [np.zeros(3)]) is None
    assert bench.refer([2.0], [Q - 0.02], [np.zeros(3)], start=bench.time + 5.0) is None
    bench.send(None, Q, np.zeros(3), after=-50.0)
    wait_for_fault(bench)
    assert clear_fault(bench).success
    weight = bench.robot.gravity_vector(Q)
    for after in (0.02, 0.5, 0.5, 5.0 - 4.1, 0.5, 0.9, 0.9, 0.9, 0.9):
        np.testing.assert_allclose(bench.command(Q, after=after), weight, rtol=1e-9)


class Slow:
    """An executor whose jobs are done when the test says so."""

    def __init__(self):
        self.jobs = []

    def submit(self, work):
        self.jobs.append((Future(), work))
        return self.jobs[-1][0]

    def finish(self):
        for job, work in self.jobs:
            job.set_result(work())
        self.jobs = []


def test_what_is_being_read_when_a_fault_comes_does_not_move_the_machine_either(bench, local):
    node, state = local.node, local.state

    def long_reference():
        """So many points that they are read in the background."""
        message = JointTrajectory(joint_names=list(bench.robot.joint_names))
        for k in range(1, 101):
            message.points.append(JointTrajectoryPoint(positions=(Q + 5e-4 * k).tolist()))
            message.points[-1].time_from_start.sec = 10 * k
        return bytes(serialize_message(message))

    slow = node._references._input._background = Slow()
    state(Q)
    node._references._on_bytes(long_reference())
    assert slow.jobs
    node._fault(node._controller, 'a test', time.monotonic())
    told = node._references.values()
    assert told['last refused reference'] == 'a fault stopped the machine: a test'
    answer = node._on_clear_fault(Trigger.Request(), Trigger.Response())
    assert answer.success, answer.message
    for _ in range(10):
        slow.finish()
        state(Q)
    q, qd, _ = node._controller.reference_at(node._time + 2000.0)
    np.testing.assert_array_equal(q, Q)
    assert not qd.any()


def test_the_effort_of_the_law_does_not_outlast_the_fault(local, monkeypatch, assert_close):
    """Only an effort that brakes may stay a while: that of the law may drive the machine on."""
    node, sent, now = local.node, [], [time.monotonic()]
    clock = SimpleNamespace(monotonic=lambda: now[0], perf_counter=time.perf_counter)
    monkeypatch.setattr('kron_dynamics.ros.dynamics_node.time', clock)
    node._commands = SimpleNamespace(publish=lambda _, effort: sent.append(effort))
    controller = node._controller
    brief = 0.1 * controller.longest_brake
    weight = controller.fault_effort_without_state(1.0)

    def watched():
        """What the watchdog sends a moment later."""
        del sent[:]
        now[0] += brief
        node._watch()
        return list(sent)

    local.state(Q)
    assert not watched()
    monkeypatch.setattr(node._supervision, 'problem', lambda _: 'silence')
    (effort,) = watched()
    assert_close(effort, weight)
    assert len(watched()) == 1
    local.state(Q)  # is answered by a brake
    assert [len(watched()) for _ in range(9)] == [0] * 9
    now[0] += brief
    assert len(watched()) == 1


def test_begin_and_end_of_a_fault_are_told_without_waiting_for_the_period(local):
    node, told, values = local.node, [], {}

    def publish(level, message, hardware, reported):
        told.append((level, message))
        values.update(reported)

    node._diagnostics = SimpleNamespace(publish=publish)
    node._fault(node._controller, 'a test', time.monotonic())
    assert told == [(DiagnosticStatus.ERROR, 'fault: a test')]
    assert node._on_clear_fault(Trigger.Request(), Trigger.Response()).success
    assert told[1:] == [(DiagnosticStatus.OK, 'active')]
    damping = f'{node._controller.hold.damping:.3g}'
    assert values['damping of hold_gravity [1/s]'] == damping
