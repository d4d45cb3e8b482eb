# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics is linear in the inertial parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import inertial_parameters, inverse_dynamics, regressor
from kron_dynamics.model import Body, load_model


@given(data=st.data())
def test_regressor_times_parameters_is_tau(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    model, s = data.draw(random_robots)
    Y = regressor(model, s.q, s.qd, s.qdd)
    assert Y.shape == (model.n, 10 * len(model.bodies) + model.n)
    tau = inverse_dynamics(model, s.q, s.qd, s.qdd)
    assert_close(Y @ inertial_parameters(model), tau, 1e-12)


def test_regressor_holds_for_other_parameters(
    model: Any, state: Any, rng: Any, assert_close: Any
) -> None:
    """Y depends on the geometry alone: another load distribution uses the same Y."""
    bodies = tuple(
        Body(body.mass + 1.0, body.center_of_mass + rng.normal(size=3), 2 * body.inertia)
        for body in model.bodies
    )
    other = replace(model, bodies=bodies)
    Y = regressor(model, state.q, state.qd, state.qdd)
    tau = inverse_dynamics(other, state.q, state.qd, state.qdd)
    assert_close(Y @ inertial_parameters(other), tau, 1e-12)


def test_armature_resists_its_own_joint_alone(
    robot_text: Any, rng: Any, assert_close: Any
) -> None:
    text = robot_text('spatial_3r')
    plain = load_model(text)
    names = plain.joint_names
    geared = load_model(text, armature={names[1]: 0.7})
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    added = inverse_dynamics(geared, q, qd, qdd) - inverse_dynamics(plain, q, qd, qdd)
    assert_close(added, [0.0, 0.7 * qdd[1], 0.0], 1e-12)
    Y = regressor(geared, q, qd, qdd)
    tau = inverse_dynamics(geared, q, qd, qdd)
    assert_close(Y @ inertial_parameters(geared), tau, 1e-12)
