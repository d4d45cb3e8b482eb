# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of a model say so where they get something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.flexible.load import load_flexible_model
from kron_dynamics.model.rigid_model import rigid_tree

ROOT = Path(__file__).parents[2]


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


def test_a_tree_of_rigid_bodies_has_no_link_that_bends() -> None:
    model = load_flexible_model(
        (ROOT / 'urdf' / 'flexible_manipulator.urdf').read_text(encoding='utf-8'),
        ROOT / 'config' / 'flexible_manipulator_flexible.yaml',
    )
    names = ', '.join(f"'{link}'" for link in model.flexible_link_names)
    with pytest.raises(kd.ModelError, match=f'for rigid robots, .* {names} is flexible'):
        rigid_tree(model)
    assert rigid_tree(model.rigid) is model.rigid
