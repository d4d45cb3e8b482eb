# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Series of periodic functions are those of the functions, also between the samples."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.closed_loops.series import fourier_series

TOLERANCE = np.array([1e-6])


def periodic(multiple):
    return lambda angles: (0.5 * angles + np.sin(multiple * angles + 0.3))[:, None]


@pytest.mark.parametrize('multiple', [1, 11, 16, 31, 33, 47, 64, 65, 120, 128])
def test_a_series_is_never_one_of_another_multiple_with_the_same_samples(multiple):
    found = fourier_series(periodic(multiple), TOLERANCE)
    assert found is not None or multiple > 30
    if found is not None:
        angles = np.linspace(0.0, 2.0 * np.pi, 301)
        values = [found[0](angle) for angle in angles.tolist()]
        np.testing.assert_allclose(values, periodic(multiple)(angles)[:, 0], rtol=0, atol=2e-6)
