# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Hostile joint states and killed processes, against dynamics_node in a process of its own.

Usage: python test/faults/campaign.py [--only MACHINE ...] [--seconds 5] [--seed 1]

For the stacker, a UR5 and a Panda: states spoiled in every way of `spoilers`, two sources, a
machine that is killed or held, a node that is killed or held. The node must never end, never send
a command that is not finite, within its limits and near the last one, and it must be cleared when
the states are right again. Prints a line a case; the exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'test' / 'support'), str(Path(__file__).parent)]
DOMAIN = '61'
os.environ |= {'ROS_DOMAIN_ID': DOMAIN, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}

import rclpy  # noqa: E402
from machine import BadCommandError, Machine  # noqa: E402
from spoilers import CASES  # noqa: E402

import kron_dynamics  # noqa: E402
from kron_dynamics import Robot  # noqa: E402

MACHINES = ('stacker', 'ur5', 'panda')
FREQUENCY = {'stacker': 1.0, 'ur5': 6.0, 'panda': 6.0}  # rad/s of the position loops
PATIENCE = 180.0


def description(name: str) -> str:
    """Return the URDF text of a machine."""
    if name == 'stacker':
        return (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8')
    from pinocchio_oracle import arm_text

    return str(arm_text({'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}[name]))


class Node:
    """The node in a process of its own, which is started again where it was killed."""

    def __init__(self, name: str, text: str, robot: Robot, folder: Path) -> None:
        frequency = FREQUENCY[name]
        self.rate_limit = 10.0 * frequency * robot.model.effort_limit
        parameters = {
            'robot_description': text,
            'state_period': 0.01,
            'diagnostics_period': 0.1,
            'allowed_model_warnings': [
                'triangle_inequality',
                'massless_joint',
                'unknown_attribute',
            ],
            'gains': {
                joint: {'kp': frequency**2, 'kd': 2.0 * frequency} for joint in robot.joint_names
            },
        }
        file = folder / f'{name}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}), 'utf-8')
        command = [sys.executable, '-m', 'kron_dynamics.ros.dynamics_node', '--ros-args']
        self._command = [*command, '--params-file', str(file), '-r', f'__ns:=/{name}']
        self.log = folder / f'{name}.log'
        self.start()

    def start(self) -> None:
        """Start it, once more where it has ended."""
        with open(self.log, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True
            )

    def alive(self) -> bool:
        """Whether it runs, and has never told of an error of its own."""
        return self.process.poll() is None and 'Traceback' not in self.log.read_text('utf-8')


def wait_until(machine: Machine, condition: Callable[[], bool], what: str) -> None:
    """Let the machine run until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'{what}: not within {PATIENCE:g} s; fault: {machine.fault}')
        machine.run(0.2)


def recover(machine: Machine) -> None:
    """Send right states until the node commands without a fault."""
    machine.run(0.5)
    wait_until(machine, lambda: machine.active, 'active')

    def healthy() -> bool:
        return machine.fault is None or (machine.clear() and machine.fault is None)

    wait_until(machine, healthy, 'cleared')
    before = machine.commands
    machine.run(0.5)
    assert machine.commands > before + 10, 'too few commands after the recovery'


def spoiled(machine: Machine, name: str, seconds: float, random_: random.Random) -> str:
    """Run one way to spoil states; return what came of it."""
    case = CASES[name]
    before = machine.commands
    machine.run(seconds, case.make(random_))
    reason = machine.fault
    if case.fault is None:
        assert reason is None, f'needless fault: {reason}'
        assert machine.commands > before + 20 * seconds, 'too few commands'
    elif case.fault:
        assert reason is not None, 'no fault'
        assert case.fault in reason, f'expected {case.fault!r}, got: {reason}'
    recover(machine)
    return reason or 'no fault'


def two_sources(machine: Machine) -> str:
    """A second publisher tells other positions."""
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    second = machine.node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)

    def spoil(state: JointState) -> list[JointState]:
        other = machine.state(0.002)
        other.position = [value + 1e-4 for value in other.position]
        second.publish(other)
        return [state]

    machine.run(2.0, spoil)
    reason = machine.fault
    machine.node.destroy_publisher(second)
    assert reason is not None, 'no fault'
    assert 'two sources' in reason, reason
    recover(machine)
    return reason


def held(machine: Machine, node: Node) -> str:
    """The node's process is stopped for a second and goes on."""
    os.kill(node.process.pid, signal.SIGSTOP)
    machine.run(1.0)
    os.kill(node.process.pid, signal.SIGCONT)
    machine.run(1.0)
    reason = machine.fault
    recover(machine)
    return reason or 'no fault'


def killed(machine: Machine, node: Node) -> str:
    """The node's process is killed and started again, which takes over the machine."""
    os.killpg(node.process.pid, signal.SIGKILL)
    node.process.wait()
    machine.forget_command()
    machine.active = False
    machine.run(0.5)
    node.start()
    begin = time.monotonic()
    recover(machine)
    return f'commands again after {time.monotonic() - begin:.1f} s'


@contextmanager
def standing(name: str, folder: Path) -> Iterator[tuple[Machine, Node]]:
    """A machine at rest under its node."""
    text = description(name)
    robot = kron_dynamics.loads(text)
    model = robot.model
    middle = (model.position_lower + model.position_upper) / 2
    q = np.where(np.isfinite(middle), middle, 0.0) + 0.01
    node = Node(name, text, robot, folder)
    machine = Machine(robot, q, name, node.rate_limit)
    try:
        yield machine, node
    finally:
        machine.close()
        if node.process.poll() is None:
            os.killpg(node.process.pid, signal.SIGKILL)
        node.process.wait()


def main() -> int:
    """Run the campaign; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', nargs='+', choices=MACHINES, default=MACHINES)
    parser.add_argument('--seconds', type=float, default=5.0, help='of each way to spoil states')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    rclpy.init()
    failed = 0
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_faults_') as folder:
        for name in options.only:
            random_ = random.Random(options.seed)
            with standing(name, Path(folder)) as (machine, node):
                try:
                    recover(machine)
                except AssertionError as error:
                    raise SystemExit(f'{error}\n{node.log.read_text("utf-8")}') from None
                runs: dict[str, Callable[[], str]] = {
                    case: partial(spoiled, machine, case, options.seconds, random_)
                    for case in CASES
                }
                runs['two sources'] = partial(two_sources, machine)
                runs['node held'] = partial(held, machine, node)
                runs['node killed'] = partial(killed, machine, node)
                for case, run in runs.items():
                    try:
                        told = run()
                        assert node.alive(), f'the node has ended: {node.log.read_text("utf-8")}'
                    except (AssertionError, BadCommandError) as error:
                        failed += 1
                        told = f'FAILED: {error}'
                        machine.bad.clear()
                    print(f'{name:8} {case:14} {told}', flush=True)
    rclpy.shutdown()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
