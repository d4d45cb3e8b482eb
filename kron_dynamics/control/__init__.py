# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws, reference trajectories and what keeps commands safe; knows no ROS.

Times are float seconds; vectors have one entry per joint, in the robot's joint order.
"""

from kron_dynamics.control.assembly import ControlSettings, assembled_controller, fault_hold
from kron_dynamics.control.computed_torque import (
    ComputedTorque,
    ControlLaw,
    ProportionalDerivative,
)
from kron_dynamics.control.damped_torque import DampedTorque
from kron_dynamics.control.damping_design import damping_schedule
from kron_dynamics.control.faults import FaultAction, FaultLatch, watch_period
from kron_dynamics.control.flexible_torque import FlexibleTorque, LawWithMemory
from kron_dynamics.control.gravity_hold import DampingRange, GravityHold, damping_range
from kron_dynamics.control.held_modes import HeldModes
from kron_dynamics.control.impulses import Shaper, convolved, residual_vibration, shaper
from kron_dynamics.control.joint_states import (
    AssembledState,
    JointStateAssembler,
    SampleOutcome,
)
from kron_dynamics.control.limits import LimitViolation, check_trajectory, limit_violations
from kron_dynamics.control.link_motion import LinkMotion
from kron_dynamics.control.observer import Disturbances
from kron_dynamics.control.per_joint import reorder
from kron_dynamics.control.point_to_point import point_to_point
from kron_dynamics.control.references import (
    PlannedReference,
    Reference,
    ReferenceFollower,
    ReferenceShaping,
)
from kron_dynamics.control.regulator import DampingGains, DampingScales
from kron_dynamics.control.safety import CommandGuard
from kron_dynamics.control.shaping import shape_trajectory
from kron_dynamics.control.solvers import load_solvers
from kron_dynamics.control.trajectory import Extrema, Trajectory
from kron_dynamics.control.vibration import GainSchedule, VibrationDamper

__all__ = [
    'AssembledState',
    'CommandGuard',
    'ComputedTorque',
    'ControlLaw',
    'ControlSettings',
    'DampedTorque',
    'DampingGains',
    'DampingRange',
    'DampingScales',
    'Disturbances',
    'Extrema',
    'FaultAction',
    'FaultLatch',
    'FlexibleTorque',
    'GainSchedule',
    'GravityHold',
    'HeldModes',
    'JointStateAssembler',
    'LawWithMemory',
    'LimitViolation',
    'LinkMotion',
    'PlannedReference',
    'ProportionalDerivative',
    'Reference',
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
