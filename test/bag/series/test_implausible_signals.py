# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Signals that no motion of the robot gives: what can be put right is, all else is told."""

from __future__ import annotations

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.series.runs import find_runs

LIFT = 1  # of the arm: turns, with limits; 'turn' before it has none, 'reach' behind it slides


@pytest.fixture
def run_of(make_bag, arm):
    """Return a function that gives the run of a motion as recorded, and what its notes say."""

    def record(motion):
        with make_bag() as bag:
            bag.motion('/js', motion)
        (run,) = find_runs(read_bag(bag.path), arm.model)
        return run, ' '.join(run.notes)

    return record


def test_right_motion_is_left_as_it_is(run_of, arm_motion):
    motion = arm_motion(duration=4.0)
    motion.q = motion.q + 1e-4 * np.random.default_rng(1).standard_normal(motion.q.shape)
    run, told = run_of(motion)
    (segment,) = run.log.segments
    assert told == ''
    for k in range(3):
        np.testing.assert_array_equal(segment.position[k].value, motion.q[:, k])
        np.testing.assert_array_equal(segment.velocity[k].value, motion.qd[:, k])


def test_turns_that_a_limited_joint_leaves_out_are_put_back(run_of, arm_motion):
    motion = arm_motion(duration=4.0)
    motion.q[:, LIFT] += 3.0  # through pi, in both directions
    true = motion.q[:, LIFT].copy()
    motion.q[:, LIFT] = np.mod(true + np.pi, 2.0 * np.pi) - np.pi
    assert np.ptp(motion.q[:, LIFT]) > 6.0
    run, told = run_of(motion)
    found = run.log.segments[0].position[LIFT].value
    np.testing.assert_allclose(np.diff(found), np.diff(true), atol=1e-12)
    assert 'positions jump by whole turns: lift 3 times' in told and 'no motion' not in told


@pytest.mark.parametrize(
    ('off', 'told'),
    [(0.45, 'by whole turns: lift 1 times'), (0.55, 'as no motion does: lift 1 times')],
)
def test_jumps_of_fast_joints_are_turns_up_to_half_a_radian(
    make_bag, arm_motion, arm_urdf, off, told
):
    motion = arm_motion(duration=4.0)
    row = 100 + int(np.argmin(np.abs(motion.qd[100:300, LIFT])))  # it hardly moves itself
    motion.q[row:, LIFT] += 2.0 * np.pi + off
    fast = kd.loads(arm_urdf.replace('velocity="2"', 'velocity="30"'))
    with make_bag() as bag:
        bag.motion('/js', motion)
    (run,) = find_runs(read_bag(bag.path), fast.model)
    assert f'positions jump {told}' in ' '.join(run.notes)


@pytest.mark.parametrize(
    ('joint', 'rows', 'jump', 'told'),
    [
        (LIFT, slice(200, 201), 0.9, 'lift 2 times, first by 0.9'),
        (LIFT, slice(200, None), -0.9, 'lift 1 times, first by -0.892 rad at 2.00 s'),
        (2, slice(200, None), 2.0 * np.pi, 'reach 1 times, first by 6.28 m at 2.00 s'),
        (LIFT, slice(None, None, 2), 0.9, 'lift 400 times'),
    ],
    ids=['sample', 'step', 'slide', 'two publishers'],
)
def test_positions_that_jump_are_told(run_of, arm_motion, joint, rows, jump, told):
    motion = arm_motion(duration=4.0)
    motion.q[rows, joint] += jump
    run, notes = run_of(motion)
    assert f'positions jump as no motion does: {told}' in notes
    # Not the velocity is wrong.
    np.testing.assert_array_equal(run.log.segments[0].velocity[joint].value, motion.qd[:, joint])


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        (lambda rate: np.degrees(rate), 'of lift is 57.3 times the rate of the position'),
        (lambda rate: -rate, 'of lift is -1 times the rate of the position'),
        (lambda rate: rate * (np.arange(401) < 200), 'of lift contradicts the position in 5'),
        (lambda rate: rate + 100.0 * (np.arange(401) == 210), 'first at 2.00 s'),
    ],
    ids=['degrees', 'sign', 'stops', 'outlier'],
)
def test_velocities_of_another_motion_are_told_and_not_used(run_of, arm_motion, change, told):
    motion = arm_motion(duration=4.0)
    motion.qd[:, LIFT] = change(motion.qd[:, LIFT])
    run, notes = run_of(motion)
    assert 'velocity of lift' in notes and told in notes and ': not used' in notes
    (segment,) = run.log.segments
    assert [len(each.time) for each in segment.velocity] == [401, 0, 401]


def test_velocities_that_are_filtered_noisy_or_missing_for_a_time_are_used(run_of, arm_motion):
    motion = arm_motion(duration=4.0)
    random = np.random.default_rng(1)
    motion.qd[:, 0] = np.convolve(motion.qd[:, 0], np.ones(3) / 3, 'same')
    motion.qd[:, LIFT] += 0.2 * random.standard_normal(401)
    motion.q[:, 2], motion.qd[140:260, 2] = np.round(motion.q[:, 2], 2), np.nan
    run, notes = run_of(motion)
    assert 'velocity' not in notes
    assert all(len(each.time) for each in run.log.segments[0].velocity)


def test_efforts_of_no_drive_and_of_a_part_of_the_time_are_told(run_of, arm_motion):
    motion = arm_motion(duration=4.0)
    motion.effort[100, LIFT] = -1e9
    motion.effort[101:, 0] = np.nan
    _, notes = run_of(motion)
    assert (
        'efforts far beyond the limits of the description: lift -1e+09 at 1.00 s, limit 300'
        in notes
    )
    assert 'efforts are recorded with a part of the positions only: turn with 25 %.' in notes + '.'


def test_units_are_advised_by_the_kind_of_joint(run_of, arm_motion):
    motion = arm_motion(duration=4.0)
    motion.q[:, 2], motion.qd[:, 2] = 1e3 * motion.q[:, 2], 1e3 * motion.qd[:, 2]
    _, notes = run_of(motion)
    assert 'mm (--scale JOINT=mm)' in notes and 'deg' not in notes


def test_joint_that_is_told_seldom_is_named(make_bag, arm, arm_motion):
    motion = arm_motion(duration=4.0)
    with make_bag() as bag:
        for k, time in enumerate(motion.time):
            count = 2 if k % 20 else 3
            bag.joint_state('/js', time, arm.joint_names[:count], motion.q[k, :count])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert any('positions per second: reach 5, of others up to 100' in note for note in run.notes)


def test_joint_that_is_told_twice_has_the_rate_of_both(make_bag, arm, arm_motion):
    motion = arm_motion(duration=4.0)
    with make_bag() as bag:
        for k, time in enumerate(motion.time):
            count = 2 if k % 400 else 3
            bag.joint_state('/js', time, arm.joint_names[:count], motion.q[k, :count])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert any('positions per second: reach 0.25, of others' in note for note in run.notes)


def test_motion_that_is_recorded_too_seldom_is_told(run_of, arm_motion):
    motion = arm_motion(duration=60.0, rate=1.0)
    _, notes = run_of(motion)
    assert 'positions change from sample to sample as noise does: turn by' in notes
