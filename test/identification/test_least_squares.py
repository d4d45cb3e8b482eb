# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Weighted least squares: unbiased, its covariance is right, outliers do not count."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.least_squares import weighted_least_squares

NOISE = np.array([0.1, 5.0])


def problem(rng: np.random.Generator, colour: float = 0.0) -> tuple[np.ndarray, ...]:
    """A matrix whose last two columns are alike, parameters, and noise, correlated in time."""
    A = rng.standard_normal((400, 2, 5))
    # Slow columns, which correlated noise harms most.
    A = np.cumsum(A, axis=0) / 10.0 if colour else A
    A[..., 4] = A[..., 3]
    x = np.array([1.0, -2.0, 3.0, 0.5, 0.5])
    noise = rng.standard_normal((500, 2))
    for k in range(1, len(noise)):
        noise[k] = colour * noise[k - 1] + np.sqrt(1.0 - colour**2) * noise[k]
    return A, x, NOISE * noise[100:]


@pytest.mark.parametrize('colour', [0.0, 0.8])
def test_ninety_five_percent_intervals_hold_the_truth(
    rng: np.random.Generator, colour: float
) -> None:
    held = []
    for _ in range(60):
        A, x, noise = problem(rng, colour)
        found = weighted_least_squares(A, A @ x + noise)
        error = (found.parameters - x)[:3]
        held.append(np.abs(error) < 1.96 * np.sqrt(np.diag(found.covariance)[:3]))
    assert 0.86 < np.mean(held) < 0.995


def test_columns_that_are_alike_share_and_lower_the_rank(rng: np.random.Generator) -> None:
    A, x, _ = problem(rng)
    found = weighted_least_squares(A, A @ x)
    assert found.rank == 4
    np.testing.assert_allclose(found.parameters, x, atol=1e-9)


def test_noise_of_each_joint_is_found_and_weighs(rng: np.random.Generator) -> None:
    A, x, noise = problem(rng)
    found = weighted_least_squares(A, A @ x + noise)
    np.testing.assert_allclose(found.noise, NOISE, rtol=0.15)
    quiet = np.linalg.lstsq(A[:, 0], (A @ x + noise)[:, 0], rcond=None)[0]
    np.testing.assert_allclose(found.parameters, quiet, atol=0.02)


def test_outliers_do_not_count_and_missing_efforts_neither(rng: np.random.Generator) -> None:
    A, x, noise = problem(rng)
    tau = A @ x + noise
    tau[::10] += 300.0
    tau[5::10, 1] = np.nan
    found = weighted_least_squares(A, tau)
    np.testing.assert_allclose(found.parameters, x, atol=0.05)
    assert found.weights[::10].max() == 0.0
    plain = weighted_least_squares(A, tau, robust=False)
    assert np.abs(plain.parameters - x).max() > 10 * np.abs(found.parameters - x).max()


def test_too_few_equations_are_refused(rng: np.random.Generator) -> None:
    A, x, _ = problem(rng)
    with pytest.raises(ParameterError, match='4 equations do not determine 4 parameters'):
        weighted_least_squares(A[:2], (A @ x)[:2])
    with pytest.raises(ParameterError, match='no effort is known'):
        weighted_least_squares(A, np.full((400, 2), np.nan))


def test_a_decomposition_that_does_not_converge_is_not_needed(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverges(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError('SVD did not converge')

    A, x, noise = problem(rng)
    monkeypatch.setattr(np.linalg, 'svd', diverges)
    assert weighted_least_squares(A, A @ x + noise).rank == 4
