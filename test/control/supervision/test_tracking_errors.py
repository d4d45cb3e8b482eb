# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking errors that last, goals that are missed, and the tolerances that follow from gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
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


PAN = """<robot name="pan"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pan" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit effort="10" velocity="80"/></joint></robot>"""


@pytest.fixture
def weak_pan(kernel_cache: Any) -> kd.Robot:
    """A light joint, of which half of the effort limit asks for an error of many turns."""
    return kd.loads(PAN)


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


@pytest.mark.filterwarnings('error')
def test_a_position_that_is_missing_is_no_error_of_the_monitor(errors: TrackingErrors) -> None:
    """The guard of the commands refuses its answer, with the name of the joint."""
    for bad in (np.nan, np.inf):
        q = np.array([bad, 0.0])
        assert errors.check(q, ZERO, reference(ZERO), 10.0, MOVING) is None


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


def test_given_tolerances_that_no_error_exceeds_are_told() -> None:
    """The shorter way of a continuous joint is at most half a turn."""
    given = ALLOWED._replace(position=np.array([3.2, 3.2]), goal=np.array([np.inf, 9.0]))
    assert given.never_exceeded(('slew', 'luff'), (False, False)) == []
    (told,) = given.never_exceeded(('slew', 'luff'), (True, False))
    assert "following_error of continuous joint 'slew' is 3.2 rad" in told
    assert ALLOWED.never_exceeded(('slew', 'luff'), (True, True)) == []


def _range(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return model.position_lower, model.position_upper


@pytest.mark.parametrize('kp', [1.0, 100.0])
@pytest.mark.parametrize('time', [0.1, 2.0])
@pytest.mark.parametrize('speed', [0.4, 5.0, 40.0])
def test_a_blocked_continuous_joint_is_a_fault_however_weak_the_gains(
    weak_pan: Any, kp: float, time: float, speed: float
) -> None:
    """Errors of a continuous joint are at most half a turn, and small after each turn."""
    robot = weak_pan
    limit = robot.model.effort_limit
    found = tracking_tolerances(
        robot, np.zeros(1), np.full(1, kp), limit, with_model=True, time=time
    )
    monitor, told = TrackingErrors(('pan',), (True,), found), []
    zero = np.zeros(1)
    for at in np.arange(0.0, 20.0 / speed + 2.0 * time, 0.02):
        wanted = np.array([speed * at]), np.array([speed]), zero
        told.append(monitor.check(zero, zero, wanted, at, MOVING))
    assert any(told)
    monitor.reset()
    off = np.array([2.0]), zero, zero
    assert monitor.check(zero, zero, off, 0.0, found.goal_time + 1.0)
