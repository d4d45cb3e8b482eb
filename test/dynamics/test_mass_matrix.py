# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import mass_matrix, mass_matrix_derivative
from kron_dynamics.kinematics import rotational_jacobian, translational_jacobian
from kron_dynamics.kinematics.forward import body_placements
from kron_dynamics.model import load_model


def test_planar_2r_is_the_textbooks(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    m1, lc1, I1, m2, l1, lc2, I2 = 4.0, 0.5, 0.5, 2.0, 1.0, 0.25, 0.125
    for q2 in (-2.0, 0.0, 0.4, 1.9):
        c2 = np.cos(q2)
        m11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I2
        m12 = m2 * (lc2**2 + l1 * lc2 * c2) + I2
        expected = [[m11, m12], [m12, m2 * lc2**2 + I2]]
        assert_close(mass_matrix(model, [0.7, q2]), expected)


def test_m_is_symmetric_positive_definite(model: Any, state: Any) -> None:
    M = mass_matrix(model, state.q)
    assert M.shape == (model.n, model.n)
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


def moved_links(model: Any) -> list[str]:
    """Name of each body's own link: the first of the tree that stands on it."""
    first = {frame.body: name for name, frame in reversed(model.frames.items())}
    return [first[k] for k in range(len(model.bodies))]


def test_m_is_the_sum_over_bodies(model: Any, state: Any, assert_close: Any) -> None:
    # [T] eq. (95), body by body: M = sum m J_TG^T J_TG + J_R^T I J_R.
    placements = body_placements(model, state.q)
    M = np.zeros((model.n, model.n))
    for k, (body, link) in enumerate(zip(model.bodies, moved_links(model), strict=True)):
        R = placements[k].rotation
        J_R = rotational_jacobian(model, state.q, link)
        p = R @ body.center_of_mass
        J_TG = translational_jacobian(model, state.q, link) - np.cross(p, J_R, axisb=0).T
        M += body.mass * J_TG.T @ J_TG + J_R.T @ (R @ body.inertia @ R.T) @ J_R
    assert_close(mass_matrix(model, state.q), M)


def test_dm_dq_is_the_derivative_of_m(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    expected = derivative(lambda q: mass_matrix(model, q), state.q)
    dM = mass_matrix_derivative(model, state.q)
    assert dM.shape == (model.n, model.n**2)
    assert_close(dM.reshape(expected.shape), expected, 1e-9, floor=abs(expected).max())


def test_m_does_not_depend_on_the_first_joint(model: Any, state: Any, assert_close: Any) -> None:
    # The base is symmetric about the first joint's axis only if nothing else hangs on the base.
    moved = state.q.copy()
    moved[model.joints[0].coordinate] += 0.9
    assert_close(mass_matrix(model, moved), mass_matrix(model, state.q))


@given(data=st.data())
def test_random_trees_have_a_positive_definite_m(random_robots: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    M = mass_matrix(model, s.q)
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


@given(data=st.data())
def test_random_trees_have_the_derivative_of_m(
    random_robots: Any, assert_close: Any, derivative: Any, data: Any
) -> None:
    model, s = data.draw(random_robots)
    expected = derivative(lambda q: mass_matrix(model, q), s.q)
    dM = mass_matrix_derivative(model, s.q).reshape(expected.shape)
    assert_close(dM, expected, 1e-9, floor=model.total_mass)
