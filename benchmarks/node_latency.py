# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Latency from a joint state to its command: dynamics_node against a bare node, in turns.

Usage: python -m benchmarks.node_latency (bare | dynamics URDF PARAMETERS)

Each node runs until its standard input is closed. The bare node subscribes to the same messages
and publishes a message of the same type for every state, with constant numbers.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.robots import ROOT
from benchmarks.rows import Outcome
from benchmarks.timing import MeasurementError, Spread

_FILES = ('urdf/stacker_reclaimer.urdf', 'config/stacker_reclaimer.yaml')
_JOINTS = ('travel', 'slew', 'luff')
_POSITION = (100.0, 0.1, 0.05)
_NODES = ('dynamics', 'bare')
_SECONDS = 12.0  # duration of the measurement at each rate
_PATIENCE = 60.0  # s until a node counts as not started
_LOST = 0.1  # s until a state counts as unanswered


def latency(rate: float, quantile: float, rounds: int) -> Outcome:
    """Quantile of the latency of dynamics_node over the same quantile of the bare node."""
    times = _latencies(rate, min(_SECONDS, float(rounds)))
    ours, bare = (float(np.nanquantile(row, quantile)) for row in times)
    parts = np.array_split(times, 6, axis=1)
    ratios = [np.divide(*np.nanquantile(part, quantile, axis=1)) for part in parts]
    lost = [int(np.isnan(row).sum()) for row in times]
    spread = Spread(ours / bare, *np.quantile(ratios, (0.1, 0.9)).tolist())
    return Outcome(spread, ours, bare, f'unanswered {lost[0]} : {lost[1]} of {times.shape[1]}')


@functools.cache
def _latencies(rate: float, seconds: float) -> np.ndarray:
    """Return the times from a state to its command, s, (nodes, states); NaN for lost ones."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    context = rclpy.Context()
    context.init(domain_id=_DOMAIN)
    with _running(_NODES), context:
        node = rclpy.create_node('latency', context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        heard: dict[str, float] = {}
        publishers = {}
        for name in _NODES:
            topic = f'/{name}/{name}_node/commands'
            node.create_subscription(
                Float64MultiArray,
                topic,
                lambda _, name=name: heard.setdefault(name, time.perf_counter()),
                1,
            )
            publishers[name] = node.create_publisher(
                JointState, f'/{name}/joint_states', qos_profile_sensor_data
            )
        state = JointState(name=_JOINTS, position=_POSITION, velocity=[0.0] * 3, effort=[0.0] * 3)

        def ask(name: str, patience: float) -> float:
            heard.pop(name, None)
            state.header.stamp = node.get_clock().now().to_msg()
            sent = time.perf_counter()
            publishers[name].publish(state)
            while name not in heard and time.perf_counter() - sent < patience:
                executor.spin_once(timeout_sec=patience)
            return heard.get(name, np.nan) - sent

        end = time.monotonic() + _PATIENCE
        for name in _NODES:
            while not np.isfinite(ask(name, 0.05)):
                if time.monotonic() > end:
                    raise MeasurementError(f'{name}_node sends no commands')
        rows: list[list[float]] = []
        begin = time.perf_counter()
        for k in range(int(rate * seconds)):
            wait = begin + k / rate - time.perf_counter()
            if wait > 0.0:
                time.sleep(wait)
            # The order alternates, so that neither node always comes second.
            order = _NODES if k % 2 else _NODES[::-1]
            told = {name: ask(name, _LOST) for name in order}
            rows.append([told[name] for name in _NODES])
        return np.array(rows).T


_DOMAIN = 87


@contextlib.contextmanager
def _running(names: Sequence[str]) -> Iterator[None]:
    environment = {
        **os.environ,
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': str(_DOMAIN),
        'PYTHONPATH': str(ROOT),
    }
    command = [sys.executable, '-m', 'benchmarks.node_latency']
    files = [str(ROOT / name) for name in _FILES]
    processes = [
        subprocess.Popen(
            [*command, name, *(files if name == 'dynamics' else [])],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=environment,
        )
        for name in names
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _make(kind: str, files: Sequence[str]) -> Any:
    import rclpy

    arguments = ['--ros-args', '-r', f'__ns:=/{kind}']
    if kind == 'dynamics':
        from kron_dynamics.ros.dynamics_node import DynamicsNode

        urdf, parameters = files
        arguments += ['--params-file', parameters, '-p', f'robot_description_file:={urdf}']
        rclpy.init(args=arguments)
        return DynamicsNode()
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory

    rclpy.init(args=arguments)
    node = rclpy.create_node('bare_node')
    publisher = node.create_publisher(Float64MultiArray, '~/commands', 1)
    answer = Float64MultiArray(data=[0.0] * len(_JOINTS))
    node.create_subscription(
        JointState, 'joint_states', lambda _: publisher.publish(answer), qos_profile_sensor_data
    )
    node.create_subscription(JointTrajectory, '~/reference', lambda _: None, 1)
    return node


def main() -> None:
    """Run one of the two nodes until the measuring process closes its standard input."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    def end_with_parent() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end_with_parent, daemon=True).start()
    node = _make(sys.argv[1], sys.argv[2:])
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while rclpy.ok():
        executor.spin_once()


if __name__ == '__main__':
    main()
