# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The model services of dynamics_node for states: type and arrays of each request."""

from __future__ import annotations

from kron_dynamics_msgs.srv import (
    EquationsOfMotion,
    ForwardDynamics,
    FrameKinematics,
    InverseDynamics,
    Linearize,
)

SERVICES = {
    'inverse_dynamics': (InverseDynamics, ('position', 'velocity', 'acceleration')),
    'forward_dynamics': (ForwardDynamics, ('position', 'velocity', 'effort')),
    'equations_of_motion': (EquationsOfMotion, ('position', 'velocity')),
    'frame_kinematics': (FrameKinematics, ('position', 'velocity', 'acceleration', 'jerk')),
    'linearize': (Linearize, ('position', 'velocity', 'acceleration')),
}
