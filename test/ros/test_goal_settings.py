# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the parameters of goals mean."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest

with contextlib.suppress(ImportError):  # then these tests are not collected
    from kron_dynamics.ros.goal_settings import goal_settings

pytestmark = pytest.mark.ros

TOLERANCES = {
    'constraints.{joint}.trajectory': np.array([0.1, 0.0]),
    'constraints.{joint}.goal': np.array([0.0, 0.02]),
}


def test_a_tolerance_of_zero_is_no_limit():
    values = {
        'constraints.stopped_velocity_tolerance': 0.01,
        'constraints.goal_time': 5.0,
        'allow_partial_joints_goal': False,
        'action_monitor_rate': 25.0,
    }
    parameters = SimpleNamespace(
        per_joint=lambda pattern, joints: TOLERANCES[pattern], value=values.__getitem__
    )
    found = goal_settings(parameters, ('turn', 'lift'))
    assert (found.partial, found.feedback_period) == (False, 0.04)
    np.testing.assert_array_equal(found.tolerances.path, [[0.1, np.inf], [np.inf, np.inf]])
    np.testing.assert_array_equal(found.tolerances.goal, [[np.inf, 0.02], [0.01, 0.01]])
    assert found.tolerances.goal_time == 5.0
    values['constraints.stopped_velocity_tolerance'] = values['constraints.goal_time'] = 0.0
    found = goal_settings(parameters, ('turn', 'lift'))
    np.testing.assert_array_equal(found.tolerances.goal, [[np.inf, 0.02], [np.inf, np.inf]])
    assert found.tolerances.goal_time == np.inf
