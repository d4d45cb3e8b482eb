# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kron_dynamics.control import (
    ComputedTorque,
    ProportionalDerivative,
    Trajectory,
    check_trajectory,
)
from kron_dynamics.control.terms import TERMS, EffortTerms
from kron_dynamics.exceptions import ParameterError

KP = np.array([36.0, 64.0])
KD = np.array([12.0, 16.0])
REST = np.zeros(2)


def reference(t):
    """Return a smooth motion with large velocities and accelerations of both joints."""
    w = np.array([2.0, 3.0])
    a = np.array([0.8, 0.5])
    return a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)


def closed_loop(plant, law, q0, qd0, times, reference=reference):
    """Return the plant's (q, qd), each (N, n), under the law."""
    n = plant.n

    def rates(t, x):
        q, qd = x[:n], x[n:]
        tau = law(q, qd, reference(t))
        return np.concatenate((qd, plant.forward_dynamics(q, qd, tau - plant.joint_friction(qd))))

    solution = solve_ivp(
        rates,
        (0.0, times[-1]),
        np.concatenate((q0, qd0)),
        t_eval=times,
        rtol=1e-10,
        atol=1e-12,
        method='DOP853',
    )
    assert solution.success
    return solution.y[:n].T, solution.y[n:].T


def tracking_error(q, times):
    return np.array([reference(t)[0] for t in times]) - q


def test_error_obeys_its_own_linear_equation(arm):
    q0, qd0 = np.array([0.5, -0.9]), np.array([0.0, 2.0])
    times = np.linspace(0.0, 1.5, 40)
    q, _ = closed_loop(arm, ComputedTorque(arm, KP, KD), q0, qd0, times)
    e0, ed0 = reference(0.0)[0] - q0, reference(0.0)[1] - qd0
    # Critically damped, kd = 2 sqrt(kp): e = (e0 + (ed0 + w e0) t) exp(-w t).
    w, t = np.sqrt(KP), times[:, np.newaxis]
    expected = (e0 + (ed0 + w * e0) * t) * np.exp(-w * t)
    np.testing.assert_allclose(tracking_error(q, times), expected, atol=1e-8)


def test_with_known_friction_a_reference_met_is_never_left(make_arm):
    plant = make_arm(damping=2.0, friction=3.0)
    times = np.linspace(0.0, 1.2, 20)  # each joint turns round once
    q0, qd0, _ = reference(0.0)
    q, _ = closed_loop(plant, ComputedTorque(plant, KP, KD), q0, qd0, times)
    np.testing.assert_allclose(tracking_error(q, times), 0.0, atol=1e-7)
    without = ComputedTorque(plant, KP, KD, terms=EffortTerms(frozenset(TERMS) - {'friction'}))
    q, _ = closed_loop(plant, without, q0, qd0, times)
    assert np.abs(tracking_error(q, times)).max(axis=0).min() > 1e-2


def test_friction_does_not_depend_on_the_measured_velocity(make_arm):
    rough, smooth = make_arm(friction=3.0), make_arm()
    q, q_ref, qd_ref = np.array([0.3, 0.4]), REST, np.array([0.5, -0.5])
    for noise in (-0.02, 0.02):
        qd = np.full(2, noise)
        difference = ComputedTorque(rough, KP, KD)(q, qd, (q_ref, qd_ref, REST)) - ComputedTorque(
            smooth, KP, KD
        )(q, qd, (q_ref, qd_ref, REST))
        np.testing.assert_allclose(difference, [3.0, -3.0], rtol=1e-6)


def test_proportional_derivative_knows_one_inertia_and_nothing_else(arm):
    nominal = np.array([0.0, 1.0])
    law = ProportionalDerivative(arm, KP, KD, nominal)
    q, qd = np.array([0.2, -0.1]), np.array([0.1, 0.3])
    q_ref, qd_ref = np.array([0.5, 0.5]), np.array([-0.2, 0.0])
    inertia = np.array([5.98 + 2.8 * np.cos(1.0), 0.98])
    expected = inertia * (KP * (q_ref - q) + KD * (qd_ref - qd))
    np.testing.assert_allclose(law(q, qd, (q_ref, qd_ref, np.full(2, 9.0))), expected)
    assert not law(q, qd, (q, qd, np.full(2, 9.0))).any()


def test_computed_torque_tracks_where_the_baseline_does_not(arm):
    times = np.linspace(0.0, 2.0, 40)
    q0, qd0, _ = reference(0.0)
    worst = {}
    for law in (ComputedTorque(arm, KP, KD), ProportionalDerivative(arm, KP, KD, REST)):
        q, _ = closed_loop(arm, law, q0, qd0, times)
        worst[type(law)] = np.abs(tracking_error(q, times)).max(axis=0)
    assert (worst[ComputedTorque] * 1e4 < worst[ProportionalDerivative]).all()


def test_stacker_reclaimer_is_tracked_ten_times_better_than_by_the_baseline(stacker):
    start, goal, rest = [100.0, -0.10, 0.02], [104.0, 0.10, 0.0], np.zeros((2, 3))
    move = Trajectory.from_points(stacker.joint_names, [0.0, 60.0], [start, goal], rest, rest)
    check_trajectory(move, stacker)
    times = np.linspace(0.0, 60.0, 61)
    wanted = np.array([move.sample(t)[0] for t in times])
    kp, kd = np.full(3, 1.0), np.full(3, 2.0)
    rms = {}
    for law in (
        ComputedTorque(stacker, kp, kd),
        ProportionalDerivative(stacker, kp, kd, start),
    ):
        q, _ = closed_loop(stacker, law, start, np.zeros(3), times, move.sample)
        rms[type(law)] = np.sqrt(np.mean((wanted - q) ** 2, axis=0))
    assert (rms[ComputedTorque] * 10.0 < rms[ProportionalDerivative]).all()
    np.testing.assert_allclose(rms[ComputedTorque], 0.0, atol=1e-7)


@pytest.mark.parametrize('kind', [ComputedTorque, ProportionalDerivative])
def test_only_continuous_joints_take_the_shorter_way(make_arm, kind):
    arm = make_arm(joint_types=('revolute', 'continuous'))
    law = kind(arm, KP, KD) if kind is ComputedTorque else kind(arm, KP, KD, REST)
    q = np.array([0.1, 3.1])
    near = law(q, REST, (np.array([0.1, 3.1 + 0.08]), REST, REST))
    wrapped = law(q, REST, (np.array([0.1, 3.1 + 0.08 - 2 * np.pi]), REST, REST))
    np.testing.assert_allclose(wrapped, near, atol=1e-9)
    turns = law(q, REST, (np.array([0.1 + 2 * np.pi, 3.1 + 0.08]), REST, REST))
    assert turns[0] - near[0] > 100.0


@pytest.mark.parametrize('error', [-9.0, -np.pi, -3.0, 0.0, 3.0, np.pi, 3.3, 50.0])
def test_wrapped_error_is_at_most_half_a_turn(make_arm, error):
    arm = make_arm(joint_types=('continuous', 'continuous'))
    law = ProportionalDerivative(arm, [1.0, 1.0], [0.0, 0.0], REST)
    answered = law(REST, REST, (np.full(2, error), REST, REST)) / law._inertia
    assert (np.abs(answered) <= np.pi + 1e-12).all()
    np.testing.assert_allclose(np.cos(answered), np.cos(error), atol=1e-12)
    np.testing.assert_allclose(np.sin(answered), np.sin(error), atol=1e-12)


@pytest.mark.parametrize(
    'make',
    [
        lambda arm: ComputedTorque(arm, KP, KD),
        lambda arm: ProportionalDerivative(arm, KP, KD, REST),
    ],
)
def test_a_missing_measurement_never_becomes_an_effort(arm, make):
    law = make(arm)
    missing = np.array([np.nan, 0.0])
    assert np.isnan(law(REST, missing, (REST, REST, REST))).any()


def test_quantities_are_ready_before_the_first_call(arm):
    asked = []
    for name in ('inverse_dynamics', 'joint_friction'):
        method = getattr(arm, name)
        setattr(arm, name, lambda *a, n=name, m=method: (asked.append(n), m(*a))[1])
    ComputedTorque(arm, KP, KD)
    assert {'inverse_dynamics', 'joint_friction'} <= set(asked)


@pytest.mark.parametrize(
    ('kp', 'kd', 'words'),
    [
        ([1.0, 0.0], KD, "kp cannot be used for 'elbow': 0; expected a number above 0"),
        ([np.nan, 1.0], KD, "kp .*'shoulder': nan"),
        (KP, [1.0, -0.1], "kd .*'elbow': -0.1; expected a number of 0 or more"),
        (KP, [np.inf, 1.0], "kd .*'shoulder': inf"),
        ([1.0], KD, r"kp has shape \(1,\), expected \(2,\).*'shoulder', 'elbow'"),
        (5.0, KD, r'kp has shape \(\)'),
    ],
)
def test_gains_that_cannot_be_used_name_the_joint(arm, kp, kd, words):
    with pytest.raises(ParameterError, match=words):
        ComputedTorque(arm, kp, kd)
    with pytest.raises(ParameterError, match=words):
        ProportionalDerivative(arm, kp, kd, REST)


@pytest.mark.parametrize('pose', [[0.0], [0.0, np.nan]])
def test_nominal_pose_must_be_a_pose(arm, pose):
    with pytest.raises(ParameterError, match='q_nominal'):
        ProportionalDerivative(arm, KP, KD, pose)
