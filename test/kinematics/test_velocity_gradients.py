# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities differentiated by the coordinates, against exact derivatives of the products."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics import (
    angular_velocity_gradient,
    body_angular_jacobian,
    body_angular_jacobian_dot,
    body_angular_velocity_gradient,
    body_velocity_gradient,
    forward_kinematics,
    jacobian,
    rotation_between,
    velocity_gradient,
)


@given(data=st.data())
def test_theorem_1_and_corollary_1(data: Any, random_robots: Any, assert_close: Any) -> None:
    """[P] (16)-(18), (A-1), (A-4)-(A-6), of the last links, by exact derivatives."""
    model, s = data.draw(random_robots)
    point = np.array([0.3, -0.2, 0.5])
    for link in model.link_names[-3:]:

        def spin(q: Any, link: str = link) -> Any:
            return body_angular_jacobian(model, q, link) @ s.qd

        def base_spin(q: Any, link: str = link) -> Any:
            return jacobian(model, q, link)[3:] @ s.qd

        def velocity(q: Any, link: str = link) -> Any:
            return jacobian(model, q, link, point)[:3] @ s.qd

        def body_velocity(q: Any, link: str = link) -> Any:
            return rotation_between(model, q, model.root_link, link).T @ velocity(q)

        def rate(q: Any, link: str = link) -> Any:
            return jacobian_of(lambda x: body_angular_jacobian(model, x, link), q)[1] @ s.qd

        found = {
            spin: body_angular_velocity_gradient(model, s.q, s.qd, link),
            base_spin: angular_velocity_gradient(model, s.q, s.qd, link),
            velocity: velocity_gradient(model, s.q, s.qd, link, point),
            body_velocity: body_velocity_gradient(model, s.q, s.qd, link, point),
        }
        for function, gradient in found.items():
            assert_close(gradient, jacobian_of(function, s.q)[1], 1e-11, floor=1.0)
        J_dot = body_angular_jacobian_dot(model, s.q, s.qd, link)
        assert_close(J_dot, rate(s.q), 1e-11, floor=1.0)


def test_body_components_of_the_angular_velocity(
    model: Any, state: Any, derivative: Any, assert_close: Any
) -> None:
    """[P] (14), (16): R^T dR/dt is [omega x]."""
    link = model.tip_link

    def turn(t: float) -> Any:
        return forward_kinematics(model, state.q + t * state.qd, link)[:3, :3]

    spin = turn(0.0).T @ derivative(turn)
    omega = body_angular_jacobian(model, state.q, link) @ state.qd
    assert_close(omega, [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-9, floor=1.0)


def test_theorem_2_along_admissible_changes(
    model: Any, state: Any, rng: Any, derivative: Any, assert_close: Any
) -> None:
    """[P] (40), (A-7), and (41) as a 3 x m matrix: dq = B du of any constraints."""
    B = rng.normal(size=(model.n, 2))
    gradient = body_angular_velocity_gradient(model, state.q, state.qd, model.tip_link) @ B
    along = derivative(
        lambda du: body_angular_jacobian(model, state.q + B @ du, model.tip_link) @ state.qd,
        np.zeros(2),
    )
    assert gradient.shape == (3, 2)
    assert_close(gradient, along, 1e-9, floor=1.0)
