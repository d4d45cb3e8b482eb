# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The examples that talk to nodes, each beside the nodes that it names."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import threading
from itertools import count, repeat
from pathlib import Path

import numpy as np
import pytest
from lockstep import ANSWERED
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd

try:
    import rclpy
    from forgetful_nodes import ForgetfulNode
    from sensor_msgs.msg import JointState
    from std_srvs.srv import Trigger
    from trajectory_msgs.msg import JointTrajectory
except ImportError:
    pass  # then nothing of this folder is collected

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
FILES = [ROOT / 'config' / 'stacker_reclaimer.yaml']
PATIENCE = 240.0


def ended(name, *arguments):
    """Run an example to its end."""
    return subprocess.run(
        [sys.executable, str(ROOT / 'examples' / f'{name}.py'), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )


def run(name, *arguments):
    """Run an example; return what it prints."""
    done = ended(name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ''
    return done.stdout


@pytest.mark.parametrize('lost', [2, 1000])
def test_a_call_whose_responses_are_lost_asks_again_and_ends(lost, monkeypatch):
    monkeypatch.setattr(rclpy, 'spin_until_future_complete', lambda *_, **options: None)
    call = runpy.run_path(str((ROOT / 'examples' / 'service_calls').with_suffix('.py')))['call']
    node = ForgetfulNode(lost)
    if lost == 2:
        assert call(node, Trigger, 'clear_faults').message == 'heard'
        assert node.requests == 3 * [Trigger.Request()]
        return
    with pytest.raises(SystemExit, match='dynamics_node/clear_faults does not answer'):
        call(node, Trigger, 'clear_faults')


def numbers(text, pattern):
    return np.array([float(found) for found in re.findall(pattern, text)])


@pytest.fixture(scope='module')
def machine(launcher, connect):
    """dynamics_node of the stacker-reclaimer, that services are asked of: without a namespace.

    It hears no joint states, so that those of a test do not activate it.
    """
    names = {'__ns': '/', 'joint_states': 'no_joint_states'}
    process = launcher(
        'dynamics_node', '', remap=names, files=FILES, robot_description_file=str(STACKER)
    )
    client = connect('')
    client.wait_for(lambda: 'kernels' in process.output, 'configured node')
    yield client
    process.stop()


def test_planner_client(machine):
    printed = run('planner_client')
    robot = kd.load(STACKER)
    start, goal, duration = np.array([[100.0, 0.5, 0.0], [102.0, 0.7, 0.05], [60.0] * 3])
    s = np.linspace(0.0, 1.0, 200)
    shape = np.poly1d([6, -15, 10, 0, 0, 0])
    q, qd, qdd = (
        start * (k == 0) + np.outer(shape.deriv(k)(s), goal - start) / duration**k
        for k in range(3)
    )
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    for joint, wanted in zip(robot.joint_names, tau.T, strict=True):
        ((low, high),) = re.findall(rf'{joint} +effort from (\S+) to (\S+)', printed)
        np.testing.assert_allclose([float(low), float(high)], [wanted.min(), wanted.max()], 1e-3)
    (speed,) = numbers(printed, r'bucket_wheel moves at (\S+) m/s')
    velocity = robot.frame('bucket_wheel').velocity(q, qd)
    np.testing.assert_allclose(speed, np.hypot(*velocity[:, :2].T).max(), atol=1e-3)


@pytest.fixture(scope='module')
def planned(machine):
    """Plan a trajectory while the machine is at positions, one after the other."""
    states = machine.publisher(JointState, '/joint_states')

    def plan(places, *arguments):
        ends = []
        name = 'feedforward_trajectory'
        thread = threading.Thread(target=lambda: ends.append(ended(name, *arguments)))
        thread.start()
        for q in places:
            states.publish(JointState(name=['luff', 'travel', 'slew'], position=np.roll(q, 1)))
            machine.spin()
            if not thread.is_alive():
                break
        thread.join()
        return ends[0]

    return plan


def test_feedforward_trajectory_is_received_and_starts_where_the_machine_is(machine, planned):
    q = np.array([80.0, 0.3, 0.02])
    topic = '/joint_trajectory_controller/joint_trajectory'
    heard = machine.hear(JointTrajectory, topic, qos=1)
    done = planned(repeat(q))
    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.endswith(f'sent to {topic}\n')
    machine.wait_for(lambda: heard, 'trajectory')
    (trajectory,) = heard
    robot = kd.load(STACKER)
    assert trajectory.joint_names == list(robot.joint_names)
    times = [point.time_from_start for point in trajectory.points]
    assert [time.sec for time in times] == list(range(61))
    assert all(time.nanosec == 0 for time in times)
    at, qd, qdd, tau = (
        np.array([getattr(point, name) for point in trajectory.points])
        for name in ('positions', 'velocities', 'accelerations', 'effort')
    )
    np.testing.assert_array_equal(at[0], q)
    np.testing.assert_array_equal(qd[[0, -1]], 0.0)
    wanted = robot.inverse_dynamics(at, qd, qdd) + robot.joint_friction(qd)
    np.testing.assert_allclose(tau, wanted, rtol=1e-9)
    printed = re.findall(r'effort from (\S+) to (\S+)', done.stdout)
    np.testing.assert_allclose(np.array(printed, float).T, [tau.min(0), tau.max(0)], rtol=1e-3)


@pytest.mark.parametrize('receiver', ['absent', 'moving'])
def test_feedforward_trajectory_is_not_sent(planned, machine, receiver):
    """There is no controller; or the machine has moved since it was planned."""
    heard = machine.hear(JointTrajectory, '/moving/joint_trajectory', qos=1)
    moving = (np.array([80.0 + 0.01 * k, 0.3, 0.02]) for k in count())
    patience = 0.0 if receiver == 'absent' else PATIENCE
    done = planned(moving, receiver, patience)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    expected = {
        'absent': 'no subscriber of /absent/joint_trajectory within 0 s',
        'moving': 'not sent: the machine has moved since',
    }
    assert line.startswith(expected[receiver])
    assert 'sent to' not in done.stdout
    assert not heard


def test_payload_change(machine):
    printed = run('payload_change', 'bucket_wheel', 5000)
    expected = kd.load(STACKER, payload={'bucket_wheel': 5000.0}).gravity_vector([100.0, 0.5, 0.0])
    (loaded,) = numbers(printed, r'luff +\S+ +(\S+) with 5000 kg at bucket_wheel')
    np.testing.assert_allclose(loaded, expected[2], rtol=1e-3)
    (again,) = numbers(printed, r"payload removed: .*'luff': '(\S+)'")
    empty = kd.load(STACKER).gravity_vector([100.0, 0.5, 0.0])
    np.testing.assert_allclose(again, empty[2], rtol=1e-3)


@pytest.mark.parametrize('robot', some_of(['ur5_robot', 'panda'], ['panda']))
def test_arm_in_simulation(robot, start, tmp_path):
    urdf = next((path for path in example_robots().values() if path.stem == robot), None)
    if urdf is None:
        pytest.skip('example-robot-data is not installed')
    (tmp_path / 'arm.yaml').write_text(run('arm_in_simulation', urdf, '--params'))
    both = {'files': [tmp_path / 'arm.yaml'], 'robot_description_file': str(urdf)}
    simulator = {'remap': ANSWERED, 'lockstep': True, 'command_timeout': 20.0}
    start('simulator_node', 'arm', **simulator, **both)
    # A busy computer is no reason to fail.
    start('dynamics_node', 'arm', state_timeout=5.0, following_error_time=10.0, **both)
    printed = run('arm_in_simulation', urdf)
    off = numbers(printed, r'(\S+) mrad off')
    assert off.size == kd.load(urdf).n
    assert (off < 20.0).all(), printed
    moved = numbers(printed, r' at +(-?\d\S*),')
    assert np.abs(moved).max() > 0.2
