# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What takes the place of a goal that moves or waits ends it, with the reason."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest
from goal_desk import GOAL, HELD, INVALID, PATH, Desk, tolerance

from kron_dynamics.control import ReferenceShaping
from kron_dynamics.exceptions import TrajectoryError

pytestmark = pytest.mark.ros

MODES = np.array([5.0]), np.array([0.02])  # rad/s, damping ratio


@pytest.fixture
def desk(ros):
    return Desk()


@pytest.mark.parametrize('why', ['cancelled', 'off the path'])
def test_a_stop_beyond_the_limits_is_not_refused(desk, why):
    """It was, where the motion itself is at its limits, and the motion went on to its end."""
    handle = desk.send(path=[tolerance(desk.robot.joint_names[1], 0.03)])
    desk.see(0.8)
    motion = desk.controller.references.present
    desk.controller.references._effort_limit = np.full(2, 1e-3)  # no stop keeps it
    if why == 'cancelled':
        handle.cancel()
    else:
        desk.off[1] = 0.04
    desk.see(0.06)
    desk.off[1] = 0.0
    stop = desk.controller.references.present
    assert stop is not motion
    desk.see(stop.end - desk.time + 0.04)
    assert handle.outcome == (('canceled', 0) if why == 'cancelled' else ('aborted', PATH))
    assert not any('refused' in line for line in desk.logger.lines)
    np.testing.assert_allclose(desk.reference[1], 0.0, atol=1e-9)


def test_a_goal_that_waits_ends_when_the_stream_before_it_breaks_off(desk):
    """It was dropped in silence, and succeeded where the stream had stopped."""
    from kron_dynamics.control.reference.stream import ReferenceStream
    from kron_dynamics.ros.reference_interface import ReferenceInterface

    class Interface(ReferenceInterface):
        def __init__(self):
            self._input, self._goals, self._logger = desk.input, desk.goals, desk.logger
            self._stream = ReferenceStream(desk.controller.references, timeout=0.1)

    interface = Interface()
    interface._stream.take(HELD + 0.2, None, None, 3.0)
    handle = desk.send(start=desk.time + 1.0)
    for _ in range(250):
        desk.time = round(desk.time + 0.02, 6)
        q, qd, _ = desk.reference
        state = SimpleNamespace(q=q, qd=qd)
        assert interface.proceed(desk.controller, state, desk.time) is None
        desk.controller.update(q, qd, desk.time, desk.time)
    assert handle.outcome == ('aborted', INVALID)
    assert 'no reference_point in time' in handle.result.error_string
    assert 'the reference that waited for its start is dropped' in desk.logger.lines
    assert np.abs(desk.reference[0] - HELD).max() < 0.05


def test_a_goal_does_not_succeed_by_the_end_of_another_reference(desk):
    handle = desk.send()
    desk.see(0.5)
    desk.controller.references.hold(desk.reference[0])  # and nobody is told
    desk.see(2.0)
    assert handle.outcome == ('aborted', INVALID)
    assert handle.result.error_string == 'another reference is followed'


def test_a_newer_goal_or_reference_ends_the_one_before(desk):
    first = desk.send()
    desk.see(0.5)
    second = desk.send(goal=HELD)
    assert first.outcome == ('aborted', INVALID)
    assert first.result.error_string == 'a newer reference replaced it'
    desk.see(0.5)
    desk.input.receive(
        desk.send(goal=GOAL, duration=3.0).request.trajectory,
        desk.controller,
        desk.robot,
        desk.time,
    )
    assert second.outcome == ('aborted', INVALID)
    desk.see(4.0)
    np.testing.assert_allclose(desk.reference[0], GOAL)


def test_cancelling_a_goal_that_waits_leaves_a_reference_that_is_followed(desk):
    """It stopped the motion, whoever had asked for it."""
    trajectory = desk.send().request.trajectory
    desk.input.receive(trajectory, desk.controller, desk.robot, desk.time)
    desk.see(0.5)
    waiting = desk.send(goal=HELD, start=desk.time + 1.0)
    desk.see(0.1)
    followed = desk.controller.references.present
    waiting.cancel()
    desk.see()
    assert waiting.outcome == ('canceled', 0)
    assert waiting.result.error_string == 'the goal was cancelled before it was followed'
    desk.see(3.0)
    assert desk.controller.references.present is followed
    np.testing.assert_allclose(desk.reference[0], GOAL)
    desk.input.drop('a fault stopped the machine: stale')  # the goal is told of nothing more


def test_cancelling_a_goal_that_waits_stops_the_goal_that_it_had_ended(desk):
    """Nobody could cancel that motion otherwise."""
    first = desk.send()
    desk.see(0.5)
    waiting = desk.send(goal=HELD, start=desk.time + 1.0)
    assert first.outcome == ('aborted', INVALID)
    desk.see(0.1)
    waiting.cancel()
    desk.see(3.0)
    assert waiting.outcome == ('canceled', 0)
    q, qd, _ = desk.reference
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)
    assert np.abs(q - GOAL).min() > 0.05


@pytest.mark.parametrize('when', [0.5, 0.0])
def test_a_fault_or_deactivation_aborts_with_the_reason(desk, when):
    handle = desk.send()
    desk.see(when)
    desk.input.drop('a fault stopped the machine: stale')
    assert handle.outcome == ('aborted', INVALID)
    assert handle.result.error_string == 'a fault stopped the machine: stale'


def test_cancelling_the_last_of_a_chain_stops_the_goal_that_still_moves_the_machine(desk):
    """A goal that was ended while it waited had made the one before it nobody's."""
    first = desk.send()
    desk.see(0.5)
    second = desk.send(goal=HELD, start=desk.time + 1.0)
    desk.see(0.04)
    third = desk.send(goal=HELD, start=desk.time + 1.0)
    assert first.outcome == second.outcome == ('aborted', INVALID)
    desk.see(0.1)
    third.cancel()
    desk.see(3.0)
    assert third.outcome == ('canceled', 0)
    q, qd, _ = desk.reference
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)
    assert np.abs(q - GOAL).min() > 0.05


@pytest.mark.parametrize('how', ['replaced', 'dropped', 'refused'])
def test_a_goal_whose_cancellation_was_accepted_is_never_aborted(desk, how):
    """Whatever ends it before the next joint state."""
    if how == 'refused':
        reading = Future()
        desk.input._background = SimpleNamespace(submit=lambda work: reading)
        handle = desk.send(count=100)
        handle.cancel()
        reading.set_exception(TrajectoryError('outside the limits'))
        desk.input.proceed(desk.controller)
    else:
        handle = desk.send()
        desk.see(0.5)
        handle.cancel()
        if how == 'replaced':
            desk.send(goal=HELD)
        else:
            desk.input.drop('a fault stopped the machine: stale')
    assert handle.outcome == ('canceled', 0)


@pytest.mark.parametrize('shaped', [False, True], ids=['unshaped', 'shaped'])
def test_a_cancelled_goal_stops_even_if_a_newer_goal_comes_before_the_next_state(ros, shaped):
    """The newer one, which starts later, was planned instead of the stop."""

    def at_once(work):
        done = Future()
        done.set_result(work())
        return done

    shaping = ReferenceShaping('zv', lambda q: MODES) if shaped else None
    desk = Desk(shaping, SimpleNamespace(submit=at_once))
    first = desk.send()
    desk.see(0.6)
    assert np.abs(desk.reference[1]).max() > 0.02
    first.cancel()
    newer = desk.send(goal=HELD, start=desk.time + 2.5)
    desk.see(2.2)
    assert first.outcome == ('canceled', 0)
    q, qd, _ = desk.reference
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)
    assert np.abs(q - GOAL).min() > 0.05
    desk.see(5.0)
    assert newer.outcome == ('succeeded', 0)
