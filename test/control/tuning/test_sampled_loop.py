# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The sampled loop against what is known in closed form and against stepping it."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control.tuning.sampled_loop import (
    closed_loop,
    contracting,
    growth,
    sampled_plant,
    single_joint_limit,
)
from kron_dynamics.exceptions import ParameterError

PERIOD = 0.01


def oscillator():
    """Two masses on springs with some damping, effort on the first alone."""
    M = np.array([[[2.0, 0.3], [0.3, 0.5]]])
    D = np.array([[[0.2, 0.0], [0.0, 0.1]]])
    K = np.array([[[30.0, -10.0], [-10.0, 200.0]]])
    return M, D, K


def stepped(M, D, K, P, V, x, period, delay, count, fine=400):
    """States at the samples, by small Runge-Kutta steps with efforts that come late."""
    joints, h = P.shape[0], period / fine
    lag = round(delay / h)
    inverse = np.linalg.inv(M)

    def rate(x, u):
        n = len(M)
        force = -K @ x[:n] - D @ x[n:]
        force[:joints] += u
        return np.concatenate([x[n:], inverse @ force])

    n = len(M)
    answers, found = {}, [x]
    for k in range(count * fine):
        if k % fine == 0:
            answers[k // fine] = -P @ x[:joints] - V @ x[n : n + joints]
        u = answers.get((k - lag) // fine, np.zeros(joints))
        k1 = rate(x, u)
        k2 = rate(x + h / 2 * k1, u)
        k3 = rate(x + h / 2 * k2, u)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3, u))
        if (k + 1) % fine == 0:
            found.append(x)
    return np.array(found)


@pytest.mark.parametrize('periods', [0.0, 0.25, 1.0, 1.5, 2.0])
def test_one_sample_after_the_other_is_what_steps_in_time_give(periods):
    M, D, K = oscillator()
    P, V = np.array([[[50.0]]]), np.array([[[8.0]]])
    delay, period = periods * 0.05, 0.05
    plant = sampled_plant(M, D, K, 1, period, delay)
    loop = closed_loop(plant, P, V)[0]
    x = np.array([0.1, -0.05, 0.3, 0.2])
    expected = stepped(M[0], D[0], K[0], P[0], V[0], x, period, delay, 20)
    L = np.linalg.cholesky(M[0])
    state = np.concatenate([L.T @ x[:2], L.T @ x[2:], np.zeros(len(loop) - 4)])
    for wanted in expected:
        found = np.concatenate([np.linalg.solve(L.T, state[:2]), np.linalg.solve(L.T, state[2:4])])
        assert found == pytest.approx(wanted, abs=1e-8)
        state = loop @ state


def test_growth_is_that_of_the_steps():
    M, D, K = oscillator()
    P, V = np.array([[[400.0]]]), np.array([[[90.0]]])
    factor = growth(sampled_plant(M, D, K, 1, 0.05, 0.05), P, V)[0]
    assert factor > 1.0
    x = np.array([0.1, -0.05, 0.3, 0.2])
    states = stepped(M[0], D[0], K[0], P[0], V[0], x, 0.05, 0.05, 120, fine=50)
    sizes = np.linalg.norm(states, axis=1)
    assert (sizes[-1] / sizes[-41]) ** (1 / 40) == pytest.approx(factor, rel=5e-3)


def test_bounds_of_one_joint_in_closed_form():
    """Without delay Jury's conditions give kd T = 2, so w T = 1 / z, up to (w T)^2 / 2 < kd T."""
    assert single_joint_limit(PERIOD, 0.0) * PERIOD == pytest.approx(1.0, rel=1e-6)
    assert single_joint_limit(PERIOD, 0.0, 2.0) * PERIOD == pytest.approx(0.5, rel=1e-6)
    assert single_joint_limit(PERIOD, 0.0, 1.0, 1.25) * PERIOD == pytest.approx(0.8, rel=1e-6)


def test_a_period_of_delay_against_the_roots_of_its_polynomial():
    x = single_joint_limit(PERIOD, PERIOD) * PERIOD

    def largest_root(x):
        # z (z - 1)^2 + kd T (z - 1) + kp T^2 (z + 1) / 2 with kd T = 2 x, kp T^2 = x^2.
        return np.abs(np.roots([1.0, -2.0, 1.0 + 2 * x + x**2 / 2, x**2 / 2 - 2 * x])).max()

    assert largest_root(0.999 * x) < 1.0 < largest_root(1.001 * x)
    assert x == pytest.approx(0.426, abs=1e-3)


def test_bounds_fall_with_delay_and_scale_with_the_rate():
    limits = [single_joint_limit(PERIOD, d * PERIOD) for d in (0.0, 0.3, 1.0, 1.7, 3.0)]
    assert (np.diff(limits) < 0.0).all()
    assert single_joint_limit(1.0, 1.7) == pytest.approx(PERIOD * limits[3], rel=1e-6)


def test_delays_of_many_periods_are_refused():
    with pytest.raises(ParameterError, match=r'21 periods .* at most 20 periods'):
        single_joint_limit(PERIOD, 21 * PERIOD)


def test_only_what_surely_is_stable_is_said_to_contract():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    radii = np.array([0.5, 0.99, 0.9999, 1.0, 1.001, 1e300])
    assert contracting(radii[:, None, None] * turn).tolist() == [*[True] * 3, *[False] * 3]
    # Columns that grow for a while before they fall.
    assert contracting(np.array([[[0.9, 1e6], [0.0, 0.9]]])).all()
