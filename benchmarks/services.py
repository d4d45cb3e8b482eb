# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the services of dynamics_node, and the delay of commands caused by them."""

from __future__ import annotations

import functools
import re
import tempfile
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.command_gaps import PHASE, Gaps, gap_not_exceeded, gaps_of, idle_phases
from benchmarks.node_process import running
from benchmarks.ours import robot as built
from benchmarks.robots import ROOT, description
from benchmarks.rows import Outcome
from benchmarks.service_answers import check_answer
from benchmarks.timing import MeasurementError, PythonTask, Spread, in_turns, pinned
from kron_dynamics.typing import FloatArray

STATES = 1000
POINTS = 20_000  # points of a reference
RATE = 200.0
_LARGEST = 500_000  # the default of max_batch_size
# Phases, of 1 s each, of a measurement; the planner sends requests in every other one.
_PHASES = 8
_LEAST_COMMANDS = 200
_PERIOD = 1.0 / 3.0  # s between references
_DOMAIN = 101  # ROS domain that the tests do not use


def cost(service: str, robot: str, rounds: int) -> Outcome:
    """Time of a request of 1000 states with (de)serialization, against ~/equations_of_motion."""
    with pinned():
        times = in_turns(_asked('equations_of_motion', robot), _asked(service, robot), rounds)
        return Outcome(times.ratio, times.peer.median, times.ours.median)


def gap(service: str, robot: str, rounds: int) -> Outcome:
    """p99, by time, of the gaps between commands with requests of a planner, over that without."""
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
    """p99 of the gaps while references of `POINTS` points come, three per second.

    It is divided by that of a node that answers every state and leaves the references unread: the
    transport of so many bytes delays the commands of any node on two cores.
    """
    _, ours, bare = _gaps_of_references(robot, rounds)
    return _relative(ours, bare, f'{POINTS} points')


def gap_over_silence(robot: str, rounds: int) -> Outcome:
    """The same, divided by that of the seconds without references."""
    quiet, ours, _ = _gaps_of_references(robot, rounds)
    return _relative(ours, quiet, f'{POINTS} points')


@functools.cache
def _gaps_of_references(robot: str, rounds: int) -> FloatArray:
    """Return p99 in silence and while references come, and that of the bare node, s, (3, N)."""
    found = []
    for _ in _repeats(rounds):
        gaps, bare = (_measured(None, robot, POINTS, bare=bare) for bare in (False, True))
        found.append(_quantiles(gaps.silent, gaps.busy, bare.busy))
    return np.array(found).T


def _asked(service: str, name: str) -> PythonTask:
    """Return the node's work for a request, without the transport between processes.

    Raises:
        MeasurementError: the answer has other numbers than the model.
    """
    from kron_dynamics_msgs import srv
    from rclpy.serialization import deserialize_message, serialize_message

    from kron_dynamics.ros import services
    from kron_dynamics.ros.configured_robot import ConfiguredRobot
    from kron_dynamics.ros.memory import keep_freed_memory

    keep_freed_memory()  # as the node does
    robot = built(name)
    tip = description(name.replace('boom', 'stacker')).tip
    present = ConfiguredRobot(robot, tip)
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

    states = numbers.reshape(STATES, robot.rigid.n)
    check_answer(service, robot, tip, states, deserialize_message(answer(), kind.Response))
    return PythonTask(service, 'reply = answer()', '[len(reply)]', answer=answer)


def _gaps(service: str, robot: str, states: int, rounds: int) -> Outcome:
    measured = (_measured(service, robot, states) for _ in _repeats(rounds))
    quiet, busy = np.array([_quantiles(gaps.silent, gaps.busy) for gaps in measured]).T
    return _relative(busy, quiet, f'{states} states')


def _repeats(rounds: int) -> range:
    return range(max(3, min(rounds, 7)))


def _quantiles(*gaps: FloatArray) -> list[float]:
    return [gap_not_exceeded(each, 0.99) for each in gaps]


def _relative(ours: FloatArray, other: FloatArray, note: str) -> Outcome:
    ratios = Spread.of((ours / other).tolist())
    return Outcome(ratios, float(np.median(ours)), float(np.median(other)), note)


def _measured(service: str | None, robot: str, states: int, *, bare: bool = False) -> Gaps:
    """Return the gaps between commands, without and with requests of a planner.

    Args:
        service: what the planner asks for; None for references.
        robot: the robot.
        states: number of states, or points, of a request.
        bare: whether a node that leaves references unread takes the place of dynamics_node.

    Raises:
        MeasurementError: there are no commands, or the planner is not served all the time.
    """
    name = 'references' if service is None else f'~/{service}'
    joints = list(built(robot).rigid.joint_names)
    probe = ['-m', 'benchmarks.service_probe']
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as folder:
        parameters = _parameters(Path(folder), robot, joints)
        node = ['-m', 'kron_dynamics.ros.dynamics_node', '--ros-args', '--params-file', parameters]
        if bare:
            node = ['-m', 'benchmarks.bare_node', 'dynamics_node', 'bytes', str(len(joints))]
        machine = [*probe, 'machine', str(RATE), str(_PHASES), *joints]
        planner = [*probe, 'references', str(states), str(_PERIOD), *joints]
        if service is not None:
            planner = [*probe, 'planner', service, str(states), *joints]
        log = Path(folder) / 'log'
        with running(node, _DOMAIN, log), running(planner, _DOMAIN) as asking:
            if asking.stdout is None or asking.stdout.readline().strip() != 'ready':
                raise MeasurementError(f'{robot} does not take {name}')
            with running(machine, _DOMAIN) as moved:
                told, _ = moved.communicate(timeout=120.0)
            if asking.poll() is not None:
                raise MeasurementError(f'the planner of {name} has ended early')
            asking.terminate()
            served = {int(line) for line in asking.stdout}
        if service is None and not bare:
            served = seconds_of_accepted(log.read_text(), time.time() - time.monotonic())
    begin, end, *times = map(float, told.split() or (0.0, 0.0))
    if len(times) < _LEAST_COMMANDS:
        raise MeasurementError(f'{len(times)} commands of {robot} beside {name}')
    if not bare and (idle := idle_phases(begin, end, served)):
        raise MeasurementError(f'{name} not served in {len(idle)} of {_PHASES // 2} seconds')
    return gaps_of(begin, end, times)


def seconds_of_accepted(log: str, offset: float) -> set[int]:
    """Return the numbers of the seconds of requests whose references the node follows.

    Args:
        log: log of the node.
        offset: time of the log minus that of the monotonic clock, s.
    """
    told = re.findall(r'\[(\d+\.\d+)\] \[[^]]*\]: following a reference', log)
    seconds = {int((float(time_of_log) - offset) / PHASE) for time_of_log in told}
    # The last reference of a second may be accepted in the silence after it.
    return {second - (second % 2 == 0) for second in seconds}


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
