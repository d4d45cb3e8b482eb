# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the limits against the motion that the coefficients stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from single_carts import limits_of, uneven_mesh

from kron_dynamics.control.reference.interior_point import Rows
from kron_dynamics.control.reference.mesh_motion import MeshMotion
from kron_dynamics.control.reference.path_terms import (
    ACCELERATION,
    EFFORT,
    EFFORT_RATE,
    VELOCITY,
    Limits,
    PathTerms,
)
from kron_dynamics.control.reference.retiming_rows import (
    chosen_rows,
    near_bounds,
    rows_of,
    tightened,
)

pytestmark = pytest.mark.interpreted

VELOCITY_LIMIT = limits_of(0.7, effort=6.0)


@pytest.fixture
def mesh(rng):
    return uneven_mesh(rng, VELOCITY_LIMIT)


@pytest.fixture
def c(mesh, rng):
    return rng.uniform(1.0, 2.0, mesh.nodes.size + 2)


def test_rows_of_velocities_are_squared_rates_over_their_bound_at_nodes_and_midpoints(mesh, c):
    rows, about = rows_of(mesh, VELOCITY_LIMIT)
    at_nodes, at_middles = rows.values(c)[:, about[0] == VELOCITY].T
    motion = MeshMotion(mesh, *mesh.motion(c))
    share = (mesh.terms.first[:, 0] / VELOCITY_LIMIT.velocity) ** 2
    np.testing.assert_allclose(at_nodes, share[::2] * motion.x, rtol=1e-12)
    x = motion.at(mesh.nodes[:-1] + 0.5 * mesh.sizes)[0]
    np.testing.assert_allclose(at_middles[:-1], share[1::2] * x, rtol=1e-12)
    assert at_middles[-1] == 0.0  # there is no interval behind the last node
    assert not about[1].any()  # the only joint


def test_rows_of_velocities_are_those_of_the_joint_that_is_nearest_to_its_limit(mesh, c, rng):
    mesh, limits = of_any_machine(mesh, rng)
    together = rows_of(mesh, limits)
    each = [
        rows_of(mesh, limits._replace(velocity=np.where(np.arange(3) == k, 2.0, np.inf)))
        for k in range(3)
    ]
    values = [rows.values(c)[:, about[0] == VELOCITY] for rows, about in (together, *each)]
    np.testing.assert_allclose(values[0][:, 0], np.max(values[1:], axis=0)[:, 0], rtol=1e-12)


def of_any_machine(mesh, rng):
    """The mesh with any terms of three joints; the second one has a limited velocity only."""
    terms = PathTerms(*rng.normal(size=(6, mesh.places.size, 3)))
    terms = terms._replace(weight=rng.uniform(-0.7, 0.7, terms.weight.shape))
    limits = Limits(np.full(3, 2.0), *([0.8, np.inf, 1.3] * rng.uniform(1.0, 2.0, (3, 1))))
    return replace(mesh, terms=terms), limits


def test_rows_of_accelerations_and_efforts_are_their_shares_of_the_limits(mesh, c, rng):
    mesh, limits = of_any_machine(mesh, rng)
    rows, about = rows_of(mesh, limits)
    (x, u), terms = mesh.motion(c), PathTerms(*(each[::2] for each in mesh.terms))
    acceleration = terms.first.T * u + terms.second.T * x
    effort = terms.inertia.T * u + terms.bend.T * x + terms.weight.T
    for quantity, found in ((ACCELERATION, acceleration), (EFFORT, effort)):
        for joint in (0, 2):
            both = rows.values(c)[:, (about == [[quantity], [joint]]).all(axis=0)]
            share = found[joint] / limits[quantity][joint]
            np.testing.assert_allclose(both.T, [share, -share], rtol=1e-12, atol=1e-12)
    assert 1 not in about[1, about[0] != VELOCITY]


def test_rows_of_effort_rates_are_slopes_of_efforts_at_both_ends_of_each_interval(mesh, c, rng):
    """Slopes along the path; their bound is the limit over the path rate."""
    mesh, limits = of_any_machine(mesh, rng)
    rows, about = rows_of(mesh, limits)
    x, u = mesh.motion(c)
    values, slack = rows.values(c), rows.slack(c)[0]
    for joint in (0, 2):
        of_joint = (about == [[EFFORT_RATE], [joint]]).all(axis=0)
        for k, h in enumerate(mesh.sizes):
            a, b, g = (
                Polynomial.fit([0.0, h / 2, h], each[2 * k : 2 * k + 3, joint], 2).convert()
                for each in (mesh.terms.inertia, mesh.terms.bend, mesh.terms.weight)
            )
            along = Polynomial([u[k], (u[k + 1] - u[k]) / h])
            effort = a * along + b * (x[k] + 2.0 * along.integ()) + g
            slopes = effort.deriv()(np.array([0.0, h])) / limits.effort_rate[joint]
            both = [*slopes, *-slopes]
            np.testing.assert_allclose(values[k, of_joint], both, rtol=1e-9, atol=1e-9)
            bounds = 1.0 / np.sqrt([*x[k : k + 2], *x[k : k + 2]])
            np.testing.assert_allclose(slack[k, of_joint], bounds - both, rtol=1e-9, atol=1e-9)
    rates = about[0] == EFFORT_RATE
    assert not values[-1, rates].any()  # there is no interval behind the last node
    # The bounds of all other quantities are theirs at any rate.
    np.testing.assert_allclose(slack[:, ~rates], 1.0 - values[:, ~rates], rtol=1e-12)


def test_near_bounds_is_what_in_some_place_is_nearly_the_most_used_of_its_kind():
    values = np.array(
        [
            # efforts, velocity, effort rates
            [10.0, -7.0, 5.0, 0.0, 0.0, 0.001, 0.0005],
            [10.0, -1.0, 5.0, 1.0, 0.0, 0.001, 0.0005],
            [0.10, 0.0, 0.05, 0.3, 0.0, 0.000, 0.0000],
        ]
    )
    # Not: half as used as the most used one in all places; the most used one where little is.
    expected = [True, True, False, False, True, True, False]
    quantities = [*4 * [EFFORT], VELOCITY, *2 * [EFFORT_RATE]]
    none = np.zeros((3, *values.shape))
    rows = Rows(none, values, np.ones((3, 3, 2)), np.zeros(2, dtype=int))
    about = np.array([quantities, 7 * [0]])
    np.testing.assert_array_equal(near_bounds(rows, np.ones(5), about), expected)


def test_chosen_rows_leave_the_same_room(mesh, c, rng):
    mesh, limits = of_any_machine(mesh, rng)
    rows, about = rows_of(mesh, limits)
    kept = rng.uniform(size=about.shape[1]) > 0.5
    slack, slopes = rows.slack(c)
    found = chosen_rows(rows, kept).slack(c)
    np.testing.assert_array_equal(found[0], slack[:, kept])
    np.testing.assert_array_equal(found[1], slopes[:, :, kept])


def test_rows_are_tightened_by_what_was_exceeded_in_the_intervals_beside_each_node(mesh, c, rng):
    """The motion slowed until it keeps the limit there uses as much of them as before."""
    mesh, limits = of_any_machine(mesh, rng)
    rows, about = rows_of(mesh, limits)
    used = rng.uniform(0.5, 1.5, (4, mesh.sizes.size, 3))
    before, after = rows.values(c), tightened(rows, about, used).values(c)
    for row, (quantity, joint) in enumerate(about.T):
        peaks = used[quantity].max(axis=1) if quantity == VELOCITY else used[quantity, :, joint]
        for k in range(mesh.nodes.size):
            peak, still = max(1.0, *peaks[max(k - 1, 0) : k + 1]), 0.0
            if quantity == VELOCITY:  # rows are of squares
                peak = peak**2
            elif quantity == EFFORT:  # weight does not become less
                still = rows.constant[k, row]
            slower = (1.0 - still) / (peak - still)
            kept = still + slower * (after[k, row] - still)
            assert kept == pytest.approx(before[k, row], rel=1e-9, abs=1e-12)
