# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Peaks of motions, and the least slow-down that brings them within limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly
from single_carts import cart, limits_of

from kron_dynamics.control.reference.motion_peaks import MotionSamples

pytestmark = [
    pytest.mark.filterwarnings('error::RuntimeWarning'),
    pytest.mark.usefixtures('kernel_cache'),  # all robots of this file share its kernels
]

MASS, DAMPING, FRICTION, GRAVITY = 2.0, 3.0, 1.5, 9.80665


@pytest.fixture(scope='module')
def lift():
    return cart('0 0 1', velocity=2.0, mass=MASS, damping=DAMPING, friction=FRICTION)


@pytest.fixture
def motion(rng):
    """Times and states of a motion up and down."""
    times = np.cumsum([0.0, *rng.uniform(0.1, 0.2, 14)])
    w = np.array([[3.0], [7.0]])
    q, v, a = (
        np.array([0.8, 0.15]) @ (w**k * np.sin(w * times + 0.5 * np.pi * k)) for k in range(3)
    )
    return times, tuple(each[:, np.newaxis] for each in (q, v, a))


def quantities(lift, motion, friction):
    """All four at many places of each piece, (4, K - 1, S)."""
    times, states = motion
    curve = BPoly.from_derivatives(times, np.hstack(states))
    t = times[:-1, None] + np.diff(times)[:, None] * np.linspace(0.0, 1.0, 4001)
    v, a, j = (curve.derivative(k)(t) for k in (1, 2, 3))
    effort, rate = MASS * (a + GRAVITY), MASS * j
    if friction:
        effort = effort + lift.joint_friction(v.reshape(-1, 1)).reshape(v.shape)
        rate = rate + DAMPING * a
    return np.stack((v, a, effort, rate))


@pytest.mark.parametrize('friction', [False, True])
def test_peaks_are_the_largest_shares_of_limits_in_each_piece(friction, lift, motion):
    found = MotionSamples.of(lift, *motion, friction)
    assert found.duration == motion[0][-1]
    expected = np.abs(quantities(lift, motion, friction)).max(axis=2)
    for quantity, name in enumerate(('velocity', 'acceleration', 'effort', 'effort_rate')):
        # Near the limit peaks between the places are looked for; they are not needed elsewhere.
        peaks = [
            found.peaks(limits_of(**{name: limit}))[quantity, piece, 0] * limit
            for piece, limit in enumerate(expected[quantity])
        ]
        np.testing.assert_allclose(peaks, expected[quantity], rtol=0.02 if friction else 1e-3)


@pytest.mark.parametrize('friction', [False, True])
@pytest.mark.parametrize('factor', [1.0, 1.4, 0.7])
def test_a_slowed_motion_is_the_one_through_the_slowed_states(factor, friction, lift, motion):
    times, (q, v, a) = motion
    found = MotionSamples.of(lift, times, (q, v, a), friction).slowed(factor)
    right = MotionSamples.of(lift, factor * times, (q, v / factor, a / factor**2), False)
    np.testing.assert_allclose(found.times, right.times, rtol=1e-12)
    for one, other in zip(found.states, right.states, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    if not friction:  # which is kept as it was, since it hardly depends on the speed
        np.testing.assert_allclose(found.values, right.values, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(found.standing, right.standing, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize('friction', [False, True])
@pytest.mark.parametrize('which', ['velocity', 'acceleration', 'effort', 'effort_rate', 'all'])
def test_the_slow_down_is_the_least_that_keeps_the_limits(which, friction, lift, motion):
    found = MotionSamples.of(lift, *motion, friction)
    whole = quantities(lift, motion, friction)
    highest = np.abs(whole).max(axis=(1, 2))
    share = {'velocity': 0.5, 'acceleration': 0.4, 'effort_rate': 0.6}
    given = {name: share[name] * highest[k] for k, name in ((0, 'velocity'), (1, 'acceleration'))}
    given['effort'] = 0.5 * (highest[2] + np.abs(found.standing[0]).max())
    given['effort_rate'] = share['effort_rate'] * highest[3]
    limits = limits_of(**(given if which == 'all' else {which: given[which]}))
    factor = found.slowing(limits, found.peaks(limits))
    assert 1.0 < factor < 10.0
    kept, beyond = (
        slower.peaks(limits).max()
        for slower in (found.slowed(factor), found.slowed(factor / 1.001))
    )
    assert kept <= 1.0 + (2e-6 if friction else 0.0) < beyond


def test_a_motion_within_limits_is_not_slowed(lift, motion):
    found = MotionSamples.of(lift, *motion, friction=False)
    highest = np.abs(quantities(lift, motion, False)).max(axis=(1, 2))
    limits = limits_of(*(1.001 * highest))
    factor = found.slowing(limits, found.peaks(limits))
    assert factor == 1.0
    assert found.slowed(factor) is found


def test_what_weighs_more_than_the_effort_limit_cannot_be_slowed_enough(lift, motion):
    found = MotionSamples.of(lift, *motion, friction=False)
    for effort, can in ((0.99 * MASS * GRAVITY, False), (1.01 * MASS * GRAVITY, True)):
        limits = limits_of(effort=effort)
        assert np.isfinite(found.slowing(limits, found.peaks(limits))) == can


@pytest.mark.parametrize('friction', [False, True])
def test_time_at_a_limit(friction):
    """Speeding up with 2 m/s^2 for 1 s, which takes 4 N, on for 3 s, and slowing down with 1."""
    robot = cart('1 0 0', mass=MASS)
    times, v = np.array([0.0, 1.0, 4.0, 6.0]), np.array([0.0, 2.0, 2.0, 0.0])
    # A piece has one acceleration at both its ends: the steps of it take a nanosecond.
    brief = 1e-6
    t = np.sort(np.concatenate((times, times[1:-1] + brief)))
    a = np.array([2.0, 2.0, 0.0, 0.0, -1.0, -1.0])
    speed = np.interp(t, times, v)
    q = np.concatenate(([0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))))
    states = tuple(each[:, np.newaxis] for each in (q, speed, a))
    found = MotionSamples.of(robot, t, states, friction)
    limits = limits_of(velocity=2.0, acceleration=2.0, effort=4.0)
    at = found.reached(limits, 0.999)[:, 0]
    np.testing.assert_allclose(at[:3], [3.0, 1.0, 1.0], atol=0.05)
    assert at[3] == 0.0
    half = found.reached(limits, 0.499)[:, 0]
    np.testing.assert_allclose(half[1:3], 3.0, atol=0.05)
