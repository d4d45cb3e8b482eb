# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint accelerations from the reference, from the model, or from filtered velocities."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control.acceleration import AccelerationEstimator
from kron_dynamics.exceptions import ParameterError

Q, QD, EFFORT = np.array([0.3, -0.4]), np.array([0.5, 0.2]), np.array([60.0, 12.0])
QDD_REF = np.array([0.7, -0.9])
CUTOFF = 2.0
RATE = 2.0 * np.pi * CUTOFF


@pytest.fixture
def estimator(make_arm):
    robot = make_arm(damping=0.5, friction=0.25)

    def make(source):
        return AccelerationEstimator(robot, source, CUTOFF)

    return make


def follow(filtered, times, velocity):
    """Estimates at the times, from a velocity that is a function of time."""
    return [filtered.estimate(t, Q, np.array(velocity(t)), EFFORT, None) for t in times]


def test_reference_is_passed_on(estimator):
    reference = estimator('reference')
    np.testing.assert_array_equal(reference.estimate(1.0, Q, QD, EFFORT, QDD_REF), QDD_REF)
    assert reference.estimate(1.0, Q, QD, EFFORT, None) is None


def test_model_solves_the_equation_of_motion_with_friction(estimator, make_arm):
    robot = make_arm(damping=0.5, friction=0.25)
    qdd = estimator('model').estimate(1.0, Q, QD, EFFORT, QDD_REF)
    balance = robot.inverse_dynamics(Q, QD, qdd) + robot.joint_friction(QD)
    np.testing.assert_allclose(balance, EFFORT, rtol=1e-12)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_model_says_nothing_without_efforts(estimator, bad):
    assert estimator('model').estimate(1.0, Q, QD, np.array([bad, 1.0]), QDD_REF) is None


def test_filter_says_nothing_of_the_first_sample(estimator):
    assert estimator('filtered').estimate(5.0, Q, QD, EFFORT, QDD_REF) is None


@pytest.mark.parametrize('step', [0.1, 0.02, 0.001])
def test_filtered_ramp_is_its_slope_whatever_the_sampling(estimator, rng, step):
    slope = np.array([0.4, -2.0])
    # Thirty time constants; the stamps jitter.
    times = np.cumsum(step * rng.uniform(0.5, 1.5, int(30 / (RATE * step)) + 30))
    last = follow(estimator('filtered'), times, lambda t: slope * t)[-1]
    np.testing.assert_allclose(last, slope, rtol=1e-9)


@pytest.mark.parametrize('step', [0.1, 0.02, 0.005])
def test_filtered_step_decays_with_the_cutoff_whatever_the_sampling(estimator, step):
    jump = np.array([1.0, -0.5])
    times = np.arange(0.0, 0.4 + 0.5 * step, step)
    values = follow(estimator('filtered'), times, lambda t: jump * (t > 0.0))
    # The velocity changes in the first step; the derivative has the mean over a step.
    means = [jump * np.exp(-RATE * (t - step)) * -np.expm1(-RATE * step) / step for t in times[1:]]
    np.testing.assert_allclose(values[1:], means, rtol=1e-9)


@pytest.mark.parametrize('messages', [1, 2, 3])
def test_messages_of_one_stamp_count_once(estimator, messages):
    filtered, slope, found = estimator('filtered'), np.array([0.4, -2.0]), []
    for t in np.arange(0.0, 3.0, 0.02):
        # Each message but the last still has an old velocity of the second joint.
        for k in range(messages):
            late = 0.02 * (k < messages - 1)
            now = filtered.estimate(t, Q, slope * [t, t - late], EFFORT, None)
        found.append(now)
    once = follow(estimator('filtered'), np.arange(0.0, 3.0, 0.02), lambda t: slope * t)
    assert found[0] is once[0] is None
    np.testing.assert_allclose(found[1:], once[1:], rtol=1e-12)


def test_a_sine_comes_through_with_the_filters_gain(estimator):
    omega = 2.0 * np.pi * 1.0
    times = np.arange(0.0, 5.0, 0.001)
    values = follow(estimator('filtered'), times, lambda t: [np.sin(omega * t), 0.0])
    settled = np.array([value[0] for value in values[2000:]])
    gain = omega / np.hypot(1.0, omega / RATE)
    np.testing.assert_allclose(settled.max(), gain, rtol=0.01)


def test_time_that_steps_back_starts_the_filter_anew(estimator):
    filtered = estimator('filtered')
    follow(filtered, [10.0, 10.1], lambda t: QD * t)
    assert filtered.estimate(3.0, Q, QD, EFFORT, None) is None
    np.testing.assert_array_equal(filtered.estimate(3.1, Q, QD, EFFORT, None), [0.0, 0.0])


def test_the_arrays_of_the_caller_are_not_kept(estimator):
    filtered, velocity = estimator('filtered'), QD.copy()
    filtered.estimate(0.0, Q, velocity, EFFORT, None)
    velocity[:] = 100.0
    np.testing.assert_array_equal(filtered.estimate(0.1, Q, QD, EFFORT, None), [0.0, 0.0])


@pytest.mark.parametrize('cutoff', [0.0, -1.0, np.nan, np.inf])
def test_a_cutoff_that_cannot_be_is_refused(arm, cutoff):
    with pytest.raises(ParameterError, match='filter cutoff'):
        AccelerationEstimator(arm, 'filtered', cutoff)


@pytest.mark.filterwarnings('error')
def test_velocities_too_large_for_a_difference_restart_the_filter(estimator):
    times = [0.02 * k for k in range(60)]
    huge = {10: 1.7e308, 11: -1.7e308}
    said = follow(estimator('filtered'), times, lambda t: [2.0 * t, huge.get(round(50 * t), 0.0)])
    assert all(qdd is None or np.isfinite(qdd).all() for qdd in said)
    assert said[10:14] == [None] * 4
    expected = follow(estimator('filtered'), times[13:], lambda t: [2.0 * t, 0.0])
    np.testing.assert_allclose(said[14:], expected[1:], atol=1e-12)
