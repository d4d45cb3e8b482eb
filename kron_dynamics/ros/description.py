# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot description: from a parameter, a file, or the latched topic."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from kron_dynamics.exceptions import ModelError
from kron_dynamics.model import read_urdf_file
from kron_dynamics.robot import Robot, load, loads
from kron_dynamics.ros.parameters import ParameterSet

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def robot_from_parameters(parameters: ParameterSet) -> Robot | None:
    """Return the robot that the parameters describe, or None where they leave it to the topic.

    All links are rigid; see `flexible_robot_from_parameters`.

    Raises:
        ModelError: the description given is unusable.
    """
    text, path = _description(parameters)
    if text:
        return robot_from_text(parameters, text)
    return load(path, gravity=_gravity(parameters)) if path else None


def robot_from_text(parameters: ParameterSet, text: str) -> Robot:
    """Return the robot of a URDF text, with the gravity of the parameters and rigid links.

    Raises:
        ModelError: the description is unusable.
    """
    return loads(text, gravity=_gravity(parameters))


def flexible_robot_from_parameters(parameters: ParameterSet) -> Robot | None:
    """Return the robot that the parameters describe, with its flexible links.

    None where flexible_description_file is empty, or where the robot is left to the topic. Call
    it after `robot_from_parameters`, which tells what is wrong with the URDF.

    Raises:
        ModelError: the flexible description is unusable or does not fit the URDF; the message
            names its file.
    """
    text, path = _description(parameters)
    if not text:
        if not path:
            return None
        text = read_urdf_file(path)
    return flexible_robot_from_text(parameters, text)


def flexible_robot_from_text(parameters: ParameterSet, text: str) -> Robot | None:
    """Return the robot of a URDF text with its flexible links, or None where none is described.

    Raises:
        ModelError: the flexible description is unusable or does not fit the URDF; the message
            names its file.
    """
    file: str = parameters.value('flexible_description_file')
    if not file:
        return None
    try:
        return loads(text, gravity=_gravity(parameters), flexible=file)
    except ModelError as error:
        told = str(error)
        raise type(error)(told if file in told else f'{file}: {told}') from None


def _description(parameters: ParameterSet) -> list[str]:
    """URDF text and file that the parameters give, either may be empty."""
    return [parameters.value(f'robot_description{suffix}') for suffix in ('', '_file')]


def _gravity(parameters: ParameterSet) -> list[float]:
    return [parameters.value(f'gravity.{axis}') for axis in 'xyz']


def subscribe_description(node: Node, on_text: Callable[[str], None]) -> None:
    """Hand every description on the latched topic robot_description to a callback."""
    node.create_subscription(
        String, 'robot_description', lambda message: on_text(message.data), LATCHED
    )
