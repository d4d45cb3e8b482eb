# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever points come, and whenever they stop coming: nothing commanded leaves a limit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sampled_runs import PERIOD, ROBOTS, machine

from kron_dynamics.control import ReferenceFollower, Trajectory
from kron_dynamics.control.reference.planning import ReferenceBounds
from kron_dynamics.control.reference.stream import ReferenceStream
from kron_dynamics.exceptions import TrajectoryError

TIMEOUT = 0.1
# Tolerances of the positions, rad or m, and of velocities and accelerations as shares of limits.
NEAR, SHARE = 2e-6, 1e-5


def joints_of(lower, upper, velocity):
    """Joints with limits, and with dynamics that need no effort: a stream never asks for it."""
    n = len(lower)
    names = tuple(f'j{k}' for k in range(n))
    model = SimpleNamespace(
        joint_names=names,
        joint_types=('revolute',) * n,
        position_lower=np.asarray(lower, float),
        position_upper=np.asarray(upper, float),
        velocity_limit=np.asarray(velocity, float),
    )
    return SimpleNamespace(
        n=n,
        joint_names=names,
        model=model,
        mass_matrix=lambda q: np.eye(n),
        gravity_vector=lambda q: np.zeros(n),
        inverse_dynamics=lambda q, qd, qdd: np.zeros_like(q),
        joint_friction=np.zeros_like,
    )


class Watched:
    """A stream of which everything that is ever commanded is checked."""

    def __init__(self, robot, acceleration, held, period=0.002):
        n = robot.n
        self.robot, self.period, self.time = robot, period, 10.0
        self.follower = ReferenceFollower(
            robot,
            start_tolerance=np.ones(n),
            effort_limit=np.ones(n),
            bounds=ReferenceBounds(acceleration=np.asarray(acceleration, float)),
        )
        self.follower.hold(np.asarray(held, float))
        self.follower.answered(self.time)
        self.stream = ReferenceStream(self.follower, TIMEOUT)

    def move(self, qd, qdd):
        """Be in motion, with a velocity and an acceleration, before the first point comes."""
        q = self.follower.sample(self.time)[0]
        rest = np.zeros_like(q)
        states = tuple(np.array(rows) for rows in ((q, q + qd), (qd, rest), (qdd, rest)))
        times = np.array([0.0, 2.0])
        names = self.robot.joint_names
        self.follower.splice(Trajectory.from_states(names, times, states))

    def take(self, *point):
        """Follow a point; return whether it was accepted."""
        before = self.follower.present
        try:
            self.stream.take(*point)
        except TrajectoryError:
            assert self.follower.present is before
            return False
        self._check(before)
        return True

    def move_on(self, seconds):
        """States without a look at the stream."""
        self.time += seconds
        self.follower.answered(self.time)

    def states(self, count=1):
        for _ in range(count):
            before = self.follower.present
            self.time += self.period
            self.stream.watch()
            self.follower.sample(self.time)
            if self.follower.present is not before:
                self._check(before)
            self.follower.answered(self.time)

    def _check(self, before):
        """The whole of what is followed now is checked: no further point may ever come."""
        reference, model = self.follower.present, self.robot.model
        now = reference.start
        motion = reference.followed
        a_limit = self.follower.acceleration_limit
        for got, wanted, near in zip(
            motion.sample(0.0),
            before.followed.sample(now - before.start),
            (NEAR, SHARE * model.velocity_limit, SHARE * a_limit),
            strict=True,
        ):
            assert (np.abs(got - wanted) <= near).all()
        places, rates = motion.extrema(0), motion.extrema(1)
        assert (places.lowest >= model.position_lower - NEAR).all()
        assert (places.highest <= model.position_upper + NEAR).all()
        fastest = np.maximum(-rates.lowest, rates.highest)
        assert (fastest <= (1.0 + SHARE) * model.velocity_limit).all()
        _, q, v, a = motion.grid(33)
        hardest = np.maximum(a_limit, np.abs(a[0]))
        assert (np.abs(a) <= (1.0 + SHARE) * hardest).all()
        # The end of a piece and the start of the next one, and the rest after the last one.
        near = NEAR, SHARE * model.velocity_limit, SHARE * a_limit
        for values, close, rest in zip(
            (q, v, a), near, (motion.final_position, 0, 0), strict=True
        ):
            assert (np.abs(values[32:-1:33] - values[33::33]) <= close).all()
            assert (np.abs(values[-1] - rest) <= close).all()


# Acceleration limits, velocity and acceleration now, those at the point, time to the point.
CARRIED = {
    'to its velocity limit': ([2.0, 2.0], [0.88, 0.0], [2.0, 0.0], [1.0, 0.0], [2.0, 0.0]),
    'near it': ([2.0, 2.0], [0.9, 0.0], [1.5, 0.0], [0.99, 0.0], [1.5, 0.0]),
    'beside a slow joint': ([2.0, 0.5], [0.0, 1.0], [1.5, 0.0], [0.09, 1.0], [1.5, 0.0]),
    'braking': ([2.0, 0.5], [-0.29, 1.0], [1.5, 0.0], [-0.2, 1.0], [1.5, 0.0]),
}


@pytest.mark.parametrize('case', CARRIED.values(), ids=CARRIED)
def test_an_acceleration_at_the_point_carries_no_joint_over_its_limits(case):
    """It did: its stop lasted as long as that of the slowest joint, and went on accelerating."""
    limit, v0, a0, v1, a1 = map(np.array, case)
    stream = Watched(joints_of([-1.0] * 2, [9.0] * 2, [1.0] * 2), limit, [1.0, 1.0])
    stream.move(v0, a0)
    time, q0 = 0.06, np.ones(2)
    taken = stream.take(q0 + 0.5 * (v0 + v1) * time, v1, a1, time)
    # An acceleration takes 1 ms to ramp from its limit to 0: then the first joint is too fast.
    too_fast = v1[0] + 0.5 * 1e-3 * a1[0] ** 2 / limit[0] > 1.0
    in_time = taken and stream.stream.counts.limited == 0
    assert in_time != too_fast
    if too_fast:
        return
    present = stream.follower.present
    # Not much farther than hard braking from the fastest possible speed: 1 rad/s.
    way = np.abs(present.followed.final_position - present.followed.sample(time)[0])
    assert (way <= 1.5 * 0.5 / limit).all()


def test_a_point_after_which_a_joint_would_be_too_fast_is_reached_late_or_refused():
    """It accelerates at its velocity limit: slower, both are smaller."""
    point = np.array([0.25]), np.array([1.0]), np.array([2.0])
    stream = Watched(joints_of([-1.0], [9.0], [1.0]), [4.0], [0.0])
    assert stream.take(*point, 0.6)
    assert stream.stream.counts.limited == 1
    stream = Watched(joints_of([-1.0], [9.0], [1.0]), [4.0], [0.0])
    with pytest.raises(TrajectoryError, match=r"in 1 s: 'j0' could not stop after it within its"):
        stream.stream.take(*point, 1.0)


def test_the_stop_after_a_point_near_the_end_of_the_range_stays_within_it():
    stream = Watched(joints_of([-1.0] * 2, [9.0] * 2, [1.0] * 2), [2.0, 0.9], [-0.95, 0.0])
    assert stream.take(np.array([-1.0, 0.3]), np.array([0.0, 0.5]), np.array([1.0, 0.0]), 1.0)
    assert not stream.take(np.array([-1.0, 0.3]), np.array([-0.2, 0.5]), np.array([1.0, 0.0]), 1.0)


def test_a_joint_that_cannot_stop_at_once_moves_on_to_the_point():
    """Here because a payload lowered the acceleration limits on the way."""
    stream = Watched(joints_of([-1.0], [1.0], [1.0]), [4.0], [0.0])
    assert stream.take(np.array([1.0]), None, None, 2.0)
    stream.follower.adopt_acceleration_limit(np.array([0.5]))
    stream.move_on(1.0)
    before = stream.follower.present
    stream.states(1)
    assert stream.follower.present is before
    stream.states(round(1.0 / stream.period))
    # At last it is slow enough.
    stop = stream.follower.present
    assert stop is not before
    assert stop.lasting
    assert stop.followed.final_position[0] < 1.0
    assert stream.stream.counts.stops == 1
    assert not stream.stream.active


def random_point(rng, stream):
    """A point near the reference's own way, or anywhere; at limits in some joints."""
    robot, model = stream.robot, stream.robot.model
    n = robot.n
    q, v, a = stream.follower.sample(stream.time)
    time = rng.choice([0.0, stream.period, rng.uniform(0.01, 0.1), rng.uniform(0.1, 0.9)])
    limit = stream.follower.acceleration_limit

    def signed(scale):
        sized = rng.choice([0.0, 1.0, *rng.uniform(0.0, 1.0, 3)], n)
        return scale * sized * rng.choice([-1.0, 1.0], n)

    ahead = max(time, 0.02)
    change = signed(limit)
    v1 = np.clip(v + 0.5 * (a + change) * ahead, -model.velocity_limit, model.velocity_limit)
    q1 = q + 0.5 * (v + v1) * ahead + rng.uniform(-0.05, 0.05) * limit * ahead**2
    a1 = change
    kind = rng.integers(5)
    if kind == 0:  # anywhere
        v1, a1 = signed(model.velocity_limit), signed(limit)
    elif kind == 1:
        a1 = np.zeros(n)
    q1 = np.clip(q1, model.position_lower, model.position_upper)
    if kind == 2:
        return q1, None, None, time
    if kind == 3:
        return q1, 0.8 * v1, None, time
    return q1, v1, a1, time


@pytest.mark.parametrize('name', ROBOTS)
def test_random_streams_leave_no_limit_wherever_they_break_off(name):
    rng = np.random.default_rng(1)
    model = machine(name).model
    lower, upper = (
        np.where(np.isfinite(bound), bound, end)
        for bound, end in ((model.position_lower, -9.0), (model.position_upper, 9.0))
    )
    followed = stops = 0
    for _ in range(4):
        velocity = model.velocity_limit * rng.uniform(0.3, 1.0, model.n)
        acceleration = velocity * 10.0 ** rng.uniform(-0.5, 1.2, model.n)
        # Near an end of the range in some joints, so that it is met.
        share = rng.choice([0.0, 0.001, 0.3, 0.999], model.n)
        stream = Watched(
            joints_of(lower, upper, velocity),
            acceleration,
            lower + share * (upper - lower),
            PERIOD[name],
        )
        for _ in range(25):
            stream.take(*random_point(rng, stream))
            missing = rng.uniform(1.0, 3.0) * TIMEOUT / stream.period
            stream.states(round(missing) if rng.random() < 0.2 else int(rng.integers(1, 6)))
        counts = stream.stream.counts
        followed, stops = followed + counts.followed, stops + counts.stops
    assert followed > 30
    assert stops > 0
