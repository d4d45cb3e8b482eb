# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine 600 m down its rails computes as one at the buffer stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kron_dynamics import dynamics, kinematics
from kron_dynamics.model import RobotModel, load_model

INDEPENDENT_OF_TRAVEL: dict[str, Callable[..., Any]] = {
    'mass_matrix': lambda m, q, qd, qdd: dynamics.mass_matrix(m, q),
    'mass_matrix_derivative': lambda m, q, qd, qdd: dynamics.mass_matrix_derivative(m, q),
    'velocity_free_coriolis_matrix': lambda m, q, qd, qdd: dynamics.velocity_free_coriolis_matrix(
        m, q
    ),
    'coriolis_vector': lambda m, q, qd, qdd: dynamics.coriolis_vector(m, q, qd),
    'gravity_vector': lambda m, q, qd, qdd: dynamics.gravity_vector(m, q),
    'inverse_dynamics': dynamics.inverse_dynamics,
    'forward_dynamics': dynamics.forward_dynamics,
    'jacobian': lambda m, q, qd, qdd: kinematics.jacobian(m, q, 'wheel'),
    'kinematic_hessian': lambda m, q, qd, qdd: kinematics.kinematic_hessian(m, q, 'wheel'),
    'frame_acceleration': lambda m, q, qd, qdd: kinematics.frame_acceleration(
        m, q, qd, qdd, 'wheel'
    ),
}


@pytest.mark.parametrize('quantity', INDEPENDENT_OF_TRAVEL)
def test_six_hundred_metres_of_travel_lose_no_digits(
    quantity: str, robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    model = load_model(robot_text('rail_boom'))
    function = INDEPENDENT_OF_TRAVEL[quantity]
    near, qd, qdd = rng.uniform(-0.2, 0.2, (3, 3))
    near[0], far = 0.0, near.copy()
    far[0] = 600.0
    assert_close(function(model, far, qd, qdd), function(model, near, qd, qdd))


@pytest.mark.parametrize('quantity', INDEPENDENT_OF_TRAVEL)
def test_rails_far_from_the_map_origin_lose_no_digits(
    quantity: str, robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    def at(place: str) -> RobotModel:
        return load_model(robot_text('rail_boom').replace('xyz="0 0 1.5"', f'xyz="{place}"'))

    function = INDEPENDENT_OF_TRAVEL[quantity]
    state = rng.uniform(-0.2, 0.2, (3, 3))
    far = function(at('40000 -70000 1.5'), *state)
    assert_close(far, function(at('0 0 1.5'), *state))
