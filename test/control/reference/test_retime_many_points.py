# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Retimed paths given by many points: as quick as the same paths given by few."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.control import Trajectory, retime

ARM = Path(__file__).parents[2] / 'robots' / 'planar_2r.urdf'
LIMITS = {'effort_limit': [60.0, 30.0], 'effort_rate_limit': [1000.0, 600.0]}

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module')
def arm():
    return kd.load(ARM)


def line(count, way):
    """Points of a motion from rest to rest with the least jerk, and its trajectory."""
    z = np.linspace(0.0, 1.0, count)[:, np.newaxis]
    start = np.array([1.0, -0.5])
    q = start + way * z**3 * (10.0 - 15.0 * z + 6.0 * z**2)
    v = way * 30.0 * z**2 * (1.0 - z) ** 2
    a = way * 60.0 * z * (1.0 - z) * (1.0 - 2.0 * z)
    return q, Trajectory.from_points(['shoulder', 'elbow'], z[:, 0], q, v, a)


@pytest.mark.parametrize(
    ('way', 'timed'), [([0.1, 0.08], True), ([1e-3, -2e-3], True), ([1e-3, -2e-3], False)]
)
def test_many_points_take_as_long_as_few(arm, way, timed, assert_close):
    """Positions are rounded: in too short intervals that looks like jerk."""
    points, trajectory = line(201, np.array(way))
    found = retime(arm, trajectory if timed else points, **LIMITS)
    few = retime(arm, points[[0, -1]], **LIMITS)
    assert 0.98 < found.duration / few.duration < 1.01
    assert_close(found.trajectory.samples(found.point_times)[0], points, 1e-9)
    times = np.linspace(0.0, found.duration, 2001)
    tau = arm.inverse_dynamics(*found.trajectory.samples(times))
    rates = np.abs(np.diff(tau, axis=0)) / times[1]
    assert (np.abs(tau) <= LIMITS['effort_limit']).all()
    assert 0.9 < (rates / LIMITS['effort_rate_limit']).max() <= 1.0 + 1e-9
