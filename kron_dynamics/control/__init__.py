# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws, reference trajectories and command safety; independent of ROS.

Times are float seconds; vectors have one entry per joint, in the robot's joint order.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kron_dynamics.control.assembly import ControlSettings, assembled_controller, fault_hold
    from kron_dynamics.control.command_guard import CommandGuard
    from kron_dynamics.control.computed_torque import ComputedTorque, ProportionalDerivative
    from kron_dynamics.control.external_effort.momentum_observer import (
        MomentumObserver,
        noise_of_estimate,
    )
    from kron_dynamics.control.external_effort.monitor import ExternalEffortMonitor
    from kron_dynamics.control.external_effort.threshold_advice import advised_thresholds
    from kron_dynamics.control.external_effort.tip_wrench import TipWrench
    from kron_dynamics.control.fault_latch import FaultAction, FaultLatch, watch_period
    from kron_dynamics.control.gravity_hold import DampingRange, GravityHold, damping_range
    from kron_dynamics.control.hand_guiding import HandGuiding
    from kron_dynamics.control.integral_action import IntegralAction, integral_limit
    from kron_dynamics.control.joint_states import (
        AssembledState,
        JointStateAssembler,
        SampleOutcome,
    )
    from kron_dynamics.control.law import ControlLaw, JointReference, LawState, StatelessLaw
    from kron_dynamics.control.per_joint import reorder
    from kron_dynamics.control.reference.annotation import (
        AnnotatedTrajectory,
        PointViolations,
        annotate_trajectory,
    )
    from kron_dynamics.control.reference.follower import ReferenceFollower
    from kron_dynamics.control.reference.limits import (
        LimitViolation,
        check_trajectory,
        limit_violations,
    )
    from kron_dynamics.control.reference.planning import (
        PlannedReference,
        Reference,
        ReferenceBounds,
        ReferenceShaping,
    )
    from kron_dynamics.control.reference.point_to_point import point_to_point
    from kron_dynamics.control.reference.retime import retime
    from kron_dynamics.control.reference.retimed_trajectory import RetimedTrajectory
    from kron_dynamics.control.reference.trajectory import Extrema, Trajectory
    from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
    from kron_dynamics.control.shaping.shape import shape_trajectory
    from kron_dynamics.control.shaping.shapers import Shaper, convolved, residual_vibration, shaper
    from kron_dynamics.control.solvers import load_solvers
    from kron_dynamics.control.terms import EffortTerms
    from kron_dynamics.control.tuning.result import Tuning
    from kron_dynamics.control.tuning.tuning import tune
    from kron_dynamics.control.vibration.damped_torque import DampedTorque
    from kron_dynamics.control.vibration.damper import GainSchedule, VibrationDamper
    from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
    from kron_dynamics.control.vibration.flexible_torque import FlexibleTorque
    from kron_dynamics.control.vibration.gain_schedule import damping_schedule
    from kron_dynamics.control.vibration.kalman import NoiseModel
    from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights

__all__ = [
    'AnnotatedTrajectory',
    'AssembledState',
    'ClampedJointModes',
    'CommandGuard',
    'ComputedTorque',
    'ControlLaw',
    'ControlSettings',
    'DampedTorque',
    'DampingGains',
    'DampingRange',
    'EffortTerms',
    'ExternalEffortMonitor',
    'Extrema',
    'FaultAction',
    'FaultLatch',
    'FlexibleFeedforward',
    'FlexibleTorque',
    'GainSchedule',
    'GravityHold',
    'HandGuiding',
    'IntegralAction',
    'JointReference',
    'JointStateAssembler',
    'LawState',
    'LimitViolation',
    'LqrWeights',
    'MomentumObserver',
    'NoiseModel',
    'PlannedReference',
    'PointViolations',
    'ProportionalDerivative',
    'Reference',
    'ReferenceBounds',
    'ReferenceFollower',
    'ReferenceShaping',
    'RetimedTrajectory',
    'SampleOutcome',
    'Shaper',
    'StatelessLaw',
    'TipWrench',
    'Trajectory',
    'Tuning',
    'VibrationDamper',
    'advised_thresholds',
    'annotate_trajectory',
    'assembled_controller',
    'check_trajectory',
    'convolved',
    'damping_range',
    'damping_schedule',
    'fault_hold',
    'integral_limit',
    'limit_violations',
    'load_solvers',
    'noise_of_estimate',
    'point_to_point',
    'reorder',
    'residual_vibration',
    'retime',
    'shape_trajectory',
    'shaper',
    'tune',
    'watch_period',
]

# Module of each public name; a module is imported when one of its names is first accessed.
_MODULES = {
    'assembly': (
        'ControlSettings',
        'assembled_controller',
        'fault_hold',
    ),
    'computed_torque': (
        'ComputedTorque',
        'ProportionalDerivative',
    ),
    'fault_latch': (
        'FaultAction',
        'FaultLatch',
        'watch_period',
    ),
    'gravity_hold': (
        'DampingRange',
        'GravityHold',
        'damping_range',
    ),
    'joint_states': (
        'AssembledState',
        'JointStateAssembler',
        'SampleOutcome',
    ),
    'external_effort.momentum_observer': ('MomentumObserver', 'noise_of_estimate'),
    'external_effort.monitor': ('ExternalEffortMonitor',),
    'external_effort.threshold_advice': ('advised_thresholds',),
    'external_effort.tip_wrench': ('TipWrench',),
    'hand_guiding': ('HandGuiding',),
    'integral_action': ('IntegralAction', 'integral_limit'),
    'law': (
        'ControlLaw',
        'JointReference',
        'LawState',
        'StatelessLaw',
    ),
    'per_joint': ('reorder',),
    'reference.annotation': (
        'AnnotatedTrajectory',
        'PointViolations',
        'annotate_trajectory',
    ),
    'reference.follower': ('ReferenceFollower',),
    'reference.limits': (
        'LimitViolation',
        'check_trajectory',
        'limit_violations',
    ),
    'reference.planning': (
        'PlannedReference',
        'Reference',
        'ReferenceBounds',
        'ReferenceShaping',
    ),
    'reference.point_to_point': ('point_to_point',),
    'reference.retime': ('retime',),
    'reference.retimed_trajectory': ('RetimedTrajectory',),
    'reference.trajectory': (
        'Extrema',
        'Trajectory',
    ),
    'command_guard': ('CommandGuard',),
    'shaping.clamped_modes': ('ClampedJointModes',),
    'shaping.shape': ('shape_trajectory',),
    'shaping.shapers': (
        'Shaper',
        'convolved',
        'residual_vibration',
        'shaper',
    ),
    'solvers': ('load_solvers',),
    'terms': ('EffortTerms',),
    'tuning.result': ('Tuning',),
    'tuning.tuning': ('tune',),
    'vibration.damped_torque': ('DampedTorque',),
    'vibration.damper': (
        'GainSchedule',
        'VibrationDamper',
    ),
    'vibration.feedforward': ('FlexibleFeedforward',),
    'vibration.flexible_torque': ('FlexibleTorque',),
    'vibration.kalman': ('NoiseModel',),
    'vibration.lqg': (
        'DampingGains',
        'LqrWeights',
    ),
    'vibration.gain_schedule': ('damping_schedule',),
}


def __getattr__(name: str) -> object:
    """Import a public name on first access, so that unused parts are never imported."""
    for module, names in _MODULES.items():
        if name in names:
            found = import_module(f'{__name__}.{module}')
            globals().update({each: getattr(found, each) for each in names})
            return globals()[name]
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
