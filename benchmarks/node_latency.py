# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency from a joint state to its command: dynamics_node against a bare node, in turns."""

from __future__ import annotations

import contextlib
import functools
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.node_process import running
from benchmarks.robots import ROOT
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, Spread

_FILES = ('urdf/stacker_reclaimer.urdf', 'config/stacker_reclaimer.yaml')
_JOINTS = ('travel', 'slew', 'luff')
_POSITION = (100.0, 0.1, 0.05)
_NODES = ('dynamics', 'bare')
_SECONDS = 12.0  # duration of the measurement at each rate
_PATIENCE = 60.0  # s until a node counts as not started
_BEGINNING = 0.01  # s between states while the nodes start
LOST = 0.1  # s until a state counts as unanswered, and the time it counts with
_LATE = 1.0  # s until its answer is not expected any more
_MOST_LOST = 1e-3  # share of the states of a node


def latency(rate: float, quantile: float, rounds: int) -> Outcome:
    """Quantile of the latency of dynamics_node over the same quantile of the bare node."""
    times = _latencies(rate, min(_SECONDS, float(rounds)))
    ours, bare = (float(np.quantile(row, quantile)) for row in times)
    parts = np.array_split(times, 6, axis=1)
    ratios = [np.divide(*np.quantile(part, quantile, axis=1)) for part in parts]
    lost = (times >= LOST).sum(axis=1)
    spread = Spread(ours / bare, *np.quantile(ratios, (0.1, 0.9)).tolist())
    return Outcome(spread, ours, bare, f'{lost[0]} : {lost[1]} of {times.shape[1]}')


class Questions:
    """States sent one at a time, each with the time until its answer."""

    def __init__(self, send: Callable[[str], None], spin: Callable[[float], None]) -> None:
        """Take over how a state is sent to a node, and how answers are awaited for some s."""
        self._send, self._spin = send, spin
        self._heard: dict[str, float] = {}

    def hear(self, name: str) -> None:
        """Note a node's answer."""
        self._heard.setdefault(name, time.perf_counter())

    def begin(self, names: Sequence[str]) -> None:
        """Send states to all nodes until each answers; where none come, dynamics_node stops.

        Raises:
            MeasurementError: a node does not answer.
        """
        end = time.monotonic() + _PATIENCE
        while not self._heard.keys() >= {*names}:
            if time.monotonic() > end:
                missing = [name for name in names if name not in self._heard]
                raise MeasurementError(f'{missing[0]}_node sends no commands')
            for name in names:
                self._send(name)
            self._spin(_BEGINNING)

    def answered(self, name: str) -> float:
        """Send a state and return the time until its answer, s; at most `LOST`.

        A late answer is awaited, too, so that it is not taken for that of the next state.
        """
        self._heard.pop(name, None)
        sent = time.perf_counter()
        self._send(name)
        while name not in self._heard and (left := sent + _LATE - time.perf_counter()) > 0.0:
            self._spin(left)
        return min(LOST, self._heard.get(name, np.inf) - sent)


def in_rhythm(answered: Callable[[str], float], rate: float, count: int) -> np.ndarray:
    """Return the times from states to commands, s, (nodes, states).

    Raises:
        MeasurementError: too many states of a node remain unanswered.
    """
    times = np.zeros((len(_NODES), count))
    begin = time.perf_counter()
    for k in range(count):
        wait = begin + k / rate - time.perf_counter()
        time.sleep(max(0.0, wait))
        # The order alternates, so that neither node always comes second.
        for index in (0, 1) if k % 2 else (1, 0):
            times[index, k] = answered(_NODES[index])
            if times[index, k] < LOST:
                continue
            # The pause after it must not make the next states follow each other faster.
            begin = time.perf_counter() - k / rate
            lost = int((times[index] >= LOST).sum())
            if lost > _MOST_LOST * count:
                raise MeasurementError(
                    f'{_NODES[index]}_node leaves {lost} of {k + 1} states unanswered'
                )
    return times


@functools.cache
def _latencies(rate: float, seconds: float) -> np.ndarray:
    """Return the times from a state to its command, s, (nodes, states)."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    context = rclpy.Context()
    context.init(domain_id=_DOMAIN)
    with _running() as log, context:
        node = rclpy.create_node('latency', context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        publishers = {}
        state = JointState(name=_JOINTS, position=_POSITION, velocity=[0.0] * 3, effort=[0.0] * 3)

        def send(name: str) -> None:
            state.header.stamp = node.get_clock().now().to_msg()
            publishers[name].publish(state)

        questions = Questions(send, lambda left: executor.spin_once(timeout_sec=left))
        for name in _NODES:
            topic = f'/{name}/{name}_node/commands'
            node.create_subscription(
                Float64MultiArray, topic, lambda _, name=name: questions.hear(name), 1
            )
            publishers[name] = node.create_publisher(
                JointState, f'/{name}/joint_states', qos_profile_sensor_data
            )
        questions.begin(_NODES)
        times = in_rhythm(questions.answered, rate, int(rate * seconds))
        if fault := re.search('fault: .*', log.read_text()):
            raise MeasurementError(f'dynamics_node had a {fault[0]}')
        return times


_DOMAIN = 87


@contextlib.contextmanager
def _running() -> Iterator[Path]:
    """Run both nodes; the value is the log of dynamics_node."""
    urdf, parameters = (str(ROOT / name) for name in _FILES)
    ours = ['-m', 'kron_dynamics.ros.dynamics_node', '--ros-args', '-r', '__ns:=/dynamics']
    ours += ['--params-file', parameters, '-p', f'robot_description_file:={urdf}']
    # A state that the transport has lost is no fault.
    ours += ['-p', 'state_timeout:=5.0']
    bare = ['-m', 'benchmarks.bare_node', 'bare_node', 'messages', str(len(_JOINTS))]
    bare += ['--ros-args', '-r', '__ns:=/bare']
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_bench_') as folder:
        log = Path(folder) / 'log'
        with running(ours, _DOMAIN, log), running(bare, _DOMAIN):
            yield log
