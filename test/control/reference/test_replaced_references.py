# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References that replace others on the way, for all joints or some, and what bounds them."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import ReferenceBounds, ReferenceFollower, ReferenceShaping
from kron_dynamics.exceptions import LateTrajectoryError, ModelError, TrajectoryError

HELD, GOAL, OTHER = np.array([0.2, -0.3]), np.array([0.5, 0.1]), np.array([-0.1, 0.3])
LIMIT = np.array([120.0, 40.0])
VIA = np.array([[0.3, 0.0], [0.1, 0.2], OTHER])
RATES = np.array([[0.05, 0.1], [-0.2, 0.1], [0.0, 0.0]])
CURVES = np.array([[0.1, -0.2], [0.0, 0.1], [0.0, 0.0]])
KINDS = {'positions': (None, None), 'velocities': (RATES, None), 'all': (RATES, CURVES)}
MODES = np.array([5.0]), np.array([0.02])
STEP = 1e-4


@pytest.fixture
def make(make_arm):
    def build(shaping=None, **bounds):
        follower = ReferenceFollower(
            make_arm(),
            start_tolerance=np.array([0.5, 0.5]),
            effort_limit=LIMIT,
            shaping=shaping,
            bounds=ReferenceBounds(**bounds),
        )
        follower.hold(HELD)
        follower.answered(10.0)
        return follower

    return build


def go(follower, planned):
    reference = planned.finish()
    assert follower.follow(planned, reference)
    return reference


def move(follower, goal=GOAL, start=10.0, duration=2.0, **options):
    rest = np.zeros((1, len(np.atleast_1d(goal))))
    return go(
        follower,
        follower.plan([duration], [goal], rest, rest, start_time=start, **options),
    )


def answered(follower, time):
    follower.sample(time)
    follower.answered(time)


def accelerations(follower, time):
    """Just before and after a time, by differences of positions alone."""
    q = np.array([follower.sample(time + k * STEP)[0] for k in range(-4, 5)])
    second = np.diff(q, n=2, axis=0) / STEP**2
    return second[1], second[-2]


@pytest.mark.parametrize('first', [0.0, 0.6], ids=['point at 0', 'later point'])
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('shaped', [False, True])
def test_a_replacement_goes_on_in_acceleration(make, kind, first, shaped):
    """Cubic references used to begin with any acceleration, and quintic ones at a time 0."""
    shaping = ReferenceShaping('zv', lambda q: MODES) if shaped else None
    follower = make(shaping)
    move(follower)
    answered(follower, 10.7)
    at = 10.73
    # The limits are not what this is about: the points come near the present reference.
    now = follower.present.asked.sample(at - 10.0)
    times, points = np.array([first, 1.5, 3.0]), VIA.copy()
    given = [None if rows is None else rows.copy() for rows in KINDS[kind]]
    if first == 0.0:
        points[0] = now[0] + 0.01
        if given[0] is not None:
            given[0][0] = now[1] + 0.01
    go(follower, follower.plan(times, points, *given, start_time=at))
    before, after = accelerations(follower, at)
    scale = np.abs(now[2]).max()
    # A step would be of the size of the acceleration; over 7 periods of 0.1 ms it hardly changes.
    np.testing.assert_allclose(after, before, atol=0.05 * scale + 0.05)
    np.testing.assert_allclose(follower.sample(20.0)[0], VIA[-1], atol=1e-9)


@pytest.mark.parametrize('shaped', [False, True])
def test_a_stop_goes_on_in_acceleration_and_keeps_to_the_path(make, shaped):
    follower = make(ReferenceShaping('zv', lambda q: MODES) if shaped else None)
    reference = move(follower)
    answered(follower, 10.8)
    path = reference.asked.samples(np.linspace(0.8, 2.0, 5001))[0]
    stop = go(follower, follower.plan_stop())
    before, after = accelerations(follower, 10.8 + 5 * STEP)
    np.testing.assert_allclose(after, before, atol=0.05)
    end = follower.sample(stop.end + 1e-9)
    np.testing.assert_allclose(end[1], 0.0, atol=1e-6)
    assert np.linalg.norm(path - end[0], axis=1).min() < 1e-4
    assert np.linalg.norm(end[0] - GOAL) > 0.01
    np.testing.assert_array_equal(follower.sample(stop.end + 9.0)[0], end[0])


def test_joints_that_a_reference_does_not_name_stop_and_hold(make):
    follower = make()
    first = move(follower)
    answered(follower, 10.8)
    move(follower, goal=[0.6], start=10.8, joints=np.array([1]))
    end = follower.sample(30.0)[0]
    assert end[1] == pytest.approx(0.6)
    # The first joint came to rest on its own way, not at the old goal, and without a jump.
    assert first.asked.sample(0.8)[0][0] < end[0] < GOAL[0] - 0.01
    for before, after in zip(*accelerations(follower, 10.8 + 5 * STEP), strict=True):
        assert after == pytest.approx(before, abs=0.05)
    answered(follower, 30.0)
    move(follower, goal=[0.0], start=30.0, joints=np.array([0]))
    np.testing.assert_allclose(follower.sample(40.0)[0], [0.0, 0.6])


def test_points_of_the_wrong_number_of_joints_are_refused(make):
    with pytest.raises(TrajectoryError, match=r'shape \(1, 2\), expected \(K, 1\)'):
        planned = make().plan([1.0], [GOAL], None, None, start_time=10.0, joints=np.array([1]))
        planned.finish()


def test_a_reference_does_not_start_in_days_nor_last_for_years(make):
    """Both were accepted: a stamp of another clock waited, and moved the machine days later."""
    follower = make()
    with pytest.raises(TrajectoryError, match='950400 s in the future, expected at most 600 s'):
        move(follower, start=10.0 + 950400.0)
    with pytest.raises(TrajectoryError, match=r'takes 2e\+09 s, expected at most 86400 s'):
        move(follower, duration=2e9)
    with pytest.raises(LateTrajectoryError, match='5 s in the past'):
        move(follower, start=5.0)
    follower = make(start_delay=1e6, duration=3e9)
    move(follower, start=10.0 + 950400.0, duration=2e9)


def test_given_acceleration_limits_are_those_of_stops(make):
    quick, slow = (make(acceleration=np.array([a, a])) for a in (2.0, 0.5))
    ends = []
    for follower in (quick, slow):
        move(follower)
        answered(follower, 10.8)
        ends.append(go(follower, follower.plan_stop()).end)
    assert ends[1] - 10.8 > 3.0 * (ends[0] - 10.8)


def test_only_what_is_not_shaped_can_be_spliced(make):
    follower = make(ReferenceShaping('zv', lambda q: MODES))
    reference = move(follower)
    with pytest.raises(TrajectoryError, match='shaped'):
        follower.splice(reference.followed)


def test_a_stop_that_cannot_be_shaped_is_that_of_what_is_followed(make):
    """It was refused, and the motion went on to its end."""
    asked = []

    def modes_of(q):
        if asked:
            raise ModelError('the links buckle')
        return MODES

    follower = make(ReferenceShaping('zv', modes_of))
    reference = move(follower)
    answered(follower, 10.8)
    asked.append('a stop')
    path = reference.followed.samples(np.linspace(0.8, reference.followed.duration, 5001))[0]
    stop = go(follower, follower.plan_stop(lead=0.1))
    for before, after in zip(*accelerations(follower, 10.9), strict=True):
        np.testing.assert_allclose(after, before, atol=0.05)
    end = follower.sample(stop.end)[0]
    for time in np.linspace(10.9, stop.end, 20):
        assert np.linalg.norm(path - follower.sample(time)[0], axis=1).min() < 1e-4
    assert np.linalg.norm(end - GOAL) > 0.01
    # Nothing of the motion arrives later, and what is asked for next is shaped from rest.
    asked.clear()
    answered(follower, stop.end + 0.01)
    move(follower, goal=HELD, start=stop.end + 0.01)
    np.testing.assert_allclose(follower.sample(stop.end + 0.01)[0], end, atol=1e-12)
    np.testing.assert_allclose(follower.sample(40.0)[0], HELD, atol=1e-9)


def test_a_reference_during_an_unshaped_stop_is_shaped_from_its_end(make):
    """It was refused as one that starts in motion without its past."""
    follower = make(ReferenceShaping('zv', lambda q: MODES), acceleration=np.array([0.2, 0.3]))
    move(follower)
    answered(follower, 11.0)
    stop = go(follower, follower.plan_stop(lead=0.1, shaped=False))
    assert stop.end > 11.7
    answered(follower, 11.1)
    end = stop.followed.final_position
    with pytest.raises(TrajectoryError, match=r'stop that is not shaped, which ends 0\.[67]'):
        move(follower, start=stop.end - 0.62)
    first = end - 0.02  # the machine is there at the start asked for, or was
    times, points, rates = [0.0, 2.0], [first, HELD], np.zeros((2, 2))
    planned = follower.plan(times, points, rates, None, start_time=stop.end - 0.4)
    new = go(follower, planned)
    assert new.start == stop.end
    np.testing.assert_allclose(follower.sample(stop.end - 1e-6)[0], end, atol=1e-6)
    alone = make(ReferenceShaping('zv', lambda q: MODES))
    alone.hold(end)
    alone.answered(10.0)
    same = move(alone, HELD)
    for late in np.linspace(0.0, same.followed.duration, 9):
        for got, expected in zip(
            follower.sample(stop.end + late), alone.sample(10.0 + late), strict=True
        ):
            np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_rest_is_no_stop_to_wait_for(make):
    follower = make(ReferenceShaping('zv', lambda q: MODES))
    move(follower, HELD, duration=5.0)
    assert move(follower, start=11.0).start == 11.0


@pytest.mark.parametrize('shaped', [False, True])
@pytest.mark.parametrize('side', [1.0, -1.0])
@pytest.mark.parametrize('behind', [1e-4, 0.05])
def test_a_joint_that_rests_behind_its_limit_can_be_moved_away_from_it(make, side, behind, shaped):
    """Activation and faults allow it, so references do; but none leads farther out."""
    follower = make(ReferenceShaping('zv', lambda q: MODES) if shaped else None)
    upper = follower.robot.model.position_upper[0]
    start = np.array([side * (upper + behind), 0.1])
    follower.hold(start)
    follower.answered(10.0)

    def to(first, second, **options):
        follower.plan([4.0], [[first, second]], None, None, start_time=10.0, **options).finish()

    to(side * 1.5, -0.1)
    to(start[0], 0.4)
    follower.plan([4.0], [[0.4]], None, None, start_time=10.0, joints=np.array([1])).finish()
    for first in (start[0] + side * 1e-7, -side * (upper + 0.5 * behind)):
        with pytest.raises(TrajectoryError, match="joint 'shoulder': position"):
            to(first, 0.1)


@pytest.mark.parametrize('times', ['abc', None, [1.0, 'x'], [[1.0], [1.0, 2.0]], {}])
def test_times_that_are_no_numbers_are_refused_by_name(make, times):
    with pytest.raises(TrajectoryError, match='times'):
        make().plan(times, [GOAL], None, None, start_time=10.0).finish()
