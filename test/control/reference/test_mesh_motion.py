# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motions by the squared path rate: cubic between nodes, and in the time of their rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from single_carts import cart, mesh_along

from kron_dynamics.control.reference.mesh_motion import MeshMotion, hermite

pytestmark = pytest.mark.interpreted


@pytest.fixture
def motion(rng):
    """Any x and u on intervals of several lengths."""
    nodes = np.cumsum(rng.uniform(0.1, 1.0, 9)) - 0.5
    mesh = mesh_along(nodes, lambda r: (r, np.ones_like(r), np.zeros_like(r)))
    return MeshMotion(mesh, rng.uniform(1.0, 2.0, 9), rng.normal(size=9))


def test_squared_rates_are_cubic_and_u_is_half_their_slope(motion):
    nodes = motion.mesh.nodes
    spline = CubicHermiteSpline(nodes, motion.x, 2.0 * motion.u)
    r = np.concatenate((nodes, np.linspace(nodes[0], nodes[-1], 101)))
    x, u = motion.at(r)
    np.testing.assert_allclose(x, spline(r), rtol=1e-12)
    np.testing.assert_allclose(u, 0.5 * spline(r, 1), rtol=1e-9, atol=1e-11)


def test_several_shares_of_one_interval_broadcast(rng):
    x, u, z = rng.normal(size=(2, 1)), rng.normal(size=(2, 1)), np.linspace(0.0, 1.0, 5)
    spline = CubicHermiteSpline([0.0, 0.3], x[:, 0], 2.0 * u[:, 0])
    np.testing.assert_allclose(hermite(x, u, np.array([0.3]), z)[0], spline(0.3 * z), rtol=1e-10)


def test_a_motion_that_stands_still_between_nodes_does_not_go_on(motion):
    low = motion._replace(x=np.full(9, 0.1), u=np.zeros(9))
    assert low.goes_on
    assert not low._replace(x=np.append(np.full(8, 0.1), 0.0)).goes_on
    dips = low._replace(u=np.array([0.0] * 3 + [-4.0, 4.0] + [0.0] * 4))
    assert (
        CubicHermiteSpline(low.mesh.nodes, dips.x, 2.0 * dips.u)(low.mesh.nodes[3:5].mean()) < 0.0
    )
    assert not dips.goes_on


@pytest.mark.parametrize('smooth', [True, False])
def test_time_velocities_and_accelerations_are_those_of_the_rate(smooth):
    # dr/dt = 1 + r, so that r = exp(t) - 1, along q = r^2 / 2.
    nodes = np.linspace(0.0, 1.0, 41) ** 1.5
    mesh = mesh_along(nodes, lambda r: (0.5 * r**2, r, np.ones_like(r)))
    x, u = (1.0 + nodes) ** 2, 1.0 + nodes
    ends = np.array([[-1e-3], [0.501]])
    found = MeshMotion(mesh, x, u).samples(cart(), ends, smooth=smooth, friction=False)
    np.testing.assert_allclose(found.times, np.log1p(nodes), rtol=1e-10, atol=1e-12)
    q, qd, qdd = (state[:, 0] for state in found.states)
    np.testing.assert_array_equal(q[[0, -1]], ends[:, 0])
    np.testing.assert_allclose(q[1:-1], 0.5 * nodes[1:-1] ** 2, rtol=1e-12)
    np.testing.assert_array_equal(qd[[0, -1]], 0.0)
    np.testing.assert_allclose(qd[1:-1], (nodes * (1.0 + nodes))[1:-1], rtol=1e-12)
    acceleration = (1.0 + 2.0 * nodes) * (1.0 + nodes)
    if smooth:
        acceleration[[0, -1]] = 0.0
    np.testing.assert_allclose(qdd, acceleration, rtol=1e-12)
