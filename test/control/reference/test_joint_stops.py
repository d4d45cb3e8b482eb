# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Each joint stops by itself, without a step of acceleration, as gently as its limits allow."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.joint_stops import JointLimits, joint_stops

NONE = np.inf


def limits(n, lower=-NONE, upper=NONE, velocity=1.0, acceleration=2.0):
    return JointLimits(*(np.full(n, float(x)) for x in (lower, upper, velocity, acceleration)))


def trajectory(stops):
    names = [f'j{k}' for k in range(len(stops.end))]
    return Trajectory.from_polynomials(names, *stops.pieces(), stops.end)


def test_stops_from_any_state_are_continuous_and_within_limits():
    rng = np.random.default_rng(3)
    n = 60
    v, a = rng.uniform(-0.9, 0.9, n), rng.uniform(-2.0, 2.0, n)
    v[:4], a[:4] = [0.0, 0.0, 0.5, 1e-4], [0.0, 2.0, 0.0, -2.0]
    q = rng.uniform(-1.0, 1.0, n)
    stops = joint_stops((q, v, a), limits(n))
    assert stops.possible
    stop = trajectory(stops)
    for got, wanted in zip(stop.sample(0.0), (q, v, a), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)
    _, places, rates, accelerations = stop.grid(2)
    for values in (places, rates, accelerations):
        np.testing.assert_allclose(values[1:-1:2], values[2::2], atol=1e-9)
    np.testing.assert_allclose(places[-1], stop.final_position, atol=1e-9)
    np.testing.assert_allclose([rates[-1], accelerations[-1]], 0.0, atol=1e-9)
    assert np.abs(accelerations).max() <= 2.0 + 1e-9
    found = stop.extrema(0)
    np.testing.assert_allclose(found.lowest, stops.lowest, atol=1e-9)
    np.testing.assert_allclose(found.highest, stops.highest, atol=1e-9)
    assert np.abs([stop.extrema(1).lowest, stop.extrema(1).highest]).max() <= 1.0 + 1e-9


def test_a_joint_does_not_wait_for_a_slower_one():
    v = np.array([0.8, 0.8, 0.0])
    bounds = limits(3)._replace(acceleration=np.array([2.0, 0.1, 2.0]))
    stops = joint_stops((np.zeros(3), v, np.zeros(3)), bounds)
    # Half as long again as at once with the hardest braking; a joint at rest stays there.
    np.testing.assert_allclose(stops.begins[-1], 1.5 * v / bounds.acceleration)
    np.testing.assert_allclose(stops.end, 0.75 * v**2 / bounds.acceleration)


def test_where_the_range_ends_a_stop_is_quicker_and_then_impossible():
    v = np.array([0.8])
    state = np.zeros(1), v, np.zeros(1)
    free = joint_stops(state, limits(1)).end[0]
    shortest = 0.5 * v[0] ** 2 / 2.0
    near = joint_stops(state, limits(1, upper=0.5 * (free + shortest)))
    assert near.possible
    assert shortest < near.end[0] <= 0.5 * (free + shortest)
    far = joint_stops(state, limits(1, upper=shortest))
    assert far.too_far.all()
    assert not far.too_fast.any()


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_joint_that_accelerates_at_its_velocity_limit_is_too_fast(side):
    state = np.zeros(2), side * np.array([1.0, 0.99]), side * np.array([2.0, 2.0])
    stops = joint_stops(state, limits(2))
    assert stops.too_fast.tolist() == [True, False]
    assert not stops.too_far.any()


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_a_joint_that_turns_round_at_the_end_of_its_range_is_seen(side):
    """It brakes harder than it needs: the farthest place is on the way, and not its end."""
    state = np.zeros(1), side * np.array([0.01]), side * np.array([-2.0])
    stops = joint_stops(state, limits(1))
    reach = stops.highest if side > 0.0 else -stops.lowest
    assert reach[0] > max(0.0, side * stops.end[0]) + 1e-6
    # Nearer than braking can end: no ramp is quick enough.
    near = 0.5 * 0.01**2 / 2.0 * np.array([0.99])
    bounds = limits(1, upper=near[0]) if side > 0.0 else limits(1, lower=-near[0])
    assert joint_stops(state, bounds).too_far.all()


def test_without_an_acceleration_limit_a_stop_is_still_no_step():
    state = np.zeros(2), np.array([0.5, 0.0]), np.array([0.0, 0.3])
    stop = trajectory(joint_stops(state, limits(2, velocity=NONE, acceleration=NONE)))
    assert stop.duration >= 0.02
    np.testing.assert_allclose(stop.sample(0.0)[1], state[1])
    assert np.isfinite(stop.grid(5)[3]).all()
