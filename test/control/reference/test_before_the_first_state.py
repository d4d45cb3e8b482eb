# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References given before the first state: its stamp may be on any clock."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import CommandGuard, ComputedTorque, FaultAction
from kron_dynamics.control.tracking_controller import TrackingController

HELD, GOAL = np.array([0.2, -0.3]), np.array([0.5, 0.1])
LIMIT = np.array([120.0, 40.0])
NOW = 1000.0


@pytest.fixture
def controller(make_arm):
    arm = make_arm()
    controller = TrackingController(
        arm,
        ComputedTorque(arm, np.array([4.0, 9.0]), np.array([4.0, 6.0])),
        None,
        CommandGuard(LIMIT, np.full(2, np.inf), arm.joint_names),
        fault_action=FaultAction.ZERO,
        start_tolerance=np.array([0.01, 0.01]),
        effort_limit=LIMIT,
        longest_gap=1.0,
        period=0.02,
    )
    controller.start(HELD, np.full(2, np.nan))
    return controller


def refer(controller, goal, start, duration=2.0):
    return controller.set_reference([duration], [goal], None, None, start_time=start)


@pytest.mark.parametrize('starts', [(0.0,), (0.0, 4999.9), (4999.9, 0.0)])
def test_a_motion_that_would_have_begun_long_ago_is_a_fault(controller, starts):
    """Its way up to now would be one step, also if another one goes on from there."""
    for start in starts:
        refer(controller, GOAL, start)
    assert controller.update(HELD, np.zeros(2), 5000.0, NOW) is None
    assert 'reference starts 5e+03 s in the past' in controller.latch.reason
    assert controller.clear(None, HELD, np.full(2, np.nan))
    command = controller.update(HELD, np.zeros(2), 5000.0, NOW)
    np.testing.assert_array_equal(command.q_ref, HELD)


@pytest.mark.parametrize('late', [0.0, 0.02, 0.4])
@pytest.mark.parametrize('count', [1, 2])
def test_motions_of_the_immediate_past_begin_with_the_first_state(controller, late, count):
    motions = [
        refer(controller, goal, start) for goal, start in ((GOAL, 7.0), (HELD, 8.0))[:count]
    ]
    for after in (0.0, 0.5, 0.99, 1.5, 2.5, 3.5):
        now = controller.update(HELD, np.zeros(2), 7.0 + late + after, NOW)
        k = int(after >= 1.0 and count == 2)
        q, qd, qdd = motions[k].sample(after - k)
        np.testing.assert_allclose(now.q_ref, q, rtol=1e-12)
        np.testing.assert_allclose(now.qd_ref, qd, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(now.qdd_ref, qdd, rtol=1e-9, atol=1e-9)


def test_motions_that_begin_later_wait_for_their_time(controller):
    motion = refer(controller, GOAL, 7.0)
    for time in (6.5, 7.0, 7.7, 8.5):
        q_ref = controller.update(HELD, np.zeros(2), time, NOW).q_ref
        expected = motion.sample(time - 7.0)[0] if time >= 7.0 else HELD
        np.testing.assert_allclose(q_ref, expected, rtol=1e-12)
