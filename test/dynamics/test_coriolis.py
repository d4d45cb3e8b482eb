# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of C*, of the Coriolis matrix and of the vector they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import (
    bias_forces,
    coriolis_matrix,
    coriolis_vector,
    gravity_vector,
    mass_matrix,
    mass_matrix_derivative,
    velocity_free_coriolis_matrix,
)
from kron_dynamics.kronecker import contract_last
from kron_dynamics.model import load_model


def check_mdot_minus_2c_is_skew(model: Any, s: Any, derivative: Any) -> None:
    M_dot = derivative(lambda t: mass_matrix(model, s.q + t * s.qd))
    N = M_dot - 2 * coriolis_matrix(model, s.q, s.qd)
    np.testing.assert_allclose(N + N.T, 0, atol=1e-9 * max(abs(M_dot).max(), model.total_mass))


def check_vector_is_bias_without_gravity(model: Any, s: Any, assert_close: Any) -> None:
    c = bias_forces(model, s.q, s.qd) - gravity_vector(model, s.q)
    C_star = velocity_free_coriolis_matrix(model, s.q)
    # Gravity cancels in c only to rounding, hence the floor.
    floor = abs(gravity_vector(model, s.q)).max()
    assert_close(coriolis_matrix(model, s.q, s.qd) @ s.qd, c, floor=floor)
    assert_close(C_star @ np.kron(s.qd, s.qd), c, floor=floor)
    assert_close(coriolis_vector(model, s.q, s.qd), c, floor=floor)


def test_planar_2r_is_the_textbooks(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    q, qd = np.array([0.3, 0.8]), np.array([1.1, -0.7])
    h = -2.0 * 1.0 * 0.25 * np.sin(q[1])  # -m2 l1 lc2 sin q2
    expected = [[h * qd[1], h * (qd[0] + qd[1])], [-h * qd[0], 0.0]]
    assert_close(coriolis_matrix(model, q, qd), expected)


def test_mdot_minus_2c_is_skew(model: Any, state: Any, derivative: Any) -> None:
    check_mdot_minus_2c_is_skew(model, state, derivative)


def test_c_qd_is_c_star_of_kronecker_square_is_bias_without_gravity(
    model: Any, state: Any, assert_close: Any
) -> None:
    check_vector_is_bias_without_gravity(model, state, assert_close)


def test_c_star_is_symmetrised(model: Any, state: Any) -> None:
    n = model.n
    C = velocity_free_coriolis_matrix(model, state.q)
    assert C.shape == (n, n * n)
    np.testing.assert_array_equal(C.reshape(n, n, n), C.reshape(n, n, n).transpose(0, 2, 1))


def test_coriolis_matrix_is_c_star_contracted(model: Any, state: Any, assert_close: Any) -> None:
    n, qd = model.n, state.qd[:, None]
    C_star = velocity_free_coriolis_matrix(model, state.q)
    C = coriolis_matrix(model, state.q, state.qd)
    assert_close(C, C_star @ np.kron(np.eye(n), qd))
    assert_close(C, C_star @ np.kron(qd, np.eye(n)))


def test_c_star_is_christoffels_symbols_of_m(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    # [T] eq. (101), symmetrised, from differences of M:
    # Gamma[a, i, j] = 1/2 (dM_ai/dq_j + dM_aj/dq_i - dM_ij/dq_a)
    dM = derivative(lambda q: mass_matrix(model, q), state.q)
    Gamma = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    C = velocity_free_coriolis_matrix(model, state.q).reshape(dM.shape)
    assert_close(C, Gamma, 1e-9, floor=abs(dM).max())


def test_the_factorisation_of_eq_97_has_the_same_vector_but_is_not_skew(
    robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    # Why the public C is the Christoffel one: C = Mdot - 1/2 N^T of [T] eq. (97) is no such C.
    model = load_model(robot_text('spatial_3r'))
    q, qd = rng.uniform(-1, 1, (2, 3))
    dM = mass_matrix_derivative(model, q)
    M_dot, N = contract_last(dM, qd), dM @ np.kron(qd[:, None], np.eye(3))
    C_97 = M_dot - 0.5 * N.T
    assert_close(C_97 @ qd, coriolis_vector(model, q, qd))
    defect = M_dot - 2 * C_97
    assert abs(defect + defect.T).max() > 0.1 * abs(defect).max()
    assert_close(0.5 * (M_dot + N - N.T), coriolis_matrix(model, q, qd))


def test_c_is_quadratic_in_the_rates(model: Any, state: Any, assert_close: Any) -> None:
    c = coriolis_vector(model, state.q, state.qd)
    assert_close(coriolis_vector(model, state.q, -3 * state.qd), 9 * c)
    np.testing.assert_array_equal(coriolis_vector(model, state.q, 0 * state.qd), 0 * c)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    check_mdot_minus_2c_is_skew(model, s, derivative)
    check_vector_is_bias_without_gravity(model, s, assert_close)
