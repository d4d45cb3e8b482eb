# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The spline of the squared path rate on intervals of several lengths."""

from __future__ import annotations

import numpy as np
import pytest
from single_carts import limits_of, uneven_mesh

pytestmark = pytest.mark.interpreted


def test_coefficients_are_the_squared_rates_at_their_centers(rng):
    """Where they rise evenly with r, so does the spline, up to both ends."""
    mesh = uneven_mesh(rng, limits_of(effort=6.0))
    x, u = mesh.motion(np.append(1.0 + 3.0 * mesh.centers, 1.0))
    np.testing.assert_allclose(x, 1.0 + 3.0 * mesh.nodes, rtol=1e-12)
    np.testing.assert_allclose(u, 0.5 * 3.0, rtol=1e-10)
