# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The wrench that explains joint efforts, in what the joints show of it."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import POSE, machine

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.control.external_effort.tip_wrench import TipWrench

pytestmark = pytest.mark.interpreted

WRENCH = np.array([30.0, -20.0, 50.0, 4.0, -3.0, 2.0])


@pytest.fixture(scope='module')
def models(kernel_cache):
    return {name: machine(name) for name in POSE}


def efforts(robot, name, q, wrench):
    frame = robot.frame(description(name).tip)
    return frame.external_wrench(q, wrench[:3], wrench[3:])


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_six_joints_and_more_show_force_and_moment(models, name):
    robot, q = models[name], POSE[name]
    tip = TipWrench(robot, description(name).tip)
    found = tip.wrench(q, efforts(robot, name, q, WRENCH))
    np.testing.assert_allclose(found, WRENCH, rtol=1e-9)


def test_fewer_joints_show_a_force(models):
    """Travel, slew and luff: no moment is guessed that would take half of the slewing effort."""
    robot, q = models['stacker'], POSE['stacker']
    tip = TipWrench(robot, 'bucket_wheel')
    force = np.array([2e4, -3e4, 5e4, 0.0, 0.0, 0.0])
    found = tip.wrench(q, efforts(robot, 'stacker', q, force))
    np.testing.assert_allclose(found, force, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ('name', 'link'),
    [
        ('stacker', 'bucket_wheel'),
        ('ur5', 'forearm_link'),
        ('ur5', 'wrist_2_link'),
        ('panda', 'panda_link4'),
        ('panda', 'panda_link5'),
    ],
)
def test_a_link_that_few_joints_move_shows_a_force(models, name, link):
    """The joints beyond it say nothing about it, however many the robot has."""
    robot, q = models[name], POSE[name]
    frame, force = robot.frame(link), np.array([10.0, -20.0, 30.0])
    found = TipWrench(robot, link).wrench(q, frame.external_wrench(q, force, np.zeros(3)))
    # Along directions without a lever, as at an elbow's own axis, nothing is shown.
    J = frame.jacobian(q)[:3]
    shown = J @ np.linalg.pinv(J, rcond=1e-9) @ force
    np.testing.assert_allclose(found, [*shown, 0.0, 0.0, 0.0], rtol=1e-9, atol=1e-8)


def test_what_no_joint_shows_is_zero(models):
    """The wrist of a UR5 stretched out: one moment meets the structure alone."""
    robot = models['ur5']
    q = POSE['ur5'].copy()
    q[4] = 0.0
    tip = TipWrench(robot, 'tool0')
    J = robot.frame('tool0').jacobian(q)
    U, s, _ = np.linalg.svd(J)
    assert s[-1] < 1e-9
    unseen = U[:, -1]
    for _ in range(3):
        found = tip.wrench(q, J.T @ WRENCH)
        np.testing.assert_allclose(J.T @ found, J.T @ WRENCH, rtol=1e-6, atol=1e-6)
    assert np.abs(tip.wrench(q, J.T @ (1e6 * unseen))).max() < 1e-3
    # Units of length do not decide: what is not seen is left out in scaled units.
    reach = tip.wrench(q, J.T @ WRENCH)
    assert np.linalg.norm(reach) <= 1.5 * np.linalg.norm(WRENCH)


def test_noise_is_bounded_on_the_way_into_a_singularity(models):
    """Joint efforts of 1 N m never explain a wrench beyond all bounds."""
    robot, tip = models['ur5'], TipWrench(models['ur5'], 'tool0')
    largest, undamped, last = 0.0, 0.0, None
    for bend in np.geomspace(1e-6, 0.5, 400):
        q = POSE['ur5'].copy()
        q[4] = bend
        noise = np.sin(np.arange(6.0) + 1.0)
        found = tip.wrench(q, noise)
        largest = max(largest, np.abs(found).max())
        J = robot.frame('tool0').jacobian(q)
        undamped = max(undamped, np.abs(np.linalg.lstsq(J.T, noise, rcond=None)[0]).max())
        if last is not None:
            assert np.abs(found - last).max() < 10.0  # no leap where damping sets in
        last = found
    assert undamped > 1e4
    assert largest < 100.0


def test_a_joint_that_turns_about_the_tip_shows_no_force():
    """It has no lever anywhere, so that nothing says what its effort would be per force."""
    turntable = kd.loads(
        '<robot name="turntable"><link name="base"/><link name="plate"><inertial>'
        '<mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="turn" type="continuous"><parent link="base"/>'
        '<child link="plate"/><axis xyz="0 0 1"/></joint></robot>'
    )
    tip = TipWrench(turntable, 'plate')
    np.testing.assert_array_equal(tip.wrench(np.array([0.3]), np.array([5.0])), np.zeros(6))
