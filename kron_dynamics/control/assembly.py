# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Construction of a controller from its settings, for a node or a simulation."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.control.command_guard import CommandGuard
from kron_dynamics.control.computed_torque import ComputedTorque, ProportionalDerivative
from kron_dynamics.control.effort_lead import EffortLead
from kron_dynamics.control.fault_latch import FaultAction
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.hand_guiding import HandGuiding
from kron_dynamics.control.integral_action import IntegralAction, integral_limit
from kron_dynamics.control.law import LAWS, ControlLaw
from kron_dynamics.control.reference.planning import ReferenceBounds, ReferenceShaping
from kron_dynamics.control.sampled_loop import check_coupled, check_decoupled
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.control.terms import EffortTerms, in_order
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A gap between stamps that exceeds `state_timeout` by more than this, s, is a clock change.
_CLOCK_STEP = 1.0


class ControlSettings(NamedTuple):
    """Settings of a controller of n joints; arrays of shape (n,).

    Attributes:
        kp: position gains, 1/s^2.
        kd: velocity gains, 1/s.
        effort_limit: N m or N.
        rate_limit: limits of the effort rates, N m/s or N/s.
        start_tolerance: allowed distance of a new reference from the present one, rad or m.
        resolution: resolution of the measured positions, for vibration damping, rad or m.
        period: time between states, for vibration damping and the fault action, s.
        state_timeout: time without joint states that is a fault, s.
        law: 'computed_torque', 'pd', or 'gravity' for hand guiding.
        ki: integral gains, 1/s^3; None for none. The law 'gravity' has no gains.
        terms: model terms in the commands, and those that the drives add.
        effort_lead: lead time of the reference efforts, s; 0 for none. Laws other than
            'computed_torque' do not use it.
        guiding_damping: damping of the law 'gravity', 1/s; None for the lowest stable damping.
        guiding_speed: share of the velocity limits above which that law increases damping.
        guiding_friction: share of the friction that it compensates.
        fault_action: action while a fault is latched.
        hold_damping: damping of the fault action `hold_gravity`, 1/s; None for the geometric mean
            of the stable range.
        shaping: shaper of the references: 'none', 'zv', 'zvd' or 'ei'.
        damping: whether the drives damp vibrations.
        tolerances: tolerances of the tracking error, violations are faults; None for no check.
        bounds: bounds of references.
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
    ki: FloatArray | None = None
    terms: EffortTerms = EffortTerms()
    effort_lead: float = 0.0
    guiding_damping: float | None = None
    guiding_speed: float = 0.25
    guiding_friction: float = 0.0
    fault_action: FaultAction = FaultAction.HOLD_GRAVITY
    hold_damping: float | None = None
    shaping: str = 'none'
    damping: bool = False
    tolerances: TrackingTolerances | None = None
    bounds: ReferenceBounds | None = None


def assembled_controller(
    settings: ControlSettings, rigid: Robot, flexible: Robot, q: FloatArray, background: Executor
) -> TrackingController:
    """Return the controller of a machine.

    Shaping and damping need flexible links and the law 'computed_torque'.

    Args:
        settings: gains, limits, times and options.
        rigid: the machine with rigid links.
        flexible: the same with flexible links; the same object if no link is flexible.
        q: pose of the constant inertia of the law 'pd', and of the first gains of vibration
            damping, shape (n,), rad or m.
        background: executor that computes damping gains for other poses.

    Raises:
        ParameterError: settings cannot be used.
        ModelError: the links have no stable equilibrium under gravity, or cannot be damped.
    """
    check_combinations(settings)
    shaping = None
    if settings.shaping != 'none':
        from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes

        shaping = ReferenceShaping(settings.shaping, ClampedJointModes(flexible))
    law = _law(settings, rigid, flexible, q, background, vibrating=shaping is not None)
    return TrackingController(
        rigid,
        law,
        fault_hold_of(settings, rigid, flexible),
        CommandGuard(settings.effort_limit, settings.rate_limit, rigid.joint_names),
        fault_action=settings.fault_action,
        start_tolerance=settings.start_tolerance,
        effort_limit=settings.effort_limit,
        longest_gap=_CLOCK_STEP + settings.state_timeout,
        period=settings.period,
        shaping=shaping,
        terms=settings.terms,
        tolerances=settings.tolerances,
        bounds=settings.bounds,
        lead=_lead(settings, rigid),
    )


def _lead(settings: ControlSettings, rigid: Robot) -> EffortLead | None:
    """Effort lead of computed torque; None for other laws or without a lead."""
    if not settings.effort_lead or settings.law != 'computed_torque':
        return None
    return EffortLead(rigid, settings.effort_lead, terms=settings.terms)


def _law(
    settings: ControlSettings,
    rigid: Robot,
    flexible: Robot,
    q: FloatArray,
    background: Executor,
    *,
    vibrating: bool,
) -> ControlLaw[Any]:
    """The control law; `vibrating` if the links vibrate along shaped references."""
    if settings.law not in LAWS:
        raise ParameterError(f'law is {settings.law!r}, expected one of {", ".join(LAWS)}')
    kp, kd, terms = settings.kp, settings.kd, settings.terms
    ki = np.zeros(rigid.n) if settings.ki is None else settings.ki
    if settings.law == 'gravity':
        return hand_guiding(settings, rigid, flexible)
    if settings.damping:
        return _damped_law(settings, rigid, flexible, q, background, vibrating)
    if settings.law == 'pd':
        independent = ProportionalDerivative(rigid, kp, kd, q)
        check_coupled(rigid, independent.inertia, kp, kd, ki, settings.period)
        limit = limit_of_integral(settings, rigid)
        if limit is None:
            return independent
        return IntegralAction(independent, rigid, ki, kd, limit, inertia=independent.inertia)
    assert settings.law == 'computed_torque', f'no branch makes the law {settings.law!r}'
    check_decoupled(kp, kd, ki, settings.period, rigid.joint_names)
    computed = ComputedTorque(rigid, kp, kd, terms=terms)
    law: ControlLaw[Any] = computed
    if vibrating and 'flexible' in terms.commanded:
        from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
        from kron_dynamics.control.vibration.flexible_torque import FlexibleTorque

        law = FlexibleTorque(computed, rigid, FlexibleFeedforward(flexible, vibrating=True))
    limit = limit_of_integral(settings, rigid)
    return law if limit is None else IntegralAction(law, rigid, ki, kd, limit)


def hand_guiding(settings: ControlSettings, rigid: Robot, flexible: Robot) -> HandGuiding:
    """Return the law 'gravity'; arguments and errors as for `assembled_controller`."""
    limit = rigid.model.velocity_limit
    for name, value in zip(rigid.joint_names, limit, strict=True):
        if not 0.0 < value < np.inf:
            raise ParameterError(
                f"joint '{name}' has velocity limit {value:g}, expected one above 0 in the URDF: "
                "hand_guiding_speed of control_law 'gravity' is a share of it"
            )
    return HandGuiding(
        rigid,
        settings.guiding_speed * limit,
        period=settings.period,
        damping=settings.guiding_damping,
        friction_share=settings.guiding_friction,
        flexible=flexible,
        terms=settings.terms,
    )


def limit_of_integral(settings: ControlSettings, rigid: Robot) -> FloatArray | None:
    """Return the largest efforts of the integral, shape (n,), N m or N; None without one.

    Raises:
        ParameterError: a joint with an integral gain has no effort limit, or gravity uses all of
            it; names the joint.
    """
    if settings.law == 'gravity' or settings.ki is None or not settings.ki.any():
        return None
    terms = settings.terms
    compensated = (
        'gravity' in terms.drive if settings.law == 'pd' else terms.gravity_is_compensated
    )
    return integral_limit(rigid, settings.effort_limit, settings.ki, compensated=compensated)


def _damped_law(
    settings: ControlSettings,
    rigid: Robot,
    flexible: Robot,
    q: FloatArray,
    background: Executor,
    vibrating: bool,
) -> ControlLaw[Any]:
    from kron_dynamics.control.vibration.damped_torque import DampedTorque
    from kron_dynamics.control.vibration.damper import VibrationDamper
    from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
    from kron_dynamics.control.vibration.gain_schedule import damping_schedule

    limit = settings.effort_limit
    schedule = damping_schedule(flexible, settings.kp, limit, settings.resolution, settings.period)
    continuous = endless(rigid.model.joint_types)
    return DampedTorque(
        rigid,
        FlexibleFeedforward(flexible, vibrating=vibrating),
        VibrationDamper(schedule.at(q), limit, continuous=continuous),
        schedule.at,
        background,
        compensate_friction='friction' in settings.terms.commanded,
    )


def check_combinations(settings: ControlSettings) -> None:
    """Refuse settings that contradict each other.

    Raises:
        ParameterError: settings contradict each other; names them and the reason.
    """
    terms = settings.terms
    asked = [
        f'{name} is {value!r}'
        for name, value, off in (
            ('reference_shaping', settings.shaping, 'none'),
            ('vibration_damping', settings.damping, False),
        )
        if value != off
    ]
    if asked and settings.law != 'computed_torque':
        raise ParameterError(
            f'{" and ".join(asked)}, which needs control_law computed_torque, got {settings.law!r}'
        )
    if settings.damping:
        if settings.ki is not None and settings.ki.any():
            raise ParameterError(
                'vibration_damping estimates slow efforts itself, which is integral action: '
                'expected gains.<joint>.ki to be 0'
            )
        missing = {'inertia', 'coriolis', 'gravity', 'flexible'} - terms.commanded
        if missing or terms.drive:
            raise ParameterError(
                'vibration_damping predicts the links from the whole effort on the joints: '
                'expected all terms but friction in terms and none in drive_terms, got terms '
                f'[{", ".join(in_order(terms.commanded))}] and drive_terms '
                f'[{", ".join(in_order(terms.drive))}]'
            )
    if settings.fault_action is FaultAction.HOLD_GRAVITY and not terms.gravity_is_compensated:
        raise ParameterError(
            "the fault action 'hold_gravity' must know what compensates gravity: gravity is in "
            'neither terms nor drive_terms, expected it in drive_terms if the drives compensate '
            'it themselves'
        )


def fault_hold_of(settings: ControlSettings, rigid: Robot, flexible: Robot) -> GravityHold | None:
    """Return the law of the fault action `hold_gravity` by settings: see `fault_hold`."""
    return fault_hold(
        settings.fault_action,
        settings.hold_damping,
        settings.period,
        rigid,
        flexible,
        compensate_gravity='gravity' not in settings.terms.drive,
    )


def fault_hold(
    action: FaultAction,
    damping: float | None,
    period: float,
    rigid: Robot,
    flexible: Robot,
    *,
    compensate_gravity: bool = True,
) -> GravityHold | None:
    """Return the law of the fault action `hold_gravity`; None for other actions.

    Args:
        action: the fault action.
        damping: 1/s; None for the geometric mean of the stable range.
        period: time between states, s.
        rigid: the machine with rigid links.
        flexible: the same with flexible links; the same object if no link is flexible.
        compensate_gravity: whether commands compensate gravity; False where the drives do.

    Raises:
        ParameterError: the damping is outside the stable range, or that range is empty.
    """
    if action is not FaultAction.HOLD_GRAVITY:
        return None
    return GravityHold(
        rigid, damping, period=period, flexible=flexible, compensate_gravity=compensate_gravity
    )
