# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every identity of the equations of motion on random trees with up to twelve joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kronecker import commutation_matrix, contract, contract_last, swap_columns
from kron_dynamics.model import load_model

TENSORS = (
    dynamics.velocity_free_coriolis_matrix,
    dynamics.lagrange_velocity_free_matrix,
    dynamics.direct_velocity_free_matrix,
)


@settings(max_examples=settings.default.max_examples)
@given(data=st.data())
def test_identities(
    data: Any, large_trees: Any, random_state: Any, derivative: Any, assert_close: Any
) -> None:
    model = load_model(data.draw(large_trees))
    s = random_state(model.n, np.random.default_rng(data.draw(st.integers(0, 2**16))))
    n, q, qd, qdd = model.n, s.q, s.qd, s.qdd
    M = dynamics.mass_matrix(model, q)
    assert_close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0

    Mdot = contract_last(dynamics.mass_matrix_derivative(model, q), qd)
    along = derivative(lambda t: dynamics.mass_matrix(model, q + t * qd))
    assert_close(Mdot, along, 1e-8, floor=np.abs(M).max())
    for form in (dynamics.coriolis_matrix, dynamics.kane_coriolis_matrix):
        S = Mdot - 2 * form(model, q, qd)
        assert_close(S, -S.T, 1e-11, floor=np.abs(M).max())

    c = dynamics.coriolis_vector(model, q, qd)
    for form in TENSORS:
        assert_close(contract(form(model, q), qd, qd), c, 1e-11, floor=np.abs(M).max())

    H = kinematics.kinematic_hessian(model, q, model.tip_link)
    assert_close(H[:3], swap_columns(H[:3], n), 1e-13, floor=1.0)
    J_R = kinematics.rotational_jacobian(model, q, model.tip_link)
    bracket = H[3:] - H[3:] @ commutation_matrix(n)
    crossed = np.array([np.cross(J_R[:, j], J_R[:, i]) for i in range(n) for j in range(n)]).T
    assert_close(bracket, crossed, 1e-12, floor=1.0)

    tau = dynamics.inverse_dynamics(model, q, qd, qdd)

    def energy(t: float) -> float:
        position, rate = q + t * qd + 0.5 * t**2 * qdd, qd + t * qdd
        kinetic = dynamics.kinetic_energy(model, position, rate)
        return kinetic + dynamics.potential_energy(model, position)

    scale = np.abs(tau).max() * np.abs(qd).max()
    assert_close(derivative(energy), tau @ qd, 1e-8, floor=scale)
    Y = dynamics.regressor(model, q, qd, qdd)
    assert_close(Y @ dynamics.inertial_parameters(model), tau, 1e-11)
