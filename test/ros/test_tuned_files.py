# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The parameter files for public arms: the node takes them and the arm arrives, without fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from lockstep import ANSWERED
from pinocchio_oracle import example_robots
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]

CONFIG = Path(__file__).parents[2] / 'config'
# Positions to start from, rad and m; the Panda's are those that the simulator chooses, 0 or where
# a joint cannot be there the middle of its range.
ARMS = {
    'ur5': ('ur5_robot.urdf', [0.0, -1.2, 1.4, -0.5, 0.4, 0.0]),
    'panda': ('panda.urdf', [0.0, 0.0, 0.0, -1.5708, 0.0, 0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize('name', ARMS)
def test_an_arm_arrives_with_its_parameter_file(start, connect, name):
    urdf, pose = ARMS[name]
    file = CONFIG / f'{name}.yaml'
    settings = yaml.safe_load(file.read_text('utf-8'))['/**/dynamics_node']['ros__parameters']
    joints = list(settings['gains'])
    (path,) = (path for path in example_robots().values() if path.name == urdf)
    client = connect(f'tuned_{name}')
    states = client.hear(JointState, 'joint_states')
    references = client.publisher(JointTrajectory, 'dynamics_node/reference')
    start(
        'simulator_node',
        client.namespace,
        remap=ANSWERED,
        joints={f'initial_position.{j}': q for j, q in zip(joints, pose, strict=True)}
        if name == 'ur5'
        else {},
        robot_description_file=str(path),
        publish_rate=1.0 / settings['state_period'],
        lockstep=True,
        command_timeout=20.0,
    )
    # A busy computer is no fault of the gains: its pauses are longer than the machine allows.
    start(
        'dynamics_node',
        client.namespace,
        files=[file],
        joints={},
        robot_description_file=str(path),
        state_timeout=20.0,
        diagnostics_period=0.1,
    )
    client.wait_for(
        lambda: (status := client.status()) is not None and status.message == 'active', 'activity'
    )
    first = client.wait_for(lambda: list(states), 'a joint state')[0]
    np.testing.assert_allclose(first.position, pose, atol=1e-3)
    goal = np.array(pose) + np.where(np.arange(len(pose)) < 6, 0.3, 0.0)
    point = JointTrajectoryPoint(positions=goal.tolist(), velocities=[0.0] * len(goal))
    point.time_from_start.sec = 2
    references.publish(JointTrajectory(joint_names=joints, points=[point]))
    client.wait_for(
        lambda: states and np.abs(np.array(states[-1].position) - goal).max() < 1e-3, 'arrival'
    )
    assert client.next_status().message == 'active'
