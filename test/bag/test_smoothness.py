# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jerk, effort rates and steps of motions where they are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report

AMPLITUDE, FREQUENCY = (0.8, 0.5, 0.2), (2.1, 1.7, 2.6)
NAMES = ('turn', 'lift', 'reach')


@pytest.fixture
def recorded(make_bag, arm_urdf):
    """Return a function that records a motion and gives what is said of its smoothness."""

    def record(motion, fields='pve', name='bag'):
        with make_bag(name) as bag:
            bag.text('/robot_description', arm_urdf)
            bag.motion('/joint_states', motion, fields)
        analysis = analyze_bag(bag.path)
        return analysis.runs[0].smoothness, format_report(analysis)

    return record


def test_jerk_and_rates_of_a_known_motion(recorded, arm, arm_motion):
    motion = arm_motion()
    found, _ = recorded(motion)
    phase = np.outer(motion.time, FREQUENCY) + np.arange(3)
    jerk = -np.multiply(AMPLITUDE, np.power(FREQUENCY, 3)) * np.cos(phase)
    rate = np.gradient(motion.effort, motion.time, axis=0)
    accelerations = arm.frame('tool').acceleration(motion.q, motion.qd, motion.qdd)
    tip = np.gradient(accelerations, motion.time, axis=0)
    assert [joint.name for joint in found.joints] == list(NAMES)
    assert [joint.jerk_unit for joint in found.joints] == ['rad/s^3', 'rad/s^3', 'm/s^3']
    assert [joint.effort_unit for joint in found.joints] == ['N m', 'N m', 'N']
    for k, joint in enumerate(found.joints):
        # Friction changes sign within less than a window, which lowers its rate.
        lowered = 0.15 if joint.name == 'turn' else 0.06
        for result, exact, off in (
            (joint.jerk, jerk[:, k], 0.06),
            (joint.effort_rate, rate[:, k], lowered),
            (joint.recomputed_effort_rate, rate[:, k], lowered),
        ):
            assert result.rms == pytest.approx(np.sqrt(np.mean(exact**2)), rel=off)
            if off < 0.1:
                assert result.peak == pytest.approx(np.abs(exact).max(), rel=off)
        assert not joint.jerk.noise_dominates
        step = np.abs(np.diff(motion.effort[:, k])).max()
        assert joint.largest_step == pytest.approx(step, rel=1e-12)
    for result, rows in ((found.tip_linear, slice(3)), (found.tip_angular, slice(3, 6))):
        exact = np.linalg.norm(tip[:, rows], axis=1)
        assert result.rms == pytest.approx(np.sqrt(np.mean(exact**2)), rel=0.06)


def test_a_step_of_an_effort_is_told_as_it_is_and_a_gap_is_none(recorded, arm_motion):
    motion = arm_motion()
    smooth, _ = recorded(motion)
    motion.effort[500:, 1] += 40.0
    kept = np.r_[0:600, 800:1001]  # 2 s without samples, after which the effort is another
    motion.effort[800:, 1] += 500.0
    for name in ('time', 'q', 'qd', 'effort'):
        setattr(motion, name, getattr(motion, name)[kept])
    found, report = recorded(motion, name='stepping')
    before = smooth.joints[1].largest_step
    assert 40.0 - before < found.joints[1].largest_step < 40.0 + before
    # The averaged effort changes by 40 N m within a window of a few samples.
    assert found.joints[1].effort_rate.peak > 2.0 * smooth.joints[1].effort_rate.peak
    assert found.joints[0].effort_rate.peak == pytest.approx(
        smooth.joints[0].effort_rate.peak, rel=0.05
    )
    (line,) = (row for row in report.splitlines() if 'lift' in row and 'N m/s' in row)
    assert f'{found.joints[1].largest_step:.3g} N m' in line


def test_the_first_and_the_last_step_count(recorded, arm_motion):
    motion = arm_motion()
    motion.effort[0, 0] += 900.0
    motion.effort[-1, 1] += 900.0
    found, _ = recorded(motion, name='edges')
    for k, place in ((0, 0), (1, -1)):
        step = np.abs(np.diff(motion.effort[:, k]))[place]
        assert step > 890.0
        assert found.joints[k].largest_step == pytest.approx(step, rel=1e-12)


def test_at_rest_all_rates_are_noise_and_are_told_to_be(make_bag, arm, arm_urdf):
    """Nothing moves, so what is found is what noise adds: as much as is said of it."""
    rng = np.random.default_rng(5)
    q = np.array([0.3, 0.4, 0.2])
    weight = arm.gravity_vector(q)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for time in np.arange(0.0, 10.0, 0.002):
            noisy = q + rng.normal(0.0, 2e-3, 3), rng.normal(0.0, 1e-2, 3)
            efforts = weight + rng.normal(0.0, 0.5, 3)
            bag.joint_state('/joint_states', time, NAMES, *noisy, efforts)
    analysis = analyze_bag(bag.path)
    found = analysis.runs[0].smoothness
    rates = [found.tip_linear, found.tip_angular]
    for joint in found.joints:
        rates += [joint.jerk, joint.effort_rate, joint.recomputed_effort_rate]
    # A rate has few independent values in 10 s.
    assert all(0.5 * rate.noise < rate.rms < 2.0 * rate.noise for rate in rates)
    ratios = np.array([rate.rms / rate.noise for rate in rates])
    assert ratios.mean() == pytest.approx(1.0, abs=0.2)
    assert all(joint.jerk.noise_dominates for joint in found.joints)
    assert '+/-' in format_report(analysis)


def test_efforts_that_are_not_recorded_have_no_rate(recorded, arm_motion):
    found, report = recorded(arm_motion(), 'pv')
    for joint in found.joints:
        assert np.isnan([joint.effort_rate.rms, joint.effort_rate.peak, joint.largest_step]).all()
        assert joint.recomputed_effort_rate.rms > 0.0
    (line,) = (row for row in report.splitlines() if 'turn' in row and 'N m/s' in row)
    assert line.split()[3:5] == ['-', '-'] and line.split()[-1] == '-'


def test_rates_are_compared_where_efforts_are_recorded(make_bag, arm, arm_urdf, arm_motion):
    """Of a rest they say nothing about the motion that follows."""
    motion = arm_motion()
    still = np.tile(motion.q[0], (1001, 1))
    weight = arm.gravity_vector(motion.q[0])
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for time, q in zip(motion.time, still, strict=True):
            bag.joint_state('/joint_states', time, NAMES, q, 0.0 * q, weight)
        for time, q, qd in zip(motion.time + 12.0, motion.q, motion.qd, strict=True):
            bag.joint_state('/joint_states', time, NAMES, q, qd)
    found = analyze_bag(bag.path).runs[0].smoothness
    for joint in found.joints:
        assert joint.effort_rate.rms < 1e-6
        assert joint.recomputed_effort_rate.rms < 1e-6
        assert joint.jerk.rms > 0.1
