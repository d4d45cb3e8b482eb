# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arcs of a cart from rest to rest, which are known: constant accelerations and a velocity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from single_carts import limits_of, mesh_along

from kron_dynamics.control.reference.arc_checks import beyond_limits, parts_to_follow
from kron_dynamics.control.reference.arc_meetings import corners, kinks, stepping_nodes
from kron_dynamics.control.reference.arc_nodes import ArcNodes
from kron_dynamics.control.reference.extremal_arcs import (
    BACKWARD,
    CEILING,
    FORWARD,
    MIXED,
    ArcRows,
    arcs_of,
)
from kron_dynamics.control.reference.mesh_motion import hermite

pytestmark = pytest.mark.filterwarnings('error::RuntimeWarning')

EVEN = np.linspace(0.0, 1.0, 82)  # none at 1/2
UNEVEN = np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, 122)) ** 2


def path(r):
    """From 0 to 1, at rest at both ends."""
    return r**2 * (3.0 - 2.0 * r), 6.0 * r * (1.0 - r), 6.0 - 12.0 * r


def speeding_up(r, acceleration):
    """X and u of v^2 = 2 a q along the path."""
    return (
        acceleration * (3.0 - 2.0 * r) / (18.0 * (1.0 - r) ** 2),
        acceleration * (2.0 - r) / (18.0 * (1.0 - r) ** 3),
    )


def slowing_down(r, acceleration):
    x, u = speeding_up(1.0 - r, acceleration)
    return x, -u


def at_velocity(r, velocity):
    _, first, second = path(r)
    x = (velocity / first) ** 2
    return x, -second / first * x


def no_roof(r):
    return np.full(r.size, np.inf), np.zeros(r.size)


def found_arcs(mesh, limits, roof=no_roof, margins=(0.0, 0.0)):
    margins = np.repeat(np.array(margins)[:, np.newaxis], 2 * mesh.nodes.size - 1, axis=1)
    guess = np.full(mesh.nodes.size, 0.2)
    arcs = None
    for _ in range(3):  # which limits may matter is told by the guess
        arcs = arcs_of(mesh, limits, roof, guess, margins)
        guess = arcs.x
    return arcs


def place_at(q):
    return brentq(lambda r: path(r)[0] - q, 0.0, 1.0, xtol=1e-14)


@pytest.mark.parametrize('nodes', [EVEN, UNEVEN], ids=['even', 'uneven'])
@pytest.mark.parametrize(
    ('weight', 'acceleration', 'margin'), [(0.0, 1.5, 0.0), (3.0, np.inf, 0.0), (0.0, 1.5, 0.02)]
)
def test_two_constant_accelerations_meet_where_velocities_are_the_same(
    nodes, weight, acceleration, margin
):
    mass, effort = 2.0, 10.0
    up = min((effort * (1.0 - margin) - weight) / mass, acceleration * (1.0 - margin))
    down = min((effort * (1.0 - margin) + weight) / mass, acceleration * (1.0 - margin))
    mesh = mesh_along(nodes, path, mass, weight)
    arcs = found_arcs(mesh, limits_of(np.inf, acceleration, effort), margins=(0.0, margin))
    corner = place_at(down / (up + down))
    before, after = nodes < corner, nodes > corner
    with np.errstate(divide='ignore'):
        first, second = speeding_up(nodes, up), slowing_down(nodes, down)
    np.testing.assert_allclose(arcs.x[before], first[0][before], rtol=1e-6)
    np.testing.assert_allclose(arcs.x[after], second[0][after], rtol=1e-6)
    expected = np.where(before[1:], FORWARD, np.where(after[:-1], BACKWARD, MIXED))
    np.testing.assert_array_equal(arcs.kind, expected)
    u = arcs.slopes()
    assert np.isnan(u[arcs.kind == MIXED]).all()
    np.testing.assert_allclose(u[before[1:], 1], first[1][1:][before[1:]], rtol=3e-4)
    np.testing.assert_allclose(u[before[1:], 0], first[1][:-1][before[1:]], rtol=3e-4)
    np.testing.assert_allclose(u[after[:-1], 0], second[1][:-1][after[:-1]], rtol=3e-4)
    np.testing.assert_allclose(u[after[:-1], 1], second[1][1:][after[:-1]], rtol=3e-4)
    np.testing.assert_allclose(corners(arcs), [corner], rtol=1e-6)
    assert kinks(arcs).size == 0
    mixed = int(np.flatnonzero(arcs.kind == MIXED)[0])
    np.testing.assert_array_equal(np.flatnonzero(stepping_nodes(u)), [mixed - 1, mixed])


@pytest.mark.parametrize('margin', [0.0, 0.02])
def test_a_velocity_limit_is_followed_between_two_accelerations(margin):
    velocity = 0.6
    mesh, kept = mesh_along(EVEN, path), velocity * (1.0 - margin)
    arcs = found_arcs(mesh, limits_of(velocity, 1.0), margins=(margin, 0.0))
    begin = place_at(0.5 * kept**2)
    with np.errstate(all='ignore'):
        ways = [speeding_up(EVEN, 1.0), at_velocity(EVEN, kept), slowing_down(EVEN, 1.0)]
    which = np.searchsorted([begin, 1.0 - begin], EVEN)
    for k, (x, u) in enumerate(ways):
        np.testing.assert_allclose(arcs.x[which == k], x[which == k], rtol=1e-6)
        at = np.flatnonzero((which[1:] == k) & (which[:-1] == k))
        assert (arcs.kind[at] == (FORWARD, CEILING, BACKWARD)[k]).all()
        inner = at[(at > 0) & (at < arcs.kind.size - 1)]
        for end in (0, 1):
            np.testing.assert_allclose(arcs.slopes()[inner, end], u[inner + end], rtol=3e-4)
    np.testing.assert_allclose(corners(arcs), [begin, 1.0 - begin], atol=1e-5)


def test_a_roof_is_followed_where_it_is_low_and_left_where_it_is_too_steep():
    def roof(r):
        return 0.19 + 10.0 * r**4, 20.0 * r**3

    def left(r):
        """What the acceleration of 1 leaves of u along the roof."""
        (x, u), (_, first, second) = roof(r), path(r)
        return (1.0 - second * x) / first - u

    mesh = mesh_along(UNEVEN, path)
    arcs = found_arcs(mesh, limits_of(np.inf, 1.0), roof)
    end = brentq(left, 0.1, 0.4)
    begin = brentq(lambda r: roof(r)[0] - speeding_up(r, 1.0)[0], 0.0, 0.2)
    assert corners(arcs)[0] == pytest.approx(begin, abs=1e-5)
    found = kinks(arcs)
    assert found == pytest.approx([end], abs=3e-4)
    on = (UNEVEN > begin) & (UNEVEN < end)
    np.testing.assert_allclose(arcs.x[on], roof(UNEVEN[on])[0], rtol=1e-12)
    beyond = (UNEVEN > end) & (UNEVEN < 0.4)
    assert (arcs.x[beyond] < roof(UNEVEN[beyond])[0]).all()
    # The same path the other way round: all places are turned round.
    back = found_arcs(
        mesh, limits_of(np.inf, 1.0), lambda r: (roof(1.0 - r)[0], -roof(1.0 - r)[1])
    )
    np.testing.assert_allclose(back.x[::-1], arcs.x, rtol=1e-9)
    np.testing.assert_allclose(1.0 - kinks(back), found, atol=1e-9)
    np.testing.assert_allclose(np.sort(1.0 - corners(back)), corners(arcs), atol=1e-9)


def with_weight(mesh, weight):
    return replace(mesh, terms=mesh.terms._replace(weight=weight[:, np.newaxis]))


def test_rest_slopes_are_those_of_the_limits_beside_the_rests():
    # There the acceleration is limited to 1, and one interval further the effort to less.
    mesh = mesh_along(EVEN, path)
    weight = np.zeros(mesh.places.size)
    weight[3:10], weight[-10:-3] = 0.5, -0.5
    limits = limits_of(np.inf, 1.0, 1.2)
    u = found_arcs(with_weight(mesh, weight), limits).slopes()
    np.testing.assert_allclose([u[0, 0], u[-1, 1]], [1.0 / 9.0, -1.0 / 9.0], rtol=1e-3)


def test_another_limit_that_takes_over_bends_an_arc():
    # The effort's room shrinks along the path, from more than the acceleration takes to less.
    mesh, change = mesh_along(EVEN, path), 0.23
    mesh = with_weight(mesh, 0.5 + 0.4 * (mesh.places - change))
    arcs = found_arcs(mesh, limits_of(np.inf, 1.0, 1.5))
    assert kinks(arcs) == pytest.approx([change], abs=1e-3)


def test_a_limit_may_take_over_for_an_interval_on_both_sides_of_a_node_alone():
    mesh, node = mesh_along(EVEN, path), EVEN[20]
    far = 0.7 * (EVEN[1] - EVEN[0])
    mesh = with_weight(mesh, 0.5 + 0.1 * (far - np.abs(mesh.places - node)))
    arcs = found_arcs(mesh, limits_of(np.inf, 1.0, 1.5))
    assert np.sort(kinks(arcs)) == pytest.approx([node - far, node + far], abs=1e-4)


@pytest.mark.parametrize('share', [0.003, 0.996, 0.0])
def test_a_corner_beside_a_node_is_one_and_at_a_node_is_none(share):
    size = 1.0 / 60.5
    nodes = 0.5 + size * (np.arange(-30, 31) - share)
    nodes = np.concatenate(([0.0], nodes[1:-1], [1.0]))
    arcs = found_arcs(mesh_along(nodes, path), limits_of(np.inf, 1.0))
    found = corners(arcs)
    if share:
        assert found == pytest.approx([0.5], abs=1e-6)
    else:
        assert found.size == 0
        steps = stepping_nodes(arcs.slopes())
        np.testing.assert_array_equal(nodes[1:-1][steps], [nodes[30]])


@pytest.mark.parametrize('forward', [True, False])
def test_curves_from_one_end_have_the_bounds_of_u_at_both_ends(forward, rng):
    arcs = found_arcs(mesh_along(EVEN, path), limits_of(np.inf, 1.0))
    count = EVEN.size
    shape = (2 * count - 1, 6)
    arcs = replace(
        arcs,
        rows=ArcRows(rng.normal(size=shape), rng.normal(size=shape), rng.uniform(0.5, 1.0, shape)),
        x=rng.uniform(0.1, 1.0, count),
        forward=rng.uniform(0.1, 1.0, count - 1),
        backward=rng.uniform(0.1, 1.0, count - 1),
        rest_slopes=(7.0, -5.0),
    )
    k = np.arange(count - 1)
    x, u = arcs.from_one_end(k, forward)
    near, far = (0, 1) if forward else (1, 0)
    np.testing.assert_array_equal(x[near], arcs.x[k + near])
    np.testing.assert_array_equal(x[far], (arcs.forward if forward else arcs.backward)[k])
    np.testing.assert_array_equal(u[near], arcs.bounds(arcs.x)[near][k + near])
    other = arcs.x.copy()
    other[k + far] = x[far]
    np.testing.assert_array_equal(u[far], arcs.bounds(other)[near][k + far])
    assert arcs.bounds(arcs.x)[0][0] == 7.0
    assert arcs.bounds(arcs.x)[1][-1] == -5.0


@pytest.mark.parametrize('kind', [FORWARD, BACKWARD, CEILING])
@pytest.mark.parametrize('parts', [1, 2, 3, 4, 5])
def test_parts_of_an_interval_are_so_many_that_errors_of_fourth_order_vanish_in_them(kind, parts):
    """Those of limits are 5e-6, those of times 2e-9 of the whole at a limit left unused."""
    mesh, limits = mesh_along(EVEN, path), limits_of(0.6, np.inf, 1.0)
    arcs = found_arcs(mesh, limits)
    u, none = arcs.slopes(), np.zeros(EVEN.size - 2)
    k = int(np.flatnonzero(arcs.kind == kind)[4])
    at, h = 2 * k + 1, mesh.sizes[k]
    x, slope = hermite((arcs.x[k], arcs.x[k + 1]), (u[k, 0], u[k, 1]), h, 0.5)
    used = arcs.rows.a[at] * slope + arcs.rows.b[at] * x
    tight = (used - arcs.rows.room[at]).argmax()
    for error in ((parts - 0.98) ** 4, (parts - 0.02) ** 4):
        for over in (5e-6 * error, -2e-9 * error / h):
            room, first = arcs.rows.room.copy(), mesh.terms.first.copy()
            if kind == CEILING:
                first[at] = 0.6 * np.sqrt((1.0 + over) / x)
            else:
                room[at, tight] = used[tight] - over
            terms = mesh.terms._replace(first=first)
            changed = replace(
                arcs, rows=arcs.rows._replace(room=room), mesh=replace(mesh, terms=terms)
            )
            assert parts_to_follow(changed, u, limits, none)[k] == parts


@pytest.mark.parametrize('count', [12, 19, 27, 40])
def test_intervals_are_divided_until_limits_are_followed_in_their_middles(count):
    nodes, limits, rounds = np.linspace(0.0, 1.0, count), limits_of(0.6, np.inf, 1.0), []

    def weight(r):
        return 0.3 * np.sin(9.0 * r)

    for _ in range(12):
        mesh = mesh_along(nodes, path)
        arcs = found_arcs(with_weight(mesh, weight(mesh.places)), limits)
        u = arcs.slopes()
        parts = parts_to_follow(arcs, u, limits, beyond_limits(arcs, u))
        rounds.append(parts)
        x, slope = hermite((arcs.x[:-1], arcs.x[1:]), u.T, np.diff(nodes), np.array(0.5))
        middles = 0.5 * (nodes[1:] + nodes[:-1])
        _, first, second = path(middles)
        used = np.abs(first * slope + second * x + weight(middles))
        rate = first * np.sqrt(x) / 0.6
        whole = (arcs.kind != MIXED) & (parts == 1)
        assert used[whole].max(initial=0.0) < 1.0 + 5.5e-6
        assert rate[whole].max(initial=0.0) < 1.0 + 5.5e-6
        followed = np.where(arcs.kind == CEILING, rate**2, used)
        assert ((1.0 - followed) * np.diff(nodes))[whole].max(initial=0.0) < 2.1e-9
        if (parts == 1).all():
            break
        shares = [
            np.linspace(a, b, k + 1)[:-1]
            for a, b, k in zip(nodes[:-1], nodes[1:], parts, strict=True)
        ]
        nodes = np.append(np.concatenate(shares), 1.0)
        assert nodes.size < 100  # they are of fourth order
    assert (rounds[0] > 1).any()
    assert max(parts.max() for parts in rounds) <= 5
    assert (rounds[-1] == 1).all()
    # And limits are used up there: the one of the arc that an interval follows.
    for kind, share in ((FORWARD, used), (BACKWARD, used), (CEILING, rate)):
        followed = arcs.kind == kind
        assert followed.any()
        assert share[followed].min() > 1.0 - 1e-4


def test_what_is_beyond_limits_at_nodes_is_that_of_the_worse_side(rng):
    arcs = found_arcs(mesh_along(EVEN, path), limits_of(0.6, 1.0))
    u = arcs.slopes() + rng.normal(scale=0.05, size=(EVEN.size - 1, 2))
    _, first, second = path(EVEN)
    for k, beyond in enumerate(beyond_limits(arcs, u), 1):
        used = [first[k] * each + second[k] * arcs.x[k] for each in (u[k - 1, 1], u[k, 0])]
        expected = np.fmax.reduce([np.abs(each) - 1.0 for each in used] + [0.0])
        assert beyond == pytest.approx(expected, abs=1e-12)


def test_nodes_settle_about_a_transition_that_gets_shorter_when_it_is_asked_to():
    limits, places = limits_of(np.inf, 1.0), EVEN
    nodes = ArcNodes(mesh_along(EVEN, path), np.zeros(0))

    def refined(places):
        arcs = found_arcs(mesh_along(places, path), limits)
        u = arcs.slopes()
        beyond = beyond_limits(arcs, u)
        return nodes.refined(arcs, u, parts_to_follow(arcs, u, limits, beyond), beyond)

    for _ in range(12):
        found = refined(places)
        if found is None:
            break
        places = found
    assert found is None
    assert nodes.corners == pytest.approx([0.5], abs=1e-6)
    (half,) = nodes.halves
    beside = np.sort(np.abs(places - 0.5))
    np.testing.assert_allclose(beside[:3], [0.0, half, half], rtol=0.1, atol=1e-6)
    assert beside[3] > 2.9 * half
    before = half
    for _ in range(4):
        nodes.narrow(mesh_along(places, path), np.ones(places.size - 1, dtype=bool))
        refined(places)
        (half,) = nodes.halves
        assert half < 0.5 * before or half == pytest.approx(1e-5)
        before = half
    assert half == pytest.approx(1e-5)  # a share of the motion
