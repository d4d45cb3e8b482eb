# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Weights of equations by the noise of their joints: known noise, and none at all."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.pseudo_inertia import pseudo_inertia
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.weighted_fit import weighted_fit

BODY = np.array([2.0, 0.1, 0.2, -0.1, 0.3, 0.0, 0.0, 0.25, 0.0, 0.2])
COUNT = 400


def equations(rng: np.random.Generator, noise: tuple[float, float]) -> tuple[Rows, np.ndarray]:
    """Equations of two joints, the second of which has efforts ten times as large; the truth."""
    truth = np.append(1.1 * BODY, 0.7)
    matrix = rng.standard_normal((COUNT, 2, len(truth))) * [[1.0], [10.0]]
    effort = matrix @ truth
    size = np.sqrt(np.mean(effort**2, axis=0))
    effort += np.array(noise) * size * rng.standard_normal(effort.shape)
    return Rows(0.01 * np.arange(COUNT), matrix, effort, np.zeros(COUNT)), truth


@pytest.fixture
def prior() -> Prior:
    one = np.ones(1)
    return Prior(pseudo_inertia(BODY)[None], one > 0, one, one, one, one < 0)


def test_each_joint_counts_by_its_own_noise(prior: Prior, rng: np.random.Generator) -> None:
    rows, truth = equations(rng, (0.05, 0.01))
    found = weighted_fit(rows, prior, 1.0)
    size = np.sqrt(np.mean(rows.effort**2, axis=0))
    np.testing.assert_allclose(found.noise / size, [0.05, 0.01], rtol=0.15)
    np.testing.assert_allclose(found.weights.max(axis=0), 1.0 / found.noise**2, rtol=0.02)
    deviation = np.sqrt(np.diag(found.fit.covariance))
    assert (np.abs(found.fit.parameters - truth) < 4.0 * deviation).all()


def test_efforts_without_noise_count_as_if_they_had_a_thousandth(
    prior: Prior, rng: np.random.Generator
) -> None:
    """Else weights grow without bound, and differences of squares have no digits left."""
    rows, truth = equations(rng, (0.0, 0.0))
    found = weighted_fit(rows, prior, 1.0)
    np.testing.assert_allclose(found.fit.parameters, truth, atol=1e-4)
    size = np.sqrt(np.mean(rows.effort**2, axis=0))
    np.testing.assert_allclose(found.weights.max(axis=0), 1e6 / size**2, rtol=0.01)
    assert (found.noise < 1e-3 * size).all()  # it is told as it is


def test_motion_is_no_outlier_where_the_machine_mostly_rests(
    prior: Prior, rng: np.random.Generator
) -> None:
    """At rest a simulator's efforts have no error, in motion those of its steps."""
    rows, truth = equations(rng, (0.0, 0.0))
    size = np.sqrt(np.mean(rows.effort**2, axis=0))
    moving = np.arange(COUNT) % 4 == 0
    rows.effort[moving] += 1e-4 * size * rng.standard_normal((moving.sum(), 2))
    found = weighted_fit(rows, prior, 1.0)
    assert (found.outliers == 0.0).all()
    np.testing.assert_allclose(found.fit.parameters, truth, atol=1e-3)


@pytest.mark.parametrize('strength', [1.0, 1000.0])
def test_intervals_are_as_wide_as_the_description_is_wrong(strength: float) -> None:
    """Efforts tell the moment alone: any strength predicts as well, none knows the mass better."""
    rng = np.random.default_rng(3)
    one = np.ones(1)
    prior = Prior(pseudo_inertia(BODY)[None], one > 0, one, one, one, one < 0)
    matrix = np.zeros((40, 1, len(BODY) + 1))
    matrix[:, 0, 1] = 1.0 + 0.1 * rng.standard_normal(40)
    matrix[:, 0, -1] = rng.standard_normal(40)
    errors, spread = [], []
    for _ in range(12):
        # A mass off by a third of it, at the described centre of mass and radius of gyration.
        truth = np.append(np.exp(0.3 * rng.standard_normal()) * BODY, 0.7)
        effort = matrix @ truth + 0.002 * rng.standard_normal((40, 1))
        rows = Rows(0.01 * np.arange(40), matrix, effort, np.zeros(40))
        fit = weighted_fit(rows, prior, strength).fit
        errors.append(fit.parameters - truth)
        spread.append(np.sqrt(np.diag(fit.covariance)))
    relative = np.abs(np.array(errors) / spread)
    known = [1, len(BODY)]  # what efforts tell is as narrow as their noise
    assert (relative < 2.0).mean() > 0.9 and (relative < 2.0).mean(axis=0).min() > 0.7
    assert (np.median(spread, axis=0)[known] < 0.002).all()
    assert np.median(spread, axis=0)[0] < BODY[0]
