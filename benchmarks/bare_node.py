# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A node that answers every joint state with constant numbers: what any rclpy node takes.

Usage: python -m benchmarks.bare_node NAME (messages | bytes) NUMBERS [--ros-args ...]

It runs until it is killed, and subscribes to references without reading them; with `bytes` neither
these nor the joint states are deserialized.
"""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory


def main(name: str, taken: str, count: str) -> None:
    """Run the node.

    Args:
        name: its name.
        taken: 'messages' or 'bytes': what its subscriptions take.
        count: how many numbers an answer has.
    """
    node, raw = rclpy.create_node(name), taken == 'bytes'
    publisher = node.create_publisher(Float64MultiArray, '~/commands', 1)
    answer = Float64MultiArray(data=[0.0] * int(count))
    node.create_subscription(
        JointState,
        'joint_states',
        lambda _: publisher.publish(answer),
        qos_profile_sensor_data,
        raw=raw,
    )
    node.create_subscription(JointTrajectory, '~/reference', lambda _: None, 1, raw=raw)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while rclpy.ok():
        executor.spin_once()


if __name__ == '__main__':
    rclpy.init(args=sys.argv)
    main(*sys.argv[1:4])
