# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad_vec, solve_ivp
from scipy.linalg import expm

from kron_dynamics.control.vibration.kalman import KalmanFilter, NoiseModel, SampledPlant
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError
from kron_dynamics.linearized import LinearizedModel

PERIOD = 0.05
STATE_SCALE = np.array([0.2, 0.5, 1.5, 4.0])
EFFORT_SCALE = np.array([30.0])
PUSHES = NoiseModel(
    joint_effort=np.array([2.0]),
    modal_force=np.array([0.5]),
    drift=np.array([3.0]),
    resolution=np.array([0.02]),
)


def model(M, D, K, names=('hub', 'boom/v1')):
    n = len(names)
    zero = [np.zeros(n) for _ in range(4)]
    return LinearizedModel(tuple(names), *(np.array(a, dtype=float) for a in (M, D, K)), *zero)


def two_masses(damping=0.05, coupling=1.5):
    """Return a hub of 5 kg m^2 that carries a mode of 1 kg at 4 rad/s."""
    M, K = [[5.0, coupling], [coupling, 1.0]], [[0.0, 0.0], [0.0, 16.0]]
    return model(M, [[0.0, 0.0], [0.0, damping]], K)


def first_order(plant):
    """Return A, B of the plant with the slow effort as fifth state, SI, and pushes' density."""
    inverse = np.linalg.inv(plant.mass)
    A = np.zeros((5, 5))
    A[:2, 2:4] = np.eye(2)
    A[2:4, :4] = -inverse @ np.hstack((plant.stiffness, plant.damping))
    A[2:4, 4] = inverse[:, 0]
    B = np.concatenate((np.zeros(2), inverse[:, 0], [0.0]))
    W = np.zeros((5, 5))
    W[2:4, 2:4] = inverse @ np.diag([2.0**2, 0.5**2]) @ inverse.T
    W[4, 4] = 3.0**2
    return A, B, W


def in_si(matrix, left, right):
    return matrix * left[:, np.newaxis] / right


@pytest.fixture
def plant():
    return SampledPlant(two_masses(), PERIOD, STATE_SCALE, EFFORT_SCALE)


def test_sampling_is_what_the_differential_equation_does_with_a_held_effort(plant):
    A, B, _ = first_order(two_masses())
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=5), 7.0
    path = solve_ivp(lambda t, x: A @ x + B * u, (0.0, PERIOD), x, rtol=1e-11, atol=1e-13)
    S = plant.state_scale
    transition, effort = in_si(plant.transition, S, S), in_si(plant.input, S, EFFORT_SCALE)
    np.testing.assert_allclose(transition @ x + effort[:, 0] * u, path.y[:, -1], rtol=1e-9)


def test_noise_is_the_integral_over_the_period(plant):
    A, _, W = first_order(two_masses())
    expected, _ = quad_vec(lambda t: expm(A * t) @ W @ expm(A * t).T, 0.0, PERIOD, epsrel=1e-12)
    S = plant.state_scale
    np.testing.assert_allclose(
        plant.noise(PUSHES) * np.outer(S, S), expected, rtol=1e-9, atol=1e-16
    )


@pytest.mark.parametrize('rate_noise', [None, np.array([0.03])])
def test_gain_and_covariance_are_where_the_recursion_settles(plant, rate_noise):
    found = KalmanFilter.of(plant, replace(PUSHES, rate_noise=rate_noise))
    A, _, W = first_order(two_masses())
    F = expm(A * PERIOD)
    Q, _ = quad_vec(lambda t: expm(A * t) @ W @ expm(A * t).T, 0.0, PERIOD, epsrel=1e-12)
    C = np.eye(5)[[0] if rate_noise is None else [0, 2]]
    R = np.diag([0.02**2 / 12.0, 0.03**2][: len(C)])
    P = np.eye(5)
    for _ in range(2000):
        P = F @ P @ F.T + Q
        L = P @ C.T @ np.linalg.inv(C @ P @ C.T + R)
        P = (np.eye(5) - L @ C) @ P
    np.testing.assert_allclose(found.gain, L, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, P, rtol=1e-6)
    poles = np.linalg.eigvals(F - L @ C @ F)
    np.testing.assert_allclose(sorted(np.abs(found.poles)), sorted(np.abs(poles)), rtol=1e-6)
    assert found.measured.tolist() == ([0] if rate_noise is None else [0, 2])


def test_measured_rates_make_the_estimate_better(plant):
    without = KalmanFilter.of(plant, PUSHES).covariance.diagonal()
    rates = KalmanFilter.of(plant, replace(PUSHES, rate_noise=np.array([0.01])))
    assert (rates.covariance.diagonal() < without).all()


def test_covariance_is_that_of_many_machines(plant):
    """4000 machines are pushed at random in steps of a tenth of the period, and measured."""
    machines, parts, rng = 4000, 10, np.random.default_rng(20)
    found = KalmanFilter.of(plant, PUSHES)
    S = plant.state_scale
    F = in_si(plant.transition, S, S)
    A, _, _ = first_order(two_masses())
    step = PERIOD / parts
    G = np.zeros((5, 3))  # what the three pushes do
    G[2:4, :2] = np.linalg.inv(two_masses().mass)
    G[4, 2] = 1.0
    both = expm(np.block([[A, G], [np.zeros((3, 8))]]) * step)
    spread = np.array([[2.0], [0.5], [3.0]]) / np.sqrt(step)
    truth, estimate = np.zeros((5, machines)), np.zeros((5, machines))
    for _ in range(round(10.0 / PERIOD)):
        for _ in range(parts):
            truth = both[:5, :5] @ truth + both[:5, 5:] @ (spread * rng.normal(size=(3, machines)))
        y = truth[0] + 0.02 * rng.uniform(-0.5, 0.5, machines)
        estimate = F @ estimate
        estimate = estimate + found.gain @ (y - estimate[0])[np.newaxis]
    error = np.linalg.solve(np.linalg.cholesky(found.covariance), truth - estimate)
    # Standard deviations of a sample covariance: sqrt(2 / N) on the diagonal, sqrt(1 / N) off it.
    bound = 5.0 * np.sqrt(np.where(np.eye(5) > 0.0, 2.0, 1.0) / machines)
    assert (np.abs(error @ error.T / machines - np.eye(5)) < bound).all()


def test_an_undamped_mode_that_no_joint_touches_is_named():
    with pytest.raises(ModelError, match=r"'boom/v1' at 4 rad/s is not controllable"):
        SampledPlant(two_masses(0.0, 0.0), PERIOD, STATE_SCALE, EFFORT_SCALE)


def test_a_mode_that_moves_but_does_not_show_is_named():
    # The hub pushes the mode through D, and nothing comes back.
    one_way = model(np.eye(2), [[1.0, 0.0], [0.5, 0.0]], [[1.0, 0.0], [0.0, 16.0]])
    with pytest.raises(ModelError, match=r"'boom/v1' at 4 rad/s is not observable"):
        SampledPlant(one_way, PERIOD, STATE_SCALE, EFFORT_SCALE)


def test_a_damped_mode_out_of_reach_is_only_listed(plant):
    alone = SampledPlant(two_masses(0.05, 0.0), PERIOD, STATE_SCALE, EFFORT_SCALE)
    assert alone.undampable_modes == ('boom/v1',)
    assert plant.undampable_modes == ()
    covariance = KalmanFilter.of(alone, PUSHES).covariance
    # White pushes of density w on a mode without sensor: variance of position w / (2 d k).
    np.testing.assert_allclose(covariance[1, 1], 0.5**2 / (2.0 * 0.05 * 16.0), rtol=1e-8)


def test_of_two_equal_booms_on_one_hub_only_the_sum_can_be_damped():
    M = [[9.0, 1.5, 1.5], [1.5, 1.0, 0.0], [1.5, 0.0, 1.0]]
    K = np.diag([0.0, 16.0, 16.0])
    twins = model(M, np.zeros((3, 3)), K, ('hub', 'left/v1', 'right/v1'))
    with pytest.raises(ModelError, match=r"'(left|right)/v1' at 4 rad/s"):
        SampledPlant(twins, PERIOD, np.ones(6), EFFORT_SCALE)
    K[2, 2] = 17.0
    different = model(M, np.zeros((3, 3)), K, ('hub', 'left/v1', 'right/v1'))
    assert SampledPlant(different, PERIOD, np.ones(6), EFFORT_SCALE).undampable_modes == ()


def test_a_mode_too_fast_for_the_period_is_named():
    # The free mode turns at 4 / sqrt(1 - 1.5^2 / 5) = 5.394 rad/s.
    with pytest.raises(
        ParameterError, match=r"less than 0.582 s: mode of 'boom/v1' turns at 5.39"
    ):
        SampledPlant(two_masses(), 0.6, STATE_SCALE, EFFORT_SCALE)


@pytest.mark.parametrize('period', [0.0, -0.1, np.nan, np.inf])
def test_period_must_be_positive(period):
    with pytest.raises(ParameterError, match='period'):
        SampledPlant(two_masses(), period, STATE_SCALE, EFFORT_SCALE)


def test_a_model_that_is_not_finite_is_refused():
    broken = two_masses(damping=np.nan)
    with pytest.raises(NonFiniteError, match='damping'):
        SampledPlant(broken, PERIOD, STATE_SCALE, EFFORT_SCALE)


@pytest.mark.parametrize(
    ('field', 'value', 'named'),
    [
        ('joint_effort', [-1.0], "'hub'"),
        ('modal_force', [np.nan], "'boom/v1'"),
        ('modal_force', [], "'boom/v1'"),
        ('drift', [0.0], "'hub'"),
        ('resolution', [0.0], "'hub'"),
        ('rate_noise', [0.0], "'hub'"),
    ],
)
def test_noise_model_is_checked(field, value, named):
    wrong = replace(PUSHES, **{field: np.array(value)})
    with pytest.raises(ParameterError, match=f'{field}.*{named}'):
        wrong.checked(['hub'], ['boom/v1'])
