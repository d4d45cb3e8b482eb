# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The papers' forms of M, C and C* against the composite ones and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import (
    coriolis_matrix,
    coriolis_vector,
    direct_velocity_free_matrix,
    inverse_dynamics,
    kane_coriolis_matrix,
    kinetic_energy,
    lagrange_coriolis_matrix,
    lagrange_mass_matrix,
    lagrange_velocity_free_matrix,
    mass_matrix,
    mass_matrix_derivative,
    potential_energy,
    reduced_coriolis_matrix,
    velocity_free_coriolis_matrix,
)
from kron_dynamics.kronecker import contract, contract_last, kronecker, swap_columns, vec

TENSORS = (
    velocity_free_coriolis_matrix,
    lagrange_velocity_free_matrix,
    direct_velocity_free_matrix,
)
MATRICES = (coriolis_matrix, lagrange_coriolis_matrix, kane_coriolis_matrix)


@given(data=st.data())
def test_mass_matrix_is_the_sum_over_bodies(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    model, s = data.draw(random_robots)
    assert_close(mass_matrix(model, s.q), lagrange_mass_matrix(model, s.q), 1e-12)


@given(data=st.data())
def test_every_form_gives_the_same_coriolis_vector(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    model, s = data.draw(random_robots)
    c = coriolis_vector(model, s.q, s.qd)
    for form in TENSORS:
        assert_close(contract(form(model, s.q), s.qd, s.qd), c, 1e-11, floor=1.0)
    for form in MATRICES:
        assert_close(form(model, s.q, s.qd) @ s.qd, c, 1e-11, floor=1.0)


@given(data=st.data())
def test_forms_of_c_star_differ_but_have_one_symmetrisation_and_one_reduced_form(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    """[T] eq. (101) as printed, and the forms that come of other orders of its factors."""
    model, s = data.draw(random_robots)
    public = velocity_free_coriolis_matrix(model, s.q)
    for form in TENSORS:
        C = form(model, s.q)
        symmetrised = 0.5 * (C + swap_columns(C, model.n))
        assert_close(symmetrised, public, 1e-11, floor=1.0)
        assert_close(reduced_coriolis_matrix(C), reduced_coriolis_matrix(public), 1e-11, floor=1.0)


def test_forms_of_c_star_are_different_matrices(robot_text: Any, rng: Any) -> None:
    from kron_dynamics.model import load_model

    model = load_model(robot_text('spatial_3r'))
    q = rng.uniform(-1, 1, model.n)
    public, lagrange, direct = (form(model, q) for form in TENSORS)
    for a, b in ((public, lagrange), (public, direct), (lagrange, direct)):
        assert np.abs(a - b).max() > 1e-3


@given(data=st.data())
def test_mdot_minus_2c_is_skew_for_christoffel_and_kane(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    model, s = data.draw(random_robots)
    Mdot = contract_last(mass_matrix_derivative(model, s.q), s.qd)
    for form in (coriolis_matrix, kane_coriolis_matrix):
        S = Mdot - 2 * form(model, s.q, s.qd)
        assert_close(S + S.T, np.zeros_like(S), 1e-11, floor=1.0)
    # Eq. (97) has the weak property alone.
    S = Mdot - 2 * lagrange_coriolis_matrix(model, s.q, s.qd)
    assert_close(s.qd @ S @ s.qd, 0.0, 1e-10, floor=1.0)


def test_mdot_minus_2c_of_eq_97_is_not_skew(robot_text: Any, rng: Any) -> None:
    from kron_dynamics.model import load_model

    model = load_model(robot_text('spatial_3r'))
    q, qd = rng.uniform(-1, 1, (2, model.n))
    Mdot = contract_last(mass_matrix_derivative(model, q), qd)
    S = Mdot - 2 * lagrange_coriolis_matrix(model, q, qd)
    assert np.abs(S + S.T).max() > 0.1 * np.abs(Mdot).max()


def test_kane_is_not_christoffel(robot_text: Any, rng: Any) -> None:
    from kron_dynamics.model import load_model

    model = load_model(robot_text('spatial_3r'))
    q, qd = rng.uniform(-1, 1, (2, model.n))
    difference = kane_coriolis_matrix(model, q, qd) - coriolis_matrix(model, q, qd)
    assert np.abs(difference).max() > 1e-3


@given(data=st.data())
def test_lagranges_equations(
    data: Any, random_robots: Any, derivative: Any, assert_close: Any
) -> None:
    """[T] (92), (96), (98)-(101), from the kinetic and the potential energy alone."""
    model, s = data.draw(random_robots)
    square = kronecker(s.qd, s.qd)

    def momentum(t: float) -> Any:
        q, qd = s.q + s.qd * t + s.qdd * t**2 / 2, s.qd + s.qdd * t
        return jacobian_of(lambda rates: kinetic_energy(model, q, rates), qd)[1]

    rate = derivative(momentum)
    by_q = jacobian_of(lambda q: kinetic_energy(model, q, s.qd), s.q)[1]
    weight = jacobian_of(lambda q: potential_energy(model, q), s.q)[1]
    floor = max(np.abs(rate).max(), 1.0)
    M, dM = mass_matrix(model, s.q), mass_matrix_derivative(model, s.q)
    assert_close(M @ s.qdd + dM @ square, rate, 1e-8, floor=floor)
    d_vec = jacobian_of(lambda q: vec(mass_matrix(model, q)), s.q)[1]
    assert_close(0.5 * d_vec.T @ square, by_q, 1e-10, floor=floor)
    tau = inverse_dynamics(model, s.q, s.qd, s.qdd)
    assert_close(rate - by_q + weight, tau, 1e-8, floor=floor)
    C = lagrange_coriolis_matrix(model, s.q, s.qd)
    assert_close(M @ s.qdd + C @ s.qd + weight, tau, 1e-10, floor=floor)
    C_star = lagrange_velocity_free_matrix(model, s.q)
    assert_close(C_star, dM - 0.5 * d_vec.T, 1e-10, floor=floor)
    assert_close(M @ s.qdd + C_star @ square + weight, tau, 1e-10, floor=floor)


def test_eq_97_from_eq_101(model: Any, state: Any, assert_close: Any) -> None:
    """[T] eqs. (97), (101): (E (x) qd) contracts the one C* to the other C."""
    tensor = lagrange_velocity_free_matrix(model, state.q)
    n = model.n
    E = np.eye(n)
    dM = mass_matrix_derivative(model, state.q)
    N = dM @ kronecker(state.qd[:, None], E)
    expected = dM @ kronecker(E, state.qd[:, None]) - 0.5 * N.T
    assert_close(lagrange_coriolis_matrix(model, state.q, state.qd), expected, 1e-12, floor=1e-9)
    weights = contract(tensor, state.qd, state.qd)
    assert_close(expected @ state.qd, weights, 1e-11, floor=1e-9)


def test_reduced_form_multiplies_each_product_once(
    model: Any, state: Any, assert_close: Any
) -> None:
    n = model.n
    products = [state.qd[i] * state.qd[j] for i in range(n) for j in range(i, n)]
    reduced = reduced_coriolis_matrix(velocity_free_coriolis_matrix(model, state.q))
    assert reduced.shape == (n, n * (n + 1) // 2)
    c = coriolis_vector(model, state.q, state.qd)
    assert_close(reduced @ products, c, 1e-11, floor=1e-9)


@pytest.mark.parametrize('form', TENSORS)
def test_forms_of_c_star_do_not_depend_on_a_joint_that_moves_all(
    form: Any, robot_text: Any, rng: Any
) -> None:
    from kron_dynamics.model import load_model

    model = load_model(robot_text('rail_boom'))
    q = rng.uniform(-1, 1, model.n)
    moved = q.copy()
    moved[0] += 500.0
    np.testing.assert_allclose(
        form(model, q), form(model, moved), atol=1e-9 * np.abs(form(model, q)).max()
    )
