# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Paths of trajectories: smooth between rests, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import Trajectory
from kron_dynamics.control.reference.path_sections import sections_of_trajectory
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
