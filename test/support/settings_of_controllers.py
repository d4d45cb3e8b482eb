# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of controllers without limits beside those of the robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.control import ControlSettings
from kron_dynamics.robot import Robot


def settings(robot: Robot, **changes: Any) -> ControlSettings:
    """Return settings of a robot with its effort limits, and some changes."""
    one = np.ones(robot.n)
    given = {
        'kp': 100.0 * one,
        'kd': 20.0 * one,
        'effort_limit': robot.model.effort_limit,
        'rate_limit': np.inf * one,
        'start_tolerance': 0.01 * one,
        'resolution': 1e-5 * one,
        'period': 0.001,
        'state_timeout': 0.2,
    }
    return ControlSettings(**{**given, **changes})
