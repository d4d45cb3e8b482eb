# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Integral action takes what the model misses, and never winds up."""

from __future__ import annotations

import numpy as np
import pytest
from long_runs import some_of
from sampled_runs import PERIOD, POSE, ROBOTS, SampledRun, machine

from kron_dynamics.control import CommandGuard, ComputedTorque, ProportionalDerivative
from kron_dynamics.control.integral_action import IntegralAction, integral_limit
from kron_dynamics.exceptions import NonFiniteError, ParameterError

REST = np.zeros(2)
# kp, kd, ki: triple pole at w, kp = 3 w^2, kd = 3 w, ki = w^3.
RATE = {'stacker': 1.0, 'ur5': 5.0, 'panda': 5.0}


@pytest.fixture(scope='module')
def models(kernel_cache):
    return {name: machine(name) for name in ROBOTS}


def gains(name, n):
    w = RATE[name]
    return tuple(np.full(n, gain) for gain in (3.0 * w**2, 3.0 * w, w**3))


def computed(name, model, limit, *, integral=True):
    kp, kd, ki = gains(name, model.n)
    law = ComputedTorque(model, kp, kd)
    if not integral:
        return law
    bound = integral_limit(model, limit, ki, compensated=True)
    return IntegralAction(law, model, ki, kd, bound)


def settle(name, law, robot, duration, **changes):
    """A run that holds its pose."""
    run = SampledRun(robot, law, PERIOD[name], POSE[name], **changes)
    zero = np.zeros(robot.n)
    while run.time < duration:
        run.step((POSE[name], zero, zero))
    return run


@pytest.mark.parametrize('name', some_of(ROBOTS, ['stacker', 'ur5']))
def test_a_wrong_weight_is_made_up_for(models, name):
    """Masses 10 % up, and Coulomb friction that the model lacks; efforts a period late."""
    model, robot = models[name], machine(name, mass=1.1, coulomb=0.001)
    limit, duration = model.model.effort_limit, 30.0 / RATE[name]
    without, with_it = (
        settle(name, computed(name, model, limit, integral=given), robot, duration, limit=limit)
        for given in (False, True)
    )
    off, on = (np.abs(run.plant.q - POSE[name]) for run in (without, with_it))
    loaded = np.abs(model.gravity_vector(POSE[name])) > 0.02 * limit
    assert loaded.any()
    assert (on[loaded] < 0.05 * off[loaded]).all()
    assert (on < 0.05 * off.max()).all()


def test_without_gains_nothing_changes(arm):
    kp, kd = np.array([36.0, 64.0]), np.array([12.0, 16.0])
    law = ComputedTorque(arm, kp, kd)
    one = IntegralAction(law, arm, [0.0, 8.0], kd, [50.0, 20.0])
    state = one.start(REST)
    target = np.array([0.1, 0.0]), REST, REST
    for elapsed in (0.0, 0.01, 0.01):
        effort = one(REST, REST, target, state, elapsed)
        state.set_applied_effort(effort)
        np.testing.assert_array_equal(effort, law(REST, REST, target))  # the error has no gain


def test_error_obeys_the_third_order_equation(arm, request):
    """Whatever the coupling: a disturbance of one joint's acceleration leaves the other alone."""
    kp, kd, ki = np.array([12.0, 27.0]), np.array([6.0, 9.0]), np.array([8.0, 27.0])
    law = IntegralAction(ComputedTorque(arm, kp, kd), arm, ki, kd, np.full(2, 1e9))
    q, qd, h = np.array([0.3, -0.5]), REST, 4e-4
    state = law.start(q)
    target, disturbance = (q.copy(), REST, REST), np.array([2.0, 0.0])
    steps = 5000 if request.config.getoption('--long') else 2500
    for k in range(steps):
        tau = law(q, qd, target, state, h if k else 0.0)
        state.set_applied_effort(tau)
        qdd = arm.forward_dynamics(q, qd, tau) + disturbance
        qd = qd + h * qdd
        q = q + h * qd
        if k in (1250, 2499, 4999):
            # Triple pole at w: e = -d t^2/2 exp(-w t).
            t = (k + 1) * h
            expected = -2.0 * t**2 / 2.0 * np.exp(-2.0 * t)
            assert target[0][0] - q[0] == pytest.approx(expected, rel=2e-3)
            assert abs(q[1] - target[0][1]) < 1e-6


def saturated(law, arm, limit, q0, *, told=True, duration=6.0, h=0.005):
    """Errors over time of an arm that starts far off; the law is told what was applied, or not."""
    q, qd = np.array(q0), REST
    state, errors = law.start(q), []
    target = np.zeros(2), REST, REST
    for k in range(round(duration / h)):
        wanted = law(q, qd, target, state, h if k else 0.0)
        tau = np.clip(wanted, -limit, limit)
        state.set_applied_effort(tau if told else wanted)
        for _ in range(3):
            qd = qd + h / 3 * arm.forward_dynamics(q, qd, tau)
            q = q + h / 3 * qd
        errors.append(-q)
    return np.array(errors), state


def test_efforts_that_were_cut_off_do_not_wind_up(arm):
    kp, kd, ki = np.full(2, 75.0), np.full(2, 15.0), np.full(2, 125.0)
    limit = 1.25 * np.abs(arm.gravity_vector(REST))
    law = IntegralAction(ComputedTorque(arm, kp, kd), arm, ki, kd, 1e3 * limit)
    errors, wound = (
        saturated(law, arm, limit, [-1.0, 0.0], told=told)[0] for told in (True, False)
    )
    overshoot, wound_overshoot = (-values[:, 0].min() for values in (errors, wound))
    assert np.abs(errors[-1]).max() < 1e-3
    assert overshoot < 0.15
    assert wound_overshoot > 3.0 * overshoot


@pytest.mark.parametrize('name', some_of(ROBOTS, ['stacker', 'ur5']))
def test_a_machine_that_saturates_does_not_wind_up(models, name):
    """A step too large for the drives, friction, efforts a period late."""
    model = models[name]
    robot = model if name == 'stacker' else machine(name, coulomb=0.001)
    kp, kd, ki = gains(name, model.n)
    weight, M = model.gravity_vector(POSE[name]), model.mass_matrix(POSE[name])
    joint = 1 if name == 'stacker' else 0
    step = np.zeros(model.n)
    step[joint] = 0.02 if name == 'stacker' else 0.6
    friction = model.joint_friction(model.model.velocity_limit)
    # A quarter of what the step asks for at first, beside what must be carried.
    limit = 1.3 * np.abs(weight) + 0.25 * np.abs(M @ (kp * step)) + 1.1 * friction
    limit += 0.05 * model.model.effort_limit
    overshoot = []
    for told in (True, False):
        law = IntegralAction(ComputedTorque(model, kp, kd), model, ki, kd, 1e3 * limit)
        run = SampledRun(robot, law, PERIOD[name], POSE[name], limit=limit, told=told)
        zero, goal = np.zeros(model.n), POSE[name] + step
        cut, beyond = 0, []
        while run.time < 25.0 / RATE[name]:
            run.step((goal, zero, zero))
            cut += (np.abs(run.under_way) >= limit).any()
            beyond.append((run.plant.q - goal)[joint] / step[joint])
        assert cut > 5
        overshoot.append(max(beyond))
        if told:
            assert np.abs(beyond[-1]) < 0.05
    # A step overshoots with three equal poles and two zeros, as it does without any limit.
    assert overshoot[0] < min(0.25, 0.75 * overshoot[1])


def test_the_efforts_of_the_integral_are_bounded(arm):
    """A machine that something holds off its reference: the integral pushes so much, no more."""
    kp, kd, ki = np.full(2, 75.0), np.full(2, 15.0), np.array([125.0, 60.0])
    bound = np.array([9.0, 4.0])
    inner = ComputedTorque(arm, kp, kd)
    law = IntegralAction(inner, arm, ki, kd, bound)
    q, target = np.array([0.2, 0.4]), (np.array([0.3, 0.2]), REST, REST)
    state = law.start(q)
    for _ in range(2000):
        tau = law(q, REST, target, state, 0.01)
        extra = tau - inner(q, REST, target)
        assert (np.abs(extra) <= bound * (1.0 + 1e-12)).all()
        state.set_applied_effort(tau)
    np.testing.assert_allclose(np.abs(extra).max() / bound.max(), 1.0, rtol=1e-6)
    # It lets go as soon as the error turns round, not after as long a time.
    target = np.array([0.1, 0.6]), REST, REST
    for _ in range(100):
        tau = law(q, REST, target, state, 0.01)
        state.set_applied_effort(tau)
    assert (tau - inner(q, REST, target))[0] < 0.0


def test_beside_the_proportional_derivative_law_it_carries_the_weight(models):
    name, model = 'ur5', models['ur5']
    kp, kd, ki = gains(name, 6)
    inner = ProportionalDerivative(model, kp, kd, POSE[name])
    limit = model.model.effort_limit
    bound = integral_limit(model, limit, ki, compensated=False)
    np.testing.assert_array_equal(bound, limit)
    law = IntegralAction(inner, model, ki, kd, bound, inertia=inner.inertia)
    off, on = (
        settle(name, given, model, 12.0, limit=limit).plant.q - POSE[name]
        for given in (inner, law)
    )
    assert np.abs(off).max() > 0.1
    assert np.abs(on).max() < 2e-3


def test_the_limit_is_what_the_weight_leaves(models):
    model = models['ur5']
    limit = model.model.effort_limit
    left = integral_limit(model, limit, np.ones(6), compensated=True)
    rng = np.random.default_rng(9)
    q = rng.uniform(-3.0, 3.0, (2000, 6))
    assert (left + np.abs(model.gravity_vector(q)) <= 1.02 * limit).all()
    assert left[1] < 0.8 * limit[1]
    with pytest.raises(ParameterError, match="joint 'shoulder_lift_joint' needs"):
        integral_limit(model, np.full(6, 30.0), np.ones(6), compensated=True)


@pytest.mark.parametrize('name', ROBOTS)
def test_a_joint_without_reserve_may_have_no_integral(models, name):
    """Its gain is refused, not that of others; where it is 0 the integral adds no effort."""
    model = models[name]
    kp, kd, ki = gains(name, model.n)
    limit = model.model.effort_limit.copy()
    reserve = integral_limit(model, limit, ki, compensated=True)
    loaded = int((reserve / limit).argmin())
    limit[loaded] -= 1.01 * reserve[loaded]
    with pytest.raises(ParameterError, match=f"joint '{model.joint_names[loaded]}' needs"):
        integral_limit(model, limit, ki, compensated=True)
    ki[loaded] = 0.0
    left = integral_limit(model, limit, ki, compensated=True)
    others = np.arange(model.n) != loaded
    np.testing.assert_array_equal(left, np.where(others, reserve, 0.0))
    inner = ComputedTorque(model, kp, kd)
    law, q, rest = IntegralAction(inner, model, ki, kd, left), POSE[name], np.zeros(model.n)
    state, target = law.start(q), (q + 0.01, rest, rest)
    for elapsed in (0.0, 0.01):
        effort = law(q, rest, target, state, elapsed)
        state.set_applied_effort(effort)
    added = effort - inner(q, rest, target)
    assert added[loaded] == 0.0
    coupling = model.mass_matrix(q)[np.ix_(others, others)]
    np.testing.assert_allclose(added[others], coupling @ ki[others] * 1e-4, rtol=1e-6, atol=1e-6)


def test_a_joint_with_a_gain_needs_a_limit_above_0(arm):
    law = ComputedTorque(arm, [9.0, 9.0], [6.0, 6.0])
    with pytest.raises(ParameterError, match="cannot be used for 'elbow': 0"):
        IntegralAction(law, arm, [0.0, 8.0], [6, 6], [0.0, 0.0])


def test_a_state_that_is_not_finite_leaves_no_trace(arm):
    law = IntegralAction(
        ComputedTorque(arm, [9.0, 9.0], [6.0, 6.0]), arm, [8.0, 8.0], [6, 6], [9, 9]
    )
    guard = CommandGuard([100.0, 100.0], [1e9, 1e9], arm.joint_names)
    state, target = law.start(REST), (np.array([0.1, 0.1]), REST, REST)
    state.set_applied_effort(law(REST, REST, target, state, 0.01))
    with pytest.raises(NonFiniteError):
        guard.apply(law(np.array([np.nan, 0.0]), REST, target, state, 0.01), 0.01)
    np.testing.assert_allclose(state.z, 8.0 * 0.01 * 0.1)


def test_a_gap_between_states_is_no_error(arm):
    law = IntegralAction(
        ComputedTorque(arm, [9.0, 9.0], [6.0, 6.0]), arm, [8.0, 8.0], [6, 6], [99, 99]
    )
    state, target = law.start(REST), (np.array([0.1, 0.1]), REST, REST)
    state.set_applied_effort(law(REST, REST, target, state, 1.0))
    np.testing.assert_allclose(state.z, 8.0 * 0.1 * 0.1)


def test_joints_that_turn_without_end_integrate_the_shorter_way(make_arm):
    arm = make_arm(joint_types=('revolute', 'continuous'))
    law = IntegralAction(
        ComputedTorque(arm, [9.0, 9.0], [6.0, 6.0]), arm, [8.0, 8.0], [6, 6], [99, 99]
    )
    state = law.start(REST)
    law(np.array([0.0, 3.1]), REST, (np.array([0.0, -3.1]), REST, REST), state, 0.01)
    assert 0.0 < state.next_z[1] < 0.08 * 0.1


@pytest.mark.parametrize('name', ROBOTS)
def test_one_wrong_velocity_does_not_throw_the_integral(models, name):
    """Its effort is cut by the guard as far as it likes: that is no saturation to unwind."""
    model, limit, zero = models[name], models[name].model.effort_limit, np.zeros(models[name].n)
    law, period, q = computed(name, model, limit), PERIOD[name], POSE[name]
    state, target = law.start(q), (q, zero, zero)
    for k in range(8):
        wrong = zero + 1e100 * (k == 5)
        effort = law(q, wrong, target, state, period)
        state.set_applied_effort(np.clip(effort, -limit, limit))
    share = 1.0 - np.exp(-period * np.sqrt(gains(name, 1)[2] / gains(name, 1)[1]))
    assert (np.abs(model.mass_matrix(q) @ state.z) <= 1.001 * share * law.limit).all()
    assert state.z.any()
