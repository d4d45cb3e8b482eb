# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches from outside as generalized forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from public_vectors import cases_of

from kron_dynamics import dynamics
from kron_dynamics.dynamics import external_wrench
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import load_model


@pytest.mark.parametrize('case', cases_of('external_wrench'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    # [P] eq. (28)
    inputs, expected = case['inputs'], case['expected']
    model = load_model(inputs['urdf'], gravity=inputs['gravity'], joints=inputs['joint_order'])
    q, qd, qdd = (np.array(inputs['state'][key]) for key in ('q', 'qd', 'qdd'))
    body = model.bodies[model.frame(inputs['link']).body]
    assert inputs['link'] in body.links  # the force acts at this link's own mass centre
    f = external_wrench(
        model,
        q,
        inputs['link'],
        inputs['force_body'],
        inputs['moment_body'],
        point=body.center_of_mass,
    )
    assert_close(f, expected['f_ext'], 1e-12)
    tau = dynamics.inverse_dynamics(model, q, qd, qdd) - f
    assert_close(tau, expected['tau_actuator'], 1e-12)


def test_power_of_a_wrench_is_force_times_velocity(
    model: Any, state: Any, rng: Any, derivative: Any, assert_close: Any
) -> None:
    link, point, force = model.tip_link, rng.normal(size=3), rng.normal(size=3)

    def place(q: np.ndarray) -> np.ndarray:
        pose = forward_kinematics(model, q, link)
        return pose[:3, 3] + pose[:3, :3] @ point

    v = derivative(lambda t: place(state.q + t * state.qd))
    f = external_wrench(
        model, state.q, link, force, np.zeros(3), point=point, axes=model.root_link
    )
    assert_close(f @ state.qd, force @ v, 1e-9, floor=1.0)


def test_weight_as_a_wrench_is_gravity(model: Any, state: Any, assert_close: Any) -> None:
    g = np.zeros(model.n)
    for k, body in enumerate(model.bodies):
        link = next(name for name, frame in model.frames.items() if frame.body == k)
        weight = body.mass * model.gravity
        g -= external_wrench(
            model, state.q, link, weight, np.zeros(3), body.center_of_mass, model.root_link
        )
    assert_close(g, dynamics.gravity_vector(model, state.q), 1e-12, floor=1e-9)
