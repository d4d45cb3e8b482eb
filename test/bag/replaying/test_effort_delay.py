# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts whose stamps are late or early against the motion they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from long_runs import some_of

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.bag.replaying.effort_delay import EffortDelay
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted


@pytest.fixture
def shifted_bag(make_bag, arm, arm_urdf, arm_motion, make_motion):
    """Return a function that records efforts stamped too late by a time in s."""

    def record(delay):
        motion = arm_motion()
        shape = ((0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
        motion.effort = make_motion(arm, motion.time - delay, *shape).effort
        with make_bag() as bag:
            bag.text('/robot_description', arm_urdf)
            bag.motion('/joint_states', motion)
        return bag.path

    return record


@pytest.mark.parametrize('delay', [0.005, -0.005, 0.012])
def test_shift_of_about_a_sample_is_found_told_and_undone(shifted_bag, delay):
    path = shifted_bag(delay)
    analysis = analyze_bag(path)
    (run,) = analysis.runs
    assert run.replay.effort_delay == pytest.approx(delay, abs=2e-4)
    assert max(joint.ratio for joint in run.joints) < 2.5e-3
    side = 'late' if delay > 0 else 'early'
    assert f'ms too {side}, as the data shows' in format_report(analysis)
    (plain,) = analyze_bag(path, effort_delay=0.0).runs
    assert max(joint.ratio for joint in plain.joints) > 1e-2


def test_large_shift_is_told_but_not_undone(shifted_bag):
    path = shifted_bag(0.05)
    analysis = analyze_bag(path)
    (run,) = analysis.runs
    assert run.replay.effort_delay == 0.0
    assert run.replay.found_delay == pytest.approx(0.05, rel=0.1)
    assert '--effort-delay 0.0' in format_report(analysis)
    assert max(joint.ratio for joint in run.joints) > 0.05
    given = analyze_bag(path, effort_delay=0.05)
    assert max(joint.ratio for joint in given.runs[0].joints) < 1e-3
    assert 'stamped 50 ms too late, as given' in format_report(given)


def test_no_shift_is_not_mentioned(shifted_bag):
    analysis = analyze_bag(shifted_bag(0.0))
    assert abs(analysis.runs[0].replay.effort_delay) < 1e-4
    assert 'timing' not in format_report(analysis)


def test_noise_is_not_taken_for_a_shift(make_bag, arm_urdf, arm_motion):
    motion = arm_motion()
    noise = np.random.default_rng(10).standard_normal(motion.effort.shape)
    motion.effort = motion.effort + 3.0 * noise
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', motion)
    (run,) = analyze_bag(bag.path).runs
    assert run.replay.effort_delay == 0.0
    assert run.replay.found_delay == 0.0


@pytest.mark.parametrize(
    ('old', 'new'),
    some_of(
        [('damping="1.5"', 'damping="4"'), ('"2"/>', '"2.4"/>')],
        [('damping="1.5"', 'damping="4"')],
    ),
)
def test_wrong_model_is_not_taken_for_a_shift(shifted_bag, arm_urdf, tmp_path, old, new):
    assert old in arm_urdf
    wrong = tmp_path / 'wrong.urdf'
    wrong.write_text(arm_urdf.replace(old, new, 1))
    (run,) = analyze_bag(shifted_bag(0.0), urdf=wrong).runs
    assert run.replay.effort_delay == 0.0
    assert max(joint.ratio for joint in run.joints) > 0.03


def test_effort_held_between_samples_is_half_a_sample_late(make_bag, arm, arm_urdf):
    """A simulated plant holds each effort until the next; its states come at the ends."""
    plant, period = Plant(arm, (0.0, 0.3, 0.5)), 0.01
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for k in range(1, 801):
            wanted = 0.5 * np.sin(np.array([2.0, 1.5, 2.5]) * k * period)
            push = 30.0 * (wanted + (0.0, 0.3, 0.5) - plant.q) - 12.0 * plant.qd
            plant.advance(push + arm.gravity_vector(plant.q), period, 0.002)
            bag.joint_state(
                '/joint_states', k * period, arm.joint_names, plant.q, plant.qd, plant.effort
            )
    (run,) = analyze_bag(bag.path).runs
    assert run.replay.effort_delay == pytest.approx(0.5 * period, rel=0.1)
    assert max(joint.ratio for joint in run.joints) < 2.5e-3


@pytest.mark.parametrize(('lag', 'told'), [(0.05, True), (20.0, False)])
def test_delay_longer_than_the_motion_is_none(lag, told):
    """The formula of small shifts finds any: residuals of other efforts may look like rates."""
    time = np.arange(0.0, 8.0, 0.01)
    delay = EffortDelay(1)
    effort, rate = np.sin(2.0 * time)[:, None], 2.0 * np.cos(2.0 * time)[:, None]
    delay.add(time, effort, -lag * rate, np.zeros((len(time), 2)))
    assert delay.found() == (pytest.approx(lag, rel=1e-3) if told else 0.0)


def test_a_joint_with_a_constant_effort_tells_nothing_of_the_lag():
    time, lag = np.linspace(0.0, 10.0, 2001), 0.004
    moving, rest = np.sin(2.0 * time), -2.0 * lag * np.cos(2.0 * time)
    delay = EffortDelay(2)
    efforts, rests = np.stack((moving, 5.0 + 0.0 * time), axis=1), np.stack((rest, rest), axis=1)
    delay.add(time, efforts, rests, np.zeros((len(time), 4)))
    assert delay.found() == pytest.approx(lag, rel=1e-3)


SLEW = """<robot name="slew"><link name="base"/>
  <joint name="slew" type="continuous"><parent link="base"/><child link="boom"/>
    <axis xyz="0 0 1"/><limit velocity="2" effort="3000"/>{}</joint>
  <link name="boom"><inertial><mass value="100"/>
    <inertia ixx="80" iyy="80" izz="150" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.mark.parametrize('friction', [(30.0, 0.0), (30.0, 12.0), (0.0, 12.0)])
@pytest.mark.parametrize(('delay', 'rate'), [(0.0, 50.0), (0.0, 10.0), (0.008, 50.0)])
def test_friction_that_the_description_lacks_is_no_delay(make_bag, rng, friction, delay, rate):
    """Without gravity the effort rate resembles the velocity, and damping a delay."""
    time, frequency = np.arange(0.0, 40.0, 1.0 / rate), np.array([1.3, 2.1, 3.3])
    amplitude, phase = np.array([0.5, 0.3, 0.15]), np.array([0.0, 1.0, 2.0])

    def moved(time, order):
        angle = np.outer(time, frequency) + phase + 0.5 * np.pi * order
        return (amplitude * frequency**order * np.sin(angle)).sum(axis=1)

    early, damping, coulomb = time - delay, *friction
    effort = 150.0 * moved(early, 2) + damping * moved(early, 1)
    effort += coulomb * np.sign(moved(early, 1)) + 0.5 * rng.standard_normal(len(time))
    q = moved(time, 0) + 1e-5 * rng.standard_normal(len(time))
    qd = moved(time, 1) + 1e-4 * rng.standard_normal(len(time))
    with make_bag() as bag:
        bag.text('/robot_description', SLEW.format(''))
        for k, stamp in enumerate(time):
            bag.joint_state(
                '/joint_states',
                5.0 + stamp,
                ['slew'],
                q[k : k + 1],
                qd[k : k + 1],
                effort[k : k + 1],
            )
    (run,) = analyze_bag(bag.path).runs
    assert run.replay.found_delay == pytest.approx(delay, abs=5e-4)
