# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of velocity, acceleration and jerk of frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics import UnknownFrameError
from kron_dynamics.kinematics import (
    frame_acceleration,
    frame_jerk,
    frame_velocity,
    jacobian,
    kinematic_hessian,
)
from kron_dynamics.model import load_model


def along(s: Any, t: float) -> tuple[np.ndarray, ...]:
    """Position, rate and acceleration at time t of the motion that a state begins."""
    return (
        s.q + s.qd * t + s.qdd * t**2 / 2 + s.qddd * t**3 / 6,
        s.qd + s.qdd * t + s.qddd * t**2 / 2,
        s.qdd + s.qddd * t,
    )


def check_motion(model: Any, s: Any, link: str, assert_close: Any, derivative: Any) -> None:
    def velocity(t: float) -> np.ndarray:
        q, qd, _ = along(s, t)
        return frame_velocity(model, q, qd, link)

    def acceleration(t: float) -> np.ndarray:
        return frame_acceleration(model, *along(s, t), link)

    assert_close(velocity(0.0), jacobian(model, s.q, link) @ s.qd, floor=1.0)
    assert_close(acceleration(0.0), derivative(velocity), 1e-8, floor=1.0)
    jerk = frame_jerk(model, s.q, s.qd, s.qdd, s.qddd, link)
    assert_close(jerk, derivative(acceleration), 1e-8, floor=1.0)


def test_velocity_is_j_qd_and_each_derivative_that_of_the_one_before(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    """[T] (19), (28), (30), (38), (50), [N] (18)-(23)."""
    for link in model.link_names:
        check_motion(model, state, link, assert_close, derivative)


def test_jerk_in_kronecker_form(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    # J qddd + H (2 qdd (x) qd + qd (x) qdd) + dH/dq (qd (x) qd (x) qd): the order matters for H_R.
    link, s = model.tip_link, state
    H = kinematic_hessian(model, s.q, link)
    dH = derivative(lambda q: kinematic_hessian(model, q, link), s.q).reshape(6, -1)
    expected = (
        jacobian(model, s.q, link) @ s.qddd
        + H @ (2 * np.kron(s.qdd, s.qd) + np.kron(s.qd, s.qdd))
        + dH @ np.kron(np.kron(s.qd, s.qd), s.qd)
    )
    assert_close(frame_jerk(model, s.q, s.qd, s.qdd, s.qddd, link), expected, 1e-9)


def test_steady_turning_is_centripetal(robot_text: Any, assert_close: Any) -> None:
    # [N] eq. (51) and its like for velocity and jerk.
    model = load_model(robot_text('planar_2r'))
    w, still = 1.7, np.zeros(2)
    rate = np.array([w, 0.0])
    assert_close(frame_velocity(model, still, rate, 'hand'), [0, 1.5 * w, 0, 0, 0, w])
    assert_close(
        frame_acceleration(model, still, rate, still, 'hand'), [-1.5 * w**2, 0, 0, 0, 0, 0]
    )
    assert_close(
        frame_jerk(model, still, rate, still, still, 'hand'), [0, -1.5 * w**3, 0, 0, 0, 0]
    )


def test_base_links_stand_still(model: Any, state: Any) -> None:
    s, root = state, model.root_link
    np.testing.assert_array_equal(frame_velocity(model, s.q, s.qd, root), np.zeros(6))
    np.testing.assert_array_equal(frame_acceleration(model, s.q, s.qd, s.qdd, root), np.zeros(6))
    np.testing.assert_array_equal(frame_jerk(model, s.q, s.qd, s.qdd, s.qddd, root), np.zeros(6))


def test_unknown_link_is_refused(model: Any, state: Any) -> None:
    with pytest.raises(UnknownFrameError, match='nowhere'):
        frame_velocity(model, state.q, state.qd, 'nowhere')


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    link = data.draw(st.sampled_from(model.link_names))
    check_motion(model, s, link, assert_close, derivative)
