# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states that fail to come are a fault; those that wait for a busy executor are none."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from kron_dynamics.ros.watchdog import Watchdog

pytestmark = pytest.mark.ros

Q = (0.1, 0.2, 0.05)
STALL = 70.0  # longer than the timeout of the states, s


@pytest.fixture
def watched(local, monkeypatch):
    """The active node with a clock of its own and checks that come when told to."""
    node, now = local.node, [time.monotonic()]
    clock = SimpleNamespace(monotonic=lambda: now[0], perf_counter=time.perf_counter)
    monkeypatch.setattr('kron_dynamics.ros.dynamics_node.time', clock)
    sent = []
    node._commands = SimpleNamespace(publish=lambda _, effort: sent.append(effort))

    def check(after=0.05):
        """Run the check some time after the last; return what it sends."""
        del sent[:]
        now[0] += after
        node._watch()
        return list(sent)

    local.state(Q)
    check(0.0)
    latch = node._controller.latch
    return SimpleNamespace(state=local.state, check=check, latch=latch, node=node)


def test_states_that_waited_for_the_executor_are_no_fault(watched):
    """Its timers run before it takes the states that came while it was busy."""
    for _ in range(3):
        assert not watched.check(STALL)
        watched.state(Q)
        assert not watched.check()
        assert not watched.latch.faulted


@pytest.mark.parametrize('again', [0.05, STALL], ids=['free', 'busy again'])
def test_silence_after_a_delay_is_a_fault_at_the_next_check(watched, again):
    assert not watched.check(STALL)
    assert not watched.latch.faulted
    assert len(watched.check(again)) == 1
    assert 'joint states are not fresh' in watched.latch.reason


def test_states_between_two_long_callbacks_are_no_fault(watched):
    """The doubt of the first remained at the second, although states had come."""
    for _ in range(3):
        assert not watched.check(STALL)
        watched.state(Q)
    assert not watched.latch.faulted
    assert not watched.check(STALL)
    assert len(watched.check(STALL)) == 1
    assert watched.latch.faulted


def test_silence_that_a_punctual_check_finds_is_a_fault_at_once(watched):
    for _ in range(int(STALL / 0.05)):
        watched.check()
    assert 'joint states are not fresh' in watched.latch.reason


def test_a_brake_is_not_held_on_after_a_delay(watched, assert_close):
    """However late the check is: what braked then would drive the machine back now."""
    controller = watched.node._controller
    watched.node._fault(controller, 'a test', time.monotonic())
    watched.state(Q)
    (effort,) = watched.check(STALL)
    assert_close(effort, controller.fault_effort_without_state(np.inf))


def test_states_have_a_whole_period_before_what_was_found_late_counts(ros):
    node, executor, heard = rclpy.create_node('dog'), SingleThreadedExecutor(), []
    executor.add_node(node)

    def check():
        heard.append((now := time.monotonic(), dog.confirmed('silence', now, -np.inf)))

    controller = SimpleNamespace(longest_brake=0.0)
    dog = Watchdog(node, Clock(clock_type=ClockType.STEADY_TIME), 0.2, controller, check)
    try:
        time.sleep(0.145)  # of periods of 50 ms, nearly three
        while len(heard) < 2:
            executor.spin_once(timeout_sec=0.01)
    finally:
        dog.destroy()
        executor.shutdown()
        node.destroy_node()
    (late, first), (then, second) = heard
    assert (first, second) == (None, 'silence')
    assert then - late > 0.045


def test_the_period_follows_a_brake_that_must_be_shorter(watched):
    """As with another payload: no brake is held for two of its longest times."""
    node = watched.node
    hold = node._controller.hold
    hold.range = hold.range._replace(inertia_ratio=100.0 * hold.range.inertia_ratio)
    watched.check()
    assert node._watchdog._timer.timer_period_ns <= 1e9 * node._controller.longest_brake + 1.0


def test_the_period_goes_by_the_timeout_that_the_states_have(local):
    """That of the configuration, whatever the parameter is by the time of the activation."""
    node = local.node
    period = node._watchdog._timer.timer_period_ns
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert node.set_parameters([Parameter('state_timeout', value=0.004)])[0].successful
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node._watchdog._timer.timer_period_ns == period
