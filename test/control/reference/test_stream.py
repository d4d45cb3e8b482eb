# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints one by one: followed, limited, refused; without another one the machine stops."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import ReferenceFollower
from kron_dynamics.control.reference.stream import ReferenceStream
from kron_dynamics.exceptions import TrajectoryError

HELD = np.array([0.2, -0.3])
PERIOD, LOOKAHEAD, TIMEOUT = 0.002, 0.02, 0.1
OMEGA, AMPLITUDE = 2.0, np.array([0.15, 0.2])


class Rig:
    """States come every period; a setpoint may come with each."""

    def __init__(self, arm, **settings):
        self.follower = ReferenceFollower(
            arm, start_tolerance=np.full(2, 0.01), effort_limit=np.array([120.0, 40.0])
        )
        self.follower.hold(HELD)
        self.time = 10.0
        self.follower.answered(self.time)
        self.stream = ReferenceStream(self.follower, settings.get('timeout', TIMEOUT))
        self.followed = []

    def state(self):
        self.time += PERIOD
        self.stream.watch()
        self.followed.append(self.follower.sample(self.time))
        self.follower.answered(self.time)

    def run(self, seconds, wanted=None):
        """States for a while, with the setpoints of a motion."""
        for _ in range(round(seconds / PERIOD)):
            if wanted is not None:
                q, qd = wanted(self.time + LOOKAHEAD - 10.0)
                self.stream.take(q, qd, None, LOOKAHEAD)
            self.state()

    def rates(self):
        return np.array([state[1] for state in self.followed])

    def within_limits(self):
        """Whether positions alone say that no limit of velocity or acceleration was passed."""
        q = np.array([state[0] for state in self.followed])
        v, a = np.diff(q, axis=0) / PERIOD, np.diff(q, n=2, axis=0) / PERIOD**2
        limit = self.follower.robot.model.velocity_limit
        return (np.abs(v) <= 1.001 * limit).all() and (
            np.abs(a) <= 1.01 * self.follower.acceleration_limit
        ).all()


@pytest.fixture
def rig(arm):
    return Rig(arm)


def swing(t):
    return (
        HELD + AMPLITUDE * (1.0 - np.cos(OMEGA * t)),
        AMPLITUDE * OMEGA * np.sin(OMEGA * t),
    )


def test_a_smooth_stream_is_followed(rig):
    rig.run(3.0, swing)
    q, qd, _ = rig.followed[-1]
    wanted = swing(3.0)
    np.testing.assert_allclose(q, wanted[0], atol=1e-3)
    np.testing.assert_allclose(qd, wanted[1], atol=1e-2)
    assert rig.within_limits()
    assert rig.stream.active
    assert rig.stream.counts.refused == 0
    assert rig.stream.counts.followed == 1500


def test_without_another_point_the_machine_stops_within_its_limits(rig):
    rig.run(0.6, swing)
    assert np.abs(rig.rates()[-1]).min() > 0.2
    last = rig.follower.present
    rig.run(0.6)
    q, qd, qdd = rig.followed[-1]
    np.testing.assert_allclose([qd, qdd], np.zeros((2, 2)), atol=1e-9)
    assert rig.within_limits()
    # No farther than braking from the last setpoint on needs; nothing is extrapolated.
    point, speed = swing(0.6 - PERIOD + LOOKAHEAD)
    reach = 0.5 * speed * np.max(1.5 * speed / rig.follower.acceleration_limit)
    assert (q <= point + 1.01 * reach).all()
    assert last.end < rig.time
    assert not rig.stream.active


def test_a_point_far_ahead_is_not_pursued_when_the_stream_breaks_off(rig):
    rig.stream.take(HELD + 0.2, None, None, 3.0)
    rig.run(0.5)
    assert rig.stream.counts.stops == 1
    rig.run(3.0)
    q, qd, _ = rig.followed[-1]
    assert (np.abs(q - HELD) < 0.05).all()
    np.testing.assert_allclose(qd, 0.0, atol=1e-9)


def test_missing_and_late_points_leave_no_jump(rig):
    rng = np.random.default_rng(5)
    for _ in range(600):
        if rng.random() < 0.5:
            late = rng.uniform(0.0, 0.01)
            q, qd = swing(rig.time + LOOKAHEAD - late - 10.0)
            rig.stream.take(q, qd, None, LOOKAHEAD)
        rig.state()
    assert rig.stream.counts.limited > 0
    assert rig.within_limits()
    np.testing.assert_allclose(rig.followed[-1][0], swing(rig.time - 10.0)[0], atol=0.1)
    # In time again, it is caught up with.
    rig.run(1.0, swing)
    assert rig.within_limits()
    np.testing.assert_allclose(rig.followed[-1][0], swing(rig.time - 10.0)[0], atol=1e-3)


def test_a_jump_is_limited_or_refused(rig):
    rig.stream.take(HELD + 0.002, None, None, 0.005)
    assert rig.stream.counts.limited == 1
    rig.run(0.2)
    assert rig.within_limits()
    np.testing.assert_allclose(rig.followed[-1][0], HELD + 0.002, atol=1e-9)
    with pytest.raises(TrajectoryError, match=r"cannot be reached in 1 s: 'shoulder' .*limit"):
        rig.stream.take(HELD + 1.5, None, None, 0.005)
    assert rig.stream.counts.refused == 1
    rig.run(0.1)
    np.testing.assert_allclose(rig.followed[-1][0], HELD + 0.002, atol=1e-9)


@pytest.mark.parametrize(
    ('point', 'said'),
    [
        ((HELD[:1], None, None), '1 positions, expected 2'),
        ((HELD, np.zeros(3), None), '3 velocities, expected 2'),
        ((np.array([np.nan, 0.0]), None, None), "positions of 'shoulder' is nan"),
        ((np.array([0.2, 2.7]), None, None), "position of 'elbow' is 2.7, beyond its limit"),
        ((HELD, np.array([0.0, 2.1]), None), "velocity of 'elbow' is 2.1"),
        ((np.array([0.2, 2.49]), np.array([0.0, 1.5]), None), "could stop at of 'elbow'"),
        ((HELD, None, np.array([1e3, 0.0])), "acceleration of 'shoulder' is 1000"),
    ],
)
def test_points_that_no_machine_can_follow_are_refused(rig, point, said):
    with pytest.raises(TrajectoryError, match=said):
        rig.stream.take(*point, LOOKAHEAD)
    rig.run(0.02)
    np.testing.assert_array_equal(rig.followed[-1][0], HELD)


@pytest.mark.parametrize('end', [-1.0, 1.0])
def test_a_point_exactly_on_a_position_limit_is_taken(rig, end):
    model = rig.follower.robot.model
    limit = np.array([0.2, model.position_upper[1] if end > 0.0 else model.position_lower[1]])
    rig.follower.hold(limit - [0.0, end * 1e-3])
    rig.follower.answered(rig.time)
    rig.stream.take(limit, None, None, LOOKAHEAD)
    rig.run(0.2)
    np.testing.assert_allclose(rig.followed[-1][0], limit, atol=1e-12)
    with pytest.raises(TrajectoryError, match="position of 'elbow' is .*, beyond its limit"):
        rig.stream.take(limit + [0.0, end * 1e-5], None, None, LOOKAHEAD)


@pytest.mark.parametrize('time', [np.nan, np.inf, -np.inf])
def test_a_point_at_no_time_is_refused(rig, time):
    with pytest.raises(TrajectoryError, match='time_from_start is'):
        rig.stream.take(HELD, None, None, time)
    assert rig.stream.counts.refused == 1
    assert not rig.stream.active


def test_before_the_first_state_nothing_is_taken(arm):
    rig = Rig(arm)
    rig.follower.hold(HELD)
    with pytest.raises(TrajectoryError, match='no joint state'):
        rig.stream.take(HELD, None, None, LOOKAHEAD)


def test_a_joint_without_end_takes_the_shorter_way(make_arm):
    arm = make_arm(joint_types=('continuous', 'revolute'))
    arm.model.position_lower = np.array([-np.inf, -2.5])
    arm.model.position_upper = np.array([np.inf, 2.5])
    rig = Rig(arm)
    rig.stream.take(HELD + [6.0 * np.pi + 0.001, 0.0], None, None, LOOKAHEAD)
    rig.run(0.2)
    np.testing.assert_allclose(rig.followed[-1][0], HELD + [0.001, 0.0], atol=1e-9)


def test_another_reference_ends_the_stream(rig):
    rig.run(0.1, swing)
    planned = rig.follower.plan([2.0], [HELD], None, None, start_time=rig.time)
    assert rig.follower.follow(planned, planned.finish())
    rig.run(0.5)
    assert not rig.stream.active
    assert rig.stream.counts.stops == 0
    rig.run(2.0)
    np.testing.assert_allclose(rig.followed[-1][0], HELD, atol=1e-9)


def test_a_point_far_ahead_does_not_stop_the_reference_that_replaces_it(rig):
    rig.stream.take(HELD + 0.2, None, None, 3.0)
    rig.run(0.05)
    planned = rig.follower.plan([1.0], [HELD + 0.1], None, None, start_time=rig.time)
    assert rig.follower.follow(planned, planned.finish())
    rig.run(1.1)
    assert rig.stream.counts.stops == 0
    np.testing.assert_allclose(rig.followed[-1][0], HELD + 0.1, atol=1e-9)


def test_a_stream_that_breaks_off_outside_the_range_stops_there(rig):
    """The stop was checked against the limits, and the refusal ended the node in motion."""
    outside = np.array([0.2, 2.55])
    rig.follower.hold(outside)
    rig.follower.answered(rig.time)
    rig.stream.take(np.array([0.2, 2.3]), None, None, 1.0)
    rig.run(1.2)
    assert rig.stream.counts.stops == 1
    q, qd, _ = rig.followed[-1]
    np.testing.assert_array_equal(qd, 0.0)
    assert 2.5 < q[1] < outside[1]
    assert rig.within_limits()


def test_a_machine_guided_by_hand_follows_no_points(arm):
    follower = ReferenceFollower(
        arm, start_tolerance=np.ones(2), effort_limit=np.full(2, 1e3), accepting=False
    )
    follower.hold(HELD)
    follower.answered(10.0)
    stream, held = ReferenceStream(follower, TIMEOUT), follower.present
    for point in (HELD + 0.01, HELD + 100.0):
        with pytest.raises(TrajectoryError, match='guided by hand'):
            stream.take(point, None, None, LOOKAHEAD)
    with pytest.raises(TrajectoryError, match='guided by hand'):
        follower.splice(held.followed)
    assert stream.counts.refused == 2
    assert not stream.active
    assert follower.present is held


def test_a_machine_that_rests_behind_a_limit_may_stay_there(arm):
    """As along a trajectory: a client that starts from the measured pose was refused."""
    rig = Rig(arm, timeout=2.0)
    behind = np.array([HELD[0], rig.follower.robot.model.position_upper[1] + 1e-3])
    rig.follower.hold(behind)
    rig.follower.answered(rig.time)
    rig.stream.take(behind + [0.05, 0.0], None, None, 0.5)
    rig.run(1.0)
    np.testing.assert_allclose(rig.followed[-1][0], behind + [0.05, 0.0], atol=1e-6)
    assert max(state[0][1] for state in rig.followed) <= behind[1] + 1e-9
    with pytest.raises(TrajectoryError, match="position of 'elbow' is .*, beyond its limit"):
        rig.stream.take(behind + [0.0, 1e-3], None, None, 0.5)
