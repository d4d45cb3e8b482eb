# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The moves that excite the boom: rated acceleration at once, cruise, rated braking, rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kron_dynamics.control import check_trajectory
from kron_dynamics.demo import Stop, slew_and_luff
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.loading import load
from kron_dynamics.model import load_model, read_urdf_file

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
START = np.array([100.0, 0.5, 0.0])
# (joint, way, share of the velocity limit, acceleration): as the machine is rated.
SLEW, LUFF = (1, 0.08, 0.9 * 0.0083, 0.0014), (2, -0.008, 0.9 * 0.0014, 0.0002)
REST = 6.0


@pytest.fixture(scope='module')
def model():
    return load_model(read_urdf_file(STACKER))


@pytest.fixture(scope='module')
def motion(model):
    return slew_and_luff(model, START)


def time_of(way, speed, acceleration):
    """Of a trapezoidal move: twice the ramp, and what is left at full speed."""
    return abs(way) / speed + speed / acceleration


def test_it_slews_rests_luffs_and_rests(motion):
    slewed = time_of(*SLEW[1:])
    luffed = time_of(*LUFF[1:])
    stops = motion.stops()
    assert [stop.joint for stop in stops] == ['slew', 'luff']
    np.testing.assert_allclose(stops[0].time, slewed, rtol=1e-9)
    np.testing.assert_allclose(stops[1].time, slewed + REST + luffed, rtol=1e-9)
    np.testing.assert_allclose(motion.times[-1], stops[1].time + REST, rtol=1e-12)
    np.testing.assert_allclose(motion.positions[-1] - START, [0.0, 0.08, -0.008], atol=1e-12)


@pytest.mark.parametrize('move', [SLEW, LUFF], ids=['slew', 'luff'])
def test_a_move_is_a_trapezoid_of_velocity(motion, move):
    """Rated acceleration, then constant speed, then rated braking; the other joints rest."""
    joint, way, speed, acceleration = move
    end = dict(motion.stops())['travel slew luff'.split()[joint]]
    begin = end - time_of(way, speed, acceleration)
    trajectory = motion.trajectory()
    direction = np.sign(way)
    times = np.linspace(begin - 1.0, end + 1.0, 4001)
    _, qd, qdd = (np.array(each) for each in zip(*map(trajectory.sample, times), strict=True))
    into, left = times - begin, end - times
    nearer = np.minimum(into, left)
    wanted = np.minimum(acceleration * np.maximum(nearer, 0.0), speed)
    np.testing.assert_allclose(qd[:, joint], direction * wanted, rtol=1e-7, atol=1e-9 * speed)
    assert not qd[:, np.arange(3) != joint].any()
    ramp = speed / acceleration
    between = np.abs([into, left, into - ramp, left - ramp]).min(axis=0) > 1e-6
    assert between.sum() > 3990
    changes = (nearer > 0.0) & (wanted < speed)
    braking = np.where(left < into, -1.0, 1.0)
    np.testing.assert_allclose(
        qdd[between, joint],
        (changes * braking * direction * acceleration)[between],
        rtol=1e-7,
        atol=1e-6 * acceleration,
    )


def test_a_way_too_short_for_the_speed_has_no_cruise(model):
    fast = replace(model, velocity_limit=np.full(3, 10.0))
    motion = slew_and_luff(fast, START)
    peak = np.abs(motion.velocities).max(axis=0)
    np.testing.assert_allclose(peak[1], np.sqrt(0.0014 * 0.08), rtol=1e-12)
    np.testing.assert_allclose(peak[2], np.sqrt(0.0002 * 0.008), rtol=1e-12)
    ways = motion.positions[-1] - START
    np.testing.assert_allclose(ways, [0.0, 0.08, -0.008], atol=1e-12)
    assert len(motion.times) == 1 + 2 * 3  # top, stop and the end of the rest of each move


def test_velocity_limits_of_other_joints_do_not_matter(model, motion):
    limits = [np.inf, *model.velocity_limit[1:]]
    free = slew_and_luff(replace(model, velocity_limit=np.array(limits)), START)
    np.testing.assert_array_equal(free.times, motion.times)


def test_the_machine_can_follow_it_with_the_configured_share_of_its_efforts(motion):
    robot = load(STACKER)
    check_trajectory(motion.trajectory(), robot, effort_limit=0.9 * robot.model.effort_limit)


def test_stops_are_named_and_timed(motion):
    assert motion.stops()[0] == Stop('slew', motion.times[3])


def test_another_machine_is_refused_by_its_name():
    arm = load_model((ROOT / 'test' / 'robots' / 'planar_2r.urdf').read_text())
    with pytest.raises(ParameterError, match="'planar_2r' has no joint luff, slew"):
        slew_and_luff(arm, [0.0, 0.0])
