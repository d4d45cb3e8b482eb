# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws, reference trajectories and what keeps commands safe; knows no ROS.

Times are float seconds; vectors have one entry per joint, in the robot's joint order.
"""

from kron_dynamics.control.assembly import ControlSettings, assembled_controller, fault_hold
from kron_dynamics.control.computed_torque import ComputedTorque, ProportionalDerivative
from kron_dynamics.control.faults import FaultAction, FaultLatch, watch_period
from kron_dynamics.control.gravity_hold import DampingRange, GravityHold, damping_range
from kron_dynamics.control.joint_states import (
    AssembledState,
    JointStateAssembler,
    SampleOutcome,
)
from kron_dynamics.control.law import ControlLaw, LawState
from kron_dynamics.control.per_joint import reorder
from kron_dynamics.control.reference.limits import (
    LimitViolation,
    check_trajectory,
    limit_violations,
)
from kron_dynamics.control.reference.point_to_point import point_to_point
from kron_dynamics.control.reference.trajectory import Extrema, Trajectory
from kron_dynamics.control.reference_follower import (
    PlannedReference,
    Reference,
    ReferenceBounds,
    ReferenceFollower,
    ReferenceShaping,
)
from kron_dynamics.control.safety import CommandGuard
from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.control.shaping.shape import shape_trajectory
from kron_dynamics.control.shaping.shapers import Shaper, convolved, residual_vibration, shaper
from kron_dynamics.control.solvers import load_solvers
from kron_dynamics.control.vibration.damped_torque import DampedTorque
from kron_dynamics.control.vibration.damper import GainSchedule, VibrationDamper
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
from kron_dynamics.control.vibration.flexible_torque import FlexibleTorque
from kron_dynamics.control.vibration.kalman import NoiseModel
from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights
from kron_dynamics.control.vibration.schedule import damping_schedule

__all__ = [
    'AssembledState',
    'ClampedJointModes',
    'CommandGuard',
    'ComputedTorque',
    'ControlLaw',
    'ControlSettings',
    'DampedTorque',
    'DampingGains',
    'DampingRange',
    'Extrema',
    'FaultAction',
    'FaultLatch',
    'FlexibleFeedforward',
    'FlexibleTorque',
    'GainSchedule',
    'GravityHold',
    'JointStateAssembler',
    'LawState',
    'LimitViolation',
    'LqrWeights',
    'NoiseModel',
    'PlannedReference',
    'ProportionalDerivative',
    'Reference',
    'ReferenceBounds',
    'ReferenceFollower',
    'ReferenceShaping',
    'SampleOutcome',
    'Shaper',
    'Trajectory',
    'VibrationDamper',
    'assembled_controller',
    'check_trajectory',
    'convolved',
    'damping_range',
    'damping_schedule',
    'fault_hold',
    'limit_violations',
    'load_solvers',
    'point_to_point',
    'reorder',
    'residual_vibration',
    'shape_trajectory',
    'shaper',
    'watch_period',
]
