# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the controller from a node's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from kron_dynamics.control import ControlSettings, FaultAction, assembled_controller, fault_hold
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.law import unused_settings
from kron_dynamics.control.sampled_loop import check_decoupled
from kron_dynamics.control.supervision.tolerances import (
    TrackingTolerances,
    default_rate_limit,
    tracking_tolerances,
)
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless, joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.reference_interface import reference_bounds
from kron_dynamics.typing import FloatArray

# Effort lead, in state periods, above which a warning asks whether its unit is right.
_LONG_LEAD = 5.0


def make_controller(
    parameters: ParameterSet, robot: Robot, flexible: Robot, q: FloatArray, background: Executor
) -> TrackingController:
    """Return a controller for a robot.

    Args:
        parameters: parameters of dynamics_node, those of the joints included.
        robot: the machine with rigid links.
        flexible: the machine with flexible links; the same object if it has none.
        q: pose at which the law `pd`, and initially vibration damping, is designed, shape (n,),
            rad or m.
        background: executor that designs vibration damping for other poses.

    Raises:
        ParameterError: a gain or an effort limit is missing or unusable, or parameters contradict
            each other.
        ModelError: flexible links buckle under their weight, or cannot be damped.
    """
    settings = control_settings(parameters, robot)
    require_strength(parameters, robot, q)
    if settings.law != 'gravity':
        tolerances = _tolerances(parameters, robot, q, settings.kp, settings.effort_limit)
        settings = settings._replace(tolerances=tolerances)
    if settings.shaping != 'none' or settings.damping:
        _check_links(parameters, flexible)
    controller = assembled_controller(settings, robot, flexible, q, background)
    if settings.damping:
        _warn_of_delay(parameters, controller)
    return controller


def control_settings(parameters: ParameterSet, robot: Robot) -> ControlSettings:
    """Return the settings of a controller, without tolerances of the tracking error.

    Args:
        parameters: parameters of dynamics_node, those of the joints included.
        robot: the machine with rigid links.

    Raises:
        ParameterError: a gain or an effort limit is missing or unusable.
    """
    joints = robot.joint_names
    guided = parameters.value('control_law') == 'gravity'
    kp, kd = (_gains(parameters, joints, gain, needed=not guided) for gain in ('kp', 'kd'))
    return ControlSettings(
        kp=kp,
        kd=kd,
        ki=parameters.per_joint('gains.{joint}.ki', joints),
        effort_limit=effort_limits(parameters, robot),
        rate_limit=effort_rate_limits(parameters, robot),
        start_tolerance=parameters.per_joint('reference_start_tolerance.{joint}', joints),
        resolution=parameters.per_joint('position_resolution.{joint}', joints),
        period=parameters.value('state_period'),
        effort_lead=parameters.value('effort_lead'),
        state_timeout=parameters.value('state_timeout'),
        law=parameters.value('control_law'),
        terms=effort_terms(parameters),
        guiding_damping=parameters.value('hand_guiding_damping') or None,
        guiding_speed=parameters.value('hand_guiding_speed'),
        guiding_friction=parameters.value('hand_guiding_friction'),
        fault_action=FaultAction(parameters.value('fault_action')),
        hold_damping=parameters.value('hold_damping') or None,
        shaping=parameters.value('reference_shaping'),
        damping=parameters.value('vibration_damping'),
        bounds=reference_bounds(parameters, joints),
    )


def require_strength(parameters: ParameterSet, robot: Robot, q: FloatArray) -> None:
    """Check that the drives can compensate gravity at q, shape (n,), if commands include gravity.

    Raises:
        ParameterError: a joint would need more than its effort limit.
    """
    if not effort_terms(parameters).gravity_is_compensated:
        return
    needed, limit = robot.gravity_vector(q), effort_limits(parameters, robot)
    for k, name in enumerate(robot.joint_names):
        if not abs(needed[k]) <= limit[k]:
            unit = joint_kind(robot.model.joint_types[k]).unit('effort')
            raise ParameterError(
                f"joint '{name}' would need {abs(needed[k]):.4g} {unit} to compensate gravity "
                f'here, more than its effort limit {limit[k]:.4g}'
            )


def _tolerances(
    parameters: ParameterSet,
    robot: Robot,
    q: FloatArray,
    kp: FloatArray,
    effort_limit: FloatArray,
) -> TrackingTolerances:
    """Return the fault tolerances: from parameters, or derived from gains and limits if 0."""
    joints = robot.joint_names
    with_model = parameters.value('control_law') != 'pd'
    derived = tracking_tolerances(
        robot,
        q,
        kp,
        effort_limit,
        with_model=with_model,
        time=parameters.value('following_error_time'),
    )
    chosen = derived.with_given(
        position=parameters.per_joint('following_error.{joint}', joints),
        velocity=parameters.per_joint('following_error_velocity.{joint}', joints),
        goal=parameters.per_joint('goal_tolerance.{joint}', joints),
        goal_time=parameters.value('goal_time'),
    )
    for warning in chosen.never_exceeded(joints, endless(robot.model.joint_types)):
        parameters.logger.warning(warning)
    return chosen


def effort_terms(parameters: ParameterSet) -> EffortTerms:
    """Return which model terms are in the commands, and which the drives add.

    Raises:
        ParameterError: a term would be compensated twice.
    """
    terms, drive = (frozenset(parameters.value(name)) - {''} for name in ('terms', 'drive_terms'))
    return EffortTerms(terms, drive)


def checked_fault_hold(
    parameters: ParameterSet, robot: Robot, flexible: Robot
) -> GravityHold | None:
    """Return the fault action hold_gravity, checked to dissipate energy in the sampled loop.

    Args:
        parameters: parameters of dynamics_node.
        robot: the machine with rigid links.
        flexible: the machine with flexible links; the same object if it has none.

    Returns:
        None if the fault action is another one.

    Raises:
        ParameterError: the damping is not stable; the message has a stable damping or period of
            the states.
    """
    action = FaultAction(parameters.value('fault_action'))
    damping, period = (parameters.value(name) for name in ('hold_damping', 'state_period'))
    compensate_gravity = 'gravity' not in effort_terms(parameters).drive
    return fault_hold(
        action, damping or None, period, robot, flexible, compensate_gravity=compensate_gravity
    )


def check_loop(parameters: ParameterSet, robot: Robot, flexible: Robot) -> None:
    """Check the stability of fault action and gains at configuration.

    The fault action must dissipate energy. Gains of computed torque, if all are set, must be
    stable with `state_period` and one period of delay; those of pd depend on the pose and are
    checked at activation.

    Args:
        parameters: parameters of dynamics_node.
        robot: the machine with rigid links.
        flexible: the machine with flexible links; the same object if it has none.

    Raises:
        ParameterError: the loop is not stable; the message says what would be.
    """
    checked_fault_hold(parameters, robot, flexible)
    period, lead = (parameters.value(name) for name in ('state_period', 'effort_lead'))
    if lead > _LONG_LEAD * period:
        parameters.logger.warning(
            f'effort_lead is {lead:g} s, {lead / period:.3g} times state_period: a lead that is '
            f'too long is as wrong as a delay; is it in s?'
        )
    law, joints = parameters.value('control_law'), robot.joint_names
    kp, kd, ki = (
        parameters.per_joint(f'gains.{{joint}}.{gain}', joints) for gain in ('kp', 'kd', 'ki')
    )
    if unused := unused_settings(law, lead, ki):
        parameters.logger.warning(unused)
    if law != 'computed_torque' or parameters.value('vibration_damping'):
        return
    if (kp > 0.0).all() and (kd > 0.0).all():
        for warning in check_decoupled(kp, kd, ki, period, joints):
            parameters.logger.warning(warning)


def _check_links(parameters: ParameterSet, flexible: Robot) -> None:
    """Check that shaping and damping are used with flexible links only."""
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


def _warn_of_delay(parameters: ParameterSet, controller: TrackingController) -> None:
    """Warn if vibration damping is unstable with efforts two periods late."""
    from kron_dynamics.control.vibration.damped_torque import DampedTorque
    from kron_dynamics.control.vibration.delayed_loop import delay_warning

    assert isinstance(controller.law, DampedTorque), f'{controller.law} damps no vibrations'
    warning = delay_warning(controller.law.gains)
    if warning is not None:
        parameters.logger.warning(warning)


def _gains(
    parameters: ParameterSet, joints: Sequence[str], gain: str, *, needed: bool
) -> FloatArray:
    """Return one gain of every joint, shape (n,); it must be positive if the law needs it."""
    values = parameters.per_joint(f'gains.{{joint}}.{gain}', joints)
    unset = [
        f'gains.{joint}.{gain}'
        for joint, value in zip(joints, values, strict=True)
        if value <= 0.0
    ]
    if unset and needed:
        raise ParameterError(f'parameters {", ".join(unset)} are 0, expected gains above 0')
    return values


def effort_limits(parameters: ParameterSet, robot: Robot) -> FloatArray:
    """Return the limits of the commanded efforts, shape (n,), N m or N.

    Raises:
        ParameterError: a joint has no limit, or a limit of zero.
    """
    limit = known_effort_limits(parameters, robot)
    for name, value in zip(robot.joint_names, limit, strict=True):
        if not 0.0 < value < np.inf:
            raise ParameterError(
                f"joint '{name}' has effort limit {value:g}, expected a positive one in the URDF, "
                f'or none there and one in parameter effort_limit.{name}'
            )
    return limit


def effort_rate_limits(parameters: ParameterSet, robot: Robot) -> FloatArray:
    """Return the limits of the commanded efforts' rates, shape (n,), N m/s or N/s.

    If the parameter is 0, the limit is derived from position gain and effort limit.
    """
    given, kp = (
        parameters.per_joint(pattern, robot.joint_names)
        for pattern in ('effort_rate_limit.{joint}', 'gains.{joint}.kp')
    )
    return np.where(
        given > 0.0, given, default_rate_limit(kp, known_effort_limits(parameters, robot))
    )


def known_effort_limits(parameters: ParameterSet, robot: Robot) -> FloatArray:
    """Return the effort limits, shape (n,), N m or N; inf for joints without one.

    The smaller of the URDF's limit and the parameter's, times `effort_limit_scale`.
    """
    given = parameters.per_joint('effort_limit.{joint}', robot.joint_names)
    limit = np.minimum(robot.model.effort_limit, given)
    return limit * float(parameters.value('effort_limit_scale'))
