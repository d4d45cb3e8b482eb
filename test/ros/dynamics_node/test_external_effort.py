# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External efforts on the topics, collisions as faults, hand guiding and who compensates what."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

with contextlib.suppress(ImportError):  # then these tests are not collected
    from geometry_msgs.msg import WrenchStamped
    from rclpy.lifecycle import TransitionCallbackReturn
    from rclpy.parameter import Parameter
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String

pytestmark = pytest.mark.ros

Q = np.array([0.1, 0.2, 0.05])
PUSH = np.array([3.0, -2.0, 8.0])
ALL = ['inertia', 'coriolis', 'gravity', 'friction', 'flexible']


@pytest.fixture(scope='module')
def heard(the_bench):
    """The topics; the node computes them from here on, as somebody listens."""
    client = the_bench.client
    return (
        client.hear(JointState, 'dynamics_node/external_effort'),
        client.hear(WrenchStamped, 'dynamics_node/external_wrench'),
    )


def stay(bench, effort, count=60):
    """Send states of a machine at rest under efforts, for more than a second of their time."""
    for _ in range(count):
        bench.command(Q, effort=effort)


def test_a_push_is_told_by_joint_and_as_a_force_at_the_tip(bench, heard, assert_close):
    weight = bench.robot.gravity_vector(Q)
    bench.prepare(q=Q, effort=weight)
    bench.client.wait_for(
        lambda: bench.answer(bench.command_states, Q, effort=weight) and heard[0], 'estimate'
    )
    stay(bench, weight - PUSH)
    effort = bench.answer(heard[0], Q, effort=weight - PUSH)
    assert tuple(effort.name) == bench.robot.joint_names
    assert_close(effort.effort, PUSH, rel=1e-3)
    assert not effort.position
    assert not effort.velocity
    wrench = bench.answer(heard[1], Q, effort=weight - PUSH)
    assert wrench.header.frame_id == bench.robot.model.root_link
    force, torque = wrench.wrench.force, wrench.wrench.torque
    J = bench.robot.frame('nozzle').jacobian(Q)[:3]
    assert_close(J.T @ [force.x, force.y, force.z], PUSH, rel=1e-3)
    assert (torque.x, torque.y, torque.z) == (0.0, 0.0, 0.0)


def test_without_measured_efforts_commands_and_terms_of_the_drives_count(bench, heard):
    """At rest under commands that lack the weight, which the drives add, nobody pushes."""
    terms = [term for term in ALL if term != 'gravity']
    bench.prepare(q=Q, terms=terms, drive_terms=['gravity'])
    for _ in range(40):
        assert np.abs(bench.command(Q)).max() < 1e-6
    heard[0].clear()
    assert np.abs(bench.answer(heard[0], Q).effort).max() < 1e-6
    bench.prepare(q=Q, terms=terms, drive_terms=['gravity'], external_effort_source='measured')
    heard[0].clear()
    for _ in range(5):
        bench.command(Q)
    assert not heard[0]


def test_terms_of_the_drives_are_those_of_the_last_activation(bench, heard):
    """Which may have changed since the node was configured."""
    bench.prepare(q=Q)
    stay(bench, None, count=5)
    terms = [term for term in ALL if term != 'gravity']
    for commanded, drive in ((terms, ['gravity']), (ALL, [''])):
        assert bench.client.transition('deactivate')
        changes = {'terms': commanded, 'drive_terms': drive}
        assert bench.client.set_parameters(changes) == ''
        bench.acknowledge(Q)
        assert bench.client.transition('activate'), bench.process.output
        stay(bench, None, count=20)
        heard[0].clear()
        assert np.abs(bench.answer(heard[0], Q).effort).max() < 1e-6


def test_a_collision_is_a_latched_fault_with_joint_and_value(bench, assert_close):
    weight = bench.robot.gravity_vector(Q)
    thresholds = {f'collision_threshold.{name}': 1e15 for name in bench.robot.joint_names}
    thresholds['collision_threshold.lift'] = 5.0
    bench.prepare(q=Q, effort=weight, joints=thresholds)
    stay(bench, weight - [50.0, 4.0, 0.0], count=30)
    assert bench.client.next_status().level == DiagnosticStatus.OK
    stay(bench, weight - [50.0, 9.0, 0.0], count=30)
    status = bench.client.next_status()
    assert status.level == DiagnosticStatus.ERROR
    assert "collision: external effort at joint 'lift' is " in status.message
    assert 'expected at most 5 N m (collision_threshold.lift)' in status.message
    assert_close(bench.command(Q, effort=weight), weight)  # latched, and carried


def test_a_collision_is_found_where_one_of_two_publishers_is_always_older(bench):
    weight = bench.robot.gravity_vector(Q)
    thresholds = {f'collision_threshold.{name}': 1e15 for name in bench.robot.joint_names}
    thresholds['collision_threshold.lift'] = 5.0
    bench.prepare(q=Q, effort=weight, joints=thresholds)

    def stay_in_parts(effort):
        for _ in range(30):
            for k, after in ((slice(2), 0.025), (slice(2, 3), -0.005)):
                names = bench.robot.joint_names[k]
                state = bench.send(names, Q[k], 0.0 * Q[k], effort[k], after)
                bench.answer_to(state, bench.command_states)

    stay_in_parts(weight - [50.0, 4.0, 0.0])
    assert bench.client.next_status().level == DiagnosticStatus.OK
    stay_in_parts(weight - [50.0, 9.0, 0.0])
    assert "collision: external effort at joint 'lift' is " in bench.client.next_status().message


def test_terms_are_on_a_latched_topic_and_on_diagnostics(bench):
    terms = ['inertia', 'coriolis', 'friction']
    bench.prepare(q=Q, terms=terms, drive_terms=['gravity'], effort=bench.robot.gravity_vector(Q))
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    late = bench.client.hear(String, 'dynamics_node/terms', qos=latched)
    bench.client.wait_for(lambda: late, 'terms')
    assert late[-1].data == 'inertia, coriolis, friction'
    values = {item.key: item.value for item in bench.client.next_status().values}
    assert values['terms in commands'] == 'inertia, coriolis, friction'
    assert values['terms added by the drives'] == 'gravity'
    late.clear()
    bench.prepare(q=Q, control_law='pd')
    bench.client.wait_for(lambda: late, 'terms')
    assert late[-1].data == ''


def test_the_weight_is_not_added_twice_by_the_fault_action(bench, assert_close):
    terms = [term for term in ALL if term != 'gravity']
    bench.prepare(q=Q, terms=terms, drive_terms=['gravity'], effort=bench.robot.gravity_vector(Q))
    bench.command(Q)
    bench.command(Q, after=-5.0)  # stamps that step back are a fault
    assert 'stepped back' in bench.client.next_status().message
    assert_close(bench.command(Q), np.zeros(3))


@pytest.mark.parametrize(
    ('settings', 'joints', 'text'),
    [
        ({'drive_terms': ['gravity']}, {}, 'would be compensated twice'),
        ({'terms': ['inertia']}, {}, 'must know what compensates gravity'),
        ({'hand_guiding_damping': 900.0, 'control_law': 'gravity'}, {}, 'damping of control law'),
        ({'state_period': 0.5, 'fault_action': 'zero'}, {}, 'unstable with states 0.5 s apart'),
    ],
)
def test_what_contradicts_itself_is_refused(bench, settings, joints, text):
    with pytest.raises(AssertionError, match=text):
        bench.prepare(q=Q, **settings)
    bench.unconfigure()


def test_a_robot_is_guided_by_hand(bench, assert_close):
    bench.prepare(q=Q, control_law='gravity', hand_guiding_damping=1.5)
    bench.command(Q)  # goes on from the effort at activation
    for q in (Q, Q + 0.2, Q - 0.1):
        qd = np.array([0.02, -0.01, 0.01])
        expected = (
            bench.robot.gravity_vector(q + 0.02 * qd) - 1.5 * bench.robot.mass_matrix(q) @ qd
        )
        assert_close(bench.command(q, qd), expected, rel=1e-9)
    assert 'guided by hand' in bench.refer([1.0], [Q])
    assert bench.client.next_status().level == DiagnosticStatus.OK
    limit = bench.robot.model.velocity_limit
    bench.command(Q, 0.7 * limit * [1.0, 0.0, 0.0])
    assert "joint 'turn' moves at" in bench.client.next_status().message


def test_the_integral_gain_moves_what_stays_off(bench):
    gains = {
        f'gains.{name}.ki': value
        for name, value in zip(bench.robot.joint_names, (0.0, 9.0, 0.0), strict=True)
    }
    bench.prepare(q=Q, joints=gains)
    bench.command(Q)
    off = Q + [0.0, 0.01, 0.0]
    first = bench.command(off)
    for _ in range(10):
        last = bench.command(off)
    # Ten periods of ki e, through the inertia of the pose.
    expected = -bench.robot.mass_matrix(off)[:, 1] * 9.0 * 0.01 * 10 * 0.02
    np.testing.assert_allclose(last - first, expected, rtol=1e-6)


def test_an_activation_starts_the_estimate_anew(local):
    """What came before it must not become a fault of it."""
    node = local.node
    monitor = node._outputs.external._monitor
    node.trigger_deactivate()
    node.set_parameters([Parameter('collision_threshold.turn', value=1e3)])
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    local.state(Q)
    node.trigger_deactivate()
    for k in range(4):  # before the next state, whose stamp is 10.06
        monitor.commanded(np.full(3, 1e6))
        said = monitor.update(10.041 + 0.004 * k, Q, np.zeros(3), np.full(3, np.nan))
    assert np.abs(said).max() > 1e3
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    local.state(Q)
    assert monitor._observer._estimate is None
