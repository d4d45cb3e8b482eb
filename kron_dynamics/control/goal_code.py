# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Error codes of trajectory goals."""

from __future__ import annotations

from enum import IntEnum

from kron_dynamics.exceptions import JointNamesError, KronDynamicsError, LateTrajectoryError


class GoalCode(IntEnum):
    """Result of a goal, with the error codes of control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5

    @classmethod
    def of_refusal(cls, error: KronDynamicsError) -> GoalCode:
        """Return the code of a goal whose reference is refused with an error."""
        if isinstance(error, JointNamesError):
            return cls.INVALID_JOINTS
        if isinstance(error, LateTrajectoryError):
            return cls.OLD_HEADER_TIMESTAMP
        return cls.INVALID_GOAL
