# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The linearized equations of motion against derivatives of all kinds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from kron_dynamics import dynamics
from kron_dynamics.dual import jacobian_of
from kron_dynamics.kronecker import contract_last, kronecker
from kron_dynamics.model import RobotModel, load_model


def exact(model: RobotModel, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any]:
    """d tau/d qdd, d tau/d qd, d tau/d q by numbers that carry their derivatives."""
    tau = dynamics.inverse_dynamics
    return (
        jacobian_of(lambda x: tau(model, q, qd, x), qdd)[1],
        jacobian_of(lambda x: tau(model, q, x, qdd), qd)[1],
        jacobian_of(lambda x: tau(model, x, qd, qdd), q)[1],
    )


def test_terms_are_the_derivatives_of_the_inverse_dynamics(
    model: RobotModel, state: SimpleNamespace, assert_close: Any
) -> None:
    s = state
    made = dynamics.linearization(model, s.q, s.qd, s.qdd)
    for term, expected in zip(made, exact(model, s.q, s.qd, s.qdd), strict=False):
        assert_close(term, expected, 1e-11, floor=np.abs(made.mass_matrix).max())
    assert_close(made.effort, dynamics.inverse_dynamics(model, s.q, s.qd, s.qdd))


def test_terms_are_those_of_differences(
    model: RobotModel, state: SimpleNamespace, derivative: Any, assert_close: Any
) -> None:
    s, tau = state, dynamics.inverse_dynamics
    made = dynamics.linearization(model, s.q, s.qd, s.qdd)
    by_rate = derivative(lambda x: tau(model, s.q, x, s.qdd), s.qd)
    by_position = derivative(lambda x: tau(model, x, s.qd, s.qdd), s.q)
    floor = np.abs(made.mass_matrix).max()
    assert_close(made.damping_matrix, by_rate, 1e-9, floor=floor)
    assert_close(made.stiffness_matrix, by_position, 1e-9, floor=floor)


def test_terms_are_khangs_equations(
    model: RobotModel, state: SimpleNamespace, assert_close: Any
) -> None:
    """[K] (60)-(62), (64), (66), (67) for the C of [T] (97) and that of Christoffel: the same."""
    n, s = model.n, state
    E = np.eye(n)
    M, D, K, effort = dynamics.linearization(model, s.q, s.qd, s.qdd)
    floor = np.abs(M).max()
    dM = jacobian_of(lambda q: dynamics.mass_matrix(model, q), s.q)[1].reshape(n, n * n)
    dg = jacobian_of(lambda q: dynamics.gravity_vector(model, q), s.q)[1]
    rates, column = kronecker(s.qd[:, None], E), kronecker(s.qdd[:, None], E)
    for form in (dynamics.coriolis_matrix, dynamics.lagrange_coriolis_matrix):
        C = form(model, s.q, s.qd)
        by_rate = jacobian_of(lambda x, C=form: C(model, s.q, x), s.qd)[1].reshape(n, n * n)
        by_position = jacobian_of(lambda x, C=form: C(model, x, s.qd), s.q)[1].reshape(n, n * n)
        assert_close(D, C + by_rate @ rates, 1e-11, floor=floor)
        assert_close(K, dM @ column + by_position @ rates + dg, 1e-11, floor=floor)
        tau = dynamics.gravity_vector(model, s.q) + M @ s.qdd + C @ s.qd
        assert_close(effort, tau, 1e-11)


def test_terms_are_those_of_the_velocity_free_coriolis_matrix(
    model: RobotModel, state: SimpleNamespace, assert_close: Any
) -> None:
    n, s = model.n, state
    E, column = np.eye(n), s.qd[:, None]
    M, D, K, _ = dynamics.linearization(model, s.q, s.qd, s.qdd)
    floor = np.abs(M).max()
    for form in (
        dynamics.velocity_free_coriolis_matrix,
        dynamics.lagrange_velocity_free_matrix,
        dynamics.direct_velocity_free_matrix,
    ):
        C, dC = jacobian_of(lambda q, C=form: C(model, q), s.q)
        assert_close(D, C @ (kronecker(column, E) + kronecker(E, column)), 1e-11, floor=floor)
        along = dC.reshape(n, n**3) @ kronecker(kronecker(column, column), E)
        dM = dynamics.mass_matrix_derivative(model, s.q)
        dg = jacobian_of(lambda q: dynamics.gravity_vector(model, q), s.q)[1]
        expected = dM @ kronecker(s.qdd[:, None], E) + along + dg
        assert_close(K, expected, 1e-11, floor=floor)


def test_stiffness_is_symmetric_at_rest_and_damping_is_twice_the_coriolis_matrix(
    model: RobotModel, state: SimpleNamespace, assert_close: Any
) -> None:
    s, none = state, np.zeros(model.n)
    K = dynamics.linearization(model, s.q, none, none).stiffness_matrix
    assert_close(K, K.T, 1e-12, floor=model.total_mass)
    D = dynamics.linearization(model, s.q, s.qd, s.qdd).damping_matrix
    C = dynamics.coriolis_matrix(model, s.q, s.qd)
    assert_close(D, 2 * C, 1e-11, floor=model.total_mass)


def test_terms_give_the_torque_rate(
    model: RobotModel, state: SimpleNamespace, derivative: Any, assert_close: Any
) -> None:
    s = state
    M, D, K, _ = dynamics.linearization(model, s.q, s.qd, s.qdd)

    def tau(t: float) -> Any:
        q = s.q + s.qd * t + s.qdd * t**2 / 2 + s.qddd * t**3 / 6
        qd = s.qd + s.qdd * t + s.qddd * t**2 / 2
        return dynamics.inverse_dynamics(model, q, qd, s.qdd + s.qddd * t)

    assert_close(M @ s.qddd + D @ s.qdd + K @ s.qd, derivative(tau), 1e-8)


@settings(max_examples=settings.default.max_examples)
@given(data=st.data())
def test_random_trees(data: Any, large_trees: Any, random_state: Any, assert_close: Any) -> None:
    model = load_model(data.draw(large_trees), gravity=(1.0, -9.0, 2.0))
    s = random_state(model.n, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    made = dynamics.linearization(model, s.q, s.qd, s.qdd)
    for term, expected in zip(made, exact(model, s.q, s.qd, s.qdd), strict=False):
        assert_close(term, expected, 1e-10, floor=model.total_mass)


def test_armature_is_in_the_mass_alone(robot_text: Any, assert_close: Any) -> None:
    armature = {'shoulder': 0.3}
    bare, geared = (load_model(robot_text('planar_2r'), armature=a) for a in (None, armature))
    state = np.array([[0.3, -0.4], [1.0, 0.7], [-0.5, 2.0]])
    without, having = (dynamics.linearization(m, *state) for m in (bare, geared))
    difference = having.mass_matrix - without.mass_matrix
    assert_close(difference, np.diag([0.3, 0.0]))
    np.testing.assert_array_equal(having.damping_matrix, without.damping_matrix)
    np.testing.assert_array_equal(having.stiffness_matrix, without.stiffness_matrix)


def test_closed_form_is_sympys_derivative(robot_text: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    names = np.array(sympy.symbols('q1:3 v1:3 a1:3', real=True), dtype=object).reshape(3, 2)
    made = dynamics.linearization(model, *names)
    tau = dynamics.inverse_dynamics(model, *names)
    for term, variables in zip(made, names[::-1], strict=False):
        expected = sympy.Matrix(tau).jacobian(list(variables))
        difference = sympy.nsimplify(sympy.Matrix(term) - expected, rational=True)
        assert sympy.simplify(difference) == sympy.zeros(2, 2)


def test_rates_of_change_of_m_are_in_the_damping(
    model: RobotModel, state: SimpleNamespace, assert_close: Any
) -> None:
    """d(M qd)/dt by qd: D_L + D_L^T is twice dM/dt."""
    D = dynamics.linearization(model, state.q, state.qd, state.qdd).damping_matrix
    Mdot = contract_last(dynamics.mass_matrix_derivative(model, state.q), state.qd)
    assert_close(D + D.T, 2 * Mdot, 1e-11, floor=model.total_mass)
