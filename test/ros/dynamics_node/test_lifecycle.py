# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands come from an active node alone, and a node becomes active only in good order."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

import kron_dynamics as kd
from kron_dynamics.ros import autostart, dynamics_node
from kron_dynamics.ros.conversions import joint_state, stamp_from

pytestmark = pytest.mark.ros

SHAFT = """<robot name="shaft"><link name="bearing"/>
  <link name="disc"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="bearing"/><child link="disc"/>
    <axis xyz="0 1 0"/></joint></robot>"""
# Away from the position that is held, and moving: the law's answer is not the fault action.
AWAY, MOVING = (0.2, 0.3, 0.1), (0.2, -0.1, 0.05)


def test_transitions_by_hand(bench):
    bench.unconfigure()
    states = [bench.client.lifecycle_state()]
    for label in ('configure', 'activate', 'deactivate', 'activate', 'deactivate', 'cleanup'):
        if label == 'activate':
            bench.acknowledge((0.1, 0.2, 0.05))
        assert bench.client.transition(label)
        states.append(bench.client.lifecycle_state())
    assert states == [
        'unconfigured',
        'inactive',
        'active',
        'inactive',
        'active',
        'inactive',
        'unconfigured',
    ]
    status = bench.client.next_status()
    assert {item.key: item.value for item in status.values}['lifecycle state'] == 'unconfigured'


def test_diagnostics_come_at_the_period_of_the_parameter(bench):
    """20 a second, where the default is one."""
    bench.configure()
    times = []
    for _ in range(5):
        bench.client.next_status()
        times.append(bench.client.status_time())
    # A busy computer delays some of them, not each.
    assert np.diff(times).min() < 0.5
    assert bench.client.status().message == 'not active'
    assert bench.client.status().hardware_id == 'rrp'


def test_activation_without_states_is_refused(bench):
    bench.configure()
    assert not bench.client.transition('activate')
    assert bench.client.lifecycle_state() == 'inactive'
    last = bench.process.output.splitlines()[-1]
    assert 'cannot activate' in last
    assert 'position never received for turn, lift, slide' in last


def test_an_error_is_on_diagnostics_until_the_node_is_active(bench):
    """An old one beside a node that works would send people looking for a fault."""

    def error():
        return {item.key: item.value for item in bench.client.next_status().values}.get('error')

    bench.configure(joints={'gains.lift.kp': 0.0})
    bench.acknowledge()
    assert not bench.client.transition('activate')
    assert 'gains.lift.kp' in error()
    assert bench.client.set_parameters({'gains.lift.kp': 9.0}) == ''
    bench.acknowledge()
    assert bench.client.transition('activate')
    assert error() is None


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        (None, 'no robot_description received yet'),
        ({}, 'position never received for turn, lift, slide'),
        ({'use_sim_time': True}, 'allow_commands_in_sim_time is not'),
    ],
)
def test_whatever_refuses_a_transition_is_on_diagnostics(ros, bench, settings, said):
    """Not only in the log, beside an older error that is not the reason any more."""
    node = dynamics_node.DynamicsNode()
    try:
        node._notes['error'] = 'an older one'
        if settings is None:
            assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        else:
            node._descriptions.robot = bench.robot
            node.set_parameters([Parameter(name, value=value) for name, value in settings.items()])
            assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
            assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
        sent = []
        node._diagnostics = SimpleNamespace(publish=lambda *status: sent.append(status[-1]))
        node._publish_diagnostics()
        assert said in sent[0]['error']
    finally:
        node.destroy_node()


def test_a_configuration_that_succeeds_takes_back_why_one_before_it_failed(ros, bench):
    node = dynamics_node.DynamicsNode()
    try:
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        node._descriptions.robot = bench.robot
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        sent = []
        node._diagnostics = SimpleNamespace(publish=lambda *status: sent.append(status[-1]))
        node._publish_diagnostics()
        assert 'error' not in sent[0]
    finally:
        node.destroy_node()


def test_cleanup_forgets_the_states(bench):
    bench.configure()
    bench.acknowledge()
    assert bench.client.transition('cleanup')
    assert bench.client.transition('configure')
    assert not bench.client.transition('activate')


def test_activation_in_simulated_time_has_to_be_allowed(bench):
    bench.configure(use_sim_time=True)
    bench.acknowledge()
    assert not bench.client.transition('activate')
    assert 'allow_commands_in_sim_time' in bench.process.output.splitlines()[-1]
    bench.prepare(use_sim_time=True, allow_commands_in_sim_time=True)
    assert bench.client.lifecycle_state() == 'active'


def test_an_inactive_node_is_silent(bench):
    bench.configure()
    for _ in range(5):
        bench.acknowledge(AWAY, MOVING)
    assert len(bench.twists) >= 5
    assert not bench.commands
    assert not bench.command_states


@pytest.mark.parametrize('action', ['hold_gravity', 'zero', 'stop_publishing'])
def test_deactivation_leaves_the_fault_action_and_silence(bench, assert_close, action):
    """Whatever the rate limit, and without a braking that nobody would end."""
    slow = {f'effort_rate_limit.{joint}': 10.0 for joint in bench.robot.joint_names}
    bench.prepare(effort=(20.0, 30.0, 10.0), fault_action=action, joints=slow)
    bench.command(AWAY, MOVING)
    bench.client.wait_for(lambda: bench.commands, 'command')
    bench.forget()
    assert bench.client.transition('deactivate')
    for _ in range(5):
        bench.acknowledge(AWAY, MOVING)
    assert len(bench.commands) == len(bench.command_states) == (action != 'stop_publishing')
    for effort in (*(m.data for m in bench.commands), *(m.effort for m in bench.command_states)):
        expected = bench.robot.gravity_vector(AWAY) if action == 'hold_gravity' else np.zeros(3)
        assert_close(effort, expected)


def test_parameters_are_locked_while_active(bench):
    bench.prepare()
    locked = ('fault_action', 'zero'), ('gains.turn.kp', 1.0), ('use_sim_time', True)
    for name, value in locked:
        assert 'active' in bench.client.set_parameters({name: value})
    answer = bench.client.call(
        GetParameters, 'dynamics_node/get_parameters', names=['fault_action', 'gains.turn.kp']
    )
    assert answer.values[0].string_value == 'hold_gravity'
    assert answer.values[1].double_value == 4.0
    assert bench.client.transition('deactivate')
    assert bench.client.set_parameters({'fault_action': 'zero', 'gains.turn.kp': 1.0}) == ''


def test_activation_without_gains_or_without_any_effort_limit_is_refused(start, connect, play):
    process = start(
        'dynamics_node',
        'shaft',
        environment={'CC': 'no-compiler'},
        robot_description=SHAFT,
        autostart=False,
    )
    shaft = play(connect('shaft'), kd.loads(SHAFT), process)
    client = shaft.client

    def refusal():
        """States come while the node is asked, so that they are not the reason."""
        shaft.acknowledge()
        with shaft.sending():
            assert not client.transition('activate')
        return process.output.splitlines()[-1]

    assert client.transition('configure')
    assert 'gains.turn.kp' in refusal()
    assert client.set_parameters({'gains.turn.kp': 4.0}) == ''
    assert 'gains.turn.kd' in refusal()
    assert client.set_parameters({'gains.turn.kd': 4.0}) == ''
    said = refusal()
    assert "joint 'turn' has effort limit inf" in said
    assert 'effort_limit.turn' in said
    assert client.set_parameters({'effort_limit.turn': 0.0}) == ''
    assert "joint 'turn' has effort limit 0" in refusal()
    assert client.set_parameters({'effort_limit.turn': 1.0}) == ''
    assert "joint 'turn' would need 1.961 N m to compensate gravity here" in refusal()
    assert client.set_parameters({'effort_limit.turn': 300.0}) == ''
    shaft.acknowledge()
    with shaft.sending():
        assert client.transition('activate')
        client.wait_for(lambda: shaft.commands, 'command')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_a_signal_ends_the_node_as_a_deactivation_does(
    start, connect, play, bench_robot, bench_settings, assert_close, number
):
    namespace = f'ends_by_{number.name.lower()}'
    process = start('dynamics_node', namespace, forked=False, **bench_settings)
    machine = play(connect(namespace), bench_robot, process)
    with machine.sending((0.1, 0.2, 0.05)):
        machine.client.wait_for(
            lambda: machine.commands and machine.command_states, 'both commands'
        )
    machine.command(AWAY, MOVING)
    machine.forget()
    process.stop(number, meanwhile=machine.client.spin)
    machine.client.wait_for(lambda: machine.commands, 'last command')
    assert len(machine.commands) == 1
    assert_close(machine.commands[0].data, bench_robot.gravity_vector(AWAY))


def test_a_transition_that_breaks_half_way_leaves_the_node_unconfigured(ros, monkeypatch):
    """In this process, as only a defect can do it."""
    node = dynamics_node.DynamicsNode()
    try:
        node._descriptions.receive(SHAFT)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        with monkeypatch.context() as patch:
            patch.setattr(dynamics_node, 'StateOutputs', None)
            assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
            assert node.trigger_configure() == TransitionCallbackReturn.ERROR
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        names = ('gains.turn.kp', 'gains.turn.kd', 'effort_limit.turn')
        node.set_parameters([Parameter(name, value=9.0) for name in names])
        with monkeypatch.context() as patch:
            patch.setattr(LifecycleNode, 'on_activate', None)  # the last step of an activation
            now = time.monotonic()
            node._assembler.update(['turn'], [0.0], [0.0], [], stamp=1.0, now=now)
            assert node.trigger_activate() == TransitionCallbackReturn.ERROR
        answer = node.set_parameters([Parameter('fault_action', value='zero')])[0]
        assert answer.successful
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    finally:
        node.destroy_node()


@pytest.fixture
def shaft(ros, monkeypatch):
    """A node in this process that starts on its own, as far as the test lets its timer run."""
    made, now = [], [1000.0]

    def make(*arguments, **more):
        made.append(autostart.Autostart(*arguments, **more))
        return made[-1]

    monkeypatch.setattr(dynamics_node, 'Autostart', make)
    monkeypatch.setattr(autostart, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    node = dynamics_node.DynamicsNode()
    timer = made[0]._timer

    def wait():
        """Let ten seconds pass, in which states come; return the state of the node."""
        for _ in range(100):
            now[0] += 0.1
            if node._assembler is not None:
                stamp = stamp_from(now[0])
                message = joint_state(stamp, ['turn'], np.zeros(1), np.zeros(1), None)
                node._on_joint_state(bytes(serialize_message(message)), {})
            if not timer.is_canceled():
                timer.callback()
        return node._state_machine.current_state[1]

    node._descriptions.receive(SHAFT)
    yield SimpleNamespace(node=node, wait=wait)
    node.destroy_node()


def give_gains(node):
    names = ('gains.turn.kp', 'gains.turn.kd', 'effort_limit.turn')
    node.set_parameters([Parameter(name, value=9.0) for name in names])


def test_autostart_tries_again_until_the_node_is_active(shaft):
    assert shaft.wait() == 'inactive'  # without gains
    give_gains(shaft.node)
    assert shaft.wait() == 'active'


def test_a_node_that_was_activated_by_hand_stays_switched_off(shaft):
    node = shaft.node
    assert shaft.wait() == 'inactive'
    give_gains(node)
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert shaft.wait() == 'inactive'
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert shaft.wait() == 'active'
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert shaft.wait() == 'inactive'


def test_a_node_that_was_cleaned_up_by_hand_stays_so(shaft):
    """Although its description comes again, as from a publisher that was restarted."""
    assert shaft.wait() == 'inactive'
    shaft.node._descriptions.receive(SHAFT)  # takes effect, by a clean-up of its own
    assert shaft.wait() == 'inactive'
    give_gains(shaft.node)
    assert shaft.node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    shaft.node._descriptions.receive(SHAFT)
    assert shaft.wait() == 'unconfigured'


def test_two_namespaces_and_autostart(bench, start, connect, play, bench_settings):
    process = start('dynamics_node', 'neighbour', **bench_settings)
    other = play(connect('neighbour'), bench.robot, process)
    bench.prepare()
    # Autostart waits for the states of its own namespace, and says so.
    bench.command(AWAY)
    other.client.wait_for(lambda: 'configured for' in process.output, 'configured')
    assert other.client.lifecycle_state() == 'inactive'
    with other.sending((0.4, -0.2, 0.0)):
        other.client.wait_for(lambda: other.client.lifecycle_state() == 'active', 'autostart')
    other.commands.clear()
    before = len(bench.commands)
    own = other.command((0.4, -0.2, 0.0))
    assert bench.client.lifecycle_state() == 'active'
    assert len(bench.commands) == before
    # Deactivating one leaves the other alone.
    assert bench.client.transition('deactivate')
    np.testing.assert_allclose(other.command((0.4, -0.2, 0.0)), own)
    assert bench.client.lifecycle_state() == 'inactive'
    assert other.client.lifecycle_state() == 'active'
