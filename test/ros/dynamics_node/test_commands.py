# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A command is the law's answer to one state: exact, in order, stamped, finite, within limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kron_dynamics.control import Trajectory

pytestmark = pytest.mark.ros

KP, KD = np.array([4.0, 9.0, 16.0]), np.array([3.0, 5.0, 7.0])
HELD = np.array([0.1, 0.2, 0.05])
STATES = [
    ((0.1, 0.2, 0.05), (0.0, 0.0, 0.0)),
    ((0.15, 0.1, 0.07), (0.3, -0.2, 0.1)),
    ((-0.3, 0.6, 0.0), (-0.4, 0.3, -0.2)),
]
LIMITS = np.array([200.0, 400.0, 150.0])


def saturations(bench, what):
    status = bench.client.next_status()
    values = {item.key: item.value for item in status.values}
    return [int(values[f'{what} saturations of {joint}']) for joint in bench.robot.joint_names]


def test_computed_torque_holds_the_position_of_the_activation(bench, assert_close):
    bench.prepare(q=HELD)
    bench.command()  # begins with the effort measured, here the weight
    for q, qd in STATES:
        wanted = KP * (HELD - q) - KD * qd
        assert_close(bench.command(q, qd), bench.robot.inverse_dynamics(q, qd, wanted))


def test_a_continuous_joint_takes_the_shorter_way(bench, assert_close):
    bench.prepare(q=HELD)
    bench.command()
    q = np.array([0.3, 0.1, 0.0])
    expected = bench.command(q)
    assert_close(bench.command(q + [4.0 * np.pi, 0.0, 0.0]), expected, rel=1e-9)


def test_pd_is_the_same_gains_at_the_inertia_of_the_activation(bench, assert_close):
    bench.prepare(q=HELD, control_law='pd')
    bench.command()
    inertia = bench.robot.mass_matrix(HELD).diagonal()
    for q, qd in STATES:
        assert_close(bench.command(q, qd), inertia * (KP * (HELD - q) - KD * qd), floor=1.0)


def test_gains_are_those_of_the_parameters(bench, assert_close):
    bench.prepare(q=HELD, joints={'gains.lift.kp': 1.0, 'gains.slide.kd': 0.5})
    bench.command()
    q, qd = STATES[1]
    wanted = np.array([4.0, 1.0, 16.0]) * (HELD - q) - np.array([3.0, 5.0, 0.5]) * qd
    assert_close(bench.command(q, qd), bench.robot.inverse_dynamics(q, qd, wanted))


def test_friction_of_the_reference_is_compensated_if_asked(bench, assert_close):
    """In the middle of a move that the machine follows exactly."""
    goal = HELD + [0.3, -0.2, 0.1]
    rate = 15.0 / 8.0 * (goal - HELD) / 2.0
    middle = 0.5 * (HELD + goal)
    expected = bench.robot.inverse_dynamics(middle, rate, np.zeros(3))
    friction = bench.robot.joint_friction(rate)
    assert friction[2] > 5.0
    for compensate in (True, False):
        rest = ['inertia', 'coriolis', 'gravity', 'flexible']
        bench.prepare(q=HELD, terms=[*rest, 'friction'] if compensate else rest)
        bench.command()
        rest = np.zeros((2, 3))
        assert bench.refer([0.0, 2.0], [HELD, goal], rest, rest, start=bench.time + 1.0) is None
        effort = bench.command(middle, rate, after=2.0)
        assert_close(effort, expected + compensate * friction, rel=1e-9)


def test_efforts_are_as_far_ahead_as_asked(bench, assert_close):
    """At a third of a move that the machine follows exactly."""
    goal, rest = HELD + [0.3, -0.2, 0.1], np.zeros((2, 3))
    move = Trajectory.from_points(bench.robot.joint_names, [0.0, 1.5], [HELD, goal], rest, rest)
    motion, ahead = move.sample(0.5), 0.02
    expected = bench.robot.inverse_dynamics(*motion)
    jerk = (move.sample(0.5 + ahead)[2] - motion[2]) / ahead
    added = bench.robot.inverse_dynamics_rate(*motion, jerk)
    assert np.abs(added).min() > 0.1
    for lead in (0.0, ahead):
        bench.prepare(q=HELD, terms=['inertia', 'coriolis', 'gravity'], effort_lead=lead)
        bench.command()
        assert bench.refer([0.0, 1.5], [HELD, goal], rest, rest, start=bench.time + 1.0) is None
        effort = bench.command(*motion[:2], after=1.5)
        assert_close(effort, expected + lead * added, rel=1e-9)


def test_a_lead_of_many_periods_is_doubted(bench):
    bench.prepare(q=HELD, effort_lead=0.9)
    assert 'effort_lead is 0.9 s, 45 times state_period' in bench.process.output


def test_settings_that_the_law_does_not_use_are_told(bench):
    bench.prepare(q=HELD, control_law='pd', effort_lead=0.01)
    assert "effort_lead is 0.01 s, which control_law 'pd' does not use" in bench.process.output


def test_commands_have_the_models_order_and_the_states_stamp(bench, assert_close):
    bench.prepare(q=HELD)
    bench.command()
    q, qd = STATES[1]
    expected = bench.robot.inverse_dynamics(q, qd, KP * (HELD - q) - KD * qd)
    bench.client.wait_for(lambda: len(bench.commands) == 1, 'first command')
    bench.commands.clear()
    names = ('camera', 'slide', 'turn', 'lift')
    message = bench.send(names, (9.0, q[2], q[0], q[1]), (9.0, qd[2], qd[0], qd[1]))
    answer = bench.answer_to(message, bench.command_states)
    assert answer.header.stamp == message.header.stamp
    assert tuple(answer.name) == bench.robot.joint_names
    assert len(answer.position) == len(answer.velocity) == 0
    assert_close(answer.effort, expected)
    bench.client.wait_for(lambda: bench.commands, 'bare command')
    assert list(bench.commands[0].data) == list(answer.effort)


@pytest.mark.parametrize(
    ('scale', 'given', 'limits'),
    [
        (1.0, {}, LIMITS),
        (0.5, {}, 0.5 * LIMITS),
        (0.5, {'effort_limit.lift': 80.0}, 0.5 * np.array([200.0, 80.0, 150.0])),
    ],
    ids=['urdf', 'scaled', 'parameter'],
)
def test_efforts_stay_within_the_limits(bench, scale, given, limits):
    bench.prepare(q=HELD, effort_limit_scale=scale, joints=given)
    bench.command()
    far = np.array([2.5, -0.9, -0.2])
    assert list(np.abs(bench.command(far, (9.0, -40.0, -30.0)))) == list(limits)
    assert list(np.abs(bench.command(far, (-90.0, 40.0, 30.0)))) == list(limits)
    assert saturations(bench, 'effort') == [2, 2, 2]


def test_the_first_command_is_the_effort_measured(bench, assert_close):
    bench.prepare(q=HELD, effort=(12.0, 34.0, -5.0))
    assert_close(bench.command((0.3, 0.4, 0.1)), (12.0, 34.0, -5.0))


def test_without_measured_effort_the_first_command_is_the_weight(bench, assert_close):
    bench.prepare(q=HELD)
    assert_close(bench.command((0.3, 0.4, 0.1)), bench.robot.gravity_vector(HELD))


def test_commands_change_no_faster_than_the_rate_limit(bench, assert_close):
    rate = np.array([50.0, 300.0, 20.0])
    joints = {
        f'effort_rate_limit.{j}': r for j, r in zip(bench.robot.joint_names, rate, strict=True)
    }
    bench.prepare(q=HELD, joints=joints)
    efforts = [bench.command()]
    fast = (-90.0, 40.0, 30.0)
    efforts += [bench.command(HELD, fast, after=after) for after in (0.02, 0.02, 0.05, 0.01, 30.0)]
    steps = np.abs(np.diff(efforts, axis=0))
    # After a gap the command does not make up for it in a jump: 0.1 s at most.
    assert_close(steps, np.outer((0.02, 0.02, 0.05, 0.01, 0.1), rate), rel=1e-9)
    assert min(saturations(bench, 'rate')) >= 5


def test_a_state_that_is_not_finite_never_gives_such_a_command(bench):
    bench.prepare(q=HELD)
    bench.command()
    nan, inf = math.nan, math.inf
    spoilt = [
        ((nan, 0.2, 0.05), (0.0, 0.0, 0.0)),
        ((nan, nan, nan), (nan, nan, nan)),
        ((0.1, inf, 0.05), (0.0, -inf, 0.0)),
        ((0.1, 0.2, 0.05), (0.0, nan, 0.0)),
        ((1e308, 1e308, 1e308), (1e308, -1e308, 1e308)),
    ]
    for q, qd in spoilt:
        bench.send(None, q, qd)
    bench.client.wait_for(
        lambda: bench.client.next_status().message.startswith('fault'), 'fault of the absurd'
    )
    assert 'effort command is not finite' in bench.client.status().message
    heard = len(bench.commands)
    bench.client.wait_for(lambda: len(bench.commands) > heard + 2, 'fault action')
    assert all(np.isfinite(message.data).all() for message in bench.commands)
    assert all(np.isfinite(message.effort).all() for message in bench.command_states)
    weight = bench.robot.gravity_vector(HELD)
    np.testing.assert_allclose(bench.commands[-1].data, weight)
    # The absurd state does not keep the node from being deactivated in order.
    assert bench.client.transition('deactivate')
    assert bench.client.lifecycle_state() == 'inactive'
    np.testing.assert_allclose(bench.commands[-1].data, weight)
