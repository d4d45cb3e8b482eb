# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The quickest motions of a cart without effort rate limits, which are known, and guides."""

from __future__ import annotations

import numpy as np
import pytest
from single_carts import cart, limits_of

from kron_dynamics.control.reference.mesh_motion import MeshMotion
from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import sections_of_waypoints
from kron_dynamics.control.reference.section_meshes import rest_map_of
from kron_dynamics.control.reference.sharpening import _rounded, sharpened

pytestmark = [
    pytest.mark.filterwarnings('error::RuntimeWarning'),
    pytest.mark.usefixtures('kernel_cache'),  # all robots of this file share its kernels
]

WAY, MASS, EFFORT = 1.6, 2.0, 6.0


def found_for(axis='1 0 0', velocity=np.inf, count=40, guide=None, way=(0.0, WAY)):
    robot = cart(axis, effort=EFFORT, mass=MASS if axis == '1 0 0' else 0.4)
    limits = limits_of(velocity, effort=EFFORT)
    (section,) = sections_of_waypoints(np.array(way)[:, np.newaxis], (), np.ones(1))
    rest_map = rest_map_of(robot, section, limits)
    mesh = Mesh.of(robot, section, rest_map, np.linspace(0.0, rest_map.duration, count))
    x = np.ones(count)
    if guide:
        guide = MeshMotion(mesh, guide * x, 0.0 * x)
    return sharpened(robot, section, rest_map, limits, (mesh, x), guide), limits


def duration(up, down, velocity=np.inf):
    """Two constant accelerations, and a velocity between them."""
    top = min(velocity, np.sqrt(2.0 * WAY * up * down / (up + down)))
    cruise = WAY - 0.5 * top**2 * (1.0 / up + 1.0 / down)
    return top / up + top / down + cruise / top


@pytest.mark.parametrize(
    ('axis', 'velocity', 'up', 'down'),
    [
        ('1 0 0', np.inf, 3.0, 3.0),
        ('1 0 0', 1.1, 3.0, 3.0),
        ('0 0 1', np.inf, 15.0 - 9.80665, 15.0 + 9.80665),
        ('0 0 1', 1.5, 15.0 - 9.80665, 15.0 + 9.80665),
    ],
)
@pytest.mark.parametrize('count', [25, 60])
def test_it_takes_the_time_of_constant_efforts_and_few_nodes(axis, velocity, up, down, count):
    found, limits = found_for(axis, velocity, count)
    assert found.exact
    # Where arcs meet, in transitions of a millisecond, it is a little slower.
    assert 1.0 <= found.samples.duration / duration(up, down, velocity) < 1.0 + 6e-6
    assert found.samples.peaks(limits).max() <= 1.0
    assert found.mesh.sizes.size < 250
    states = found.samples.states
    np.testing.assert_allclose(states[0][[0, -1], 0], [0.0, WAY], atol=1e-12)
    np.testing.assert_allclose(states[1][[0, -1], 0], 0.0, atol=1e-12)


@pytest.mark.parametrize('way', [(1.0, 1.0 + 1e-6), (9.0, 9.0 - 1e-8), (1.0, 1.0 + 2e-10)])
def test_rounding_of_positions_is_not_resolved_by_ever_more_nodes(way, monkeypatch):
    sizes, of = [], Mesh.of
    monkeypatch.setattr(Mesh, 'of', lambda *given: sizes.append(given[-1].size) or of(*given))
    found_for(way=way)
    assert max(sizes) < 400


def test_it_keeps_to_a_guide_where_it_would_be_beyond_limits():
    # Nothing is beyond limits here: a guide, however slow, takes nothing.
    free, _ = found_for(velocity=1.1)
    guided, _ = found_for(velocity=1.1, guide=0.1)
    assert guided.samples.duration == free.samples.duration


@pytest.mark.parametrize('above', [1.0 - 1e-6, 1.0 + 1e-6])
@pytest.mark.parametrize('brief', [1e-6, 1e-2])
def test_motions_with_brief_pieces_are_slowed_into_their_limits(above, brief):
    """Only what is beyond limits is, and as little as necessary."""
    times = np.array([0.0, 0.5, 0.5 + brief, 1.0])
    # The quintic from rest to rest, the same in all pieces: its largest velocity is 15/8.
    q, v, a = (
        np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]).deriv(k)(times)[:, np.newaxis]
        for k in range(3)
    )
    given = MotionSamples.of(cart(), times, (q, v, a), friction=False)
    limits = limits_of(1.875 / above)
    found = _rounded(cart(), limits, given)
    if above < 1.0 or brief > 1e-3:
        assert found is given
    else:
        assert found.peaks(limits).max() <= 1.0
        assert above <= found.duration < above + 1e-6
