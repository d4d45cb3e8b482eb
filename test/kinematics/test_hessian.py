# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the kinematic Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics import UnknownFrameError
from kron_dynamics.kinematics import (
    frame_acceleration,
    jacobian,
    jacobian_dot,
    kinematic_hessian,
    rotational_hessian,
    translational_hessian,
)


def check_hessian(model: Any, s: Any, link: str, assert_close: Any, derivative: Any) -> None:
    n = model.n
    H = kinematic_hessian(model, s.q, link)
    assert H.shape == (6, n * n)
    expected = derivative(lambda q: jacobian(model, q, link), s.q)
    assert_close(H.reshape(6, n, n), expected, 1e-9, floor=1.0)


def test_h_is_the_derivative_of_j(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    """[T] (51), (60)."""
    for link in model.link_names:
        check_hessian(model, state, link, assert_close, derivative)


def test_acceleration_is_j_qdd_plus_h_of_kronecker_square(
    model: Any, state: Any, assert_close: Any
) -> None:
    """[T] (49), (52), (62)."""
    J = jacobian(model, state.q, model.tip_link)
    H = kinematic_hessian(model, state.q, model.tip_link)
    expected = J @ state.qdd + H @ np.kron(state.qd, state.qd)
    a = frame_acceleration(model, state.q, state.qd, state.qdd, model.tip_link)
    assert_close(a, expected)


def test_translational_columns_are_symmetric(model: Any, state: Any, assert_close: Any) -> None:
    n = model.n
    H = translational_hessian(model, state.q, model.tip_link).reshape(3, n, n)
    assert_close(H, H.transpose(0, 2, 1))


def test_rotational_columns_differ_by_the_cross_product_of_their_axes(
    model: Any, state: Any, assert_close: Any
) -> None:
    # H_R(i,j) - H_R(j,i) = J_R,j x J_R,i: d omega/dt has no symmetric matrix of its own.
    n = model.n
    H = rotational_hessian(model, state.q, model.tip_link).reshape(3, n, n)
    J_R = jacobian(model, state.q, model.tip_link)[3:]
    for i in range(n):
        for j in range(n):
            expected = np.cross(J_R[:, j], J_R[:, i])
            assert_close(H[:, i, j] - H[:, j, i], expected, floor=1.0)


def test_halves_are_the_rows_of_the_whole(model: Any, state: Any) -> None:
    arguments = model, state.q, model.tip_link
    H = kinematic_hessian(*arguments)
    np.testing.assert_array_equal(translational_hessian(*arguments), H[:3])
    np.testing.assert_array_equal(rotational_hessian(*arguments), H[3:])


def test_jacobian_dot_is_the_time_derivative_of_j(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    link = model.tip_link
    expected = derivative(lambda t: jacobian(model, state.q + t * state.qd, link))
    assert_close(jacobian_dot(model, state.q, state.qd, link), expected, 1e-9)


def test_jacobian_dot_is_h_of_identity_kronecker_qd(
    model: Any, state: Any, assert_close: Any
) -> None:
    H = kinematic_hessian(model, state.q, model.tip_link)
    expected = H @ np.kron(np.eye(model.n), state.qd[:, None])
    assert_close(jacobian_dot(model, state.q, state.qd, model.tip_link), expected)


def test_unknown_link_is_refused(model: Any, state: Any) -> None:
    with pytest.raises(UnknownFrameError, match='nowhere'):
        kinematic_hessian(model, state.q, 'nowhere')


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    link = data.draw(st.sampled_from(model.link_names))
    check_hessian(model, s, link, assert_close, derivative)
