# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""When two estimates of a payload differ, and what several say together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kron_dynamics.identification.payload_estimate import (
    PayloadEstimate,
    difference,
    mean_payload,
)

REACH = 2.0  # half a percent of it, 0.01 m, is the least move


def estimate(
    mass=1.0, deviation=0.0, center=(0.1, 0.0, 0.3), spread=(0.0,) * 3, excited=(True,) * 3
):
    return PayloadEstimate(0.0, 1.0, mass, deviation, np.array(center), np.array(spread), excited)


@pytest.mark.parametrize(
    ('one', 'two', 'expected'),
    [
        ({}, {}, 0.0),
        # Sure masses differ from a fiftieth of the larger one on.
        ({'mass': 1.0}, {'mass': 0.98}, 1.0),
        ({'mass': 4.9}, {'mass': 5.0}, 1.0),
        ({'mass': -5.0}, {'mass': -4.9}, 1.0),
        # Those that are not sure: from four deviations of their difference on, if that is more.
        ({'deviation': 0.03}, {'mass': 1.2, 'deviation': 0.04}, 1.0),
        ({'mass': 10.0, 'deviation': 0.03}, {'mass': 10.2, 'deviation': 0.04}, 0.2 / 0.204),
        ({'mass': 0.0}, {'mass': 0.0}, 0.0),
        # Centres: any coordinate, whatever the masses.
        ({}, {'center': (0.1, -0.01, 0.3)}, 1.0),
        ({'spread': (0.0, 0.0, 0.06)}, {'center': (0.1, 0.0, 0.7), 'spread': (0, 0, 0.08)}, 1.0),
        ({'mass': 2.0}, {'mass': 2.04, 'center': (0.13, 0.0, 0.3)}, 3.0),
        ({'mass': 2.0}, {'mass': 1.92, 'center': (0.11, 0.0, 0.3)}, 2.0),
        # A coordinate that one of them cannot tell does not count.
        ({}, {'center': (0.9, 0.0, 0.3), 'excited': (False, True, True)}, 0.0),
        ({'excited': (False,) * 3}, {'mass': 1.02, 'center': (math.nan,) * 3}, 0.02 / 0.0204),
    ],
)
def test_difference_in_units_of_its_threshold(one, two, expected):
    pair = estimate(**one), estimate(**two)
    for first, second in (pair, pair[::-1]):
        assert difference(first, second, REACH) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_mean_has_the_weights_of_the_variances():
    pair = [
        estimate(2.0, 0.1, (0.0, 0.3, 1.0), (0.2, 0.1, 0.1)),
        estimate(3.0, 0.2, (1.0, 0.3, 2.0), (0.1, 0.1, math.inf)),
    ]
    mass, center = mean_payload(pair)
    assert mass == pytest.approx((4.0 * 2.0 + 3.0) / 5.0)
    np.testing.assert_allclose(center, [0.8, 0.3, 1.0])


def test_mean_of_what_is_not_known():
    mass, center = mean_payload(
        [estimate(-0.2, 0.1, (math.nan, 0.5, 0.0), (0.1, math.inf, 0.1)), estimate(-0.1, 0.1)]
    )
    assert mass == 0.0
    np.testing.assert_allclose(center[0], 0.1)
    _, center = mean_payload([estimate(1.0, 0.1, (math.nan,) * 3, (math.inf,) * 3)])
    np.testing.assert_array_equal(center, np.zeros(3))
