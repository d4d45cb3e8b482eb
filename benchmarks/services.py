# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the services of dynamics_node, and the delay of commands caused by them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.ours import robot as built
from benchmarks.robots import ROOT, description
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, PythonTask, Spread, compare, pinned

STATES = 1000
POINTS = 20_000  # points of a reference
RATE = 200.0
_LARGEST = 500_000  # the default of max_batch_size
# Phases, of 1 s each, of a measurement; the planner sends requests in every other one.
_PHASES = 8
_PERIOD = 1.0 / 3.0  # s between references
_DOMAIN = 101  # ROS domain that the tests do not use


def cost(service: str, robot: str, rounds: int) -> Outcome:
    """Time of a request of 1000 states with (de)serialization, against ~/equations_of_motion."""
    with pinned():
        compared = compare(_asked('equations_of_motion', robot), _asked(service, robot), rounds)
        return Outcome(compared.ratio, compared.peer.median, compared.ours.median)


def gap(service: str, robot: str, rounds: int) -> Outcome:
    """p99 of the gaps between commands with requests of a planner, over p99 without."""
    return _gaps(service, robot, STATES, rounds)


def gap_largest(service: str, robot: str, rounds: int) -> Outcome:
    """The same for the largest batches that the service allows."""
    n = built(robot).rigid.n
    numbers = {
        'frame_kinematics': 7 + 6 * n + 6 * n * n + 18,
        'equations_of_motion': n**3 + 2 * n * n + n,
        'linearize': 3 * built(robot).n ** 2 + 4 * built(robot).n,
        'annotate_trajectory': 1 + 3 * n,
    }
    return _gaps(service, robot, _LARGEST // numbers[service], rounds)


def gap_of_references(robot: str, rounds: int) -> Outcome:
    """The same with references of `POINTS` points, three per second."""
    return _gaps(None, robot, POINTS, rounds)


def _asked(service: str, name: str) -> PythonTask:
    """Return the node's work for a request, without the transport between processes."""
    from kron_dynamics_msgs import srv
    from rclpy.serialization import deserialize_message, serialize_message

    from kron_dynamics.ros import services
    from kron_dynamics.ros.configured_robot import ConfiguredRobot
    from kron_dynamics.ros.memory import keep_freed_memory

    keep_freed_memory()  # as the node does
    robot = built(name)
    present = ConfiguredRobot(robot, description(name.replace('boom', 'stacker')).tip)
    kind = getattr(srv, service.title().replace('_', ''))
    numbers = np.random.default_rng(7).uniform(-0.2, 0.2, STATES * robot.rigid.n)
    fields = {
        field: array('d', numbers.tobytes())
        for field in kind.Request.get_fields_and_field_types()
        if field in ('position', 'velocity', 'acceleration', 'jerk')
    }
    request = serialize_message(kind.Request(**fields))
    compute: Any = services.SERVICES[service][1]

    def answer() -> bytes:
        response = kind.Response(success=True)
        compute(present, _LARGEST, deserialize_message(request, kind.Request), response)
        return serialize_message(response)

    return PythonTask(service, 'answer()', '[]', answer=answer)


def _gaps(service: str | None, robot: str, states: int, rounds: int) -> Outcome:
    ratios, quiet, busy = [], [], []
    for _ in range(max(3, min(rounds, 7))):
        silent, asked = _measured(service, robot, states)
        quiet.append(float(np.quantile(silent, 0.99)))
        busy.append(float(np.quantile(asked, 0.99)))
        ratios.append(busy[-1] / quiet[-1])
    note = f'{states} {"points" if service is None else "states"}'
    return Outcome(Spread.of(ratios), float(np.median(busy)), float(np.median(quiet)), note)


def _measured(service: str | None, robot: str, states: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gaps between commands, s, without and with requests of a planner."""
    joints = list(built(robot).rigid.joint_names)
    probe = ['-m', 'benchmarks.service_probe']
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as folder:
        parameters = _parameters(Path(folder), robot, joints)
        node = ['-m', 'kron_dynamics.ros.dynamics_node', '--ros-args', '--params-file', parameters]
        machine = [*probe, 'machine', str(RATE), str(_PHASES), *joints]
        planner = [*probe, 'references', str(states), str(_PERIOD), *joints]
        if service is not None:
            planner = [*probe, 'planner', service, str(states), *joints]
        with _process(node), _process(planner) as asking:
            if asking.stdout is None or asking.stdout.readline().strip() != 'ready':
                raise MeasurementError(f'{service} of {robot} does not answer')
            with _process(machine) as moved:
                told, _ = moved.communicate(timeout=120.0)
    lines = [np.array(line.split(), dtype=float) for line in told.splitlines()]
    if len(lines) != 2 or min(map(len, lines)) < 100:
        raise MeasurementError(f'no commands of {robot} beside {service}')
    return lines[0], lines[1]


def _parameters(folder: Path, robot: str, joints: list[str]) -> str:
    """Write a parameter file for the node and return its path."""
    urdf, file = folder / 'robot.urdf', folder / 'parameters.yaml'
    urdf.write_text(description(robot.replace('boom', 'stacker')).text, encoding='utf-8')
    values: dict[str, Any] = {
        'robot_description_file': str(urdf),
        'state_period': 1.0 / RATE,
        'state_timeout': 5.0,
        'gains': {joint: {'kp': 4.0, 'kd': 4.0} for joint in joints},
    }
    if robot == 'boom':
        boom = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
        values['flexible_description_file'] = str(boom)
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}), encoding='utf-8')
    return str(file)


@contextlib.contextmanager
def _process(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    environment = {
        **os.environ,
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': str(_DOMAIN),
        'PYTHONPATH': str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment,
    )
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10.0)
        process.kill()
