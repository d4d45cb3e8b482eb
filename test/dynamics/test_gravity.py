# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the gravity vector."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import gravity_vector, inverse_dynamics, potential_energy
from kron_dynamics.dynamics.body_matrices import body_matrices
from kron_dynamics.model import load_model


def test_planar_2r_is_the_textbooks(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'), gravity=(0, -9.81, 0))
    q = np.array([0.4, 0.9])
    fore = 2.0 * 9.81 * 0.25 * np.cos(q.sum())
    expected = [(4.0 * 0.5 + 2.0 * 1.0) * 9.81 * np.cos(q[0]) + fore, fore]
    assert_close(gravity_vector(model, q), expected)


def test_gravity_along_the_axes_needs_no_effort(robot_text: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    np.testing.assert_array_equal(gravity_vector(model, [0.4, 0.9]), [0, 0])


def test_g_is_the_derivative_of_the_potential_energy(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    expected = derivative(lambda q: potential_energy(model, q), state.q)
    assert_close(gravity_vector(model, state.q), expected, 1e-9, floor=model.total_mass)
    # [P] eq. (27)
    weights = [b.mass * b.J_T.T @ model.gravity for b in body_matrices(model, state.q)]
    assert_close(gravity_vector(model, state.q), -sum(weights), 1e-12, floor=model.total_mass)


def test_g_is_inverse_dynamics_at_rest(model: Any, state: Any, assert_close: Any) -> None:
    still = np.zeros(model.n)
    assert_close(inverse_dynamics(model, state.q, still, still), gravity_vector(model, state.q))


def test_default_gravity_is_standard_and_down(model: Any) -> None:
    np.testing.assert_array_equal(model.gravity, [0, 0, -9.80665])


def test_lifting_straight_up_takes_the_weight(robot_text: Any, assert_close: Any) -> None:
    text = robot_text('rail_boom').replace('<axis xyz="1 0 0"/>', '<axis xyz="0 0 1"/>')
    model = load_model(text)
    g = gravity_vector(model, [3.0, 0.2, 0.1])
    assert_close(g[0], (180e3 + 140e3 + 70e3 + 12e3) * 9.80665)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    expected = derivative(lambda q: potential_energy(model, q), s.q)
    assert_close(gravity_vector(model, s.q), expected, 1e-9, floor=model.total_mass)
