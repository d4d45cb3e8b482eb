# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choices by parts that are left out: the parts, their scores, and what is better."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics.identification.consistent_fit import Gram, Prior, consistent_fit, gram
from kron_dynamics.identification.cross_validation import (
    FOLDS,
    STRENGTHS,
    choose_strength,
    folds_of,
    is_better,
)
from kron_dynamics.identification.pseudo_inertia import ten_parameters
from kron_dynamics.identification.rows import Rows

BODY = np.diag([0.2, 0.1, 0.3, 2.0])
TRUTH = np.concatenate([ten_parameters(BODY), [0.4, -1.0, 2.0]])


def prior(body: np.ndarray = BODY, other: float = 0.4) -> Prior:
    """A body, a rotor and two coefficients of either sign."""
    return Prior(
        body[None],
        np.array([True, False, False]),
        np.array([other, -1.0, 2.0]),
        np.array([1.0, 1.0, 1.0]),
        np.ones(3),
        np.array([True, False, False]),
    )


def rows_of(rng: np.random.Generator, groups: int, count: int = 60, noise: float = 0.0) -> Rows:
    A = rng.standard_normal((count, 2, 13))
    effort = A @ TRUTH + noise * rng.standard_normal((count, 2))
    # Motions take turns, so that they are no stretches.
    return Rows(0.01 * np.arange(count), A, effort, np.arange(count) % groups * 1.0)


def assert_same(one: Gram, other: Gram) -> None:
    for name in ('matrix', 'vector', 'square', 'count'):
        mine, its = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(('groups', 'parts'), [(1, FOLDS), (2, FOLDS), (3, 3), (12, FOLDS)])
def test_whole_motions_are_left_out_where_there_are_three(
    groups: int, parts: int, rng: np.random.Generator
) -> None:
    rows, weights = rows_of(rng, groups), rng.uniform(0.5, 2.0, (60, 2))
    folds = folds_of(rows, weights, prior())
    assert len(folds.parts) == parts
    assert_same(folds.whole, gram(rows.matrix, rows.effort, weights))
    for k, part in enumerate(folds.parts):
        if groups >= 3:
            mine = np.isin(rows.group, np.arange(groups)[k::FOLDS])
        else:
            mine = np.arange(60) // (60 // FOLDS) == k
        assert_same(part, gram(rows.matrix[mine], rows.effort[mine], weights[mine]))


def test_scores_are_what_fits_to_the_others_leave(rng: np.random.Generator) -> None:
    rows, known = rows_of(rng, 1, noise=0.3), prior()
    weights = rng.uniform(0.5, 2.0, (60, 2))
    found = folds_of(rows, weights, known).scores(0.1)
    for k, score in enumerate(found):
        mine = np.arange(60) // (60 // FOLDS) == k
        fit = consistent_fit(
            gram(rows.matrix[~mine], rows.effort[~mine], weights[~mine]), known, 0.1
        )
        left = rows.effort[mine] - rows.matrix[mine] @ fit.parameters
        assert score == pytest.approx(np.mean(weights[mine] * left**2), rel=1e-4)


def test_least_scores_are_those_of_free_fits_to_each_part(rng: np.random.Generator) -> None:
    rows, weights = rows_of(rng, 1, noise=0.3), rng.uniform(0.5, 2.0, (60, 2))
    rows.matrix[:, :, 4] = 0.0
    rows.matrix[:, :, 5] = 2.0 * rows.matrix[:, :, 6]
    folds = folds_of(rows, weights, prior())
    least = folds.least_scores()
    for k, score in enumerate(least):
        mine = np.arange(60) // (60 // FOLDS) == k
        root = np.sqrt(weights[mine])[..., None]
        A, b = (rows.matrix[mine] * root).reshape(-1, 13), (rows.effort[mine] * root[..., 0])
        left = b.ravel() - A @ np.linalg.lstsq(A, b.ravel(), rcond=1e-10)[0]
        assert score == pytest.approx(np.mean(left**2), rel=1e-6)
    assert (least < folds.scores(0.1)).all()


def test_some_of_the_parameters_have_their_own_equations(rng: np.random.Generator) -> None:
    rows, weights = rows_of(rng, 1), np.ones((60, 2))
    folds = folds_of(rows, weights, prior()).of(np.array([0, 2]))
    columns = [*range(11), 12]
    assert_same(folds.whole, gram(rows.matrix[..., columns], rows.effort, weights))
    np.testing.assert_allclose(folds.prior.expected, prior().expected[columns])


def test_better_is_better_by_more_than_chance_and_a_share() -> None:
    than = np.full(4, 10.0)
    gains = np.array([1.0, 2.0, 3.0, 2.0])  # 2 with a standard error of 0.408
    assert is_better(than - gains, than, errors=4.8)
    assert not is_better(than - gains, than, errors=5.0)
    assert is_better(than - gains, than, gain=0.19)
    assert not is_better(than - gains, than, gain=0.21)
    assert not is_better(than + gains, than)
    assert not is_better(than, than, errors=0.0, gain=0.0)
    assert is_better(np.array([9.0]), np.array([10.0]))
    # Far below the noise, half of nothing is no gain.
    assert not is_better(0.5e-3 * than, 1e-3 * than)
    assert is_better(0.5e-1 * than, 1e-1 * than)


def test_the_strongest_prior_that_costs_nothing_is_chosen(rng: np.random.Generator) -> None:
    rows = rows_of(rng, 1, noise=0.3)
    weights = np.full((60, 2), 1.0 / 0.3**2)
    strength, scores = choose_strength(folds_of(rows, weights, prior()))
    assert strength == max(STRENGTHS) and set(scores) == set(STRENGTHS)
    # Next to the noise that is counted with, no efforts are told from each other.
    hardly = prior(1.01 * BODY)
    assert choose_strength(folds_of(rows, 1e-4 * weights, hardly))[0] == max(STRENGTHS)
    wrong = prior(np.diag([2.0, 1.0, 3.0, 9.0]), 4.0)
    folds = folds_of(rows, weights, wrong)
    strength, means = choose_strength(folds)
    scores = {each: folds.scores(each) for each in STRENGTHS}
    for each, values in scores.items():
        assert means[each] == pytest.approx(values.mean(), rel=1e-3)
    best = min(scores, key=lambda each: scores[each].mean())

    def as_good(each: float) -> bool:
        apart = scores[each] - scores[best]
        chance = np.std(apart, ddof=1) / np.sqrt(FOLDS)
        return bool(apart.mean() <= max(chance, 0.02 * scores[best].mean()))

    assert best < strength < max(STRENGTHS)
    assert as_good(strength)
    assert not any(as_good(each) for each in STRENGTHS if each > strength)


@pytest.mark.parametrize(('slope', 'stronger'), [(9.9, True), (10.1, False)])
def test_one_standard_error_is_as_good(slope: float, stronger: bool) -> None:
    # Scores that rise from 0.1 to 1 by a mean of 0.9 of slope, with a standard error of 9.
    spread = np.array([-1.0, 1.0, -1.0, 1.0, 0.0]) * 9.0 * np.sqrt(5.0)

    def scores(strength: float, starts: object = None) -> np.ndarray:
        rise = strength - 0.1
        return 100.0 + rise * slope + (rise > 0.0) * spread

    told = SimpleNamespace(
        parts=range(5), prior=SimpleNamespace(expected=np.zeros(1)), scores=scores
    )
    assert choose_strength(told)[0] == (1.0 if stronger else 0.1)  # type: ignore[arg-type]
