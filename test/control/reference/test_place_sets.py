# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of places are those that a comparison of every pair gives, edges with them."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control.reference.place_sets import away, beside, with_others

NEAR = 0.25


@pytest.fixture(params=[0, 1, 7, 40])
def others(request, rng):
    """Places on a grid of 1/8, exact in binary, so that distances are hit exactly."""
    return rng.integers(0, 64, request.param) / 8.0


@pytest.fixture
def places(rng):
    return np.sort(rng.integers(-8, 72, 50)) / 8.0


def ways(places, others):
    return np.abs(places[:, np.newaxis] - others)


def test_places_beside_others(places, others, rng):
    halves = rng.integers(0, 4, places.size) / 8.0
    reach = np.maximum(2.0 * halves, NEAR)
    expected = (ways(places, others) <= reach[:, np.newaxis]).any(axis=1)
    np.testing.assert_array_equal(beside(places, halves, others, NEAR), expected)
    assert others.size == 0 or 0 < expected.sum() < places.size


def test_places_away_from_marks(places, others):
    marks = np.sort(others)
    expected = places[(ways(places, marks) > NEAR).all(axis=1)]
    np.testing.assert_array_equal(away(places, marks, NEAR), expected)


def test_each_mark_may_keep_places_off_by_a_distance_of_its_own(places):
    marks, reach = np.array([0.0, 3.0, 6.0]), np.array([0.125, 1.0, 0.5])
    expected = places[(ways(places, marks) > reach).all(axis=1)]
    np.testing.assert_array_equal(away(places, marks, reach), expected)


def test_others_join_where_no_place_is_near(places, others, rng):
    expected = others[(ways(others, places) > NEAR).all(axis=1)]
    found = with_others(rng.permutation(places), others, NEAR)
    np.testing.assert_array_equal(found, np.sort(np.concatenate((places, expected))))
