# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the limits against the motion that the coefficients stand for."""

from __future__ import annotations

import numpy as np
import pytest
from single_carts import cart

from kron_dynamics.control.reference.mesh_motion import MeshMotion
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.control.reference.path_terms import VELOCITY, Limits
from kron_dynamics.control.reference.retiming_rows import rows_of
from kron_dynamics.control.reference.section_meshes import rest_map_of

pytestmark = pytest.mark.interpreted


def test_rows_of_velocities_are_squared_rates_over_their_bound_at_nodes_and_midpoints(rng):
    none, velocity = np.array([np.inf]), np.array([0.7])
    robot, limits = cart(), Limits(velocity, none, np.array([6.0]), none)
    (section,) = sections_of_waypoints(np.array([[0.0], [1.6]]), (), np.ones(1))
    rest_map = rest_map_of(robot, section, limits)
    shares = np.cumsum(rng.uniform(0.1, 1.0, 9))
    nodes = rest_map.duration * (shares - shares[0]) / np.ptp(shares)
    mesh = Mesh.of(robot, section, rest_map, nodes)
    c = rng.uniform(1.0, 2.0, nodes.size + 2)
    rows, about = rows_of(mesh, limits)
    at_nodes, at_middles = rows.values(c)[:, about[0] == VELOCITY].T
    motion = MeshMotion(mesh, *mesh.motion(c))
    share = (mesh.terms.first[:, 0] / velocity) ** 2
    np.testing.assert_allclose(at_nodes, share[::2] * motion.x, rtol=1e-12)
    x = motion.at(nodes[:-1] + 0.5 * mesh.sizes)[0]
    np.testing.assert_allclose(at_middles[:-1], share[1::2] * x, rtol=1e-12)
