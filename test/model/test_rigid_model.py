# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of a model say so where they get something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics


@pytest.mark.parametrize(
    ('function', 'derivatives'),
    [(dynamics.inverse_dynamics, 3), (dynamics.inverse_dynamics_rate, 4)],
)
def test_a_robot_is_no_model(robot_text: Any, function: Any, derivatives: int) -> None:
    robot = kd.loads(robot_text('spatial_3r'))
    with pytest.raises(kd.ArgumentTypeError, match=r'model is a Robot, expected .* robot\.model'):
        function(robot, *np.zeros((derivatives, robot.n)))


def test_kinematics_of_a_robot_ask_for_its_model(robot_text: Any) -> None:
    robot = kd.loads(robot_text('spatial_3r'))
    with pytest.raises(kd.ArgumentTypeError, match='expected a model, such as robot.model'):
        kinematics.jacobian(robot, np.zeros(robot.n), robot.model.tip_link)
