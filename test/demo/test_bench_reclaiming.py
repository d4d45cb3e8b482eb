# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The bench-reclaiming motion: one move after another, within the machine's limits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kron_dynamics.control import check_trajectory
from kron_dynamics.demo import bench_reclaiming
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.loading import load
from kron_dynamics.model import load_model, read_urdf_file

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
START = np.array([100.0, 0.5, 0.0])
# Rated accelerations of travel, slew and luff, m/s^2 and rad/s^2.
RATED = np.array([0.05, 0.0014, 0.0002])


@pytest.fixture(scope='module')
def model():
    return load_model(read_urdf_file(STACKER))


@pytest.fixture(scope='module')
def motion(model):
    return bench_reclaiming(model, START)


def test_it_goes_travel_slew_luff_and_slew_back(motion):
    assert motion.joint_names == ('travel', 'slew', 'luff')
    np.testing.assert_array_equal(motion.positions[0], START)
    steps = np.diff(motion.positions, axis=0)
    moving = [tuple(np.flatnonzero(step)) for step in steps]
    assert moving == [(0,), (1,), (2,), (1,)]
    np.testing.assert_allclose(steps[1] + steps[3], 0.0, atol=1e-12)
    assert steps[0][0] > 0.0
    assert steps[2][2] < 0.0  # down, to the next cut


def test_it_rests_at_every_point(motion):
    trajectory = motion.trajectory()
    for time, position in zip(motion.times, motion.positions, strict=True):
        q, qd, qdd = trajectory.sample(time)
        np.testing.assert_allclose(q, position, rtol=1e-12)
        np.testing.assert_allclose(qd, 0.0, atol=1e-12)
        np.testing.assert_allclose(qdd, 0.0, atol=1e-9)


def test_each_move_is_as_fast_as_rating_and_limits_allow(motion, model):
    """Either the share of the velocity limit or the rated acceleration is used to the full."""
    trajectory = motion.trajectory()
    for begin, end in pairwise(motion.times):
        samples = [trajectory.sample(t) for t in np.linspace(begin, end, 2001)[1:-1]]
        speed = np.abs([qd for _, qd, _ in samples]).max(axis=0)
        acceleration = np.abs([qdd for _, _, qdd in samples]).max(axis=0)
        used = np.maximum(speed / (0.9 * model.velocity_limit), acceleration / RATED)
        np.testing.assert_allclose(used.max(), 1.0, rtol=1e-4)


def test_the_machine_can_follow_it_with_the_configured_share_of_its_efforts(motion):
    robot = load(STACKER)
    check_trajectory(motion.trajectory(), robot, effort_limit=0.9 * robot.model.effort_limit)


def test_two_runs_at_the_default_pace_last_less_than_a_minute(motion):
    assert 2.0 * motion.times[-1] / 5.0 < 60.0


def test_another_machine_is_refused_by_its_name():
    arm = load_model((ROOT / 'test' / 'robots' / 'planar_2r.urdf').read_text())
    with pytest.raises(ParameterError, match="'planar_2r' has no joint luff, slew, travel"):
        bench_reclaiming(arm, [0.0, 0.0])
