# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time of a fresh node process until it receives its own first command; run by `start_up`.

Usage: python -m benchmarks.node_probe (bare | dynamics URDF PARAMETERS JOINT...)

Prints the processor time of all its threads since its start, s.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Float64MultiArray

_PATIENCE = 60.0


def main() -> None:
    """Start a node, spin until its command is received, print the time and exit at once."""
    node, step = _bare() if sys.argv[1] == 'bare' else _dynamics(*sys.argv[2:4], sys.argv[4:])
    heard: list[Any] = []
    node.create_subscription(Float64MultiArray, '~/commands', heard.append, 1)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    end = time.monotonic() + _PATIENCE
    while not heard:
        if time.monotonic() > end:
            raise TimeoutError(f'no command within {_PATIENCE:g} s')
        step()
        executor.spin_once(timeout_sec=0.01)
    print(time.process_time(), flush=True)
    os._exit(0)  # the shutdown is not measured


def _bare() -> tuple[Any, Callable[[], None]]:
    rclpy.init()
    node = rclpy.create_node('bare')
    publisher = node.create_publisher(Float64MultiArray, '~/commands', 1)
    return node, lambda: publisher.publish(Float64MultiArray(data=[0.0]))


def _dynamics(urdf: str, parameters: str, joints: Sequence[str]) -> tuple[Any, Callable[[], None]]:
    """Return a node that is configured, receives states and is activated as soon as possible.

    The garbage collector is off as in the node's own process, and the first line of the log is
    prepared: see `kron_dynamics.ros.start` and `main`.
    """
    gc.disable()
    from rclpy.lifecycle import TransitionCallbackReturn
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    from kron_dynamics.ros.callers import note_modules
    from kron_dynamics.ros.dynamics_node import DynamicsNode

    rclpy.init(
        args=['--ros-args', '--params-file', parameters]
        + ['-p', f'robot_description_file:={urdf}', '-p', 'autostart:=false']
    )
    note_modules()
    node = DynamicsNode()
    gc.freeze()
    gc.enable()
    if node.trigger_configure() != TransitionCallbackReturn.SUCCESS:
        raise RuntimeError('the node cannot be configured')
    publisher = node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
    zeros = [0.0] * len(joints)
    state = JointState(name=joints, position=zeros, velocity=zeros, effort=zeros)
    active = False

    def step() -> None:
        nonlocal active
        state.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(state)
        if not active and node._assembler.state(time.monotonic()).ready:
            active = node.trigger_activate() == TransitionCallbackReturn.SUCCESS

    return node, step


if __name__ == '__main__':
    main()
