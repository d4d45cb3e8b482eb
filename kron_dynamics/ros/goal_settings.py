# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tolerances and settings of FollowJointTrajectory goals, from the parameters of the node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.control.goal_monitor import GoalTolerances
from kron_dynamics.ros.parameter_set import ParameterSet


@dataclass(frozen=True, slots=True)
class GoalSettings:
    """Settings of goals.

    Attributes:
        tolerances: default tolerances, for goals that specify none.
        partial: whether a goal may be for some of the joints.
        feedback_period: time between feedback messages on the states' clock, s.
    """

    tolerances: GoalTolerances
    partial: bool
    feedback_period: float


def goal_settings(parameters: ParameterSet, joints: Sequence[str]) -> GoalSettings:
    """Return the settings from the parameters; a tolerance of 0 means no limit.

    Args:
        parameters: parameters of dynamics_node.
        joints: names of the n joints.
    """

    def none_where_zero(values: Any) -> Any:
        return np.where(np.asarray(values) > 0.0, values, np.inf)

    path, goal = (
        none_where_zero(parameters.per_joint(f'constraints.{{joint}}.{which}', joints))
        for which in ('trajectory', 'goal')
    )
    stopped = none_where_zero(parameters.value('constraints.stopped_velocity_tolerance'))
    return GoalSettings(
        GoalTolerances(
            path=np.stack((path, np.full(len(joints), np.inf))),
            goal=np.stack((goal, np.full(len(joints), stopped))),
            goal_time=float(none_where_zero(parameters.value('constraints.goal_time'))),
        ),
        partial=parameters.value('allow_partial_joints_goal'),
        feedback_period=1.0 / parameters.value('action_monitor_rate'),
    )
