# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Retimed paths: within every limit at any moment, nearly as quick as can be, on their path."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from long_runs import some_of
from single_carts import cart

import kron_dynamics as kd
from benchmarks.retiming_bound import quickest_duration
from benchmarks.retiming_plans import PLANS, effort_rate_limits, waypoints
from benchmarks.robots import description
from kron_dynamics.control import Trajectory, retime

ROOT = Path(__file__).parents[3]
_ROUNDING = 1.0 + 1e-9

pytestmark = pytest.mark.interpreted


@functools.cache
def machine(name):
    return kd.loads(description(name).text)


@functools.cache
def plan(name, seed, rated=True):
    """A robot, the waypoints, what was found and the effort rate limits."""
    robot = machine(name)
    points = waypoints(robot, seed)
    limits = effort_rate_limits(name, robot) if rated else np.full(robot.n, np.inf)
    return robot, points, retime(robot, points, effort_rate_limit=limits), limits


def efforts(robot, trajectory, times):
    return robot.inverse_dynamics(*trajectory.samples(times))


every_plan = pytest.mark.parametrize(
    ('name', 'seed'),
    some_of(
        [(name, seed) for name, count in PLANS.items() for seed in range(count)],
        [('ur5', 0), ('ur5', 5), ('panda', 1), ('panda', 2), ('stacker', 1)],
    ),
)


@every_plan
@pytest.mark.parametrize('rated', [True, False])
def test_no_limit_is_left_at_any_sample(name, seed, rated):
    robot, _, found, limits = plan(name, seed, rated)
    step = max(1e-3, found.duration / 1e5)
    times = np.arange(0.0, found.duration, step)
    q, qd, _ = found.trajectory.samples(times)
    tau = efforts(robot, found.trajectory, times)
    model = robot.model
    assert (np.abs(tau) <= model.effort_limit * _ROUNDING).all()
    assert (np.abs(qd) <= model.velocity_limit * _ROUNDING).all()
    assert (q >= model.position_lower).all()
    assert (q <= model.position_upper).all()
    assert (np.abs(np.diff(tau, axis=0)) <= limits * step * _ROUNDING).all()
    # It is at a limit nearly all the time: no slower copy of it passes.
    assert found.peak.max() > 0.99
    assert found.peak.max() <= 1.0


@every_plan
def test_exact_effort_rates_keep_their_limits_on_both_sides_of_every_point(name, seed):
    robot, _, found, limits = plan(name, seed)
    breaks, _ = found.trajectory.polynomials
    sizes = np.diff(breaks)
    for share in np.linspace(0.001, 0.999, 21):
        middle, h = breaks[:-1] + share * sizes, 1e-4 * sizes
        change = efforts(robot, found.trajectory, middle + h) - efforts(
            robot, found.trajectory, middle - h
        )
        assert (np.abs(change) <= (2.0 * h)[:, None] * limits * (1.0 + 1e-6)).all()


@every_plan
def test_motion_is_nearly_as_quick_as_a_dense_search_finds(name, seed):
    robot, _, found, limits = plan(name, seed)
    bound = quickest_duration(
        robot, found.trajectory, robot.model.effort_limit, limits, divisions=2
    )
    assert 1.0 < found.duration / bound < 1.03


@pytest.mark.parametrize(
    ('name', 'seed'), some_of([(name, seed) for name in PLANS for seed in range(5)], [('ur5', 0)])
)
def test_motion_without_effort_rate_limits_is_nearly_as_quick_too(name, seed):
    robot, _, found, limits = plan(name, seed, rated=False)
    bound = quickest_duration(
        robot, found.trajectory, robot.model.effort_limit, limits, divisions=1
    )
    assert 0.999 < found.duration / bound < 1.0005


def test_a_path_of_many_bends_is_nearly_as_quick_too():
    robot, there = machine('ur5'), 0.5 * waypoints(machine('ur5'), 3)
    found = retime(robot, np.concatenate((there, there[-2::-1], there[1:])))
    unlimited = np.full(robot.n, np.inf)
    bound = quickest_duration(
        robot, found.trajectory, robot.model.effort_limit, unlimited, divisions=1
    )
    assert 0.999 < found.duration / bound < 1.0005


@every_plan
def test_waypoints_are_passed_and_ends_are_rests_without_a_step(name, seed, assert_close):
    _, points, found, _ = plan(name, seed)
    assert_close(found.trajectory.samples(found.point_times)[0], points, 1e-9)
    assert (np.diff(found.point_times) > 0.0).all()
    begin, end = found.trajectory.sample(0.0), found.trajectory.sample(found.duration)
    assert_close(np.array([*begin[1:], *end[1:]]), np.zeros((4, points.shape[1])), 1e-9)
    times, q, qd, qdd = found.trajectory.grid(2)
    for states in (q, qd, qdd):  # at the end of each piece and at the beginning of the next
        assert_close(states[1:-1:2], states[2::2], 1e-9 * np.abs(states).max())
    assert times[-1] == found.duration


@every_plan
def test_some_limit_is_reached_at_nearly_any_time_without_effort_rate_limits(name, seed):
    robot, _, found, _ = plan(name, seed, rated=False)
    times = np.linspace(0.0, found.duration, 20001)[1:-1]
    _, qd, _ = found.trajectory.samples(times)
    model = robot.model
    shares = np.hstack(
        (
            np.abs(qd) / model.velocity_limit,
            np.abs(efforts(robot, found.trajectory, times)) / model.effort_limit,
        )
    )
    assert (shares.max(axis=1) > 1.0 - 2e-3).mean() > 0.96


@pytest.mark.parametrize(
    ('name', 'seed'),
    some_of(
        [(name, seed) for name in PLANS for seed in range(120)],
        [('stacker', 31), ('ur5', 9), ('panda', 90), ('panda', 100)],
    ),
)
def test_some_limit_is_used_up_also_where_velocity_limits_meet_and_efforts_leave_one_motion(
    name, seed
):
    # Sharp corners of velocity limits, contacts with the maximum velocity curve, and places where
    # an effort does not depend on the acceleration: transitions are all that is left of them.
    robot = machine(name)
    found = retime(robot, waypoints(robot, seed))
    times = np.linspace(0.0, found.duration, 20001)[1:-1]
    _, qd, _ = found.trajectory.samples(times)
    speeds = np.abs(qd) / robot.model.velocity_limit
    drives = np.abs(efforts(robot, found.trajectory, times)) / robot.model.effort_limit
    most = np.hstack((speeds, drives)).max(axis=1)
    assert most.max() <= 1.0
    assert (most > 1.0 - 1e-3).mean() > 0.9975


@pytest.mark.parametrize(('distance', 'share'), [(1e-6, 1e-3), (0.5, 2e-6), (8.0, 2e-7)])
def test_cart_takes_the_time_of_two_constant_efforts(distance, share):
    found = retime(cart(), [[1.0], [1.0 + distance]])
    assert 1.0 <= found.duration / (2.0 * np.sqrt(distance * 2.0 / 6.0)) < 1.0 + share
    assert found.reached[2, 0] > 0.98


@pytest.mark.parametrize('way', [[0.0, 5.0], [5.0, 2.5, 0.0], [0.0, 1.0, 2.0, 4.9, 5.0]])
def test_cart_takes_the_time_of_three_phases_with_a_velocity_limit(way):
    found = retime(cart(velocity=2.0), np.array(way)[:, None])
    # 2 m/s at 3 m/s^2 and back: half of that time is lost against 5 m at 2 m/s.
    assert 1.0 <= found.duration / (5.0 / 2.0 + 2.0 / 3.0) < 1.0 + 1e-6


@pytest.mark.parametrize('distance', [1e-6, 0.5, 8.0])
def test_cart_takes_the_time_of_four_constant_effort_rates(distance):
    robot = cart(effort=1e9)
    found = retime(robot, [[1.0], [1.0 - distance]], effort_rate_limit=[5.0])
    expected = 4.0 * np.cbrt(distance / 2.0 / (5.0 / 2.0))
    assert 1.0 <= found.duration / expected < 1.015


def test_cart_takes_the_time_of_seven_phases_with_all_limits():
    found = retime(
        cart(velocity=2.0), [[0.0], [5.0]], acceleration_limit=[2.0], effort_rate_limit=[8.0]
    )
    # Up to 2 m/s at 2 m/s^2 reached in 0.5 s: 1.5 s to gain speed, 1.5 m; twice that, and 1 s.
    assert 1.0 <= found.duration / (1.5 + 1.5 + 2.0 / 2.0) < 1.005
    # Within 3 % of it the velocity is 0.17 s longer at both ends.
    assert found.reached[:3, 0] == pytest.approx([0.335, 0.26, 0.0], abs=0.05)
    assert 0.3 < found.reached[3, 0] < 0.55
    assert len(found.reports) == 3
    assert "joint 'slide': effort at" not in ' '.join(found.reports)


def test_lift_has_what_its_weight_leaves():
    robot = cart('0 0 1', effort=40.0, mass=3.0)
    weight = 3.0 * 9.80665
    up, down = (40.0 - weight) / 3.0, (40.0 + weight) / 3.0
    found = retime(robot, [[0.0], [2.0]])
    # Up with what is left, then down with weight and effort: v^2 (1/up + 1/down) = 2 * 2 m.
    speed = np.sqrt(4.0 / (1.0 / up + 1.0 / down))
    assert 1.0 <= found.duration / (speed / up + speed / down) < 1.0 + 2e-6


@pytest.mark.parametrize('rate', [None, [100.0]])
def test_friction_is_part_of_the_efforts(rate):
    robot = cart(damping=0.5, friction=2.0)
    found = retime(robot, [[0.0], [3.0]], friction=True, effort_rate_limit=rate)
    times = np.linspace(0.0, found.duration, 20001)
    q, qd, qdd = found.trajectory.samples(times)
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    assert 0.99 < np.abs(tau).max() / 6.0 <= _ROUNDING
    plain = retime(robot, [[0.0], [3.0]], effort_rate_limit=rate)
    # Friction brakes as much as it holds back: (6 - 2) up, (6 + 2) down.
    assert 1.03 < found.duration / plain.duration < 1.2


def test_payload_counts(assert_close):
    robot = kd.CarryingRobot(cart(), 'cart')
    robot.set_payload('cart', 6.0)
    found = retime(robot, [[0.0], [2.0]])
    assert_close(found.duration, 2.0 * retime(cart(), [[0.0], [2.0]]).duration, 1e-6)


def test_a_payload_that_is_set_meanwhile_counts_the_next_time(assert_close):
    class Disturbed(kd.CarryingRobot):
        def inverse_dynamics(self, *motion, **options):
            robot.set_payload('cart', 6.0)
            return super().inverse_dynamics(*motion, **options)

    robot = Disturbed(cart(), 'cart')
    alone = retime(cart(), [[0.0], [2.0]]).duration
    assert_close(retime(robot, [[0.0], [2.0]]).duration, alone, 1e-12)
    assert_close(retime(robot, [[0.0], [2.0]]).duration, 2.0 * alone, 1e-6)


def test_links_that_bend_count_as_stiff(assert_close, stacker_files):
    boom = kd.load(stacker_files.urdf, flexible=stacker_files.flexible)
    points = np.array([[1.0, 0.0, 0.0], [1.2, 0.01, 0.002]])
    found = retime(boom, points)
    assert found.trajectory.joint_names == boom.rigid.joint_names
    assert_close(found.duration, retime(boom.rigid, points).duration, 1e-12)


def test_corner_at_a_rest_is_kept(assert_close):
    robot = machine('stacker')
    points = np.array([[1.0, 0.1, 0.0], [1.4, 0.1, 0.0], [1.4, 0.11, 0.0], [1.5, 0.12, 0.01]])
    limits = effort_rate_limits('stacker', robot)
    found = retime(robot, points, rests=[1, -2], effort_rate_limit=limits)
    for time, point in zip(found.point_times, points, strict=True):
        q, qd, qdd = found.trajectory.sample(time)
        assert_close(q, point, 1e-9)
        assert_close(np.array([qd, qdd]), np.zeros((2, 3)), 1e-9)
    alone = [retime(robot, points[k : k + 2], effort_rate_limit=limits) for k in range(3)]
    assert_close(found.duration, sum(each.duration for each in alone), 1e-9)
    straight = found.trajectory.samples(np.linspace(0.0, found.point_times[1], 50))[0]
    assert_close(straight[:, 1:], np.tile(points[0, 1:], (50, 1)), 1e-9)


def on_the_same_path(found, given):
    """Largest distance of the found motion from the given one, by the first joint's position."""
    times = np.linspace(0.0, given.duration, 20001)
    q = given.samples(times)[0]
    moved = found.trajectory.samples(np.linspace(0.0, found.duration, 997))[0]
    return max(
        np.abs(np.interp(moved[:, 0], q[:, 0], q[:, j]) - moved[:, j]).max()
        for j in range(q.shape[1])
    )


@pytest.mark.parametrize('kind', ['quintic', 'cubic', 'spline'])
@pytest.mark.parametrize('rate', [None, [300.0, 200.0, 100.0]])
def test_trajectory_keeps_its_path_and_loses_its_timing(kind, rate, assert_close):
    robot = kd.load(ROOT / 'test' / 'robots' / 'rrp.urdf')
    times = [0.5, 3.0, 4.0, 9.0]  # held at first
    q = np.array([[0.0, 0.1, 0.1], [0.4, 0.5, 0.2], [0.5, 0.4, 0.15], [1.0, 0.0, 0.1]])
    v = np.array([[0.0, 0.0, 0.0], [0.1, 0.05, -0.02], [0.12, -0.1, 0.0], [0.0, 0.0, 0.0]])
    v = v if kind == 'quintic' else np.zeros_like(v)
    rates = {'quintic': (v, 0.0 * v), 'cubic': (v,), 'spline': ()}[kind]
    given = Trajectory.from_points(robot.joint_names, times, q, *rates)
    limits = {'velocity_limit': [3.0, 3.0, 2.0], 'effort_limit': [200.0, 400.0, 150.0]}
    found = retime(robot, given, effort_rate_limit=rate, **limits)
    assert found.duration < given.duration
    assert on_the_same_path(found, given) < 1e-5
    at_points = found.trajectory.samples(found.point_times)
    assert_close(at_points[0], q, 1e-8)
    resting = (np.abs(at_points[1]) < 1e-9).all(axis=1)
    assert list(resting) == ([True] * 4 if kind == 'cubic' else [True, False, False, True])


def test_rest_of_a_trajectory_takes_no_time(assert_close):
    robot, zero = cart(), np.zeros((4, 1))
    given = Trajectory.from_points(['slide'], [0, 1, 5, 6], [[0], [2], [2], [3]], zero, zero)
    found = retime(robot, given)
    assert_close(found.point_times[1], found.point_times[2], 0.0)
    alone = [retime(robot, points).duration for points in ([[0], [2]], [[2], [3]])]
    assert_close(found.duration, sum(alone), 1e-3)


def test_turning_back_between_points_needs_no_rest():
    found = retime(cart(), [[0.0], [1.0], [0.4]], effort_rate_limit=[50.0])
    times = np.linspace(0.0, found.duration, 5001)
    _, qd, qdd = found.trajectory.samples(times)
    back = np.flatnonzero((qd[:-1, 0] > 0.0) & (qd[1:, 0] <= 0.0))
    assert back.size == 1
    assert np.abs(qdd[back[0], 0]) > 1.0


@pytest.mark.parametrize('points', [[[0.3]], [[0.3], [0.3]], [[0.3]] * 5])
def test_no_way_takes_no_time(points):
    found = retime(cart(), points, effort_rate_limit=[1.0])
    assert found.duration == 0.0
    assert found.trajectory.sample(1.0)[0] == [0.3]
    assert list(found.point_times) == [0.0] * len(points)


@pytest.mark.parametrize('count', [1, 3])
def test_a_hold_takes_no_time_either(count):
    hold = Trajectory.from_points(['slide'], np.arange(count), [[0.3]] * count)
    assert list(retime(cart(), hold).point_times) == [0.0] * count


def test_repeated_points_count_once(assert_close):
    found = retime(cart(), [[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]])
    assert_close(found.trajectory.samples(found.point_times)[0][:, 0], [0, 0, 1, 1, 2, 2], 1e-12)
    assert_close(found.duration, retime(cart(), [[0.0], [1.0], [2.0]]).duration, 1e-9)


@functools.cache
def there_and_on(rate):
    """The cart's motion through 0, 1 and 2."""
    return retime(cart(), [[0.0], [1.0], [2.0]], effort_rate_limit=rate)


@pytest.mark.parametrize('rate', [None, [20.0]])
@pytest.mark.parametrize('apart', [1e-9, -1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize('place', [0.0, 1.0, 2.0])
def test_points_that_repeat_but_for_rounding_count_once(apart, place, rate, assert_close):
    points = np.array([[0.0], [1.0], [2.0]])
    twice = np.insert(points, int(place) + 1, place + apart, axis=0)
    found = retime(cart(), twice, effort_rate_limit=rate)
    q = found.trajectory.samples(found.point_times)[0]
    assert_close(q, twice, 1.01 * abs(apart))
    assert (q[[0, -1]] == twice[[0, -1]]).all()
    assert_close(found.duration, there_and_on(rate and tuple(rate)).duration, 1e-3)


@pytest.mark.parametrize('rate', [None, [20.0, 20.0]])
@pytest.mark.parametrize('apart', [1e-6, 1e-4])
@pytest.mark.parametrize('place', [0, 1, 2])
def test_points_close_together_are_passed_in_turn(apart, place, rate, assert_close):
    robot = kd.load(ROOT / 'test' / 'robots' / 'planar_2r.urdf')
    points = np.insert([[0.0, 0.0], [0.5, 0.3], [1.0, 1.0]], place + 1, 0.0, axis=0)
    points[place + 1] = points[place] + [apart, 0.0]
    found = retime(robot, points, effort_limit=[60.0, 30.0], effort_rate_limit=rate)
    assert (np.diff(found.point_times) > 0.0).all()
    assert_close(found.trajectory.samples(found.point_times)[0], points, 1e-6 * apart)


@pytest.mark.parametrize('rate', [None, [1e9]])
@pytest.mark.parametrize('velocity', [1e-2, 1e-4, 1e-7])
def test_slow_cart_with_strong_drives_cruises(velocity, rate):
    # Its velocity limit is reached in 1e-5 of a second and less, and kept for minutes and more.
    robot = cart(velocity=velocity, effort=2e3)
    found = retime(robot, [[0.0], [3.0]], effort_rate_limit=rate)
    assert 1.0 <= found.duration / (3.0 / velocity) < (1.001 if rate is None else 1.012)
    q, qd, _ = found.trajectory.samples(np.linspace(0.0, found.duration, 20001))
    assert 0.0 <= q.min() <= q.max() <= 3.0 * _ROUNDING
    assert 0.0 <= qd.min() <= qd.max() <= velocity * _ROUNDING


def test_many_points_take_as_long_as_few_on_the_same_line():
    line = np.linspace(0.0, 3.0, 201)[:, None]
    many = retime(cart(), line, effort_rate_limit=[20.0])
    few = retime(cart(), line[[0, -1]], effort_rate_limit=[20.0])
    assert 0.99 < many.duration / few.duration < 1.01


def test_joint_that_stands_still_needs_no_velocity():
    robot = machine('stacker')
    points = [[1.0, 0.1, 0.0], [3.0, 0.1, 0.0]]
    found = retime(robot, points, velocity_limit=[0.5, 0.0, 0.0])
    assert found.duration == pytest.approx(retime(robot, points).duration, rel=1e-6)


def test_weight_near_the_limit_is_moved_slowly():
    robot = cart('0 0 1', effort=3.0 * 9.80665 * 1.001, mass=3.0)
    found = retime(robot, [[0.0], [1.0]], effort_rate_limit=[10.0])
    times = np.linspace(0.0, found.duration, 20001)
    assert efforts(robot, found.trajectory, times).max() <= robot.model.effort_limit[0]
    assert found.duration > 10.0
