# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Relative velocities and accelerations against Jacobians and Hessians."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.kinematics import relative_hessian, relative_jacobian
from kron_dynamics.kinematics.relative_motion import relative_acceleration, relative_velocity

POINT = (0.3, -0.2, 0.5)


@given(data=st.data())
def test_motion_is_jacobian_and_hessian_times_the_rates(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    """[T] (74)-(76), (83)-(85); the factors come from the pose, not from a recursion of rates."""
    model, s = data.draw(random_robots)
    link, reference, axes = (data.draw(st.sampled_from(model.link_names)) for _ in range(3))
    place = (link, reference, axes, POINT)
    J, H = (of(model, s.q, *place) for of in (relative_jacobian, relative_hessian))
    assert_close(relative_velocity(model, s.q, s.qd, *place), J @ s.qd, 1e-12, floor=1.0)
    expected = J @ s.qdd + H @ np.kron(s.qd, s.qd)
    found = relative_acceleration(model, s.q, s.qd, s.qdd, *place)
    assert_close(found, expected, 1e-12, floor=1.0)
