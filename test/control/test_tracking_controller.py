# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The controller follows references without jumps, and falls back on a fault."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kron_dynamics.control import (
    CommandGuard,
    ComputedTorque,
    FaultAction,
    GravityHold,
    StatelessLaw,
)
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import NonFiniteError, TrajectoryError

KP, KD = np.array([4.0, 9.0]), np.array([4.0, 6.0])
LIMIT = np.array([120.0, 40.0])
HELD, GOAL = np.array([0.2, -0.3]), np.array([0.5, 0.1])
REST = np.zeros((2, 2))
NAN = np.full(2, np.nan)
DAMPING = 6.0  # of the fault action, 1/s
NOW = 1000.0  # on the steady clock, which has nothing to do with the stamps


@pytest.fixture
def make(make_arm):
    def build(
        *,
        action=FaultAction.HOLD_GRAVITY,
        rate=np.inf,
        effort_limit=LIMIT,
        kinds=None,
        gap=1.0,
        law=None,
    ):
        arm = make_arm(joint_types=kinds or ('revolute', 'revolute'))
        return TrackingController(
            arm,
            law or ComputedTorque(arm, KP, KD),
            GravityHold(arm, DAMPING, period=0.02) if action is FaultAction.HOLD_GRAVITY else None,
            CommandGuard(LIMIT, np.full(2, rate), arm.joint_names),
            fault_action=action,
            start_tolerance=np.array([0.01, 0.01]),
            effort_limit=effort_limit,
            longest_gap=gap,
            period=0.02,
        )

    return build


@pytest.fixture
def held(make):
    """A controller that holds HELD and has seen a state at 10 s."""

    def build(**settings):
        controller = make(**settings)
        controller.start(HELD, NAN)
        assert controller.update(HELD, np.zeros(2), 10.0, NOW) is not None
        return controller

    return build


def refer(controller, start, goal=GOAL, duration=2.0, begin=HELD):
    """A quintic move from rest to rest."""
    return controller.set_reference([0.0, duration], [begin, goal], REST, REST, start_time=start)


# Start


def test_before_the_start_there_is_neither_a_reference_nor_a_fault_effort(make):
    controller = make()
    with pytest.raises(TrajectoryError, match='not active'):
        controller.reference_at(0.0)
    assert controller.fault_effort(HELD, np.zeros(2), 10.0, 0.1) is None
    assert controller.fault_effort_without_state(0.1) is None
    assert controller.last_effort(HELD) is None


def test_the_first_command_continues_the_measured_effort(make):
    controller = make()
    controller.start(HELD, np.array([11.0, -7.0]))
    command = controller.update(HELD + 0.1, np.zeros(2), 10.0, NOW)
    np.testing.assert_array_equal(command.effort, [11.0, -7.0])
    np.testing.assert_array_equal(command.q_ref, HELD)


@pytest.mark.parametrize('measured', [NAN, [np.nan, -7.0], [np.inf, -7.0]])
def test_where_no_effort_is_measured_the_weight_stands_in(make, arm, measured):
    controller = make()
    controller.start(HELD, np.array(measured))
    effort = controller.update(HELD + 0.1, np.zeros(2), 10.0, NOW).effort
    expected = np.where(np.isfinite(measured), measured, arm.gravity_vector(HELD))
    np.testing.assert_allclose(effort, expected)


def test_the_position_of_the_start_is_held_and_copied(make, arm):
    controller, measured = make(), HELD.copy()
    controller.start(measured, NAN)
    measured[:] = 9.0
    np.testing.assert_allclose(
        controller.fault_effort_without_state(0.1), arm.gravity_vector(HELD)
    )
    controller.update(HELD, np.zeros(2), 10.0, NOW)
    q, qd = HELD + [0.1, -0.05], np.array([0.2, 0.1])
    effort = controller.update(q, qd, 10.02, NOW).effort
    wanted = KP * (HELD - q) - KD * qd
    np.testing.assert_allclose(effort, arm.inverse_dynamics(q, qd, wanted))


# References


def test_a_reference_is_followed_from_its_start_on(held):
    controller = held()
    trajectory = refer(controller, 11.0)
    for time in (10.1, 10.999):
        q, qd, qdd = controller.reference_at(time)
        np.testing.assert_array_equal([q, qd, qdd], [HELD, np.zeros(2), np.zeros(2)])
    for time in (11.0, 11.7, 12.9):
        np.testing.assert_array_equal(
            controller.reference_at(time), trajectory.sample(time - 11.0)
        )
    q, qd, _ = controller.reference_at(20.0)
    np.testing.assert_array_equal([q, qd], [GOAL, np.zeros(2)])


def test_a_waiting_reference_is_replaced_by_a_newer_one(held):
    controller = held()
    refer(controller, 11.0, goal=HELD + 0.1)
    refer(controller, 12.0)
    np.testing.assert_array_equal(controller.reference_at(11.9)[0], HELD)
    np.testing.assert_allclose(controller.reference_at(13.0)[0], 0.5 * (HELD + GOAL))


def test_a_move_is_replaced_on_the_way_without_a_step(held):
    """From where the first one is at that moment, in position and velocity."""
    controller = held()
    refer(controller, 10.0)
    before = controller.reference_at(11.0)
    controller.set_reference([1.5], [HELD], None, None, start_time=11.0)
    after = controller.reference_at(11.0)
    np.testing.assert_allclose(after[:2], before[:2], rtol=1e-12)
    np.testing.assert_allclose(controller.reference_at(12.5)[0], HELD)


def test_a_reference_that_has_begun_is_not_replaced_before_its_successor_begins(held):
    controller = held()
    refer(controller, 10.0)
    controller.set_reference([1.5], [HELD], None, None, start_time=11.0)
    np.testing.assert_allclose(controller.reference_at(10.9)[0], 0.5 * (HELD + GOAL), atol=0.05)
    np.testing.assert_allclose(controller.reference_at(11.0)[0], 0.5 * (HELD + GOAL))


def test_a_reference_of_the_immediate_past_begins_now(held):
    controller = held()
    refer(controller, 9.6)
    np.testing.assert_allclose(controller.reference_at(10.0)[0], HELD)
    np.testing.assert_allclose(controller.reference_at(11.0)[0], 0.5 * (HELD + GOAL))


@pytest.mark.parametrize(
    ('reference', 'said'),
    [
        ({'start': 9.4}, r'starts 0\.6 s in the past, expected at most 0\.5 s'),
        ({'start': 11.0, 'goal': np.array([2.5, 0.0])}, "'shoulder': position 2.5 rad"),
        ({'start': 11.0, 'duration': 0.2}, "'shoulder': velocity"),
        ({'start': 11.0, 'begin': HELD + [0.0, 0.05]}, "'elbow': -0.25 instead of -0.3"),
        ({'start': np.nan}, 'NaN'),
    ],
    ids=['past', 'position', 'velocity', 'elsewhere', 'no time'],
)
def test_what_cannot_be_followed_is_refused_and_changes_nothing(held, reference, said):
    controller = held()
    waiting = refer(controller, 12.0, goal=HELD + 0.2)
    with pytest.raises((TrajectoryError, NonFiniteError), match=said):
        refer(controller, reference.pop('start'), **reference)
    np.testing.assert_array_equal(controller.reference_at(11.5)[0], HELD)
    np.testing.assert_array_equal(controller.reference_at(13.0), waiting.sample(1.0))


def test_effort_limits_of_the_controller_count(held):
    with pytest.raises(TrajectoryError, match=r"'elbow': effort .* limit 5 N m"):
        refer(held(effort_limit=np.array([120.0, 5.0])), 11.0)


def test_what_a_law_of_ones_own_raises_is_a_fault(make):
    class OneEffort(StatelessLaw):
        def effort(self, q, qd, reference):
            return np.zeros(1)

    controller = make(law=OneEffort())
    controller.start(HELD, NAN)
    assert controller.update(HELD, np.zeros(2), 10.0, NOW) is None
    assert '(1,)' in controller.latch.reason
    assert controller.fault_effort(HELD, np.zeros(2), 10.02, 0.02).shape == (2,)


def test_a_continuous_joint_needs_no_turning_back(make):
    controller = make(kinds=('continuous', 'revolute'))
    turned = HELD + [6.0 * np.pi, 0.0]
    controller.start(turned, NAN)
    controller.update(turned, np.zeros(2), 10.0, NOW)
    refer(controller, 10.0)
    way = [controller.reference_at(time)[0][0] for time in np.linspace(10.0, 12.0, 50)]
    assert abs(way[-1] - way[0]) < 1.0


# The fixture builds a new controller at every call.
@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.5), st.floats(-0.6, 0.6), st.floats(1.5, 4.0)), max_size=6)
)
def test_whatever_references_come_the_reference_has_no_jump(held, requests):
    controller = held()
    samples = []
    for k in range(1200):
        time = 10.0 + 0.01 * k
        if k % 150 == 0 and k // 150 < len(requests):
            delay, goal, duration = requests[k // 150]
            try:
                controller.set_reference(
                    [duration], [[goal, -goal]], [[0.0, 0.0]], None, start_time=time + delay
                )
            except TrajectoryError:
                pass
        samples.append(controller.update(*controller.reference_at(time)[:2], time, NOW).q_ref)
    # The limits of velocity are 1.5 and 2 rad/s.
    assert (np.abs(np.diff(samples, axis=0)) <= np.array([0.015, 0.02]) * 1.001).all()


# Faults


@pytest.mark.parametrize(
    ('q', 'qd'), [(NAN, np.zeros(2)), (HELD, NAN), (HELD, [np.inf, 0.0]), (HELD, [1e308, 0.0])]
)
@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_a_state_without_a_finite_answer_is_a_fault(held, q, qd):
    controller = held()
    assert controller.update(np.array(q), np.array(qd), 10.02, NOW) is None
    assert controller.latch.faulted
    assert 'not finite' in controller.latch.reason
    assert controller.latch.since == NOW
    effort = controller.fault_effort(np.array(q), np.array(qd), 10.04, 0.02)
    assert np.isfinite(effort).all()


def test_a_gap_between_stamps_is_a_fault(held):
    controller = held(gap=1.0)
    refer(controller, 10.0)
    assert controller.update(HELD, np.zeros(2), 11.0, NOW) is not None
    assert controller.update(HELD, np.zeros(2), 12.1, NOW) is None
    assert controller.latch.reason.startswith('stamps of the states jumped ahead by 1.1 s')


def test_a_state_of_another_publisher_may_be_a_little_older(held):
    controller = held()
    command = controller.update(HELD, np.zeros(2), 9.99, NOW)
    assert command is not None
    assert not controller.latch.faulted


def test_fault_actions(held, arm):
    qd = np.array([0.3, -0.2])
    braked = arm.gravity_vector(HELD + 0.02 * qd) - DAMPING * arm.mass_matrix(HELD) @ qd
    controller = held()
    np.testing.assert_allclose(controller.fault_effort(HELD, qd, 10.02, 0.02), braked)
    # Without a fresh state: the weight at the last position, and no brake.
    controller.fault_effort(HELD + 0.1, qd, 10.04, 0.02)
    weight = controller.fault_effort_without_state(0.1)
    np.testing.assert_allclose(weight, arm.gravity_vector(HELD + 0.1))
    for action, expected in ((FaultAction.ZERO, np.zeros(2)), (FaultAction.STOP_PUBLISHING, None)):
        other = held(action=action)
        for effort in (
            other.fault_effort(HELD, qd, 10.02, 0.1),
            other.fault_effort_without_state(0.1),
        ):
            np.testing.assert_array_equal(effort, expected)


def test_a_state_without_a_finite_answer_leaves_the_weight_of_the_last_good_one(held, arm):
    controller = held()
    still, absurd = np.zeros(2), np.array([0.0, 20.1])  # rad/s, ten times the limit
    far = HELD + [0.0, 8.0]  # more than a whole way of 5 rad beyond the limit of 2.5
    for q, qd in ((NAN, NAN), (HELD + 0.5, NAN), (HELD, absurd), (far, still)):
        weight = controller.fault_effort(q, qd, 10.02, 0.1)
        np.testing.assert_allclose(weight, arm.gravity_vector(HELD))


def test_the_brake_is_weaker_where_states_come_less_often_or_late(held, arm):
    """Damping times period stays at a quarter at most."""
    qd = np.array([0.3, -0.2])

    def braked(controller, time, age=0.0):
        return controller.fault_effort(HELD, qd, time, 0.02, age)

    def expected(period, damping):
        return arm.gravity_vector(HELD + period * qd) - damping * arm.mass_matrix(HELD) @ qd

    rare = held()
    for k in range(1, 9):
        effort = braked(rare, 10.0 + 0.1 * k)
    np.testing.assert_allclose(effort, expected(0.1, 2.5))
    np.testing.assert_allclose(braked(held(), 10.02, age=0.08), expected(0.1, 2.5))


def test_a_reference_planned_before_a_stop_never_moves_the_machine(held):
    """Neither followed when it is ready, nor planned anew from where the machine stands then."""
    controller = held()
    planned = controller.references.plan(
        [2.0], [GOAL], [[0.0, 0.0]], None, start_time=10.5, lead=0.1
    )
    reference = planned.finish()
    controller.latch.trip('stale', NOW)
    assert controller.clear(None, HELD + 0.1, NAN)
    with pytest.raises(TrajectoryError, match='stopped after this reference was planned'):
        controller.references.follow(planned, reference)
    np.testing.assert_array_equal(controller.reference_at(20.0)[0], HELD + 0.1)


def test_the_way_into_the_fault_action_is_rate_limited(held, arm):
    controller = held(action=FaultAction.ZERO, rate=100.0)
    weight = arm.gravity_vector(HELD)
    efforts = [controller.fault_effort_without_state(0.05) for _ in range(40)]
    np.testing.assert_allclose(efforts[0], weight - 5.0 * np.sign(weight))
    assert max(np.abs(b - a).max() for a, b in pairwise(efforts)) <= 5.0 + 1e-9
    assert not efforts[-1].any()


@pytest.mark.parametrize('q', [HELD + [0.3, 0.2], NAN, np.array([0.1, 1e308])])
def test_the_last_effort_is_the_fault_action_itself(held, arm, q):
    """Neither on the way there nor with a brake, as nobody comes to end it."""
    position = q if np.abs(q).max() < 3.0 else HELD
    controller = held(rate=1.0)
    np.testing.assert_allclose(controller.last_effort(q), arm.gravity_vector(position))
    assert not held(action=FaultAction.ZERO, rate=1.0).last_effort(q).any()
    assert held(action=FaultAction.STOP_PUBLISHING).last_effort(q) is None


def test_a_latched_fault_refuses_references(held):
    controller = held()
    controller.latch.trip('somebody pulled the plug', NOW)
    with pytest.raises(TrajectoryError, match='somebody pulled the plug'):
        refer(controller, 11.0)


@pytest.mark.parametrize('time', [3.0, 500.0])
def test_clearing_needs_a_good_state_and_holds_what_is_measured(held, arm, time):
    controller = held()
    refer(controller, 10.5)
    controller.latch.trip('stale', NOW)
    assert not controller.clear('still stale', NAN, NAN)
    assert controller.latch.reason == 'stale'
    measured, effort = HELD + 0.15, np.array([5.0, 6.0])
    assert controller.clear(None, measured, effort)
    assert not controller.latch.faulted
    # Neither the old reference nor the old time counts any more.
    command = controller.update(measured, np.zeros(2), time, NOW)
    np.testing.assert_array_equal(command.effort, effort)
    np.testing.assert_array_equal(controller.reference_at(time + 1.0)[0], measured)
    effort = controller.update(measured, np.zeros(2), time + 0.02, NOW).effort
    np.testing.assert_allclose(effort, arm.gravity_vector(measured))


def test_a_brake_may_stay_as_long_as_the_fault_action_says(arm):
    hold = GravityHold(arm, period=0.02)
    controllers = {}
    for action, kept in (
        (FaultAction.HOLD_GRAVITY, hold),
        (FaultAction.ZERO, None),
    ):
        controllers[action] = TrackingController(
            arm,
            ComputedTorque(arm, np.full(2, 100.0), np.full(2, 20.0)),
            kept,
            CommandGuard(np.full(2, 1e4), np.full(2, np.inf), arm.joint_names),
            fault_action=action,
            start_tolerance=np.full(2, 0.01),
            effort_limit=np.full(2, 1e4),
            longest_gap=1.0,
            period=0.02,
        )
    assert hold.longest_brake > 0.0
    assert controllers[FaultAction.HOLD_GRAVITY].longest_brake == hold.longest_brake
    assert controllers[FaultAction.ZERO].longest_brake == 0.0
