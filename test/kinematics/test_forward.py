# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kron_dynamics import UnknownFrameError
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import Joint, load_model
from kron_dynamics.model.joint_kinds import turned
from kron_dynamics.model.robot_model import read_only


def revolute(axis: Any) -> Joint:
    axis = np.array(axis, float)
    return Joint(
        'j', 'revolute', -1, np.eye(3), np.zeros(3), read_only(axis / np.sqrt(axis @ axis)), 0
    )


def test_planar_2r_is_the_textbooks(robot_text: Any, assert_close: Any) -> None:
    model, q = load_model(robot_text('planar_2r')), np.array([0.4, 0.9])
    (c1, s1), (c12, s12) = ((np.cos(a), np.sin(a)) for a in (q[0], q.sum()))
    expected = [
        [c12, -s12, 0, c1 + 0.5 * c12],
        [s12, c12, 0, s1 + 0.5 * s12],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    assert_close(forward_kinematics(model, q, 'hand'), expected)


def test_rotation_about_an_axis_is_its_exponential(
    rng: np.random.Generator, assert_close: Any
) -> None:
    # [N] eq. (5)
    joint = revolute(rng.normal(size=3))
    expected = Rotation.from_rotvec(joint.axis * 0.8).as_matrix()
    assert_close(turned(joint, 0.8), expected)


def test_rotation_about_a_coordinate_axis_has_exact_zeros() -> None:
    R = turned(revolute((0, 0, 1)), 0.3)
    np.testing.assert_array_equal(R[2], [0, 0, 1])
    np.testing.assert_array_equal(R[:, 2], [0, 0, 1])


def test_poses_are_rigid(model: Any, state: Any, assert_close: Any) -> None:
    for link in model.link_names:
        pose = forward_kinematics(model, state.q, link)
        assert_close(pose[:3, :3] @ pose[:3, :3].T, np.eye(3))
        assert np.linalg.det(pose[:3, :3]) > 0
        np.testing.assert_array_equal(pose[3], [0, 0, 0, 1])


def test_root_link_stands_at_the_origin(model: Any, state: Any) -> None:
    pose = forward_kinematics(model, state.q, model.root_link)
    np.testing.assert_array_equal(pose, np.eye(4))


def test_links_bolted_to_the_base_do_not_move(robot_text: Any, rng: np.random.Generator) -> None:
    model = load_model(robot_text('branched'))
    q1, q2 = rng.uniform(-1, 1, (2, model.n))
    pose = forward_kinematics(model, q1, 'cabinet')
    np.testing.assert_array_equal(pose, forward_kinematics(model, q2, 'cabinet'))
    np.testing.assert_allclose(pose[:3, 3], [0.4, 0.1, 0.2])


def test_mimic_joints_follow_their_master(robot_text: Any, assert_close: Any) -> None:
    gripper = load_model(robot_text('gripper'))
    free = load_model(
        ''.join(line for line in robot_text('gripper').splitlines() if '<mimic' not in line)
    )
    a = 0.03
    b = -0.5 * a + 0.02
    cover = 3 * b + 0.1
    assert free.joint_names == ('roll', 'finger_a', 'finger_b', 'cover')
    expected = forward_kinematics(free, [0.7, a, b, cover], 'flap')
    assert_close(forward_kinematics(gripper, [0.7, a], 'flap'), expected)


def test_rpy_turns_about_fixed_x_then_y_then_z(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('branched'))
    pose = forward_kinematics(model, np.zeros(model.n), 'cabinet')
    assert_close(pose[:3, :3], Rotation.from_euler('xyz', [0.3, -0.2, 0.6]).as_matrix())


def test_unknown_link_is_refused_with_the_links_there_are(model: Any, state: Any) -> None:
    with pytest.raises(UnknownFrameError, match=f"'nowhere'.*{model.root_link}"):
        forward_kinematics(model, state.q, 'nowhere')


@given(data=st.data())
def test_random_trees_have_rigid_poses(random_robots: Any, assert_close: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    for link in model.link_names:
        R = forward_kinematics(model, s.q, link)[:3, :3]
        assert_close(R @ R.T, np.eye(3))
