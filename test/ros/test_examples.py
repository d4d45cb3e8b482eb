# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The examples that talk to nodes, each beside the nodes that it names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pinocchio_oracle import example_robots
from trajectory_msgs.msg import JointTrajectory

import kron_dynamics as kd

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
FILES = [ROOT / 'config' / 'stacker_reclaimer.yaml']
PATIENCE = 240.0


def run(name, *arguments):
    """Run an example; return what it prints."""
    done = subprocess.run(
        [sys.executable, str(ROOT / 'examples' / f'{name}.py'), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ''
    return done.stdout


def numbers(text, pattern):
    return np.array([float(found) for found in re.findall(pattern, text)])


@pytest.fixture(scope='module')
def machine(launcher, connect):
    """dynamics_node of the stacker-reclaimer, that services are asked of: without a namespace."""
    process = launcher(
        'dynamics_node', '', remap={'__ns': '/'}, files=FILES, robot_description_file=str(STACKER)
    )
    client = connect('')
    client.wait_for(lambda: 'kernels' in process.output, 'configured node')
    yield client
    process.stop()


def offered(client, name):
    """Skip a test unless the node offers a service."""
    services = {service for service, _ in client.node.get_service_names_and_types()}
    if f'/dynamics_node/{name}' not in services:
        pytest.skip(f'dynamics_node does not offer {name} yet')


def test_planner_client(machine):
    printed = run('planner_client')
    robot = kd.load(STACKER)
    # At both ends it is at rest: what holds the machine there is among the efforts.
    holds = robot.gravity_vector([[100.0, 0.5, 0.0], [102.0, 0.7, 0.05]])[:, 2]
    ((low, high),) = re.findall(r'luff +effort from (\S+) to (\S+)', printed)
    slack = 2.0 * robot.joint_friction([1.0, 1.0, 1.0])[2]
    assert (
        min(holds) - slack <= float(low) <= min(holds) * (1 - 1e-3 * np.sign(min(holds))) + slack
    )
    assert float(low) < float(high)
    (speed,) = numbers(printed, r'bucket_wheel moves at (\S+) m/s')
    assert 0.05 < speed < 0.5


def test_feedforward_trajectory(machine):
    offered(machine, 'annotate_trajectory')
    sent = machine.hear(JointTrajectory, '/joint_trajectory_controller/joint_trajectory')
    printed = run('feedforward_trajectory')
    assert 'sent to /joint_trajectory_controller/joint_trajectory' in printed
    assert printed.count(' s [') == 3
    del sent  # may have been missed: the example does not wait for who listens


def test_payload_change(machine):
    offered(machine, 'set_payload')
    printed = run('payload_change', 'bucket_wheel', 5000)
    expected = kd.load(STACKER, payload={'bucket_wheel': 5000.0}).gravity_vector([100.0, 0.5, 0.0])
    (loaded,) = numbers(printed, r'luff +\S+ +(\S+) with 5000 kg at bucket_wheel')
    np.testing.assert_allclose(loaded, expected[2], rtol=1e-3)


@pytest.mark.parametrize('robot', ['ur5_robot', 'panda'])
def test_arm_in_simulation(robot, start, tmp_path):
    urdf = next((path for path in example_robots().values() if path.stem == robot), None)
    if urdf is None:
        pytest.skip('example-robot-data is not installed')
    (tmp_path / 'arm.yaml').write_text(run('arm_in_simulation', urdf, '--params'))
    both = {'files': [tmp_path / 'arm.yaml'], 'robot_description_file': str(urdf)}
    start('simulator_node', 'arm', remap={'~/commands': 'dynamics_node/commands'}, **both)
    # A busy computer is no reason to fail.
    start('dynamics_node', 'arm', state_timeout=5.0, following_error_time=10.0, **both)
    printed = run('arm_in_simulation', urdf)
    off = numbers(printed, r'(\S+) mrad off')
    assert off.size == kd.load(urdf).n
    assert (off < 20.0).all(), printed
    moved = numbers(printed, r' at +(-?\d\S*),')
    assert np.abs(moved).max() > 0.2
