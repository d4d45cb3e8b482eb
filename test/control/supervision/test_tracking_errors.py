# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking errors that last, goals that are missed, and the tolerances that follow from gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kron_dynamics.control.supervision.tolerances import (
    TrackingTolerances,
    default_rate_limit,
    tracking_tolerances,
)
from kron_dynamics.control.supervision.tracking_errors import TrackingErrors

pytestmark = pytest.mark.interpreted

ALLOWED = TrackingTolerances(
    position=np.array([0.1, 0.2]),
    velocity=np.array([1.0, np.inf]),
    goal=np.array([0.05, 0.02]),
    time=0.1,
    goal_time=2.0,
)
MOVING = -1.0  # the reference has another second to go
ZERO = np.zeros(2)


def reference(q: Any, qd: Any = ZERO) -> Any:
    return np.asarray(q, float), np.asarray(qd, float), np.zeros(2)


@pytest.fixture
def errors() -> TrackingErrors:
    return TrackingErrors(('slew', 'luff'), (True, False), ALLOWED)


def test_an_error_that_lasts_is_told_with_joint_and_numbers(errors: TrackingErrors) -> None:
    off = reference([0.05, 0.3])
    told = [errors.check(ZERO, ZERO, off, 10.0 + 0.02 * k, MOVING) for k in range(7)]
    assert told[:5] == [None] * 5
    assert told[6] is not None
    assert told[6].startswith("position of joint 'luff' is 0.3 off its reference for 0.1")
    assert told[6].endswith('allowed are 0.2')
    np.testing.assert_array_equal(errors.position, [0.05, 0.3])


def test_an_error_that_comes_and_goes_is_none(errors: TrackingErrors) -> None:
    for k in range(100):
        off = reference([0.3 * (k % 4 != 0), 0.0])  # 60 ms of each 80
        assert errors.check(ZERO, ZERO, off, 10.0 + 0.02 * k, MOVING) is None


def test_velocities_and_whole_turns(errors: TrackingErrors) -> None:
    turned = reference([2 * np.pi + 0.05, 0.0], [0.9, 50.0])
    for k in range(20):
        assert errors.check(ZERO, ZERO, turned, 10.0 + 0.02 * k, MOVING) is None
    quick = reference(ZERO, [-1.1, 0.0])
    told = [errors.check(ZERO, ZERO, quick, 11.0 + 0.02 * k, MOVING) for k in range(7)]
    assert (told[6] or '').startswith("velocity of joint 'slew' is 1.1 off")


def test_goals_are_missed_after_their_time(errors: TrackingErrors) -> None:
    off = reference([0.0, -0.03])
    assert errors.check(ZERO, ZERO, off, 10.0, 1.9) is None
    told = errors.check(ZERO, ZERO, off, 10.2, 2.1)
    assert told == (
        "joint 'luff' is 0.03 off its goal 2.1 s after the end of the reference, allowed are 0.02"
    )
    assert errors.check(ZERO, ZERO, off, 10.2, -np.inf) is None  # a hold is no goal
    assert errors.check(ZERO, ZERO, reference([0.0, 0.01]), 10.4, 2.3) is None


def test_after_a_reset_the_time_starts_again(errors: TrackingErrors) -> None:
    off = reference([0.3, 0.0])
    for k in range(5):
        errors.check(ZERO, ZERO, off, 10.0 + 0.02 * k, MOVING)
    errors.reset()
    assert errors.check(ZERO, ZERO, off, 10.2, MOVING) is None


@pytest.mark.parametrize('name', ['stacker_reclaimer', 'ur5_robot.urdf', 'panda.urdf'])
def test_tolerances_follow_from_gains_and_limits(name: str, machine: Any) -> None:
    robot = machine(name)
    model, q = robot.model, np.clip(0.3, *_range(robot.model))
    kp = np.full(robot.n, 4.0)
    found = tracking_tolerances(robot, q, kp, model.effort_limit, with_model=True)
    loose = tracking_tolerances(robot, q, kp, model.effort_limit, with_model=False)
    inertia = np.diagonal(robot.mass_matrix(q))
    friction = 3 * model.friction / (kp * inertia)
    assert (found.position <= loose.position).all()
    assert (found.position >= np.minimum(friction, loose.position)).all()
    least = np.maximum(3.0 * model.velocity_limit / 2.0, friction)
    np.testing.assert_allclose(found.position, np.minimum(loose.position, least))
    # At the loose tolerance the position gain asks for half of the effort, or friction holds it.
    asked = kp * inertia * loose.position
    np.testing.assert_allclose(asked, np.maximum(0.5 * model.effort_limit, 3 * model.friction))
    assert found.goal_time == 5.0
    np.testing.assert_array_equal(
        default_rate_limit(kp, model.effort_limit), 20.0 * model.effort_limit
    )


def test_given_tolerances_take_the_place_of_derived_ones() -> None:
    chosen = ALLOWED.with_given(
        position=np.array([0.0, 9.0]),
        velocity=np.zeros(2),
        goal=np.array([7.0, 0.0]),
        goal_time=0.0,
    )
    np.testing.assert_array_equal(chosen.position, [0.1, 9.0])
    np.testing.assert_array_equal(chosen.velocity, ALLOWED.velocity)
    np.testing.assert_array_equal(chosen.goal, [7.0, 0.02])
    assert (chosen.goal_time, chosen.time) == (2.0, 0.1)


def _range(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return model.position_lower, model.position_upper
