# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A dynamics_node in its own process, and the machine that it commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import yaml
from machine import Machine

import kron_dynamics
from kron_dynamics import Robot

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'support'))
MACHINES = ('stacker', 'ur5', 'panda')
# Natural frequency of the position loops, rad/s.
FREQUENCY = {'stacker': 1.0, 'ur5': 6.0, 'panda': 6.0}
PATIENCE = 180.0


def description(name: str) -> str:
    """Return the URDF text of a machine."""
    if name == 'stacker':
        return (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8')
    from pinocchio_oracle import arm_text

    return str(arm_text({'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}[name]))


class Node:
    """The node in its own process; `start` starts it again after it was killed."""

    def __init__(
        self, name: str, text: str, robot: Robot, folder: Path, **parameters: object
    ) -> None:
        frequency = FREQUENCY[name]
        self.rate_limit = 10.0 * frequency * robot.model.effort_limit
        given: dict[str, object] = {
            'robot_description': text,
            'state_period': 0.01,
            'state_timeout': 0.5,  # long enough for a busy computer
            'diagnostics_period': 0.1,
            'allowed_model_warnings': [
                'triangle_inequality',
                'massless_joint',
                'unknown_attribute',
            ],
            'gains': {
                joint: {'kp': frequency**2, 'kd': 2.0 * frequency} for joint in robot.joint_names
            },
            **parameters,
        }
        file = folder / f'{name}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': given}}), 'utf-8')
        command = [sys.executable, '-m', 'kron_dynamics.ros.dynamics_node', '--ros-args']
        self._command = [*command, '--params-file', str(file), '-r', f'__ns:=/{name}']
        self.log = folder / f'{name}.log'
        self.start()

    def start(self) -> None:
        """Start the process, also again after it has ended."""
        with open(self.log, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True
            )

    def alive(self) -> bool:
        """Whether the process runs and its log has no traceback."""
        return self.process.poll() is None and 'Traceback' not in self.log.read_text('utf-8')


def wait_until(
    machine: Machine, condition: Callable[[], bool], what: str, step: float = 0.2
) -> None:
    """Run the machine until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'{what}: not within {PATIENCE:g} s; fault: {machine.fault}')
        machine.run(step)


def wait_for_commands(machine: Machine) -> None:
    """Run the machine until the node has commanded ten times."""
    enough = machine.commands + 10
    wait_until(machine, lambda: machine.commands >= enough, 'commands')


def recover(machine: Machine) -> None:
    """Publish true states until the node commands without a fault; then release the brakes."""
    machine.run(0.5)
    wait_until(machine, lambda: machine.active, 'active')

    def healthy() -> bool:
        return machine.fault is None or (machine.clear() and machine.fault is None)

    wait_until(machine, healthy, 'cleared')
    wait_for_commands(machine)
    machine.braked = False
    wait_for_commands(machine)
    machine.run(0.5)
    assert machine.fault is None, f'after the recovery: {machine.fault}'


@contextmanager
def standing(
    name: str, folder: Path, rate: float = 100.0, **parameters: object
) -> Iterator[tuple[Machine, Node]]:
    """Yield a machine at rest, and its node."""
    text = description(name)
    robot = kron_dynamics.loads(text)
    model = robot.model
    middle = (model.position_lower + model.position_upper) / 2
    q = np.where(np.isfinite(middle), middle, 0.0) + 0.01
    node = Node(name, text, robot, folder, **parameters)
    machine = Machine(robot, q, name, node.rate_limit, rate)
    try:
        yield machine, node
    finally:
        machine.close()
        if node.process.poll() is None:
            os.killpg(node.process.pid, signal.SIGKILL)
        node.process.wait()
