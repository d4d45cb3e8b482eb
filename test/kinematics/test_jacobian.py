# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the Jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics import UnknownFrameError
from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics import (
    forward_kinematics,
    jacobian,
    relative_jacobian,
    rotational_jacobian,
    translational_jacobian,
)
from kron_dynamics.kronecker import skew
from kron_dynamics.model import load_model


def check_derivative_of_pose(
    model: Any, q: np.ndarray, link: str, assert_close: Any, derivative: Any
) -> None:
    pose = forward_kinematics(model, q, link)
    slope = derivative(lambda x: forward_kinematics(model, x, link), q)
    J = jacobian(model, q, link)
    assert_close(J[:3], slope[:3, 3], 1e-9, floor=1.0)
    for k in range(model.n):
        # omega~ = Adot A^T, [T] eq. (20)
        assert_close(slope[:3, :3, k] @ pose[:3, :3].T, skew(J[3:, k]), 1e-9, floor=1.0)


def test_planar_2r_is_the_textbooks(robot_text: Any, assert_close: Any) -> None:
    model, q = load_model(robot_text('planar_2r')), np.array([0.4, 0.9])
    (c1, s1), (c12, s12) = ((np.cos(a), np.sin(a)) for a in (q[0], q.sum()))
    expected = np.zeros((6, 2))
    expected[:2] = [[-s1 - 0.5 * s12, -0.5 * s12], [c1 + 0.5 * c12, 0.5 * c12]]
    expected[5] = 1
    assert_close(jacobian(model, q, 'hand'), expected)


def test_j_is_the_derivative_of_the_pose(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    """[T] (20), (29)."""
    for link in model.link_names:
        check_derivative_of_pose(model, state.q, link, assert_close, derivative)


@given(data=st.data())
def test_rotational_jacobian_is_made_of_the_axes(
    random_robots: Any, assert_close: Any, data: Any
) -> None:
    """[T] (35)-(40), in base and in body axes, from derivatives of the direction cosines."""
    model, s = data.draw(random_robots)
    link = data.draw(st.sampled_from(model.link_names))
    A, dA = jacobian_of(lambda q: forward_kinematics(model, q, link)[:3, :3], s.q)
    # x_a, y_a, z_a in the axes of the link are the rows of A; x_b, y_b, z_b its columns.
    x, y, z = A
    dx, dy, dz = dA
    seen = [y @ dz, z @ dx, x @ dy]
    assert_close(rotational_jacobian(model, s.q, link), seen, 1e-12, floor=1.0)
    x, y, z = A.T
    dx, dy, dz = dA.transpose(1, 0, 2)
    J = relative_jacobian(model, s.q, link, model.root_link, axes=link)
    assert_close(J[3:], [z @ dy, x @ dz, y @ dx], 1e-12, floor=1.0)


def test_halves_are_the_rows_of_the_whole(model: Any, state: Any) -> None:
    J = jacobian(model, state.q, model.tip_link)
    assert J.shape == (6, model.n)
    np.testing.assert_array_equal(translational_jacobian(model, state.q, model.tip_link), J[:3])
    np.testing.assert_array_equal(rotational_jacobian(model, state.q, model.tip_link), J[3:])


def test_columns_of_joints_off_the_path_are_zero(robot_text: Any) -> None:
    model = load_model(robot_text('branched'))
    J = jacobian(model, np.full(model.n, 0.3), 'spindle')
    moving = {model.joint_names[k] for k in range(model.n) if J[:, k].any()}
    assert moving == {'trunk_turn', 'left_slide', 'left_spindle'}


def test_base_links_have_no_columns(model: Any, state: Any) -> None:
    np.testing.assert_array_equal(
        jacobian(model, state.q, model.root_link), np.zeros((6, model.n))
    )


def test_unknown_link_is_refused(model: Any, state: Any) -> None:
    with pytest.raises(UnknownFrameError, match='nowhere'):
        jacobian(model, state.q, 'nowhere')


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    link = data.draw(st.sampled_from(model.link_names))
    check_derivative_of_pose(model, s.q, link, assert_close, derivative)
