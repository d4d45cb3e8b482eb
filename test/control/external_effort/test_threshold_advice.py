# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds as advised: ordinary motion never reaches them, a push is always seen in time.

With noise, with masses and inertias 5 % and friction 30 % above those of the model. `make
test-long` runs an hour of motion.
"""

from __future__ import annotations

import numpy as np
import pytest
from external_motions import ordinary_motion
from long_runs import some_of
from sampled_runs import ROBOTS, machine

from kron_dynamics.control.external_effort.momentum_observer import noise_of_estimate
from kron_dynamics.control.external_effort.threshold_advice import advised_thresholds

# Rounding of stamps.
TINY = 1e-9


@pytest.mark.parametrize(
    ('name', 'duration'),
    some_of(
        [(name, duration) for duration in (10.0, 3600.0) for name in ROBOTS],
        [('stacker', 10.0), ('ur5', 10.0)],
    ),
)
def test_ordinary_motion_is_no_collision(kernel_cache, name, duration):
    run, swing, monitor, thresholds = ordinary_motion(name)
    largest = np.zeros(len(thresholds))
    while run.time < duration:
        sample = run.step(swing(run.time))
        estimate = monitor.update(sample.time, sample.q, sample.qd, sample.effort)
        if estimate is not None:
            assert monitor.collision(estimate) is None, f'at {sample.time} s'
            largest = np.maximum(largest, np.abs(estimate))
    print(f'{name}, {duration:g} s: at most {(largest / thresholds).round(2)} of the thresholds')
    # Not that nothing could ever reach them.
    assert (largest / thresholds).max() > 0.2


@pytest.mark.parametrize('name', some_of(ROBOTS, ['stacker', 'ur5']))
def test_a_push_of_three_thresholds_is_seen_in_the_time_stated(kernel_cache, name):
    run, swing, monitor, thresholds = ordinary_motion(name)
    stated = 1.1 * monitor.time_constant + 2.0 * run.period
    n = len(thresholds)
    push = np.zeros(n)
    run.external = lambda t, q: push
    rng, late = np.random.default_rng(2), []
    for k in range(2 * n):
        # Other moments of the motion each time; the last push must have worn off.
        resume = run.time + 1.0 + rng.uniform(0.0, 0.3)
        started = None
        while started is None or run.time < started + stated - TINY:
            if started is None and run.time >= resume:
                started = run.time
                push[k % n] = rng.choice([-3.0, 3.0]) * thresholds[k % n]
            sample = run.step(swing(run.time))
            estimate = monitor.update(sample.time, sample.q, sample.qd, sample.effort)
            reason = None if estimate is None else monitor.collision(estimate)
            if reason is not None and started is not None:
                late.append(sample.time - started)
                break
        push[:] = 0.0
    assert len(late) == 2 * n
    assert max(late) > 0.3 * monitor.time_constant


def test_advice_grows_with_what_it_is_for(kernel_cache):
    model = machine('ur5')
    ones = np.ones(6)
    given = {
        'bandwidth': 5.0,
        'period': 0.008,
        'velocity_noise': 1e-3 * ones,
        'effort_noise': 0.1 * ones,
        'velocity': ones,
        'acceleration': ones,
    }
    plain = advised_thresholds(model, **given)
    for change in (
        {'bandwidth': 10.0},
        {'velocity_noise': 3e-3 * ones},
        {'effort_noise': 1.0 * ones},
        {'acceleration': 4.0 * ones},
        {'mass_error': 0.1},
    ):
        assert (advised_thresholds(model, **{**given, **change}) > plain).all()
    rubbing = machine('ur5', coulomb=0.02)
    extra = advised_thresholds(rubbing, **given) - plain
    np.testing.assert_allclose(extra, 0.3 * 0.02 * model.model.effort_limit, rtol=1e-6)


def test_thresholds_are_seven_deviations_and_the_shares_of_efforts_that_are_given(kernel_cache):
    """Not higher than stated, as higher ones see a push later or not at all."""
    model, ones = machine('ur5'), np.ones(6)
    noise = 1e-3 * ones, 0.1 * ones
    given = {
        'bandwidth': 5.0,
        'period': 0.008,
        'velocity_noise': noise[0],
        'effort_noise': noise[1],
        'velocity': ones,
        'acceleration': 2.0 * ones,
    }
    rng = np.random.default_rng(7)
    limits = model.model
    q = rng.uniform(limits.position_lower, limits.position_upper, (2000, 6))
    plain = advised_thresholds(model, **given, mass_error=0.0, friction_error=0.0)
    deviations = plain / noise_of_estimate(model, q, 5.0, 0.008, *noise).max(axis=0)
    np.testing.assert_allclose(deviations, 7.0, rtol=0.05)
    signs = rng.choice([-1.0, 1.0], (2, 2000, 6))
    efforts = np.abs(model.inverse_dynamics(q, signs[0], 2.0 * signs[1])).max(axis=0)
    erring = advised_thresholds(model, **given, mass_error=0.1, friction_error=0.0)
    np.testing.assert_allclose((erring - plain) / efforts, 0.1, rtol=0.15)
