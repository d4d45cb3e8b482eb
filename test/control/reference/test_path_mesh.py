# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The spline of the squared path rate on intervals of several lengths."""

from __future__ import annotations

import numpy as np
import pytest
from single_carts import cart

from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.control.reference.path_terms import Limits
from kron_dynamics.control.reference.section_meshes import rest_map_of

pytestmark = pytest.mark.interpreted


def test_coefficients_are_the_squared_rates_at_their_centers(rng):
    """Where they rise evenly with r, so does the spline, up to both ends."""
    none = np.array([np.inf])
    robot, limits = cart(), Limits(none, none, np.array([6.0]), none)
    (section,) = sections_of_waypoints(np.array([[0.0], [1.6]]), (), np.ones(1))
    rest_map = rest_map_of(robot, section, limits)
    shares = np.cumsum(rng.uniform(0.1, 1.0, 9))
    nodes = rest_map.duration * (shares - shares[0]) / np.ptp(shares)
    mesh = Mesh.of(robot, section, rest_map, nodes)
    x, u = mesh.motion(np.append(1.0 + 3.0 * mesh.centers, 1.0))
    np.testing.assert_allclose(x, 1.0 + 3.0 * nodes, rtol=1e-12)
    np.testing.assert_allclose(u, 0.5 * 3.0, rtol=1e-10)
