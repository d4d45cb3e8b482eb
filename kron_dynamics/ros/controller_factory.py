# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The controller that a node's parameters describe."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from kron_dynamics.control import ControlSettings, FaultAction, assembled_controller, fault_hold
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameters import ParameterSet
from kron_dynamics.ros.reference_interface import reference_bounds
from kron_dynamics.typing import FloatArray


def make_controller(
    parameters: ParameterSet, robot: Robot, flexible: Robot, q: FloatArray, background: Executor
) -> TrackingController:
    """Return a controller for a robot.

    Args:
        parameters: of dynamics_node, those of the joints included.
        robot: the machine.
        flexible: the same with links that bend; the same object where none does.
        q: the pose that the law `pd` is tuned at, and vibration damping at first, shape (n,),
            rad or m.
        background: where gains for other poses are made.

    Raises:
        ParameterError: a gain or an effort limit is missing or cannot be used, or parameters do
            not go together.
        ModelError: links do not carry their weight, or cannot be damped.
    """
    joints = robot.joint_names
    kp, kd = (_gains(parameters, joints, gain) for gain in ('kp', 'kd'))
    settings = ControlSettings(
        kp=kp,
        kd=kd,
        effort_limit=effort_limits(parameters, robot),
        rate_limit=parameters.per_joint('effort_rate_limit.{joint}', joints),
        start_tolerance=parameters.per_joint('reference_start_tolerance.{joint}', joints),
        resolution=parameters.per_joint('position_resolution.{joint}', joints),
        period=parameters.value('state_period'),
        state_timeout=parameters.value('state_timeout'),
        law=parameters.value('control_law'),
        compensate_friction=parameters.value('compensate_friction'),
        fault_action=FaultAction(parameters.value('fault_action')),
        hold_damping=parameters.value('hold_damping') or None,
        shaping=parameters.value('reference_shaping'),
        damping=parameters.value('vibration_damping'),
        bounds=reference_bounds(parameters, joints),
    )
    if settings.shaping != 'none' or settings.damping:
        _check_links(parameters, flexible)
    return assembled_controller(settings, robot, flexible, q, background)


def check_fault_action(parameters: ParameterSet, robot: Robot, flexible: Robot) -> None:
    """Refuse a fault action that would not take energy out of a robot.

    Args:
        parameters: of dynamics_node.
        robot: the machine.
        flexible: the same with links that bend; the same object where none does.

    Raises:
        ParameterError: it would not; the message says which damping or period of the states would.
    """
    action = FaultAction(parameters.value('fault_action'))
    damping, period = (parameters.value(name) for name in ('hold_damping', 'state_period'))
    fault_hold(action, damping or None, period, robot, flexible)


def _check_links(parameters: ParameterSet, flexible: Robot) -> None:
    """Refuse what is for links that bend where none does, or with a law that knows of none."""
    asked = [
        f'{name} is {parameters.value(name)!r}'
        for name, off in (('reference_shaping', 'none'), ('vibration_damping', False))
        if parameters.value(name) != off
    ]
    if not flexible.model.is_flexible:
        raise ParameterError(
            f'parameter {" and ".join(asked)}, which needs flexible_description_file: all links '
            'are rigid'
        )
    if parameters.value('control_law') != 'computed_torque':
        raise ParameterError(
            f'parameter {" and ".join(asked)}, which needs control_law computed_torque, got '
            f'{parameters.value("control_law")!r}'
        )


def _gains(parameters: ParameterSet, joints: Sequence[str], gain: str) -> FloatArray:
    """One gain of every joint: kp and kd must both be positive."""
    values = parameters.per_joint(f'gains.{{joint}}.{gain}', joints)
    unset = [
        f'gains.{joint}.{gain}'
        for joint, value in zip(joints, values, strict=True)
        if value <= 0.0
    ]
    if unset:
        raise ParameterError(f'parameters {", ".join(unset)} are 0, expected gains above 0')
    return values


def effort_limits(parameters: ParameterSet, robot: Robot) -> FloatArray:
    """Return the greatest efforts that may be commanded, shape (n,), N m or N.

    The smaller of the URDF's limit and the parameter's, times `effort_limit_scale`.

    Raises:
        ParameterError: a joint has no limit in either, or a limit of zero.
    """
    given = parameters.per_joint('effort_limit.{joint}', robot.joint_names)
    limit = np.minimum(robot.model.effort_limit, given)
    for name, value in zip(robot.joint_names, limit, strict=True):
        if not 0.0 < value < np.inf:
            raise ParameterError(
                f"joint '{name}' has effort limit {value:g}, expected a positive one in the URDF "
                f'or in parameter effort_limit.{name}'
            )
    return limit * float(parameters.value('effort_limit_scale'))
