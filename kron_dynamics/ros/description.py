# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot description: from a parameter, a file, or the latched topic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from kron_dynamics.exceptions import (
    ModelError,
    ModelWarning,
    ParameterError,
    UnsupportedJointError,
)
from kron_dynamics.loading import load, loads
from kron_dynamics.model.findings import allowed_kinds
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameters import ParameterSet

ALLOWED = 'allowed_model_warnings'
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
    if not path:
        return None
    try:
        robot = load(path, **_options(parameters))
    except ModelError as error:
        raise _with_parameter(error) from error.__cause__
    _log_warnings(parameters, robot)
    return robot


def robot_from_text(parameters: ParameterSet, text: str) -> Robot:
    """Return the robot of a URDF text, with the gravity of the parameters and rigid links.

    Raises:
        ModelError: the description is unusable.
    """
    try:
        # Text from elsewhere: xacro evaluates expressions and reads files.
        robot = loads(text, expand_xacro=False, **_options(parameters))
    except ModelError as error:
        raise _with_parameter(error) from error.__cause__
    _log_warnings(parameters, robot)
    return robot


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
        file: str = parameters.value('flexible_description_file')
        return _flexible(parameters, partial(load, path), file) if file else None
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
    return _flexible(parameters, partial(loads, text, expand_xacro=False), file)


def _flexible(parameters: ParameterSet, make: Callable[..., Robot], file: str) -> Robot:
    try:
        return make(flexible=file, **_options(parameters))
    except ModelError as error:
        told = str(_with_parameter(error))
        raise type(error)(told if file in told else f'{file}: {told}') from None


def _description(parameters: ParameterSet) -> list[str]:
    """URDF text and file that the parameters give, either may be empty."""
    return [parameters.value(f'robot_description{suffix}') for suffix in ('', '_file')]


def _options(parameters: ParameterSet) -> dict[str, Any]:
    """Options of `load`. A node moves a machine: warnings are errors unless they are allowed."""
    return {
        'gravity': [parameters.value(f'gravity.{axis}') for axis in 'xyz'],
        'hold_base': parameters.value('hold_base'),
        'strict': True,
        'allow': _allowed(parameters),
    }


def _allowed(parameters: ParameterSet) -> list[str]:
    """The kinds of warnings that are allowed.

    Raises:
        ParameterError: there is no such kind.
    """
    kinds = [kind for kind in parameters.value(ALLOWED) if kind]
    try:
        return list(allowed_kinds(kinds))
    except ParameterError as error:
        raise ParameterError(f"parameter '{ALLOWED}': {error}") from None


def _with_parameter(error: ModelError) -> ModelError:
    """The error, with the parameter that lets it pass where it is a warning by itself."""
    told, warning = str(error), error.__cause__
    if isinstance(warning, ModelWarning):
        kind = warning.kind
        told = f"{told}: mend the description, or add '{kind}' to the parameter {ALLOWED}"
    if isinstance(error, UnsupportedJointError) and 'hold_base=True' in told:
        told = f'{told}; for this node the parameter hold_base does'
    return type(error)(told)


def _log_warnings(parameters: ParameterSet, robot: Robot) -> None:
    for warning in robot.model.warnings:
        if warning.severity == 'warning':
            parameters.logger.warning(f'allowed in the robot_description: {warning}')


def subscribe_description(node: Node, on_text: Callable[[str], None]) -> None:
    """Hand every description on the latched topic robot_description to a callback."""
    node.create_subscription(
        String, 'robot_description', lambda message: on_text(message.data), LATCHED
    )
