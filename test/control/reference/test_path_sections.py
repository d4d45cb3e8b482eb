# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Paths of trajectories: smooth between rests, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.path_sections import (
    sections_of_trajectory,
    sections_of_waypoints,
)
from kron_dynamics.exceptions import TrajectoryError


def trajectory_with_a_step(size, share):
    """Two cubics of a duration; the first joint's acceleration steps by a share of its largest.

    That of the second, which moves a thousand times as far, does not.
    """
    q = np.array([[0.0, 0.0], [1.0, 1e3], [2.0, 2e3]])
    v = np.array([[0.0, 0.0], [1.5 * (1.0 + 0.25 * share), 1.5e3], [0.0, 0.0]]) / size
    return Trajectory.from_points(['lift', 'slide'], size * np.arange(3), q, v)


@pytest.mark.parametrize('size', [1e-2, 1.0])
def test_a_step_of_an_acceleration_is_rounding_up_to_a_share_of_the_joints_largest(size):
    (section,) = sections_of_trajectory(trajectory_with_a_step(size, 5e-6))
    np.testing.assert_allclose(section.ends, [[0.0, 0.0], [2.0, 2e3]], atol=1e-9)
    assert section.points == (0, 1, 2)
    with pytest.raises(TrajectoryError, match=f"of joint 'lift' bends at once at {size:g} s"):
        sections_of_trajectory(trajectory_with_a_step(size, 5e-5))


@pytest.mark.parametrize('count', [2, 3, 5, 8])
def test_a_spline_is_one_section_however_many_points_it_has(count, rng):
    times, q = np.arange(count), rng.normal(size=(count, 3))
    (section,) = sections_of_trajectory(Trajectory.from_points(['a', 'b', 'c'], times, q))
    np.testing.assert_allclose(section.breaks, times)
    assert section.points == tuple(range(count))


@pytest.mark.parametrize('joint', [0, 1, 2])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_the_farthest_place_beyond_a_bound_is_found(joint, sign, rng):
    """Between waypoints, where splines overshoot them."""
    points = np.cumsum(rng.normal(size=(9, 3)), axis=0)
    (section,) = sections_of_waypoints(points, (), np.ones(3))
    s = np.linspace(*section.breaks[[0, -1]], 100001)
    q = section.derivatives(s, section.piece_at(s))[0]
    k = int((sign * q[:, joint]).argmax())
    for inside in (1e-4, -1e-4):
        lower, upper = np.full((2, 3), [[-1e3], [1e3]])
        (upper if sign > 0.0 else lower)[joint] = bound = q[k, joint] - sign * inside
        found = section.beyond(lower, upper)
        if inside < 0.0:
            assert found is None
        else:
            assert found[0] == joint and found[3] == bound
            assert found[1:3] == pytest.approx((q[k, joint], s[k]), abs=1e-3)
            assert sign * (found[1] - q[k, joint]) > -1e-9


def rests_apart(place, apart):
    """Four rests, of which the one at `place` repeats its predecessor but for `apart`."""
    points = np.array([[0.3, 0.7], [1.0, -0.5], [0.2, 0.3]])
    return np.insert(points, place, points[place - 1] + [apart, -apart], axis=0)


@pytest.mark.parametrize('place', [1, 2, 3])
@pytest.mark.parametrize(('apart', 'count'), [(3e-16, 2), (1e-12, 2), (5e-8, 2), (1e-6, 3)])
def test_rests_that_repeat_but_for_rounding_are_one(place, apart, count):
    points = rests_apart(place, apart)
    sections = sections_of_waypoints(points, (1, 2), np.ones(2))
    assert len(sections) == count
    ends = np.array([section.ends for section in sections])
    np.testing.assert_allclose(ends[1:, 0], ends[:-1, 1], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(ends[[0, -1], [0, 1]], points[[0, -1]], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize('start', [0.0, 1.0, 300.0])
def test_a_way_of_rounding_alone_is_none(start):
    step = 1e-10 * max(start, 1.0)
    for share, count in ((0.9, 0), (10.0, 1)):
        points = np.array([[start], [start + share * step]])
        assert len(sections_of_waypoints(points, (), np.ones(1))) == count


@pytest.mark.parametrize('place', [1, 2, 3])
def test_so_are_rests_of_a_trajectory(place):
    points = rests_apart(place, 3e-16)
    still = np.zeros_like(points)
    given = Trajectory.from_points(['lift', 'slide'], range(4), points, still, still)
    first, second = sections_of_trajectory(given)
    np.testing.assert_allclose(first.ends[1], second.ends[0], rtol=0.0, atol=1e-14)
