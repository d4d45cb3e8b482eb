# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sample poses within the limits, and what gravity changes with the pose."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.control.sample_poses import gravity_derivative, poses_within_limits

pytestmark = pytest.mark.interpreted

JOINTS = {
    'turns': ('revolute', '0 1 0', '<limit lower="0.2" upper="1.2" effort="1" velocity="1"/>'),
    'free': ('continuous', '1 0 0', ''),
    'slides': ('prismatic', '0 0 1', '<limit lower="-3" upper="-2" effort="1" velocity="1"/>'),
    'long': ('prismatic', '1 0 0', '<limit effort="1" velocity="1" lower="-inf" upper="inf"/>'),
}
LIMITS = np.array([[0.2, 1.2], [-math.pi, math.pi], [-3.0, -2.0], [-1.0, 1.0]])


@pytest.fixture(scope='module')
def robot():
    links, joints = '<link name="l0"/>', ''
    for k, (name, (kind, axis, limit)) in enumerate(JOINTS.items()):
        links += (
            f'<link name="l{k + 1}"><inertial><origin xyz="0.3 0.1 {0.2 * k}"/><mass value="2"/>'
            '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        joints += (
            f'<joint name="{name}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="0 0.2 0.5"/><axis xyz="{axis}"/>{limit}</joint>'
        )
    return kd.loads(f'<robot name="mixed">{links}{joints}</robot>')


def test_poses_fill_the_limits_and_are_the_same_again(robot):
    q = poses_within_limits(robot)
    assert q.shape == (500, 4)
    np.testing.assert_array_equal(poses_within_limits(robot), q)
    np.testing.assert_array_equal(poses_within_limits(robot, 7), q[:7])
    lower, upper = LIMITS.T
    assert (q >= lower).all() and (q <= upper).all()
    size = upper - lower
    assert (q.min(axis=0) < lower + 0.02 * size).all()
    assert (q.max(axis=0) > upper - 0.02 * size).all()
    # Joints are drawn independently of each other.
    assert np.abs(np.corrcoef(q.T) - np.eye(4)).max() < 0.2


def test_derivative_of_gravity(robot):
    q = poses_within_limits(robot, 5)
    G = gravity_derivative(robot, q)
    assert G.shape == (5, 4, 4)
    np.testing.assert_array_equal(G, G.swapaxes(1, 2))
    h = 1e-3
    for v in (*np.eye(4), np.array([1.0, -2.0, 0.5, 0.3])):
        g = [robot.gravity_vector(q + k * h * v) for k in (-2, -1, 1, 2)]
        expected = (g[0] - 8.0 * g[1] + 8.0 * g[2] - g[3]) / (12.0 * h)
        np.testing.assert_allclose(G @ v, expected, atol=1e-7)
    assert np.abs(G).max() > 1.0
