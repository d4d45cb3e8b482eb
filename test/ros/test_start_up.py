# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What dynamics_node imports: before its first command no more than it needs, after it nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BENT = [
    f'flexible_description_file:={ROOT / "config" / "stacker_reclaimer_flexible.yaml"}',
    'reference_shaping:=zvd',
    'vibration_damping:=true',
]
# A node alone in its process: states go in by its callback, so that each is one control cycle.
PROCESS = """
import json, sys, time
import rclpy
from rclpy.serialization import serialize_message
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from builtin_interfaces.msg import Duration, Time

file, urdf, *parameters = sys.argv[1:]
told = [f'robot_description_file:={urdf}', 'autostart:=false', *parameters]
arguments = [word for each in told for word in ('-p', each)]
rclpy.init(args=['--ros-args', '--params-file', file, *arguments])
from kron_dynamics.control import gravity_hold
from kron_dynamics.ros.dynamics_node import DynamicsNode

node = DynamicsNode()
sent, sought, q = [], [], [100.0, 0.1, 0.05]
now = 100 * 10**9
nearest = gravity_hold._nearest
gravity_hold._nearest = lambda *limits: sought.append(1) or nearest(*limits)
node._commands.publish = lambda *message: sent.append(message)

def cycles(count, velocity=(0.0, 0.0, 0.0)):
    global now
    for _ in range(count):
        now += 10_000_000  # whatever time the computer takes
        q[:] = [position + 0.01 * rate for position, rate in zip(q, velocity)]
        state = JointState(name=['travel', 'slew', 'luff'], position=q, velocity=velocity)
        state.header.stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
        node._on_joint_state(bytes(serialize_message(state)), {})
        time.sleep(0.01)

assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
cycles(3)
assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
cycles(1)
assert sent
before = set(sys.modules)
reference = JointTrajectory(joint_names=['travel', 'slew', 'luff'])
for k, velocities in enumerate(([], [0.0] * 3)):
    points = [
        JointTrajectoryPoint(
            positions=[q[0] + 0.1 * (j + 1), *q[1:]],
            velocities=velocities,
            time_from_start=Duration(sec=5 * (j + 1)),
        )
        for j in range(2)
    ]
    reference.points = points
    node._references._on_bytes(serialize_message(reference))
    while node._references._input._waiting or node._references._input._under_way:
        cycles(1)
    cycles(20)
followed = {key: text for key, text in node._references.values().items() if 'refused ' in key}
followed.pop('reference points followed, limited, refused, stops', None)
node._fault(node._controller, 'a test', time.monotonic())
cycles(3, (5.0 * node._configured.robot.model.velocity_limit).tolist())
node._publish_diagnostics()
later = sorted(set(sys.modules) - before)
print(json.dumps([sorted(before), later, followed, bool(sought)]), flush=True)
import os; os._exit(0)
"""


def run(cache: Path, *parameters: str) -> list[Any]:
    """Modules at the first command, those that came later, refusals, and whether limits met."""
    file = str(ROOT / 'config' / 'stacker_reclaimer.yaml')
    command = [sys.executable, '-c', PROCESS, file, str(STACKER), *parameters]
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'KRON_DYNAMICS_CACHE': str(cache)}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, timeout=200)
    assert done.returncode == 0
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope='module')
def stiff(kernel_cache: Path) -> list[Any]:
    run(kernel_cache)  # compiles what is not there
    return run(kernel_cache)


def test_the_first_command_needs_no_solvers_beams_or_compiler(stiff: list[Any]) -> None:
    before = stiff[0]
    packages = {name.partition('.')[0] for name in before}
    assert {'numpy', 'lxml', 'rclpy'} <= packages
    assert packages.isdisjoint({'scipy', 'sympy', 'matplotlib', 'statistics', 'fractions'})
    ours = {name for name in before if name.startswith('kron_dynamics.')}
    assert 'kron_dynamics.kernels.kernel_factory' in ours
    for room in ('flexible', 'symbolic', 'simulation', 'bag', 'modes', 'stability', 'demo'):
        assert not {name for name in ours if name.startswith(f'kron_dynamics.{room}.')}, room
    for room in ('control.vibration', 'control.shaping', 'kernels.loops', 'kernels.emit'):
        assert not {name for name in ours if name.startswith(f'kron_dynamics.{room}')}, room
    assert 'kron_dynamics.kernels.check' not in ours
    assert 'numpy.random' not in before


def test_no_cycle_of_a_stiff_machine_imports_anything(stiff: list[Any]) -> None:
    _, later, refused, met = stiff
    assert refused == {}
    assert met  # efforts were sought within limits
    assert later == []


def test_no_cycle_of_a_flexible_machine_imports_anything(kernel_cache: Path) -> None:
    before, later, refused, _ = run(kernel_cache, *BENT)
    assert {'scipy.interpolate', 'scipy.optimize', 'scipy.linalg'} <= set(before)
    assert refused == {}
    assert later == []
