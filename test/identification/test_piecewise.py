# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stretches of unchanging parameters are those that trying every partition gives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kron_dynamics.identification.piecewise import LEAST_SAVED, MOST_PLACES, changes


def left(matrix: np.ndarray, effort: np.ndarray) -> float:
    """Squares that the best parameters leave, with their own as of a prior of deviation 1."""
    A = matrix.reshape(-1, matrix.shape[-1])
    A = np.concatenate([A, np.eye(A.shape[1])])
    b = np.concatenate([effort.ravel(), np.zeros(A.shape[1])])
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.sum((A @ x - b) ** 2))


def best_partition(matrix: np.ndarray, effort: np.ndarray, most: int) -> list[tuple[int, int]]:
    count = len(matrix)
    best, found = np.inf, []
    for cuts in range(most + 1):
        for places in combinations(range(1, count), cuts):
            bounds = [0, *places, count]
            stretches = list(zip(bounds[:-1], bounds[1:], strict=True))
            cost = LEAST_SAVED * cuts + sum(left(matrix[a:b], effort[a:b]) for a, b in stretches)
            if cost < best:
                best, found = cost, stretches
    return found


@pytest.mark.parametrize('levels', [[0, 20, -15], [7, 7], [30, 0, 0], [0, 12, 12]])
def test_it_is_the_best_of_all_partitions(levels: list[int], rng: np.random.Generator) -> None:
    count = 24
    matrix = rng.uniform(0.5, 1.5, (count, 2, 2))
    level = np.repeat(levels, [count // len(levels)] * len(levels)).astype(float)
    effort = matrix @ np.array([1.0, 0.5]) * level[:, None] + rng.standard_normal((count, 2))
    assert changes(matrix, effort) == best_partition(matrix, effort, 2)


@pytest.mark.parametrize(('share', 'stretches'), [(0.97, 1), (1.03, 2)])
def test_a_change_has_to_save_enough(share: float, stretches: int) -> None:
    count = 40
    matrix = np.ones((count, 1, 1))
    step = np.repeat([-1.0, 1.0], count // 2)[:, None]
    half = count // 2
    saved = (
        left(matrix, step) - left(matrix[:half], step[:half]) - left(matrix[half:], step[half:])
    )
    scale = np.sqrt(share * LEAST_SAVED / saved)
    assert len(changes(matrix, scale * step)) == stretches


# A large one is found at the places on both sides of it first, a small one at the nearer one.
@pytest.mark.parametrize('size', [30.0, 1.0])
@pytest.mark.parametrize('place', [1001, 1003, 1010])
def test_changes_between_the_places_looked_at_are_found_exactly(place: int, size: float) -> None:
    count = 2400
    assert count // MOST_PLACES > 10
    matrix = np.ones((count, 1, 1))
    effort = np.where(np.arange(count) < place, -size, size)[:, None]
    assert changes(matrix, effort) == [(0, place), (place, count)]


def test_equations_without_noise_that_tell_one_sum_only_have_one_stretch():
    """As of a robot that stands still: beside 1e13 squared, rounding leaves no prior."""
    matrix = np.full((40, 1, 3), 1e13)
    assert changes(matrix, np.ones((40, 1))) == [(0, 40)]
