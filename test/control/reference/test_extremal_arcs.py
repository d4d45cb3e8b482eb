# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arcs along limits: the maximum velocity curve, and places where efforts do not change u."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from kron_dynamics.control.reference.extremal_arcs import ArcRows, arcs_of, most_rates
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_terms import Limits, PathTerms


def test_maximum_velocity_curve_is_that_of_linear_programs(rng):
    nodes, joints, most = 40, 4, 50.0
    a, b = (rng.normal(size=(2 * nodes - 1, joints)) for _ in range(2))
    a[10, 2], b[10, 2] = 0.0, 3.0  # this one limits x alone
    weight = rng.uniform(-0.8, 0.8, a.shape)
    rows = ArcRows(np.hstack((a, -a)), np.hstack((b, -b)), np.hstack((1.0 - weight, 1.0 + weight)))
    found = np.minimum(most_rates(rows, np.full(nodes, most)), most)
    for k in range(1, nodes - 1):
        at = 2 * k
        best = linprog(
            [-1.0, 0.0],
            A_ub=np.column_stack((rows.b[at], rows.a[at])),
            b_ub=rows.room[at],
            bounds=[(0.0, most), (None, None)],
        )
        assert found[k] == pytest.approx(best.x[0], rel=1e-7)
    assert (found[1:-1] < most).any()
    assert found[5] <= rows.room[10, 2] / 3.0


def mesh_with(inertia, bend):
    """Intervals from r = 0 to 1 of other lengths, with a node at 0.5; efforts per effort limit."""
    left = 0.5 * np.linspace(0.0, 1.0, 21) ** 0.5
    nodes = np.concatenate((left, 1.0 - left[-2::-1] ** 1.5 / 0.5**0.5))
    r = np.empty(2 * nodes.size - 1)
    r[::2], r[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
    a, b = (np.column_stack([each(r) for each in terms]) for terms in (inertia, bend))
    ones, none = np.ones_like(a), np.zeros_like(a)
    some = np.ones((nodes.size, 1))
    terms = PathTerms(none, ones, none, a, b, none)
    return Mesh(nodes, np.diff(nodes), r, terms, some, some, some)


@pytest.mark.parametrize('slope', [0.02, 1.0, 30.0])
def test_arc_leads_through_a_place_where_an_effort_does_not_depend_on_the_acceleration(slope):
    # (r - 1/2) slope u + 4 x <= 1, beside it any acceleration up to 1e3: at r = 1/2 x is 1/4 at
    # most, and from there the limit keeps it at that on both sides.
    mesh = mesh_with(
        (lambda r: slope * (r - 0.5), lambda r: 1e-3 + 0.0 * r),
        (lambda r: 4.0 + 0.0 * r, lambda r: 0.0 * r),
    )
    none = np.full(2, np.inf)
    count = mesh.nodes.size
    arcs = arcs_of(
        mesh,
        Limits(np.full(2, 1e2), none, np.ones(2), none),
        lambda r: (np.full(r.size, np.inf), np.zeros(r.size)),
        np.full(count, 0.25),
        np.zeros((2, 2 * count - 1)),
    )
    assert arcs is not None
    np.testing.assert_allclose(arcs.x, 0.25, rtol=1e-9)
    np.testing.assert_allclose(arcs.slopes()[1:-1], 0.0, atol=1e-6)


@pytest.mark.parametrize('bend', [-1.0, 1.0])
def test_slopes_beside_the_maximum_velocity_curve_are_those_of_the_arc(bend):
    # Beside r = 1/2, where the effort does not depend on u, its limit is kept by
    # x = 1/4 + 2 s d + bend d^2 with d = r - 1/2 alone, whose u is s + bend d.
    start = 0.05

    def x(r):
        return 0.25 + 2.0 * start * (r - 0.5) + bend * (r - 0.5) ** 2

    mesh = mesh_with(
        (lambda r: r - 0.5, lambda r: 1e-3 + 0.0 * r),
        (lambda r: (1.0 - (r - 0.5) * (start + bend * (r - 0.5))) / x(r), lambda r: 0.0 * r),
    )
    count, none = mesh.nodes.size, np.full(2, np.inf)
    arcs = arcs_of(
        mesh,
        Limits(np.full(2, 1e2), none, np.ones(2), none),
        lambda r: (np.full(r.size, np.inf), np.zeros(r.size)),
        x(mesh.nodes),
        np.zeros((2, 2 * count - 1)),
    )
    assert arcs is not None
    inner = slice(1, -2)  # the motion begins and ends at other limits
    np.testing.assert_allclose(arcs.x[inner], x(mesh.nodes)[inner], rtol=1e-12)
    u = start + bend * (mesh.nodes - 0.5)
    expected = np.column_stack((u[:-1], u[1:]))
    np.testing.assert_allclose(arcs.slopes()[inner], expected[inner], atol=1e-12)
