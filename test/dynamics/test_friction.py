# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of joint friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kron_dynamics.dynamics import joint_friction
from kron_dynamics.model import load_model


@pytest.fixture
def arm(robot_text: Any) -> Any:
    # damping 0.5, 0.25; friction 0.25, 0; velocity limits 4, 6
    return load_model(robot_text('planar_2r'))


def test_friction_is_viscous_plus_coulomb(arm: Any, assert_close: Any) -> None:
    # One percent of the velocity limit: far above it the Coulomb part is at its level.
    assert_close(joint_friction(arm, [2.0, 3.0]), [0.5 * 2 + 0.25, 0.25 * 3])
    assert_close(joint_friction(arm, [0.04, 0.0]), [0.5 * 0.04 + 0.25 * np.tanh(1), 0.0])


def test_friction_is_odd_in_the_rates(model: Any, state: Any) -> None:
    plus, minus = joint_friction(model, state.qd), joint_friction(model, -state.qd)
    np.testing.assert_array_equal(plus, -minus)
    np.testing.assert_array_equal(joint_friction(model, np.zeros(model.n)), np.zeros(model.n))


def test_friction_takes_energy_out(model: Any, state: Any) -> None:
    assert (state.qd * joint_friction(model, state.qd) >= 0).all()


@pytest.mark.parametrize('limit', ['inf', '0'])
def test_passage_without_a_velocity_limit(limit: str, robot_text: Any, assert_close: Any) -> None:
    text = robot_text('rrp').replace('velocity="0.5"', f'velocity="{limit}"')
    assert_close(joint_friction(load_model(text), [0, 0, 1e-3])[2], 20e-3 + 5 * np.tanh(1))


def test_friction_of_mimic_joints_weighs_on_their_master(
    robot_text: Any, assert_close: Any
) -> None:
    # finger_a 1 and 2; finger_b runs half as fast with 4 and 6.
    model = load_model(robot_text('gripper'))
    assert_close(model.damping, [0, 1 + 4 * 0.5**2])
    assert_close(model.friction, [0, 2 + 6 * 0.5])
