# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Known external efforts are found from the momentum, at any period, and with stated noise."""

from __future__ import annotations

import numpy as np
import pytest
from known_pushes import BANDWIDTH, FORCE, PUSH, controlled, error
from long_runs import some_of
from sampled_runs import POSE, ROBOTS, Swing, machine

import kron_dynamics as kd
from kron_dynamics.control.external_effort.momentum_observer import (
    MomentumObserver,
    noise_of_estimate,
)
from kron_dynamics.exceptions import ParameterError


@pytest.fixture(scope='module')
def models(kernel_cache):
    return {name: machine(name) for name in ROBOTS}


@pytest.mark.parametrize('name', some_of(ROBOTS, ['stacker', 'ur5']))
def test_a_known_force_is_found_within_five_percent(models, name):
    late, before, wrench = error(name, models[name], models[name])
    assert (late < 0.05).all()
    assert (before <= 3e-3 * models[name].model.effort_limit).all()
    forces = FORCE[name]
    assert wrench[:, :3].max() < 0.05 * np.abs(forces[:3]).max()
    if models[name].n >= 6:
        assert wrench[:, 3:].max() < 0.1 * np.abs(forces[3:]).max()


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_commanded_efforts_do_where_none_are_measured(models, name):
    """They act a period late: the error is what the efforts change in it."""
    late, before, _ = error(name, models[name], models[name], commanded=True)
    assert (late < 0.08).all()
    assert (before <= 0.02 * models[name].model.effort_limit).all()


def test_errors_of_the_masses_show_as_their_share_of_the_efforts(models):
    model, heavier = models['ur5'], machine('ur5', mass=1.05)
    _, before, _ = error('ur5', model, heavier, duration=PUSH + 0.5)
    swing = Swing.within(model, POSE['ur5'], 0.2)
    efforts = [model.inverse_dynamics(*swing(t)) for t in np.arange(0.0, PUSH, 0.01)]
    expected = 0.05 * np.abs(efforts).max(axis=0)
    np.testing.assert_allclose(before[:3], expected[:3], rtol=0.1)


def test_the_momentum_takes_no_power_of_coriolis_forces(models):
    """In a quick motion without external efforts; C qd in place of C^T qd would show."""
    model = models['panda']
    q = POSE['panda'] + np.zeros(7)
    qd = 0.6 * model.model.velocity_limit * np.array([1, -1, 1, 1, -1, 1, 1.0])
    tau = model.gravity_vector(q)
    observer = MomentumObserver(model, 50.0)
    h, worst, other = 1e-4, 0.0, 0.0
    for k in range(1500):
        if k % 10 == 0:
            estimate = observer.update(k * h, q, qd, tau)
            if estimate is not None:
                worst = max(worst, np.abs(estimate).max())
                C = model.coriolis_matrix(q, qd)
                other = max(other, np.abs(qd @ C - C @ qd).max())
        qd = qd + h * model.forward_dynamics(q, qd, tau - model.joint_friction(qd))
        q = q + h * qd
    assert other > 1.0
    assert worst < 0.01 * other


def constant_push(model, name, periods, bandwidth=BANDWIDTH):
    """Estimates over time of a robot that a constant effort accelerates, states at intervals."""
    q, qd = POSE[name].copy(), np.zeros(model.n)
    push = 0.02 * model.model.effort_limit
    observer, time, estimates = MomentumObserver(model, bandwidth), 0.0, []
    last = None
    for h in periods:
        tau = model.gravity_vector(q)
        result = observer.update(time, q, qd, last)
        estimates.append((time, np.zeros(model.n) if result is None else result))
        steps = 20
        for _ in range(steps):
            free = tau + push - model.joint_friction(qd)
            qd = qd + h / steps * model.forward_dynamics(q, qd, free)
            q = q + h / steps * qd
        last, time = tau, time + h
    return push, estimates


def test_variable_periods_give_the_low_pass_that_is_asked_for(models):
    periods = np.random.default_rng(0).uniform(0.001, 0.02, 12)
    push, estimates = constant_push(models['ur5'], 'ur5', periods)
    for time, estimate in estimates[2:]:
        expected = push * -np.expm1(-2.0 * np.pi * BANDWIDTH * time)
        np.testing.assert_allclose(estimate, expected, rtol=0.02, atol=0.01)


def test_a_robot_that_moves_at_the_first_state_shows_nothing(models):
    """Its momentum is no external effort, however large it is."""
    model = models['ur5']
    observer = MomentumObserver(model, BANDWIDTH)
    q, qd = POSE['ur5'].copy(), 0.5 * model.model.velocity_limit
    for k in range(20):
        tau = model.coriolis_vector(q, qd) + model.gravity_vector(q)
        estimate = observer.update(0.002 * k, q, qd, tau)
        assert (estimate is None) == (k == 0)
        if estimate is not None:
            assert np.abs(estimate).max() < 0.5
        q = q + 0.002 * qd


def test_gaps_and_stamps_that_step_back_start_anew(models):
    model, zero = models['ur5'], np.zeros(6)
    q, weight = POSE['ur5'], models['ur5'].gravity_vector(POSE['ur5'])
    observer = MomentumObserver(model, BANDWIDTH)

    def update(time, effort=weight + 1.0):
        return observer.update(time, q, zero, effort)

    assert update(0.0) is None
    first = update(0.01)
    assert (first < 0.0).all()  # the weight is lighter than what holds it: someone pushes back
    np.testing.assert_array_equal(update(0.01), first)
    assert (update(0.02) < first).all()
    assert update(0.02 + 0.11) is None
    np.testing.assert_allclose(update(0.03 + 0.11), first)
    assert update(0.0) is None
    assert update(0.01, None) is None
    assert update(0.02, np.full(6, np.nan)) is None
    assert update(0.03) is None
    assert update(0.04) is not None


# Of efforts alone, too: beside that of velocities theirs hardly shows.
@pytest.mark.parametrize(
    ('bandwidth', 'share', 'tolerance'),
    [(1.0, 1.0, 0.12), (5.0, 1.0, 0.12), (20.0, 1.0, 0.12), (20.0, 0.0, 0.04)],
)
def test_noise_of_the_estimate_is_what_is_stated(models, bandwidth, share, tolerance):
    model, q, period = models['ur5'], POSE['ur5'], 0.008
    noise = share * np.array([2e-3, 1e-3, 2e-3, 4e-3, 4e-3, 8e-3]), np.full(6, 0.3)
    rng = np.random.default_rng(4)
    observer = MomentumObserver(model, bandwidth)
    weight = model.gravity_vector(q)
    seen = [
        observer.update(
            period * k,
            q,
            noise[0] * rng.standard_normal(6),
            weight + noise[1] * rng.standard_normal(6),
        )
        for k in range(12000)
    ]
    expected = noise_of_estimate(model, q, bandwidth, period, *noise)
    np.testing.assert_allclose(np.std(seen[500:], axis=0), expected, rtol=tolerance)


def test_flexible_links_show_as_external_efforts_while_they_vibrate(kernel_cache, stacker_files):
    """The rigid part is estimated: a steady force is found, the boom's vibration is in it too."""
    rigid = machine('stacker')
    boom = kd.load(stacker_files.urdf, flexible=stacker_files.flexible)
    tip = boom.frame('bucket_wheel')
    force = np.array([0.0, 3e4, -5e4, 0.0, 0.0, 0.0])

    def push(t, q):
        return tip.jacobian(q).T @ force * (t >= PUSH)

    run, _ = controlled('stacker', rigid, boom, external=push)
    observer = MomentumObserver(rigid, BANDWIDTH)
    still = POSE['stacker'], np.zeros(3), np.zeros(3)
    rows = []
    while run.time < 22.0:
        sample = run.step(still)
        estimate = observer.update(sample.time, sample.q, sample.qd, sample.effort)
        if estimate is not None:
            true = boom.rigid.frame('bucket_wheel').jacobian(sample.q).T @ force
            rows.append((sample.time, estimate[1:] / true[1:]))
    time, share = (np.array(column) for column in zip(*rows, strict=True))
    ringing = share[(time > PUSH + 0.2) & (time < 5.0)]
    assert np.abs(share[time < PUSH]).max() < 0.05
    assert ((ringing.max(axis=0) > 1.3) & (ringing.min(axis=0) < 0.3)).all()
    assert np.abs(share[time > 20.0] - 1.0).max() < 0.02


def test_a_bandwidth_is_a_frequency(models):
    with pytest.raises(ParameterError, match='bandwidth of the external efforts is -1 Hz'):
        MomentumObserver(models['ur5'], -1.0)


@pytest.mark.filterwarnings('error')
def test_efforts_too_large_for_a_sum_do_not_stay(models):
    """Finite ones, whose differences are not: the estimate was NaN from then on."""
    model, q = models['ur5'], POSE['ur5']
    observer, rest, weight = MomentumObserver(model, 5.0), np.zeros(6), model.gravity_vector(q)
    spike = np.array([0, 0, 1.7e308, 0, 0, 0])
    for k in range(30):
        said = observer.update(0.01 * k, q, rest, weight + (spike if k % 2 else -spike))
        assert said is None or np.isfinite(said).all()
    for k in range(30, 100):
        said = observer.update(0.01 * k, q, rest, weight - 1.0)
    np.testing.assert_allclose(said, np.ones(6), rtol=1e-6)
