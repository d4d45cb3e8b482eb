# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine and a planner that use dynamics_node, in processes of their own; run by `services`.

Usage: python -m benchmarks.service_probe machine RATE PHASES JOINT...
       python -m benchmarks.service_probe planner SERVICE STATES JOINT...
       python -m benchmarks.service_probe references POINTS PERIOD JOINT...

The planner alternates between a second of silence and a second of requests without a pause, until
it is stopped; after its first response it prints `ready`, then the number of each second in which
a request was answered. In the mode `references` it sends a reference every PERIOD instead. The
machine sends joint states all the time, and prints begin and end of the measurement and the times
of the commands between them, s.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message

from benchmarks.command_gaps import PHASE, asking

_PATIENCE = 60.0


def machine(rate: float, phases: int, joints: Sequence[str]) -> None:
    """Send joint states and print the times of commands."""
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    node = rclpy.create_node('machine')
    publisher = node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    zeros = array('d', [0.0] * len(joints))
    state = JointState(name=list(joints), position=zeros, velocity=zeros, effort=zeros)
    heard: list[float] = []

    def send() -> None:
        state.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(state)

    node.create_timer(1.0 / rate, send)
    node.create_subscription(
        Float64MultiArray,
        'dynamics_node/commands',
        lambda _: heard.append(time.monotonic()),
        100,
    )
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    _spin(executor, lambda: heard)
    end = time.monotonic() + (phases + 2) * PHASE
    begin = end - phases * PHASE
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.01)
    print(' '.join(f'{t:.6f}' for t in (begin, end, *heard) if begin <= t <= end), flush=True)


def planner(service: str, states: int, joints: Sequence[str]) -> None:
    """Call a service continuously in every other phase."""
    from kron_dynamics_msgs import srv

    kind = getattr(srv, service.title().replace('_', ''))
    node = rclpy.create_node('planner')
    client = node.create_client(kind, f'dynamics_node/{service}')
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    numbers = array('d', np.random.default_rng(1).uniform(-0.2, 0.2, states * len(joints)))
    fields = {
        name: numbers
        for name in kind.Request.get_fields_and_field_types()
        if name in ('position', 'velocity', 'acceleration', 'jerk')
    }
    if hasattr(kind.Request(), 'time_from_start'):
        fields['time_from_start'] = array('d', np.linspace(0.0, 1e3, states))
    _spin(executor, client.service_is_ready)
    last = None  # second of the last answered request
    while True:
        if last is not None and not asking(time.monotonic()):
            executor.spin_once(timeout_sec=0.001)
            continue
        second = int(time.monotonic() / PHASE)
        answer = client.call_async(kind.Request(**fields))
        # A request is lost if the server has not discovered the client yet.
        if not _spin(executor, answer.done, 5.0):
            client.remove_pending_request(answer)
            continue
        result: Any = answer.result()
        if not result.success and result.message != 'the node is not configured':
            raise RuntimeError(result.message)
        if result.success and second != last:
            print('ready' if last is None else second, flush=True)
            last = second


def references(points: int, period: float, joints: Sequence[str]) -> None:
    """Send references of many points, all at the machine's pose, in every other phase."""
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    node = rclpy.create_node('planner')
    publisher = node.create_publisher(JointTrajectory, 'dynamics_node/reference', 1)
    zeros = array('d', [0.0] * len(joints))
    message = JointTrajectory(joint_names=list(joints))
    for k in range(points):
        point = JointTrajectoryPoint(positions=zeros, velocities=zeros, accelerations=zeros)
        point.time_from_start.sec, rest = divmod(10 * (k + 1), 1000)
        point.time_from_start.nanosec = rest * 10**6
        message.points.append(point)
    data = serialize_message(message)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    _spin(executor, lambda: publisher.get_subscription_count() > 0)
    print('ready', flush=True)
    while True:
        if asking(time.monotonic()):
            publisher.publish(data)
        time.sleep(period)


def _spin(executor: SingleThreadedExecutor, until: Any, patience: float = _PATIENCE) -> bool:
    """Spin until a condition holds; return whether it does within the time limit."""
    end = time.monotonic() + patience
    while not until() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.01)
    return bool(until())


if __name__ == '__main__':
    rclpy.init()
    if sys.argv[1] == 'machine':
        machine(float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    elif sys.argv[1] == 'references':
        references(int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
    else:
        planner(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
