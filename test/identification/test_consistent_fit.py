# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Consistent parameters: always possible, at the data where they speak, at the prior where not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from kron_dynamics.identification.consistent_fit import Gram, Prior, consistent_fit, gram
from kron_dynamics.identification.pseudo_inertia import (
    is_consistent,
    made_consistent,
    pseudo_inertia,
    ten_parameters,
)


def body(rng: np.random.Generator, count: int = 30) -> np.ndarray:
    """Ten parameters of a cloud of points."""
    r, m = rng.uniform(-0.5, 0.5, (count, 3)), rng.uniform(0.01, 0.2, count)
    P = np.zeros((4, 4))
    for mass, point in zip(m, r, strict=True):
        v = np.append(point, 1.0)
        P += mass * np.outer(v, v)
    return ten_parameters(P)


def divergence(P: np.ndarray, reference: np.ndarray) -> float:
    """tr(P0^-1 P) - log det(P0^-1 P) - 4, by determinants (Lee, Wensing, Park 2020)."""
    relative = np.linalg.solve(reference, P)
    return float(np.trace(relative) - np.linalg.slogdet(relative)[1] - 4.0)


def prior(ten: np.ndarray) -> Prior:
    return Prior(
        pseudo_inertia(ten)[None],
        np.array([True, False]),
        np.array([0.1, 0.0]),
        np.array([1.0, 2.0]),
        np.array([1.0, 1.0]),
        np.array([False, False]),
    )


def test_clouds_of_points_are_consistent_and_what_no_points_have_is_not(
    rng: np.random.Generator,
) -> None:
    ten = body(rng)
    assert is_consistent(ten)
    np.testing.assert_allclose(ten_parameters(pseudo_inertia(ten)), ten)
    for place, value in ((0, -1.0), (9, ten[4] + ten[7] + 0.1), (1, 10.0)):
        wrong = ten.copy()
        wrong[place] = value
        assert not is_consistent(wrong)
        assert is_consistent(made_consistent(wrong, 1e-3, 1e-2))
    assert (made_consistent(ten, 1e-3, 1e-3) == ten).all()


def test_the_divergence_is_zero_at_home_and_the_same_in_other_axes_and_units(
    rng: np.random.Generator,
) -> None:
    P, Q = pseudo_inertia(body(rng)), pseudo_inertia(body(rng))
    assert divergence(P, P) == pytest.approx(0.0, abs=1e-12)
    T = np.eye(4)
    T[:3, :3] = 2.0 * np.linalg.qr(rng.standard_normal((3, 3)))[0]
    T[:3, 3] = rng.standard_normal(3)
    assert divergence(T @ P @ T.T, T @ Q @ T.T) == pytest.approx(divergence(P, Q))
    assert divergence(P, Q) > 0.0


def test_the_minimum_is_that_of_another_program(rng: np.random.Generator) -> None:
    known = prior(body(rng))
    data = gram(rng.standard_normal((4, 2, 12)), rng.standard_normal((4, 2)), np.ones((4, 2)))

    def cost(x: np.ndarray) -> float:
        P = pseudo_inertia(x[:10])
        if np.linalg.eigvalsh(P)[0] <= 0.0 or x[10] <= 0.0:
            return 1e9
        ratio = x[10] / 0.1
        beside = ratio - np.log(ratio) - 1.0 + 0.5 * (x[11] / 2.0) ** 2
        return 0.5 * data.squares(x) + 0.3 * divergence(P, known.bodies[0]) + beside

    found = consistent_fit(data, known, 0.3)
    other = minimize(
        cost,
        found.parameters * 1.01,
        method='Nelder-Mead',
        options={'maxiter': 4000, 'maxfev': 4000},
    )
    assert cost(found.parameters) <= other.fun + 1e-9
    steps = 1e-5 * np.eye(12)
    slope = [cost(found.parameters + s) - cost(found.parameters - s) for s in steps]
    assert np.abs(slope).max() < 1e-7


def test_data_decide_what_they_show_and_the_prior_the_rest(rng: np.random.Generator) -> None:
    truth, known = body(rng), prior(body(rng))
    A = np.zeros((200, 1, 12))
    A[:, 0, 0] = rng.standard_normal(200)  # of the mass alone
    effort = A[..., 0] * 2.0 * truth[0]
    found = consistent_fit(gram(A, effort, np.full((200, 1), 1e6)), known, 1.0)
    assert found.parameters[0] == pytest.approx(2.0 * truth[0], rel=1e-4)
    assert found.parameters[10] == pytest.approx(0.1, rel=1e-6)
    nothing = Gram(np.zeros((12, 12)), np.zeros(12), 0.0, 0.0)
    np.testing.assert_allclose(consistent_fit(nothing, known, 1.0).parameters, known.expected)


@pytest.mark.parametrize('strength', [1e-3, 1.0, 1e3])
def test_no_data_make_it_impossible(rng: np.random.Generator, strength: float) -> None:
    known = prior(body(rng))
    A = rng.standard_normal((50, 2, 12))
    absurd = np.concatenate([-body(rng), [-5.0, 3.0]])
    found = consistent_fit(gram(A, A @ absurd, np.full((50, 2), 100.0)), known, strength)
    assert is_consistent(found.parameters[:10])
    assert found.parameters[10] > 0.0
