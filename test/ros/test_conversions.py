# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays as messages: what their fields have to be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.ros

HALF_TURNS = [np.pi * axis for axis in (*np.eye(3), np.array([0.6, 0.0, -0.8]))]
TURNS = [np.zeros(3), *HALF_TURNS, *np.random.default_rng(3).uniform(-3.0, 3.0, (30, 3))]


@pytest.mark.parametrize('turn', TURNS, ids=lambda turn: str(np.round(turn, 2)))
def test_a_pose_has_the_quaternion_of_its_rotation(turn):
    from kron_dynamics.ros.conversions import pose

    transform = np.eye(4)
    transform[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    transform[:3, 3] = 1.0, 2.0, 3.0
    message = pose(transform)
    place, found = message.position, message.orientation
    assert (place.x, place.y, place.z) == (1.0, 2.0, 3.0)
    quaternion = [found.x, found.y, found.z, found.w]
    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-15)
    again = Rotation.from_quat(quaternion).as_matrix()
    np.testing.assert_allclose(again, transform[:3, :3], atol=1e-15)


@pytest.mark.parametrize('nanoseconds', [0, 1, 250_000_000, 999_999_999])
@pytest.mark.parametrize('whole', [0, 7, 1_000_000, 123_456_789])
def test_a_stamp_is_its_seconds_and_nanoseconds(whole, nanoseconds):
    from builtin_interfaces.msg import Time

    from kron_dynamics.ros.conversions import seconds, stamp_from

    time = seconds(Time(sec=whole, nanosec=nanoseconds))
    assert time == pytest.approx(whole + nanoseconds / 1e9, rel=1e-15)
    again = stamp_from(time)
    # Doubles do not tell single nanoseconds of years apart.
    error = 10**9 * (again.sec - whole) + again.nanosec - nanoseconds
    assert abs(error) <= 1e9 * np.spacing(time)
