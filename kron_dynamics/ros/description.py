# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot description: from a parameter, a file, or the latched topic."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from kron_dynamics.model import read_urdf_file
from kron_dynamics.robot import Robot, loads
from kron_dynamics.ros.parameters import ParameterSet

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def robot_from_parameters(parameters: ParameterSet) -> Robot | None:
    """Return the robot that the parameters describe, or None where they leave it to the topic.

    Raises:
        ModelError: the description given is unusable.
    """
    text = parameters.value('robot_description')
    if not text:
        path = parameters.value('robot_description_file')
        if not path:
            return None
        text = read_urdf_file(path)
    return robot_from_text(parameters, text)


def robot_from_text(parameters: ParameterSet, text: str) -> Robot:
    """Return the robot of a URDF text, with the gravity of the parameters.

    Raises:
        ModelError: the description is unusable.
    """
    gravity = [parameters.value(f'gravity.{axis}') for axis in 'xyz']
    return loads(text, gravity=gravity)


def subscribe_description(node: Node, on_text: Callable[[str], None]) -> None:
    """Hand every description on the latched topic robot_description to a callback."""
    node.create_subscription(
        String, 'robot_description', lambda message: on_text(message.data), LATCHED
    )
