# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of forward dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from kron_dynamics.dynamics.forward import smallest_mass, solve_positive_definite


def check_inverse(model: Any, s: Any, assert_close: Any) -> None:
    tau = inverse_dynamics(model, s.q, s.qd, s.qdd)
    # Rounding of tau comes back multiplied by the condition of M.
    rel = 1e-14 * np.linalg.cond(mass_matrix(model, s.q)) * max(1.0, abs(tau).max())
    assert_close(forward_dynamics(model, s.q, s.qd, tau), s.qdd, max(rel, 1e-12))


def test_forward_dynamics_inverts_inverse_dynamics(
    model: Any, state: Any, assert_close: Any
) -> None:
    tau = inverse_dynamics(model, state.q, state.qd, state.qdd)
    assert_close(forward_dynamics(model, state.q, state.qd, tau), state.qdd, 1e-11)


def test_solve_positive_definite_is_numpys_solve(
    rng: np.random.Generator, assert_close: Any
) -> None:
    A = rng.normal(size=(6, 6))
    M, b = A @ A.T + np.eye(6), rng.normal(size=6)
    kept = M.copy(), b.copy()
    assert_close(solve_positive_definite(M, b), np.linalg.solve(M, b))
    np.testing.assert_array_equal(M, kept[0])
    np.testing.assert_array_equal(b, kept[1])


def test_the_smallest_mass_is_the_same_in_any_units(rng: np.random.Generator) -> None:
    A = rng.normal(size=(4, 4))
    A[2] = A[0] + 1e-4 * A[2]  # nearly no mass, where they move against each other
    M, units = A @ A.T, np.array([1e3, 1.0, 1e-6, 20.0])
    smallest, joint = smallest_mass(M)
    scale = 1.0 / np.sqrt(M.diagonal())
    assert smallest == pytest.approx(np.linalg.eigvalsh(M * np.outer(scale, scale))[0], rel=1e-6)
    assert 0.0 < smallest < 1e-6
    assert joint in (0, 2)
    again, _ = smallest_mass(M * np.outer(units, units))
    assert again == pytest.approx(smallest, rel=1e-6)
    M[1, 1] = -3.0
    assert smallest_mass(M) == (-3.0, 1)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    check_inverse(model, s, assert_close)
