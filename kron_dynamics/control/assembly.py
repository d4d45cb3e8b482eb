# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A controller put together from its settings, for a node or for a simulation without one."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from kron_dynamics.control.computed_torque import ComputedTorque, ProportionalDerivative
from kron_dynamics.control.faults import FaultAction
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.law import ControlLaw
from kron_dynamics.control.reference_follower import ReferenceBounds, ReferenceShaping
from kron_dynamics.control.safety import CommandGuard
from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.control.vibration.damped_torque import DampedTorque
from kron_dynamics.control.vibration.damper import VibrationDamper
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
from kron_dynamics.control.vibration.flexible_torque import FlexibleTorque
from kron_dynamics.control.vibration.schedule import damping_schedule
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Longer stamp gaps mean the clock was changed: s, beyond the time that a machine may be silent.
_STEP_OF_CLOCK = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class ControlSettings:
    """What a controller of n joints is made from; arrays of shape (n,).

    Attributes:
        kp: position gains, 1/s^2.
        kd: rate gains, 1/s.
        effort_limit: N m or N.
        rate_limit: of the efforts, N m/s or N/s.
        start_tolerance: rad or m.
        resolution: of the measured positions, for vibration damping, rad or m.
        period: time between states, for vibration damping and the fault action, s.
        state_timeout: how long the machine may be silent, s.
        law: 'computed_torque' or 'pd'.
        compensate_friction: whether the joints' friction is added at the reference's rate.
        fault_action: what is sent while a fault is latched.
        hold_damping: of the fault action `hold_gravity`, 1/s; None for one in the middle of what
            is stable.
        shaping: of the references: 'none', 'zv', 'zvd' or 'ei'.
        damping: whether the drives damp vibrations.
        bounds: of references.
    """

    kp: FloatArray
    kd: FloatArray
    effort_limit: FloatArray
    rate_limit: FloatArray
    start_tolerance: FloatArray
    resolution: FloatArray
    period: float
    state_timeout: float
    law: str = 'computed_torque'
    compensate_friction: bool = True
    fault_action: FaultAction = FaultAction.HOLD_GRAVITY
    hold_damping: float | None = None
    shaping: str = 'none'
    damping: bool = False
    bounds: ReferenceBounds | None = None


def assembled_controller(
    settings: ControlSettings, rigid: Robot, flexible: Robot, q: FloatArray, background: Executor
) -> TrackingController:
    """Return the controller of a machine.

    Shaping and damping need links that bend and the law 'computed_torque'.

    Args:
        settings: gains, limits, times and what it is to do.
        rigid: the machine with stiff links.
        flexible: the same with links that bend; the same object where none does.
        q: the pose that the law 'pd' is tuned at, and vibration damping at first, shape (n,),
            rad or m.
        background: where gains for other poses are made.

    Raises:
        ParameterError: settings cannot be used.
        ModelError: links do not carry their weight, or cannot be damped.
    """
    kp, kd, effort_limit = settings.kp, settings.kd, settings.effort_limit
    friction = settings.compensate_friction
    shaping = None
    if settings.shaping != 'none':
        shaping = ReferenceShaping(settings.shaping, ClampedJointModes(flexible))
    law: ControlLaw[Any]
    if settings.damping:
        schedule = damping_schedule(
            flexible, kp, effort_limit, settings.resolution, settings.period
        )
        continuous = [kind == 'continuous' for kind in rigid.model.joint_types]
        law = DampedTorque(
            rigid,
            FlexibleFeedforward(flexible, vibrating=shaping is not None),
            VibrationDamper(schedule.at(q), effort_limit, continuous=continuous),
            schedule.at,
            background,
            compensate_friction=friction,
        )
    elif settings.law == 'pd':
        law = ProportionalDerivative(rigid, kp, kd, q)
    else:
        computed = law = ComputedTorque(rigid, kp, kd, compensate_friction=friction)
        if shaping is not None:
            law = FlexibleTorque(computed, rigid, FlexibleFeedforward(flexible, vibrating=True))
    return TrackingController(
        rigid,
        law,
        fault_hold(settings.fault_action, settings.hold_damping, settings.period, rigid, flexible),
        CommandGuard(effort_limit, settings.rate_limit, rigid.joint_names),
        fault_action=settings.fault_action,
        start_tolerance=settings.start_tolerance,
        effort_limit=effort_limit,
        longest_gap=_STEP_OF_CLOCK + settings.state_timeout,
        period=settings.period,
        shaping=shaping,
        bounds=settings.bounds,
    )


def fault_hold(
    action: FaultAction, damping: float | None, period: float, rigid: Robot, flexible: Robot
) -> GravityHold | None:
    """Return what a fault action sends on fresh states; None where it needs none.

    Args:
        action: the fault action.
        damping: 1/s; None for one in the middle of what is stable.
        period: time between states, s.
        rigid: the machine with stiff links.
        flexible: the same with links that bend; the same object where none does.

    Raises:
        ParameterError: it would not be stable, or no damping is.
    """
    if action is not FaultAction.HOLD_GRAVITY:
        return None
    return GravityHold(rigid, damping, period=period, flexible=flexible)
