# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from kron_dynamics.control.vibration.damper import GainSchedule, VibrationDamper
from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError, ShapeError
from kron_dynamics.linearized import LinearizedModel

# A slewing stacker: inertia about the slew axis, a boom of 60 m with 2750 kg/m and 20 t at its
# tip. The boom's bending line is that of a clamped beam, 1 at the tip, so e is its deflection.
INERTIA, LENGTH, LINE_MASS, TIP_MASS = 6e8, 60.0, 2750.0, 20e3
FIRST_MODE = 2.0 * np.pi * 0.8
LIMIT = np.array([5e6])
PERIOD = 0.02
STEP = 2.0 * np.pi / 2**20
ZERO = np.zeros(1)


def stacker(frequency=FIRST_MODE, damping_ratio=0.01, weight=1.0):
    """Return the boom on its slewing joint; weight scales the coupling of the two."""
    x = np.linspace(0.0, LENGTH, 2001)
    kl, ratio = 1.875104068711961 * x / LENGTH, 0.734095513758
    line = np.cosh(kl) - np.cos(kl) - ratio * (np.sinh(kl) - np.sin(kl))
    line /= line[-1]
    coupling = weight * (np.trapezoid(LINE_MASS * x * line, x) + TIP_MASS * LENGTH)
    modal = np.trapezoid(LINE_MASS * line**2, x) + TIP_MASS
    M = np.array([[INERTIA, coupling], [coupling, modal]])
    D = np.diag([0.0, 2.0 * damping_ratio * frequency * modal])
    K = np.diag([0.0, modal * frequency**2])
    zero = [np.zeros(2) for _ in range(4)]
    return LinearizedModel(('slew', 'boom/w1'), M, D, K, *zero)


def design(model, period=PERIOD):
    scales = LqrWeights.of(model, LIMIT)
    return DampingGains.of(model, period, scales, scales.noise_model(model, [STEP]))


class Machine:
    """What the linear equations do, sampled exactly; x = (slew, e, rates)."""

    def __init__(self, model, kp=0.0, kd=0.0, period=PERIOD):
        stiff, damp = model.stiffness + np.diag([kp, 0.0]), model.damping + np.diag([kd, 0.0])
        rates = np.zeros((6, 6))
        rates[:2, 2:4] = np.eye(2)
        rates[2:4, :4] = -np.linalg.solve(model.mass, np.hstack((stiff, damp)))
        rates[2:4, 4:] = np.linalg.inv(model.mass)
        both = expm(rates * period)
        self.A, self.B = both[:4, :4], both[:4, 4:]
        self.kick = np.concatenate(([0.0, 0.0], np.linalg.inv(model.mass)[:, 1] * 1e4))
        self.x = np.zeros(4)

    def step(self, effort=0.0, modal_force=0.0):
        self.x = self.A @ self.x + self.B @ np.array([effort, modal_force])


def hold(damper, q, q_ref=ZERO):
    return damper.update(np.array([q]), None, q_ref, ZERO, ZERO, ZERO)


def swings(machine, cycles, damper=None, see=lambda q: q):
    """Return the machine's path after a gust, shape (cycles, 4)."""
    machine.x = machine.kick.copy()
    path = []
    for _ in range(cycles):
        path.append(machine.x)
        machine.step(0.0 if damper is None else hold(damper, see(machine.x[0]))[0])
    return np.array(path)


def settling_time(path, part=0.05):
    """Return when the tip stays within a part of its largest deflection, s."""
    tip = np.abs(path[:, 1])
    return PERIOD * (np.flatnonzero(tip > part * tip.max())[-1] + 1)


def primed(model):
    """Return a damper that has seen the machine at rest once."""
    damper = VibrationDamper(design(model), LIMIT)
    hold(damper, 0.0)
    return damper


def test_boom_comes_to_rest_five_times_faster_than_on_a_drive_that_holds_its_position():
    model = stacker()
    rounded = swings(Machine(model), 800, primed(model), lambda q: STEP * np.rint(q / STEP))
    damped = settling_time(rounded)

    def servo(w):  # natural frequency of the joint, critically damped
        return settling_time(swings(Machine(model, INERTIA * w**2, 2.0 * INERTIA * w), 3000))

    assert 5.0 * damped < servo(10.0)
    # A joint that gives way damps better, at the price of its stiffness. None comes near.
    assert 2.0 * damped < servo(1.0)
    assert 1.5 * damped < min(servo(w) for w in np.geomspace(0.3, 20.0, 30))


def test_poles_of_the_loop_are_those_of_regulator_and_filter():
    """Separation: the measured joint obeys the recurrence of just these nine poles."""
    model, period = stacker(), 0.25  # so long that no pole is near 1, where they look alike
    gains = design(model, period)
    poles = np.concatenate((gains.regulator_poles, gains.filter.poles))
    assert len(poles) == 9
    machine, damper = Machine(model, period=period), VibrationDamper(gains, [np.inf])
    angle = swings(machine, 40, damper)[:, 0]

    def missed(poles):
        return np.abs(np.convolve(angle, np.poly(poles), 'valid')).max()

    assert missed(poles) < 1e-9 * np.abs(angle).max()
    for place in range(9):
        # Without one of them the recurrence does not hold.
        assert missed(np.delete(poles, place)) > 1e-5 * np.abs(angle).max()


@pytest.mark.parametrize('factor', [0.8, 1.2])
def test_loop_is_stable_where_the_boom_is_softer_or_stiffer_than_thought(factor):
    damper = primed(stacker())
    path = swings(Machine(stacker(FIRST_MODE * factor)), 800, damper)
    assert np.abs(path[-100:, 1]).max() < 1e-3 * np.abs(path[:, 1]).max()


@pytest.mark.parametrize('lost', [(), (20, 70, 71, 72, 155, 156, 200)])
def test_estimate_is_the_truth_where_the_model_is(lost):
    """A reference whose acceleration leaps: the boom swings, and the filter knows by how much.

    Also where states are lost, for whose periods the last effort acts on.
    """
    model = stacker()
    machine, damper = Machine(model), VibrationDamper(design(model), LIMIT)
    J, coupling = model.mass[0]
    q_ref = qd_ref = elapsed = 0.0
    for cycle in range(300):
        qdd_ref = 1e-3 if 50 <= cycle < 150 else 0.0
        hangs = -coupling * qdd_ref / model.stiffness[1, 1]
        elapsed += PERIOD
        if cycle not in lost:
            effort = damper.update(
                machine.x[:1],
                None,
                np.array([q_ref]),
                np.array([qd_ref]),
                np.array([hangs]),
                np.array([J * qdd_ref]),
                elapsed,
            )
            elapsed = 0.0
            np.testing.assert_allclose(damper.deflection, machine.x[1:2], atol=1e-9)
            np.testing.assert_allclose(damper.deflection_rate, machine.x[3:], atol=1e-9)
            np.testing.assert_allclose(damper.disturbance, 0.0, atol=1.0)
        if cycle == 149:
            # Steady acceleration: the boom hangs back and the feedforward is all it takes.
            assert machine.x[1] == pytest.approx(hangs, rel=0.03)
            assert effort[0] == pytest.approx(J * qdd_ref, rel=0.03)
        machine.step(effort[0])
        q_ref += PERIOD * qd_ref + PERIOD**2 / 2.0 * qdd_ref
        qd_ref += PERIOD * qdd_ref
    # At constant speed again, and the last swing is damped.
    np.testing.assert_allclose(machine.x, [q_ref, 0.0, qd_ref, 0.0], atol=2e-4)


def test_places_of_several_joints_and_modes_are_kept_apart():
    """Two joints, three modes, references that move: the filter again knows the truth."""
    rng = np.random.default_rng(8)
    square = rng.normal(size=(5, 5))
    M, K = square @ square.T + 4.0 * np.eye(5), np.diag([0.0, 0.0, 90.0, 200.0, 400.0])
    names, zero = ('slew', 'luff', 'boom/v1', 'boom/v2', 'boom/w1'), [np.zeros(5)] * 4
    model, limit = LinearizedModel(names, M, 0.001 * K, K, *zero), np.array([20.0, 30.0])
    scales = LqrWeights.of(model, limit)
    gains = DampingGains.of(model, PERIOD, scales, scales.noise_model(model, [1e-4, 2e-4]))
    damper, rates = VibrationDamper(gains, limit), np.zeros((12, 12))
    rates[:5, 5:10] = np.eye(5)
    rates[5:10, :10] = -np.linalg.solve(M, np.hstack((K, 0.001 * K)))
    rates[5:10, 10:] = np.linalg.inv(M)[:, :2]
    both = expm(rates * PERIOD)
    x, q_ref, qd_ref = np.zeros(10), np.zeros(2), np.zeros(2)
    seen = []
    for cycle in range(1200):
        qdd_ref = np.array([0.3, -0.2]) * (5 <= cycle < 35)
        hangs = -np.linalg.solve(K[2:, 2:], M[2:, :2] @ qdd_ref)
        effort = damper.update(x[:2], None, q_ref, qd_ref, hangs, M[:2, :2] @ qdd_ref)
        np.testing.assert_allclose(damper.deflection, x[2:5], atol=1e-9)
        np.testing.assert_allclose(damper.deflection_rate, x[7:], atol=1e-9)
        seen.append(np.abs(x[2:5]))
        x = both[:10, :10] @ x + both[:10, 10:] @ effort
        q_ref = q_ref + PERIOD * qd_ref + PERIOD**2 / 2.0 * qdd_ref
        qd_ref = qd_ref + PERIOD * qdd_ref
    # By itself the slowest mode would lose an eighth of its swing in this time.
    assert (seen[-1] < 0.1 * np.max(seen, axis=0)).all()


def test_a_step_of_the_reference_is_no_surprise_and_saturation_does_not_wind_up():
    model = stacker()
    machine, damper = Machine(model), primed(model)
    path, efforts = [], []
    for _ in range(900):
        efforts.append(hold(damper, machine.x[0], np.array([0.02]))[0])
        np.testing.assert_allclose(damper.deflection, machine.x[1:2], atol=1e-8)
        machine.step(efforts[-1])
        path.append(machine.x[0])
    assert np.abs(efforts).max() == LIMIT[0]
    assert np.count_nonzero(np.abs(efforts) == LIMIT[0]) > 25
    assert max(path) < 0.02 * 1.3
    assert path[-1] == pytest.approx(0.02, rel=1e-4)


def test_filter_must_know_what_a_guard_let_through():
    model = stacker()
    errors = []
    for told in (True, False):
        machine, damper = Machine(model), primed(model)
        for _ in range(100):
            effort = np.clip(hold(damper, machine.x[0], np.array([0.01])), -1e6, 1e6)
            if told:
                damper.set_applied_effort(effort)
            machine.step(effort[0])
        hold(damper, machine.x[0], np.array([0.01]))
        errors.append(abs(damper.deflection[0] - machine.x[1]))
    assert errors[0] < 1e-8 < 1e-3 < errors[1]


def test_steady_push_is_found_and_taken_off():
    model = stacker()
    machine, damper = Machine(model), primed(model)
    for _ in range(600):
        machine.step(hold(damper, machine.x[0])[0] + 4e5)
    assert damper.disturbance == pytest.approx([4e5], rel=1e-3)
    assert abs(machine.x[0]) < 1e-7


def test_measured_rates_are_used_where_their_noise_is_known():
    model = stacker()
    scales = LqrWeights.of(model, LIMIT)
    quiet = scales.noise_model(model, [STEP])
    noisy = replace(quiet, rate_noise=np.array([1e-4]))
    damper = VibrationDamper(DampingGains.of(model, PERIOD, scales, noisy), LIMIT)
    machine = Machine(model)
    machine.x = machine.kick.copy()
    for _ in range(400):
        effort = damper.update(machine.x[:1], machine.x[2:3], ZERO, ZERO, ZERO, ZERO)
        machine.step(effort[0])
    np.testing.assert_allclose(damper.deflection, machine.x[1:2], atol=1e-5)
    with pytest.raises(ShapeError, match='qd has shape'):
        hold(damper, 0.0)


def test_whole_turns_do_not_count_on_a_joint_without_stops():
    model = stacker()
    one = VibrationDamper(design(model), LIMIT, continuous=[True])
    other = VibrationDamper(design(model), LIMIT, continuous=[True])
    rng = np.random.default_rng(3)
    for cycle in range(20):
        q, turns, turns_ref = rng.normal(0.0, 1e-3), rng.integers(-2, 3), cycle // 10
        expected = hold(one, q, np.array([0.001]))
        found = hold(other, q + 2 * np.pi * turns, np.array([0.001 + 2 * np.pi * turns_ref]))
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_call_that_raises_changes_nothing():
    model = stacker()
    one, other = primed(model), primed(model)
    bad = {'q': 0, 'q_ref': 2, 'qd_ref': 3, 'deflection_ref': 4, 'feedforward': 5}
    for name, place in bad.items():
        arguments = [ZERO, None, ZERO, ZERO, ZERO, ZERO]
        arguments[place] = np.array([np.nan])
        owner = 'boom/w1' if name == 'deflection_ref' else 'slew'
        with pytest.raises(NonFiniteError, match=f'^{name} is .*{owner}'):
            one.update(*arguments)
        arguments[place] = np.zeros(2)
        with pytest.raises(ShapeError, match=f'^{name} has shape'):
            one.update(*arguments)
        with pytest.raises(NonFiniteError, match='^effort is'):
            one.set_applied_effort(np.array([np.inf]))
        assert hold(one, 1e-4).tobytes() == hold(other, 1e-4).tobytes()


def test_reset_forgets():
    model = stacker()
    damper, fresh = primed(model), VibrationDamper(design(model), LIMIT)
    for q in (0.0, 1e-3, -1e-3):
        hold(damper, q)
    assert damper.deflection[0] != 0.0
    damper.reset()
    assert damper.deflection[0] == damper.deflection_rate[0] == damper.disturbance[0] == 0.0
    for q in (1e-4, 2e-4):
        assert hold(damper, q) == hold(fresh, q)


def test_arguments_are_checked():
    gains = design(stacker())
    with pytest.raises(ParameterError, match="effort_limit.*'slew'"):
        VibrationDamper(gains, [0.0])
    with pytest.raises(ParameterError, match='continuous has shape'):
        VibrationDamper(gains, LIMIT, continuous=[True, False])
    with pytest.raises(ParameterError, match='every 0.05 s, expected .* every 0.02 s'):
        VibrationDamper(gains, LIMIT).gains = design(stacker(), 0.05)


def luffed(q):
    """Return the machine with its boom raised to q[0]: the arm that couples it to the slew."""
    return stacker(weight=np.cos(q[0]))


def test_schedule_keeps_its_gains_while_the_pose_is_near():
    schedule = GainSchedule(luffed, design, [0.05])
    first = schedule.at([0.2])
    assert schedule.at([0.249]) is first and schedule.at([0.151]) is first
    second = schedule.at([0.26])
    assert second is not first
    assert schedule.at([0.22]) is second
    # As good as made for the pose itself, and the nearer the better.
    np.testing.assert_allclose(second.feedback, design(luffed([0.26])).feedback, rtol=1e-12)
    away = [
        np.abs(design(luffed([0.26 + d])).feedback / second.feedback - 1.0).max()
        for d in (0.04, 0.02, 0.01, 1e-4)
    ]
    assert all(near < 0.6 * far for far, near in zip(away, away[1:], strict=False))
    assert away[-1] < 1e-3


def test_another_payload_asks_for_other_gains_in_the_same_pose():
    weight = [1.0]
    schedule = GainSchedule(
        lambda q: stacker(weight=weight[0]), design, [0.05], lambda: np.array(weight)
    )
    first = schedule.at([0.2])
    assert schedule.at([0.21]) is first
    weight[0] = 1.3
    second = schedule.at([0.2])
    assert second is not first
    np.testing.assert_allclose(second.feedback, design(stacker(weight=1.3)).feedback, rtol=1e-12)
    assert schedule.at([0.21]) is second


def test_new_gains_take_over_the_estimate():
    one, other = primed(luffed([0.2])), primed(luffed([0.2]))
    machine = Machine(luffed([0.2]))
    machine.x = machine.kick.copy()
    jumps = []
    for _ in range(100):
        known = one.deflection, one.deflection_rate, one.disturbance
        one.gains = design(luffed([0.21]))
        np.testing.assert_array_equal(
            known, (one.deflection, one.deflection_rate, one.disturbance)
        )
        effort = hold(other, machine.x[0])
        jumps.append(abs(hold(one, machine.x[0]) - effort)[0])
        machine.step(effort[0])
        one.set_applied_effort(effort)
    assert 0.0 < max(jumps) < 0.02 * LIMIT[0]


def test_a_schedule_that_fails_keeps_the_former_gains():
    def fragile(q):
        if q[0] > 1.0:
            raise ModelError('no such pose')
        return luffed(q)

    schedule = GainSchedule(fragile, design, [0.05])
    first = schedule.at([0.2])
    with pytest.raises(ModelError, match='no such pose'):
        schedule.at([1.2])
    assert schedule.at([0.2]) is first
    with pytest.raises(ShapeError, match=r'q has shape \(2,\)'):
        schedule.at([0.2, 0.3])
    with pytest.raises(NonFiniteError, match='q is'):
        schedule.at([np.nan])
    with pytest.raises(ParameterError, match='tolerance'):
        GainSchedule(luffed, design, [0.0])


def test_a_reference_that_moves_is_met_by_measured_rates_that_are_its_own():
    model = stacker()
    scales = LqrWeights.of(model, LIMIT)
    quiet = scales.noise_model(model, [STEP])
    gains = DampingGains.of(model, PERIOD, scales, replace(quiet, rate_noise=np.array([1e-4])))
    damper, rate = VibrationDamper(gains, LIMIT), np.array([0.01])
    for k in range(20):
        q = k * PERIOD * rate
        effort = damper.update(q, rate, q, rate, ZERO, ZERO)
        np.testing.assert_allclose(effort, 0.0, atol=1e-9 * LIMIT[0])


def test_a_joint_that_changes_nothing_needs_no_gains_of_its_own():
    schedule = GainSchedule(lambda q: stacker(), design, [np.inf])
    assert schedule.at([0.0]) is schedule.at([1e6])
