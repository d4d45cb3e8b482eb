# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A quintic motion keeps a limit if it does so at every moment."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.joint_stops import JointLimits
from kron_dynamics.control.reference.quintic_limits import beyond_limits, quintic_between


def motion(start, goal, duration):
    piece = quintic_between(start, goal, duration)
    names = [f'j{k}' for k in range(piece.shape[2])]
    return Trajectory.from_polynomials(names, np.array([0.0, duration]), piece, goal[0])


def peaks(start, goal, duration):
    """The extremes of positions, velocities and accelerations, (3, n) each, to about 1e-7."""
    _, *values = motion(start, goal, duration).grid(8001)
    return np.array([x.min(axis=0) for x in values]), np.array([x.max(axis=0) for x in values])


def test_the_quintic_goes_from_one_state_to_the_other():
    rng = np.random.default_rng(2)
    start, goal = rng.uniform(-1.0, 1.0, (2, 3, 4))
    _, *got = motion(tuple(start), tuple(goal), 0.7).grid(2)
    np.testing.assert_allclose([x[0] for x in got], start, atol=1e-12)
    np.testing.assert_allclose([x[1] for x in got], goal, atol=1e-12)


def test_a_peak_just_above_a_limit_is_found_and_one_just_below_is_not():
    rng = np.random.default_rng(4)
    n = 40
    start, goal = (tuple(states) for states in rng.uniform(-1.0, 1.0, (2, 3, n)))
    least, durations = 0.5, np.array([0.5, 0.9])
    for k, duration in enumerate(durations):
        slower = least / duration
        slowed = goal[0], slower * goal[1], slower**2 * goal[2]
        lowest, highest = peaks(start, slowed, duration)
        most = np.maximum(-lowest, highest)
        for grown, expected in ((1e-5, False), (-1e-5, True)):
            free = np.full(n, np.inf)
            for quantity, limits in enumerate(
                (
                    JointLimits(lowest[0] - grown, highest[0] + grown, free, free),
                    JointLimits(-free, free, most[1] + grown, free),
                    JointLimits(-free, free, free, most[2] + grown),
                )
            ):
                beyond = beyond_limits(start, goal, least, durations, limits)[:, k]
                assert (beyond[quantity] == expected).all()
                assert not np.delete(beyond, quantity, axis=0).any()


def test_a_short_overshoot_between_samples_is_found():
    """17 moments were looked at: this one is past the end for a hundredth of the way."""
    zero, upper = np.zeros(1), np.array([1.0])
    # It comes to the limit with a velocity towards it, braking, and is back 1/100 later.
    limits = JointLimits(-upper, upper, np.full(1, np.inf), np.full(1, np.inf))
    start, goal = (zero, zero, zero), (upper, np.array([-0.05]), np.array([-8.0]))
    lowest, highest = peaks(start, goal, 1.0)
    samples = motion(start, goal, 1.0).grid(17)[1]
    assert samples.max() <= 1.0 < highest[0, 0]
    beyond = beyond_limits(start, goal, 1.0, np.ones(1), limits)
    assert beyond[:, 0, 0].tolist() == [True, False, False]
