# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of inverse dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import (
    bias_forces,
    coriolis_vector,
    gravity_vector,
    inverse_dynamics,
    mass_matrix,
    velocity_free_coriolis_matrix,
)
from kron_dynamics.kinematics import jacobian
from kron_dynamics.model import load_model


def check_equation_of_motion(model: Any, s: Any, assert_close: Any) -> None:
    c = velocity_free_coriolis_matrix(model, s.q) @ np.kron(s.qd, s.qd)
    expected = mass_matrix(model, s.q) @ s.qdd + c + gravity_vector(model, s.q)
    tau = inverse_dynamics(model, s.q, s.qd, s.qdd)
    assert_close(tau, expected, floor=model.total_mass)


def test_tau_is_m_qdd_plus_c_star_of_kronecker_square_plus_g(
    model: Any, state: Any, assert_close: Any
) -> None:
    """[T] (100)."""
    check_equation_of_motion(model, state, assert_close)


def test_bias_is_c_plus_g(model: Any, state: Any, assert_close: Any) -> None:
    expected = coriolis_vector(model, state.q, state.qd) + gravity_vector(model, state.q)
    assert_close(bias_forces(model, state.q, state.qd), expected)


def test_columns_of_m_are_unit_accelerations_without_gravity(
    model: Any, state: Any, assert_close: Any, robot_text: Any
) -> None:
    weightless = load_model(robot_text(model.name), gravity=(0, 0, 0))
    still = np.zeros(model.n)
    columns = [inverse_dynamics(weightless, state.q, still, e) for e in np.eye(model.n)]
    assert_close(np.stack(columns, axis=1), mass_matrix(model, state.q))


def test_a_weight_bolted_to_the_tip_adds_its_wrench(
    robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    text = robot_text('spatial_3r')
    weight = (
        '<link name="weight"><inertial><mass value="2"/>'
        '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hook" type="fixed"><parent link="tool"/><child link="weight"/></joint>'
    )
    bare, loaded = load_model(text), load_model(text.replace('</robot>', f'{weight}</robot>'))
    q, still = rng.uniform(-1, 1, 3), np.zeros(3)
    extra = inverse_dynamics(loaded, q, still, still) - inverse_dynamics(bare, q, still, still)
    assert_close(extra, jacobian(bare, q, 'tool')[2] * 2 * 9.80665)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    check_equation_of_motion(model, s, assert_close)
