# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot description: from a parameter, a file, or the latched topic."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from kron_dynamics.robot import Robot, load, loads
from kron_dynamics.ros.parameters import ParameterSet

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def robot_from_parameters(parameters: ParameterSet) -> Robot | None:
    """Return the robot that the parameters describe, or None where they leave it to the topic.

    Raises:
        ModelError: the description given is unusable.
    """
    text, path = (parameters.value(f'robot_description{suffix}') for suffix in ('', '_file'))
    if text:
        return robot_from_text(parameters, text)
    return load(path, gravity=_gravity(parameters)) if path else None


def robot_from_text(parameters: ParameterSet, text: str) -> Robot:
    """Return the robot of a URDF text, with the gravity of the parameters.

    Raises:
        ModelError: the description is unusable.
    """
    return loads(text, gravity=_gravity(parameters))


def _gravity(parameters: ParameterSet) -> list[float]:
    return [parameters.value(f'gravity.{axis}') for axis in 'xyz']


def subscribe_description(node: Node, on_text: Callable[[str], None]) -> None:
    """Hand every description on the latched topic robot_description to a callback."""
    node.create_subscription(
        String, 'robot_description', lambda message: on_text(message.data), LATCHED
    )
