# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws, reference trajectories and what keeps commands safe; knows no ROS.

Times are float seconds; vectors have one entry per joint, in the robot's joint order.
"""

from kron_dynamics.control.computed_torque import (
    ComputedTorque,
    ControlLaw,
    GravityHold,
    ProportionalDerivative,
)
from kron_dynamics.control.faults import FaultAction, FaultLatch
from kron_dynamics.control.impulses import Shaper, convolved, residual_vibration, shaper
from kron_dynamics.control.joint_states import (
    AssembledState,
    JointStateAssembler,
    SampleOutcome,
)
from kron_dynamics.control.limits import LimitViolation, check_trajectory, limit_violations
from kron_dynamics.control.per_joint import reorder
from kron_dynamics.control.point_to_point import point_to_point
from kron_dynamics.control.safety import CommandGuard
from kron_dynamics.control.shaping import shape_trajectory
from kron_dynamics.control.trajectory import Extrema, Trajectory

__all__ = [
    'AssembledState',
    'CommandGuard',
    'ComputedTorque',
    'ControlLaw',
    'Extrema',
    'FaultAction',
    'FaultLatch',
    'GravityHold',
    'JointStateAssembler',
    'LimitViolation',
    'ProportionalDerivative',
    'SampleOutcome',
    'Shaper',
    'Trajectory',
    'check_trajectory',
    'convolved',
    'limit_violations',
    'point_to_point',
    'reorder',
    'residual_vibration',
    'shape_trajectory',
    'shaper',
]
