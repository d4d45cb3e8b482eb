# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Natural frequencies and damping of a robot as functions of its pose or payload."""

from kron_dynamics.modes.mode_counts import check_mode_counts
from kron_dynamics.modes.mode_map import (
    ModeMap,
    joint_map,
    joint_range,
    most_influential_joint,
    payload_map,
    pose,
)

__all__ = [
    'ModeMap',
    'check_mode_counts',
    'joint_map',
    'joint_range',
    'most_influential_joint',
    'payload_map',
    'pose',
]
