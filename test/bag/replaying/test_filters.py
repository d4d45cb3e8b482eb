# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of what accelerations are obtained from and over how long a window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kron_dynamics.bag.replaying.filters import choose_filters
from kron_dynamics.bag.replaying.row_signals import JointSmoothing
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment

NOTHING = Samples(np.empty(0), np.empty(0))
SCALE = np.array([10.0, 37.0, 7.4])


def segment(motion, velocity_of=(), noise=0.0, velocity_noise=0.0, step=0.0):
    rng = np.random.default_rng(8)
    columns = range(motion.q.shape[1])
    q = motion.q + noise * rng.standard_normal(motion.q.shape)
    q = np.rint(q / step) * step if step else q
    qd = motion.qd + velocity_noise * rng.standard_normal(motion.q.shape)
    return JointSegment(
        0,
        motion.time[0],
        motion.time[-1],
        tuple(Samples(motion.time, q[:, k]) for k in columns),
        tuple(Samples(motion.time, qd[:, k]) if k in velocity_of else NOTHING for k in columns),
        tuple(NOTHING for _ in columns),
    )


def errors(filters, part, motion):
    """RMS error of each joint's acceleration."""
    _, _, qdd, _ = JointSmoothing(filters).motion(part, motion.time)
    return np.array(
        [np.sqrt(np.nanmean((qdd[:, k] - motion.qdd[:, k]) ** 2)) for k in range(len(filters))]
    )


def test_signals_are_chosen_joint_by_joint(arm, arm_motion):
    part = segment(arm_motion(), velocity_of=(0, 2), noise=1e-5, velocity_noise=1e-4)
    filters = choose_filters(arm, [part], SCALE)
    assert [item.signals for item in filters] == ['both', 'position', 'both']


def test_velocity_that_is_mostly_missing_is_not_used(arm, arm_motion):
    part = segment(arm_motion(), velocity_of=(0, 1, 2))
    sparse = Samples(part.velocity[0].time[::2], part.velocity[0].value[::2])
    part = replace(part, velocity=(sparse, *part.velocity[1:]))
    filters = choose_filters(arm, [part], SCALE)
    assert [item.signals for item in filters] == ['position', 'both', 'both']


@pytest.mark.parametrize('delay', [0, 10])
def test_velocity_that_tells_another_motion_is_not_used(arm, arm_motion, delay):
    part = segment(arm_motion(), velocity_of=(0, 1, 2), noise=1e-6, velocity_noise=1e-4)
    late = Samples(part.velocity[1].time, np.roll(part.velocity[1].value, delay))
    if not delay:  # a driver that fills in nothing
        late = Samples(late.time, np.zeros_like(late.value))
    part = replace(part, velocity=(part.velocity[0], late, part.velocity[2]))
    filters = choose_filters(arm, [part], SCALE)
    assert [item.signals for item in filters] == ['both', 'position', 'both']


def test_window_is_one_for_all_joints(arm, arm_motion):
    part = segment(arm_motion(), noise=1e-4)
    filters = choose_filters(arm, [part], SCALE)
    assert len({item.half_count for item in filters}) == 1
    assert filters[0].half_count > 2


@pytest.mark.parametrize(
    'rounded', [{'noise': 1e-3}, {'noise': 1e-5}, {'step': 1e-4}], ids=['coarse', 'fine', 'steps']
)
@pytest.mark.parametrize('rate', [30.0, 250.0])
def test_no_other_window_is_much_better(arm, arm_motion, rounded, rate):
    motion = arm_motion(duration=12.0, rate=rate)
    part = segment(motion, **rounded)
    filters = choose_filters(arm, [part], SCALE)
    # In efforts, which all joints' accelerations have a share in.
    mass = np.mean(arm.mass_matrix(motion.q) ** 2, axis=0) / SCALE[:, None] ** 2
    found = mass.sum(axis=0) @ errors(filters, part, motion) ** 2
    counts = np.unique(np.geomspace(2, len(motion.time) // 8, 12).astype(int))
    least = min(
        mass.sum(axis=0)
        @ errors([replace(item, half_count=int(m)) for item in filters], part, motion) ** 2
        for m in counts
    )
    assert np.sqrt(found / least) < 1.15


@pytest.mark.parametrize('velocities', [(), (0, 1, 2)])
@pytest.mark.parametrize('rate', [30.0, 125.0])
def test_stated_error_is_the_error(arm, arm_motion, velocities, rate):
    motion = arm_motion(duration=30.0, rate=rate)
    part = segment(motion, velocities, noise=1e-4, velocity_noise=2e-3, step=1e-5)
    filters = choose_filters(arm, [part], SCALE)
    stated = np.array([item.acceleration_error() for item in filters])
    assert np.all(stated > 0.7 * errors(filters, part, motion))
    assert np.all(stated < 1.6 * errors(filters, part, motion))
    # 95 % of all errors lie within two of them.
    _, _, qdd, _ = JointSmoothing(filters).motion(part, motion.time)
    for k in range(len(filters)):
        apart = np.abs(qdd[:, k] - motion.qdd[:, k])
        assert np.mean(apart[np.isfinite(apart)] < 2.0 * stated[k]) > 0.9


def test_window_does_not_smooth_the_motion_away(arm, make_motion):
    # 3 Hz of motion under noise that would ask for a window of seconds.
    motion = make_motion(
        arm, np.arange(2001) / 100, (0.3, 0.2, 0.4), (0.2, 0.2, 0.1), (19.0, 18.0, 20.0)
    )
    part = segment(motion, noise=1e-3)
    filters = choose_filters(arm, [part], np.full(3, 1e-3))
    assert np.all(errors(filters, part, motion) < 0.2 * np.std(motion.qdd, axis=0))


def test_slower_joints_are_weighed_by_their_own_samples(arm, arm_motion):
    motion = arm_motion(duration=60.0, rate=200.0)
    part = segment(motion, noise=1e-4)
    slow = Samples(part.position[1].time[::4], part.position[1].value[::4])
    part = replace(part, position=(part.position[0], slow, part.position[2]))
    filters = choose_filters(arm, [part], SCALE, window=0.5)
    assert [item.period for item in filters] == pytest.approx([0.005, 0.02, 0.005])
    assert filters[1].acceleration_noise() == pytest.approx(
        2.0 * filters[0].acceleration_noise(), rel=0.1
    )
    found = errors([replace(item, taken=0.0) for item in filters], part, motion)
    for item, error in zip(filters, found, strict=True):
        assert error < 1.3 * item.acceleration_error()
