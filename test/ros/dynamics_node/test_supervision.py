# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""States that cannot be true get no answer, and machines that do not follow are stopped."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros

Q = np.array([0.1, 0.2, 0.05])
DERIVED = {
    f'{name}.{joint}': 0.0
    for name in ('position_jump', 'position_margin')
    for joint in ('turn', 'lift', 'slide')
}


def values(bench):
    status = bench.client.next_status()
    return status, {item.key: item.value for item in status.values}


def wait_for_fault(bench, text):
    bench.client.wait_for(lambda: text in bench.client.next_status().message, f'fault: {text}')
    return bench.client.status()


@pytest.fixture
def strict_bench(bench):
    """The bench with a gate that jumps do not pass, active."""
    bench.prepare(Q, joints=DERIVED, velocity_fault_factor=1.5)
    bench.acknowledge(Q)
    return bench


@pytest.mark.parametrize(
    ('k', 'q', 'qd', 'said'),
    [
        (0, Q[0] + 3.0, 0.0, "position of joint 'turn' jumped"),
        (1, 5.0, 0.0, "position of joint 'lift' is 5"),
        (2, 1e300, 0.0, "position of joint 'slide' is 1e+300"),
        (0, Q[0], 1e3, "velocity of joint 'turn' is 1000"),
    ],
)
def test_one_state_that_cannot_be_true_gets_no_answer(strict_bench, k, q, qd, said):
    bench = strict_bench
    expected = bench.command(Q)
    bad_q, bad_qd = Q.copy(), np.zeros(3)
    bad_q[k], bad_qd[k] = q, qd
    bench.forget()
    message = bench._state(bad_q, bad_qd, None, 0.02)
    np.testing.assert_allclose(bench.command(Q), expected, rtol=1e-9)
    assert all(state.header.stamp != message.header.stamp for state in bench.command_states)
    assert all(twist.header.stamp != message.header.stamp for twist in bench.twists)
    status, told = values(bench)
    assert status.level != DiagnosticStatus.ERROR
    assert said in told['implausible joint states']


def test_states_that_stay_impossible_are_a_fault_with_the_reason(bench):
    bench.configure(joints=DERIVED, state_timeout=0.5, velocity_fault_factor=1.5)
    with bench.sending(Q):
        bench.client.wait_for(lambda: bench.twists, 'first state')
        assert bench.client.transition('activate')
    with bench.sending(Q + [0.0, 5.0, 0.0]):
        status = wait_for_fault(bench, "joint states are implausible: position of joint 'lift'")
        assert status.level == DiagnosticStatus.ERROR
        refused = bench.client.call(Trigger, 'dynamics_node/clear_fault')
        assert not refused.success
        assert 'implausible' in refused.message
    with bench.sending(Q):
        bench.client.wait_for(
            lambda: bench.client.call(Trigger, 'dynamics_node/clear_fault').success, 'clearance'
        )


def test_states_slower_than_planned_are_a_warning(bench):
    bench.prepare()
    for after, level, text in (
        (0.024, DiagnosticStatus.OK, 'active'),
        (0.026, DiagnosticStatus.WARN, 'joint states come every 0.026 s and state_period'),
    ):
        for _ in range(9):
            bench.command(after=after)
        status = bench.client.next_status()
        assert status.level == level
        assert text in status.message


def test_two_sources_of_one_joint_are_a_fault_that_names_their_nodes(strict_bench):
    bench = strict_bench
    second = bench.client.publisher(JointState, 'joint_states')
    with bench.sending(Q):
        timer = bench.client.node.create_timer(
            0.03,
            lambda: second.publish(
                JointState(
                    header=bench._state(Q, None, None, 0.005).header,
                    name=list(bench.robot.joint_names),
                    position=list(Q + 0.01),
                    velocity=[0.0] * 3,
                )
            ),
        )
        status = wait_for_fault(bench, "several sources give joint 'turn' on /bench/joint_states")
        assert 'its publishers: ' in status.message
        assert not bench.client.call(Trigger, 'dynamics_node/clear_fault').success
        bench.client.node.destroy_timer(timer)
        bench.client.wait_for(
            lambda: bench.client.call(Trigger, 'dynamics_node/clear_fault').success, 'clearance'
        )
    bench.client.node.destroy_publisher(second)


def test_a_machine_that_does_not_follow_is_stopped(bench):
    """As with a command topic that nobody reads: it stands while the reference moves on."""
    allowed = {'following_error.lift': 0.05}
    bench.prepare(Q, joints=allowed)
    bench.acknowledge(Q)
    goal = Q + [0.0, 0.4, 0.0]
    assert bench.refer([0.0, 2.0], [Q, goal], np.zeros((2, 3)), np.zeros((2, 3))) is None
    _, told = values(bench)
    assert told['tracking error of lift'].endswith('allowed 1e+09')
    assert 'allowed 0.05' in told['tracking error of lift']
    end, said = bench.time + 4.0, len(bench.process.output)
    while 'off its reference' not in bench.process.output[said:]:
        assert bench.time < end, bench.process.output
        bench._state(Q, None, None, 0.02)
        for _ in range(3):
            bench.client.spin()
    # How far off depends on which states a busy computer drops.
    status = wait_for_fault(bench, "position of joint 'lift' is 0.")
    assert 'allowed are 0.05' in status.message


def send_implausible(bench):
    """Send one state that cannot be true, and wait until the node has looked at it."""

    def count():
        told = bench.client.next_status().values
        (text,) = [item.value for item in told if item.key == 'implausible joint states'] or ['0']
        return int(text.partition(',')[0])

    before = count()
    bench._state(Q + [3.0, 0.0, 0.0], None, None, 0.02)
    bench.client.wait_for(lambda: count() == before + 1, 'the implausible state')


def test_no_motion_begins_from_an_implausible_state(strict_bench):
    """Neither a clearance nor an activation would hold where the machine never was."""
    bench = strict_bench
    expected = bench.command(Q)
    bench._state(Q, None, None, -5.0)  # a clock that stepped back, to have a fault
    wait_for_fault(bench, 'stepped back')
    bench.acknowledge(Q)
    send_implausible(bench)
    refused = bench.client.call(Trigger, 'dynamics_node/clear_fault')
    assert not refused.success
    assert "the last joint state is implausible: position of joint 'turn'" in refused.message
    bench.acknowledge(Q)
    assert bench.client.call(Trigger, 'dynamics_node/clear_fault').success
    np.testing.assert_allclose(bench.command(Q), expected, rtol=1e-9)

    assert bench.client.transition('deactivate')
    bench.acknowledge(Q)
    send_implausible(bench)
    assert not bench.client.transition('activate')
    assert 'cannot activate: the last joint state is implausible' in bench.process.output
    bench.acknowledge(Q)
    assert bench.client.transition('activate')


def test_the_last_command_is_for_where_the_machine_was_last_plausibly(strict_bench):
    bench = strict_bench
    bench.command(Q)
    send_implausible(bench)
    bench.forget()
    assert bench.client.transition('deactivate')
    bench.client.wait_for(lambda: bench.commands, 'last command')
    np.testing.assert_allclose(
        bench.commands[-1].data, bench.robot.gravity_vector(Q), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    ('k', 'q', 'qd', 'said'),
    [(1, 1.9, 0.0, 'which is outside its range'), (1, Q[1], 2.5, '1.5 times that is allowed')],
)
def test_no_fault_is_cleared_that_would_come_back_at_once(bench, k, q, qd, said):
    """Of a joint outside its range, and of one that is too quick in a single state."""
    bench.prepare(Q, joints={'position_margin.lift': 0.0}, velocity_fault_factor=1.5)
    bench.acknowledge(Q)
    bench._state(Q, None, None, -5.0)
    wait_for_fault(bench, 'stepped back')
    bad_q, bad_qd = Q.copy(), np.zeros(3)
    bad_q[k], bad_qd[k] = q, qd
    bench.acknowledge(bad_q, bad_qd)
    refused = bench.client.call(Trigger, 'dynamics_node/clear_fault')
    assert not refused.success
    assert "of joint 'lift' is" in refused.message
    assert said in refused.message
    bench.acknowledge(Q)
    assert bench.client.call(Trigger, 'dynamics_node/clear_fault').success
