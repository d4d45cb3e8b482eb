# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of what is differentiated and over how long a window."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.filters import JointFilter, choose_filters
from kron_dynamics.bag.joint_log import JointSegment
from kron_dynamics.bag.samples import Samples

NOTHING = Samples(np.empty(0), np.empty(0))


def segment(motion, velocity_of=(), noise=0.0):
    rng = np.random.default_rng(8)
    columns = range(motion.q.shape[1])
    q = motion.q + noise * rng.standard_normal(motion.q.shape)
    return JointSegment(
        0,
        motion.time[0],
        motion.time[-1],
        tuple(Samples(motion.time, q[:, k]) for k in columns),
        tuple(
            Samples(motion.time, motion.qd[:, k]) if k in velocity_of else NOTHING for k in columns
        ),
        tuple(NOTHING for _ in columns),
    )


def test_velocity_is_used_joint_by_joint(arm, arm_motion):
    part = segment(arm_motion(), velocity_of=(0, 2))
    filters = choose_filters(arm, [part], np.full(3, 10.0))
    assert [item.from_velocity for item in filters] == [True, False, True]
    assert [item.derivative for item in filters] == [1, 2, 1]


def test_velocity_that_is_mostly_missing_is_not_used(arm, arm_motion):
    part = segment(arm_motion(), velocity_of=(0, 1, 2))
    sparse = Samples(part.velocity[0].time[::2], part.velocity[0].value[::2])
    part = JointSegment(
        0, part.start, part.end, part.position, (sparse, *part.velocity[1:]), part.effort
    )
    filters = choose_filters(arm, [part], np.full(3, 10.0))
    assert [item.from_velocity for item in filters] == [False, True, True]


def test_window_is_one_for_all_joints(arm, arm_motion):
    part = segment(arm_motion(), noise=1e-4)
    filters = choose_filters(arm, [part], np.full(3, 10.0))
    assert len({item.half_count for item in filters}) == 1
    assert filters[0].half_count > 2


def test_window_meets_the_target_when_the_motion_allows(arm, arm_motion):
    part = segment(arm_motion(), noise=1e-4)
    scale = np.array([10.0, 37.0, 7.4])
    filters = choose_filters(arm, [part], scale)
    mass = arm.mass_matrix(arm_motion().q)
    noise = np.array([item.acceleration_noise() for item in filters])
    effort_noise = np.sqrt(np.mean(mass * mass, axis=0) @ noise**2)
    assert np.all(effort_noise <= 0.0101 * scale)


def test_window_does_not_smooth_the_motion_away(arm, make_motion):
    # 3 Hz of motion under noise that would ask for a window of seconds.
    motion = make_motion(
        arm, np.arange(2001) / 100, (0.3, 0.2, 0.4), (0.2, 0.2, 0.1), (19.0, 18.0, 20.0)
    )
    filters = choose_filters(arm, [segment(motion, noise=1e-3)], np.full(3, 1e-3))
    assert filters[0].half_width < 0.1


def test_unknown_efforts_ask_for_no_longer_window(arm, arm_motion):
    part = segment(arm_motion(), noise=1e-4)
    arm_limits = np.isfinite(arm.model.effort_limit)
    assert arm_limits.all()
    known = choose_filters(arm, [part], np.array([np.nan, 37.0, np.nan]))
    all_known = choose_filters(arm, [part], np.array([1.0, 37.0, 1.0]))
    assert known[0].half_count < all_known[0].half_count


@pytest.mark.parametrize('from_velocity', [True, False])
def test_acceleration_noise_falls_with_the_known_power_of_the_window(from_velocity):
    levels = [
        JointFilter(from_velocity, 0.01, 1.0, half_count).acceleration_noise()
        for half_count in (50, 100)
    ]
    power = -1.5 if from_velocity else -2.5
    assert np.log2(levels[1] / levels[0]) == pytest.approx(power, abs=0.03)
