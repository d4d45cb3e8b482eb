# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot description: from a parameter, a file, or the latched topic."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
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
from kron_dynamics.ros.joint_parameters import armature_parameters
from kron_dynamics.ros.parameter_set import ParameterSet

ALLOWED = 'allowed_model_warnings'
XACRO_ARGS = 'xacro_args'
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def robot_from_parameters(parameters: ParameterSet) -> Robot | None:
    """Return the robot that the parameters describe, or None if it comes from the topic.

    With flexible_description_file its links are flexible; `rigid` is the same with rigid links.

    Raises:
        ModelError: a description is unusable, or the descriptions do not fit together; the
            message names the file of flexible links if that is the cause.
        ParameterError: xacro arguments cannot be parsed, or there is no file to apply them to.
    """
    text, path = _description(parameters)
    arguments = _xacro_arguments(parameters)
    if arguments and (text or not path) and not _loops_are_xacro(parameters, arguments):
        raise ParameterError(
            f"parameter '{XACRO_ARGS}' is {arguments}, and no robot_description_file is read"
        )
    if text:
        return robot_from_text(parameters, text)
    return _robot(parameters, partial(load, path, xacro_args=arguments)) if path else None


def robot_from_text(parameters: ParameterSet, text: str) -> Robot:
    """Return the robot of a URDF text; see `robot_from_parameters`."""
    # Never expand xacro in text from elsewhere: xacro evaluates expressions and reads files.
    arguments = _xacro_arguments(parameters)
    return _robot(parameters, partial(loads, text, expand_xacro=False, xacro_args=arguments))


def _robot(parameters: ParameterSet, make: Callable[..., Robot]) -> Robot:
    options = _options(parameters)
    for option, name in (
        ('flexible', 'flexible_description_file'),
        ('constraints', 'constraints_file'),
    ):
        options[option] = parameters.value(name) or None
    try:
        # The armature parameters need the joints' names, so the robot is loaded without them
        # first. Warnings are ignored here, because armatures may change them.
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)
            robot = make(**{**options, 'strict': False})
        armature = _armature(parameters, robot.model.joint_names[: robot.model.joint_count])
        if armature or robot.model.warnings:
            robot = make(armature=armature, **options)
    except ModelError as error:
        raise _with_parameter(error) from error.__cause__
    for warning in robot.model.warnings:
        if warning.severity == 'warning':
            parameters.logger.warning(f'allowed in the robot_description: {warning}')
    return robot


def _armature(parameters: ParameterSet, joints: Sequence[str]) -> dict[str, float]:
    """Return the rotor inertias set by parameters, by joint."""
    parameters.declare(armature_parameters(joints))
    given = {joint: parameters.value(f'armature.{joint}') for joint in joints}
    return {joint: inertia for joint, inertia in given.items() if inertia >= 0.0}


def _description(parameters: ParameterSet) -> list[str]:
    """Return the parameters with the URDF text and the file; either may be empty."""
    return [parameters.value(f'robot_description{suffix}') for suffix in ('', '_file')]


def _xacro_arguments(parameters: ParameterSet) -> dict[str, str]:
    words = [word for word in parameters.value(XACRO_ARGS) if word]
    for word in words:
        if word.find(':=') < 1:
            raise ParameterError(f"parameter '{XACRO_ARGS}' has '{word}', expected name:=value")
    return {name: value for name, _, value in (word.partition(':=') for word in words)}


def _loops_are_xacro(parameters: ParameterSet, arguments: dict[str, str]) -> bool:
    path = parameters.value('constraints_file')
    if not path:
        return False
    from kron_dynamics.constraints.formats.reading import xacro_arguments  # few robots have loops

    return xacro_arguments(path, arguments) is not None


def _options(parameters: ParameterSet) -> dict[str, Any]:
    """Return options of `load`. A node moves a machine, so warnings not allowed are errors."""
    return {
        'gravity': [parameters.value(f'gravity.{axis}') for axis in 'xyz'],
        'hold_base': parameters.value('hold_base'),
        'strict': True,
        'allow': allowed_warnings(parameters),
    }


def allowed_warnings(parameters: ParameterSet) -> list[str]:
    """Return the kinds of warnings that are allowed.

    Raises:
        ParameterError: a kind does not exist.
    """
    kinds = [kind for kind in parameters.value(ALLOWED) if kind]
    try:
        return list(allowed_kinds(kinds))
    except ParameterError as error:
        raise ParameterError(f"parameter '{ALLOWED}': {error}") from None


def _with_parameter(error: ModelError) -> ModelError:
    """Return the error with advice on the parameter that allows it, if there is one."""
    text, warning = str(error), error.__cause__
    if isinstance(warning, ModelWarning):
        kind = warning.kind
        text = f"{text}: fix the description, or add '{kind}' to the parameter {ALLOWED}"
    if isinstance(error, UnsupportedJointError) and 'hold_base=True' in text:
        text = f'{text}; for this node set the parameter hold_base'
    return type(error)(text)


def publish_constraints(node: Node, parameters: ParameterSet) -> None:
    """Publish constraints_file on the latched topic robot_constraints, for recordings.

    Only a file in this package's YAML format that refers to no other file is published; others
    are logged. A file that cannot be read is refused together with the description, not here.
    """
    path = parameters.value('constraints_file')
    if not path:
        return
    import yaml  # few robots have loops

    try:
        text = Path(path).read_text(encoding='utf-8')
        found = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError):
        return
    if isinstance(found, dict) and 'constraints' in found and 'from' not in found:
        node.create_publisher(String, 'robot_constraints', LATCHED).publish(String(data=text))
    else:
        parameters.logger.info(
            f'{path} is not published on robot_constraints: expected a YAML file with constraints '
            'and without from'
        )


def subscribe_description(node: Node, on_text: Callable[[str], None]) -> None:
    """Call a callback with every description on the latched topic robot_description."""
    node.create_subscription(
        String, 'robot_description', lambda message: on_text(message.data), LATCHED
    )
