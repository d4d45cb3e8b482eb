# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page about ros2_control, its controllers and the machine agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kron_dynamics as kd

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'ros2_control.md').read_text(encoding='utf-8')
CONTROLLERS = ('effort_controller', 'joint_trajectory_controller')


@pytest.fixture(scope='module')
def files() -> list[dict[str, Any]]:
    found = []
    for name in ('ros2_control', 'stacker_reclaimer'):
        content = yaml.safe_load((ROOT / 'config' / f'{name}.yaml').read_text(encoding='utf-8'))
        found.append({k.removeprefix('/**/'): v['ros__parameters'] for k, v in content.items()})
    return found


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf')


def test_controllers_have_the_joints_in_the_order_of_the_model(
    files: list[dict[str, Any]], robot: kd.Robot
) -> None:
    control, _ = files
    for name in CONTROLLERS:
        assert control[name]['joints'] == list(robot.joint_names)
        assert 'type' in control['controller_manager'][name]


def test_gains_are_those_of_the_node_as_efforts(
    files: list[dict[str, Any]], robot: kd.Robot
) -> None:
    control, own = files
    start = own['simulator_node']['initial_position']
    inertia = robot.mass_matrix([start[joint] for joint in robot.joint_names]).diagonal()
    for joint, m in zip(robot.joint_names, inertia, strict=True):
        gains, wanted = (
            control['joint_trajectory_controller']['gains'][joint],
            own['dynamics_node'],
        )
        for name in 'pd':
            np.testing.assert_allclose(
                float(gains[name]), m * wanted['gains'][joint][f'k{name}'], rtol=0.01
            )


def test_joint_states_come_at_the_period_that_the_node_is_told(
    files: list[dict[str, Any]],
) -> None:
    control, own = files
    manager = control['controller_manager']['update_rate']
    states = control.get('joint_state_broadcaster', {}).get('update_rate', manager)
    np.testing.assert_allclose(own['dynamics_node']['state_period'], 1.0 / states)
    assert manager % states == 0  # or else states come at another rate
    assert own['simulator_node']['publish_rate'] == states


def test_what_the_page_names_exists(files: list[dict[str, Any]]) -> None:
    control, own = files
    for controllers in re.findall(r'spawner (.*)', PAGE):
        assert set(controllers.split()) <= set(control['controller_manager'])
    for parameter in ('state_period', 'state_timeout', 'fault_action'):
        assert f'`{parameter}' in PAGE
        assert parameter in own['dynamics_node']
    launch = (ROOT / 'launch' / 'robot.launch.py').read_text(encoding='utf-8')
    lines = re.findall(r'ros2 launch kron_dynamics (\S+) (.*)', PAGE)
    assert len(lines) == 3
    for file, arguments in lines:
        assert (ROOT / 'launch' / file).exists()
        for name in re.findall(r'(\w+):=', arguments):
            assert f"'{name}'" in launch
    for service in set(re.findall(r'`~/(\w+)`', PAGE)) - {'commands', 'command_state', 'terms'}:
        title = ''.join(part.capitalize() for part in service.split('_'))
        known = (ROOT / 'kron_dynamics_msgs' / 'srv' / f'{title}.srv').exists()
        assert known or service == 'clear_fault', service
