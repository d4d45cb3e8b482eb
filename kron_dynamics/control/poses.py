# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a robot at which bounds on its dynamics are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

_POSES = 500


def poses_within_limits(robot: Robot, count: int = _POSES) -> FloatArray:
    """Return random positions within the limits, shape (count, n), the same in every call.

    A turn or a metre about 0 where there is no limit.
    """
    model = robot.model
    reach = np.where([kind == 'prismatic' for kind in model.joint_types], 1.0, np.pi)
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -reach)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, reach)
    return np.random.default_rng(0).uniform(lower, np.maximum(lower, upper), (count, robot.n))
