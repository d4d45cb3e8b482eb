# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motions for identification: without the noise of velocities, as recorded where it is small."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.motions import motions, recorded_runs
from kron_dynamics.exceptions import BagError
from kron_dynamics.identification import identify

pytestmark = pytest.mark.interpreted

NOISE = 0.05  # of velocities, rad/s or m/s


@pytest.fixture
def recorded(arm, make_bag, make_motion):
    """The motion of an arm, and what is made of its bag; efforts have 1 % of noise."""

    def of(time, rate_noise):
        motion = make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
        random = np.random.default_rng(3)
        share = 0.01 * np.sqrt(np.mean(motion.effort**2, axis=0))
        motion.effort = motion.effort + share * random.standard_normal(motion.q.shape)
        true = motion.qd
        motion.qd = true + rate_noise * random.standard_normal(true.shape)
        with make_bag() as bag:
            bag.motion('/joint_states', motion)
        (replay,) = recorded_runs(bag.path, arm)
        (found,) = motions(replay)
        places = np.round((found.time - found.time[0]) / (time[1] - time[0])).astype(int)
        first = int(np.argmin(np.abs(motion.effort[:, 0] - found.effort[0, 0])))
        return motion, true, found, first + places, share

    return of


def test_noise_of_velocities_is_neither_motion_nor_residual(arm, recorded):
    motion, true, found, rows, share = recorded(np.arange(0.0, 16.0, 0.01), NOISE)
    assert len(rows) > 0.8 * len(true)
    assert np.sqrt(np.mean((found.qd - true[rows]) ** 2, axis=0)).max() < 0.2 * NOISE
    np.testing.assert_allclose(found.effort, motion.effort[rows], atol=1e-9)
    identified = identify(arm, [found], terms=('coulomb', 'viscous', 'offset'))
    floor = share / np.sqrt(np.mean(motion.effort**2, axis=0))
    assert (identified.unfiltered['identified'].joints < 1.3 * floor).all()


def test_motion_of_few_samples_and_little_noise_stays_as_recorded(recorded):
    # An average of five samples would take some of it.
    motion, true, found, rows, _ = recorded(np.arange(0.0, 30.0, 0.12), 1e-6)
    np.testing.assert_allclose(found.q, motion.q[rows], atol=1e-9)
    np.testing.assert_allclose(found.qd, motion.qd[rows], atol=1e-9)
    assert np.abs(found.qd - true[rows]).max() < 1e-5


@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_a_run_without_a_valid_row_has_no_motion(arm, make_bag, make_motion):
    time = np.arange(0.0, 6.0, 0.12)
    with make_bag() as bag:
        bag.motion('/js', make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2, 1, 2)))
    (replay,) = recorded_runs(bag.path, arm)
    for series in replay.segments:
        series.valid[:] = False
    assert motions(replay) == []


def test_efforts_that_are_stamped_late_stay_so_for_the_identification(make_bag, arm, arm_motion):
    """It chooses a delay itself, together with friction, and states that of the recording."""
    motion, early = arm_motion(duration=4.0), arm_motion(duration=4.0, start=4.99)
    motion.effort = early.effort
    with make_bag() as bag:
        bag.motion('/joint_states', motion)
    (replay,) = recorded_runs(bag.path, arm)
    assert replay.effort_delay == pytest.approx(0.01, abs=2e-4)
    (as_recorded,), (moved,) = motions(replay), motions(replay, effort_delay=0.01)
    row = int(np.argmin(np.abs(motion.q[:, 0] - as_recorded.q[0, 0])))
    rows = slice(row, row + len(as_recorded.time))
    np.testing.assert_allclose(as_recorded.effort, motion.effort[rows], atol=1e-9)
    np.testing.assert_allclose(moved.effort[:-1], as_recorded.effort[1:], atol=1e-6)


def test_efforts_of_zero_alone_are_refused(make_bag, arm, arm_motion):
    motion = arm_motion(duration=2.0)
    motion.effort = 0.0 * motion.effort
    with make_bag() as bag:
        bag.motion('/js', motion)
    with pytest.raises(BagError, match=r"efforts of the joints of 'arm' on /js are all 0"):
        recorded_runs(bag.path, arm)


@pytest.mark.parametrize('other', ['/right/joint_states', '/again'])
def test_two_motions_at_a_time_are_not_of_one_robot(make_bag, arm, arm_motion, other):
    # Another machine with the same joints, or the same states published again.
    motion = arm_motion(duration=2.0)
    moved = motion.q[::-1] if other != '/again' else motion.q
    with make_bag() as bag:
        for k, time in enumerate(motion.time):
            for topic, q in (('/left/joint_states', motion.q), (other, moved)):
                bag.joint_state(topic, time, arm.joint_names, q[k], effort=motion.effort[k])
    named = f'/left/joint_states, {other}, expected one: say which with --joint-states'
    with pytest.raises(BagError, match=named):
        recorded_runs(bag.path, arm)
    named = f'/left/joint_states and {other} at the same time: two machines'
    with pytest.raises(BagError, match=named):
        recorded_runs(bag.path, arm, topics=[other, '/left/joint_states'])
    (replay,) = recorded_runs(bag.path, arm, topics=[other])
    assert replay.run.topic == other


def test_topics_recorded_one_after_another_are_of_one_robot_if_named(make_bag, arm, arm_motion):
    with make_bag() as bag:
        for start, topic in ((8.0, '/before'), (5.0, '/later')):
            bag.motion(topic, arm_motion(duration=2.0, start=start))
    with pytest.raises(BagError, match='on /before, /later, expected one'):
        recorded_runs(bag.path, arm)
    found = recorded_runs(bag.path, arm, topics=['/later', '/before'])
    assert [replay.run.topic for replay in found] == ['/later', '/before']
