# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The controller that a node's parameters describe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.control import (
    CommandGuard,
    ComputedTorque,
    ControlLaw,
    FaultAction,
    GravityHold,
    ProportionalDerivative,
)
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameters import ParameterSet
from kron_dynamics.typing import FloatArray

# A gap between stamps that is longer than silence may be by this time, in s, is no gap between
# states but a clock that was set.
_STEP_OF_CLOCK = 1.0


def make_controller(parameters: ParameterSet, robot: Robot, q: FloatArray) -> TrackingController:
    """Return a controller for a robot.

    Args:
        parameters: of dynamics_node, those of the joints included.
        robot: the machine.
        q: the pose that the law `pd` is tuned at, shape (n,), rad or m.

    Raises:
        ParameterError: a gain or an effort limit is missing or cannot be used.
    """
    joints = robot.joint_names
    kp, kd = (_gains(parameters, joints, gain) for gain in ('kp', 'kd'))
    effort_limit = effort_limits(parameters, robot)
    law: ControlLaw
    if parameters.value('control_law') == 'pd':
        law = ProportionalDerivative(robot, kp, kd, q)
    else:
        law = ComputedTorque(
            robot, kp, kd, compensate_friction=parameters.value('compensate_friction')
        )
    rate_limit = parameters.per_joint('effort_rate_limit.{joint}', joints)
    return TrackingController(
        robot,
        law,
        GravityHold(robot, kd),
        CommandGuard(effort_limit, rate_limit, joints),
        fault_action=FaultAction(parameters.value('fault_action')),
        start_tolerance=parameters.per_joint('reference_start_tolerance.{joint}', joints),
        effort_limit=effort_limit,
        longest_gap=_STEP_OF_CLOCK + parameters.value('state_timeout'),
    )


def _gains(parameters: ParameterSet, joints: Sequence[str], gain: str) -> FloatArray:
    """One gain of every joint; a controller without either is none."""
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
