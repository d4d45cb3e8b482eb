# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References one after the other, shaped for a mode: what is asked for and what is followed."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import (
    ReferenceFollower,
    ReferenceShaping,
    convolved,
    shaper,
)
from kron_dynamics.exceptions import ParameterError, TrajectoryError

HELD, GOAL = np.array([0.2, -0.3]), np.array([0.5, 0.1])
REST = np.zeros((2, 2))
MODES = np.array([5.0, 8.0]), np.array([0.02, 0.05])
SHAPER = convolved(shaper('zv', w, z) for w, z in zip(*MODES, strict=True))


@pytest.fixture
def make(make_arm):
    def build(kind='zv', modes_of=lambda q: MODES, endless=False):
        arm = make_arm(joint_types=('continuous' if endless else 'revolute', 'revolute'))
        if endless:
            arm.model.position_upper = np.array([np.inf, 2.5])
        follower = ReferenceFollower(
            arm,
            start_tolerance=np.array([0.01, 0.01]),
            effort_limit=np.array([120.0, 40.0]),
            shaping=kind and ReferenceShaping(kind, modes_of),
        )
        follower.hold(HELD)
        follower.answered(10.0)
        return follower

    return build


def plan(follower, start=10.0, goal=GOAL, duration=2.0, **lead):
    return follower.plan([duration], [goal], [np.zeros(2)], None, start_time=start, **lead)


def refer(follower, *arguments, **settings):
    planned = plan(follower, *arguments, **settings)
    reference = planned.finish()
    assert follower.follow(planned, reference)
    return reference


def test_what_is_followed_is_the_sum_of_its_delayed_parts(make):
    follower = make()
    reference = refer(follower, 11.0)
    assert follower.added_time == reference.added_time == pytest.approx(SHAPER.duration)
    for time in (10.5, 11.3, 12.1, 13.4, 20.0):
        q = follower.sample(time)[0]
        parts = [reference.asked.sample(time - 11.0 - late)[0] for late in SHAPER.delays]
        np.testing.assert_allclose(q, SHAPER.amplitudes @ parts, atol=1e-6)


def test_without_shaping_it_is_followed_as_it_is(make):
    follower = make(kind=None)
    reference = refer(follower)
    assert reference.followed is reference.asked
    assert follower.shaping is None
    assert follower.added_time == 0.0


def test_a_new_one_goes_on_from_what_was_asked_for_while_the_old_one_still_arrives(make):
    """All that was asked for arrives in its parts, as if it had been one motion."""
    follower = make()
    first = refer(follower, 10.0)
    follower.sample(10.9)
    follower.answered(10.9)
    second = refer(follower, 11.0, HELD, 1.5)
    np.testing.assert_allclose(second.asked.sample(0.0)[0], first.asked.sample(1.0)[0])
    follower.sample(11.3)
    follower.answered(11.3)
    third = refer(follower, 11.5, GOAL, 2.0)

    def asked(time):
        begun = [(11.5, third), (11.0, second), (10.0, first)]
        start, reference = next((each for each in begun if time >= each[0]), begun[-1])
        return reference.asked.sample(time - start)[0]

    for time in (11.31, 11.49, 11.6, 11.9, 12.3, 13.0, 13.6, 14.5, 20.0):
        parts = [asked(time - late) for late in SHAPER.delays]
        np.testing.assert_allclose(follower.sample(time)[0], SHAPER.amplitudes @ parts, atol=2e-6)
    # Long after, nothing of them counts any more: a motion out of rest is as the first was.
    follower.answered(30.0)
    later = refer(follower, 30.0, HELD)
    np.testing.assert_allclose(later.followed.sample(0.0)[0], GOAL)


def test_the_slowest_part_says_how_long_references_still_arrive(make):
    """A slow mode where the first reference ends, a fast one where the second does.

    The third begins when all of the second has arrived, but not all of the first.
    """

    def modes_of(q):
        return np.array([4.0 + 2.0 * np.tanh(8.0 * (q[0] - 0.35))]), np.array([0.02])

    follower = make(modes_of=modes_of)
    times = 10.1, 11.0, 12.2
    goals = HELD + 0.05, GOAL, GOAL + [0.1, 0.0]
    references = []
    for start, goal, duration in zip(times, goals, (1.0, 1.1, 2.0), strict=True):
        follower.sample(start - 0.1)
        follower.answered(start - 0.1)
        references.append(refer(follower, start, goal, duration))
    first, second, _ = references
    assert times[1] + first.added_time > times[2] > times[1] + 2.0 * second.added_time
    before, after = (follower.sample(times[2] + late) for late in (-1e-6, 1e-6))
    np.testing.assert_allclose(after[0], before[0], atol=1e-5)
    np.testing.assert_allclose(after[1], before[1], atol=1e-4)


def test_a_continuous_joint_may_be_asked_for_whole_turns_away_on_the_way(make):
    follower = make(endless=True)
    refer(follower)
    follower.sample(10.9)
    follower.answered(10.9)
    turned = GOAL + [2.0 * np.pi, 0.0]
    refer(follower, 11.0, turned)
    follower.answered(11.0)
    way = np.array([follower.sample(time)[0] for time in np.linspace(11.0, 15.0, 200)])
    np.testing.assert_allclose(way[-1], turned)
    assert np.abs(np.diff(way, axis=0)).max() < 0.02
    assert np.ptp(way[:, 0]) < 0.5


def test_limits_are_those_of_what_is_followed(make):
    """Shaping takes the peak off the speed: 1.5 rad/s are not passed."""
    quick = {'goal': HELD + [0.85, 0.0], 'duration': 0.84}
    with pytest.raises(TrajectoryError, match="'shoulder': velocity"):
        refer(make(kind=None), **quick)
    refer(make(), **quick)
    with pytest.raises(TrajectoryError, match="'shoulder': position 2.5 rad"):
        refer(make(), goal=np.array([2.5, 0.0]), duration=9.0)


def test_there_is_time_to_finish_a_plan_and_then_there_is_none(make):
    follower = make()
    planned = plan(follower, lead=0.1)
    assert planned.start == pytest.approx(10.1)
    reference = planned.finish()
    follower.answered(10.12)
    assert not follower.follow(planned, reference)
    np.testing.assert_array_equal(follower.sample(13.0)[0], HELD)
    # A start further ahead leaves time enough.
    assert plan(follower, start=10.5, lead=0.1).start == 10.5


def test_a_plan_is_worth_nothing_once_another_reference_is_followed(make):
    follower = make()
    planned = plan(follower, 12.0)
    refer(follower, 11.0)
    follower.sample(11.1)
    assert not follower.follow(planned, planned.finish())
    np.testing.assert_allclose(follower.sample(20.0)[0], GOAL)


@pytest.mark.parametrize(
    ('settings', 'error', 'words'),
    [
        ({'kind': 'zvv'}, ParameterError, "kind is 'zvv'"),
        ({'modes_of': lambda q: ([-1.0], [0.0])}, ParameterError, 'frequency is -1'),
    ],
)
def test_a_reference_that_cannot_be_shaped_is_refused(make, settings, error, words):
    with pytest.raises(error, match=words):
        plan(make(**settings)).finish()


def test_only_a_follower_that_holds_something_has_a_reference(make_arm):
    limits = np.ones(2)
    follower = ReferenceFollower(make_arm(), start_tolerance=limits, effort_limit=limits)
    with pytest.raises(TrajectoryError, match='not active'):
        follower.sample(0.0)
    follower.hold(HELD)
    # Nothing of it is still to come, not even just after the clock of a simulation has begun.
    assert follower.present.end == 0.0
    assert follower.plan([1.0], [GOAL], None, None, start_time=3.0).start == 3.0
