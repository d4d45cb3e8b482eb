# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is missing in a joint state is waited for, never taken for zero."""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
from std_srvs.srv import Trigger

with contextlib.suppress(ImportError):  # then these tests are not collected
    from rclpy.serialization import serialize_message

    from kron_dynamics.ros.conversions import joint_state, stamp_from

pytestmark = pytest.mark.ros

JOINTS = ('turn', 'lift', 'slide')
Q, QD = (0.1, 0.2, 0.05), (0.3, -0.2, 0.1)


@pytest.fixture
def fresh(bench):
    """A configured node that has seen no state yet, and hears."""
    bench.configure()
    return bench


def refusal(bench):
    assert not bench.client.transition('activate')
    return bench.process.output.splitlines()[-1]


def dropped(bench):
    """How many states were dropped, by reason."""
    start = 'joint states dropped: '
    return {
        item.key.removeprefix(start): int(item.value)
        for item in bench.client.next_status().values
        if item.key.startswith(start)
    }


def send_until_counted(bench, reason, *state):
    """Send a bad state until the node has counted it."""

    def counted():
        bench.send(*state)
        return dropped(bench).get(reason)

    bench.client.wait_for(counted, f"'{reason}' on /diagnostics")


def test_states_of_two_publishers_are_put_together(fresh, assert_close):
    """Neither is enough alone; the order of names is each publisher's own."""
    rail = [('lift', 'turn'), (Q[1], Q[0]), (QD[1], QD[0])]
    slide = [('slide',), (Q[2],), (QD[2],)]

    def refused_for_slide_alone():
        fresh.send(*rail)
        return 'position never received for slide' in refusal(fresh)

    fresh.client.wait_for(refused_for_slide_alone, 'half of the state')
    assert not fresh.twists
    assert not fresh.command_states

    def complete():
        fresh.send(*slide)
        fresh.client.spin()
        return fresh.twists

    fresh.client.wait_for(complete, 'the whole state')
    assert fresh.client.transition('activate')
    # The first command carries the weight at the place where the machine is, not at zero. It may
    # answer a state that was on its way during the activation.
    fresh.answer_to(fresh.send(*rail), fresh.command_states)
    assert_close(fresh.command_states[0].effort, fresh.robot.gravity_vector(Q))
    answer = fresh.answer_to(fresh.send(*slide), fresh.command_states)
    wanted = [-kd * v for kd, v in zip((3.0, 5.0, 7.0), QD, strict=True)]
    assert_close(answer.effort, fresh.robot.inverse_dynamics(Q, QD, wanted))


@pytest.mark.parametrize(
    ('state', 'said', 'counted'),
    [
        (
            (None, (0.1, 0.2, math.nan), QD),
            'position never received for slide',
            'value not finite',
        ),
        ((None, Q, (math.inf, 0.0, 0.0)), 'velocity never received for turn', 'value not finite'),
        ((None, Q, None), 'velocity never received for turn, lift, slide', None),
        ((None, None, QD), 'position never received for turn, lift, slide', None),
        ((None, Q[:2], QD[:2]), 'position never received for turn', 'wrong length'),
        ((None, Q, QD[:2]), 'position never received for turn', 'wrong length'),
        (
            (('a', 'b', 'c'), Q, QD),
            'the only states are of other joints: a, b, c',
            'no known joint',
        ),
        ((('turn', 'turn', 'slide'), Q, QD), 'never received for turn', 'joint repeated'),
        (([], [], []), 'position never received for turn', 'no values'),
    ],
    ids=[
        'nan position',
        'infinite velocity',
        'no velocity',
        'no position',
        'short',
        'uneven',
        'unknown',
        'repeated',
        'empty',
    ],
)
def test_an_incomplete_state_is_not_enough(fresh, state, said, counted):
    if counted is not None:
        send_until_counted(fresh, counted, *state)
    else:
        fresh.client.wait_for(lambda: fresh.send(*state) and said in refusal(fresh), said)
    assert said in refusal(fresh)
    assert not fresh.twists
    assert not fresh.commands


def test_a_state_that_comes_twice_or_late_is_answered_once(bench):
    bench.prepare(q=Q)
    bench.command()
    message = bench.send(None, Q, QD)
    bench.answer_to(message, bench.command_states)
    before = len(bench.command_states)
    bench.client.wait_for(
        lambda: bench._states.publish(message) or dropped(bench).get('stamp repeated'),
        'repeated stamp on /diagnostics',
    )
    bench.client.wait_for(
        lambda: (
            bench.send(None, Q, QD, after=-0.5)
            and setattr(bench, 'time', bench.time + 0.5) is None
            and dropped(bench).get('stamp late')
        ),
        'late stamp on /diagnostics',
    )
    assert len(bench.command_states) == before
    assert bench.client.status().message == 'active'


def test_a_state_without_stamp_has_the_time_of_the_nodes_clock(local):
    clock, times = local.node.get_clock(), []
    times.append(1e-9 * clock.now().nanoseconds)
    local.state((0.1, 0.2, 0.05), stamp=0.0)
    times.append(local.node._time)
    times.append(1e-9 * clock.now().nanoseconds)
    assert times == sorted(times)


def test_states_without_stamps_do_not_follow_a_clock_that_steps_back(local, monkeypatch):
    """The reference would leap back with it."""
    node, sent = local.node, []
    monkeypatch.setattr(node, '_commands', SimpleNamespace(publish=lambda *c: sent.append(c)))

    def answered(clock):
        """Whether a state at a time of the node's clock is answered."""
        monkeypatch.setattr(node._supervision, '_clock_time', lambda: clock)
        del sent[:]
        local.state(Q, stamp=0.0)
        assert node._time <= clock or not sent
        return bool(sent)

    latch, start = node._controller.latch, node._time + 1.0
    assert [answered(start + t) for t in (0.0, 0.02, -0.9, -0.01, 0.0, 0.02)] == [
        *(True, True, False, False, False, True)
    ]
    assert node._assembler.rejections['clock stepped back'] == 3
    assert not latch.faulted
    assert answered(start - 1.1)  # by the fault action
    assert 'clock stepped back, and joint_states have no stamps' in latch.reason
    assert node._time == start - 1.1
    assert node._on_clear_fault(Trigger.Request(), Trigger.Response()).success
    assert answered(start - 1.08)
    assert not latch.faulted


def test_a_damaged_message_is_dropped_and_counted(local):
    """It ended the node: rclpy itself drops it, but not for subscriptions to bytes."""
    node, sent = local.node, []
    node._commands = SimpleNamespace(publish=lambda _, effort: sent.append(effort))
    whole = bytes(serialize_message(joint_state(stamp_from(11.0), JOINTS, np.array(Q))))
    for damaged in (b'', whole[:4], whole[: len(whole) // 2], whole[:-9]):
        node._on_joint_state(damaged, {})
    assert not sent
    assert node._assembler.rejections == {'message not readable': 4}
    local.state(Q)
    assert len(sent) == 1
    assert not node._controller.latch.faulted
