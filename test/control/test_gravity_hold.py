# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The fault action takes energy out of any robot: sampled, late, and within effort limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from long_runs import some_of
from pinocchio_oracle import example_robots
from scipy.optimize import lsq_linear

import kron_dynamics as kd
from kron_dynamics.control import GravityHold, damping_range
from kron_dynamics.control.gravity_hold import _nearest
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import ParameterError

STEP = 1e-3  # s, of the integration
SPEED = 0.2  # rad/s at the start
PERIODS = (0.004, 0.01, 0.02)


@pytest.fixture(scope='module')
def arms(kernel_cache, stacker):
    """The machine we ship and two arms; the Panda is coupled and has light wrists."""
    files = {path.name: path for path in example_robots().values()}
    return {
        'stacker': stacker,
        'ur5': kd.load(files['ur5_robot.urdf']),
        'panda': kd.load(files['panda.urdf']),
    }


class Motion(NamedTuple):
    """Of N trials at K times: energies (K, N), J, and largest joint speeds (K, N), rad/s."""

    energies: np.ndarray
    speeds: np.ndarray

    def growth(self, period):
        """Largest relative growth of the kinetic energy within any second."""
        E, window = self.energies, max(1, round(1.0 / period))
        floor = 1e-6 * E[0]  # what is left is rounding
        return max(
            ((E[k : k + window + 1].max(axis=0) - E[k]) / np.maximum(E[k], floor)).max()
            for k in range(len(E))
        )


def starts(robot, count):
    """Poses (N, n) in the middle of the position limits."""
    lower = np.maximum(robot.model.position_lower, -3.0)
    upper = np.minimum(robot.model.position_upper, 3.0)
    middle = 0.6 * lower + 0.4 * upper, 0.4 * lower + 0.6 * upper
    return np.random.default_rng(0).uniform(*middle, (count, robot.n))


def fall(robot, law, period, *, delay=0.0, limit=None, count=20, duration=2.0, speed=SPEED):
    """Let a law that answers states of a period act on a robot that moves when it sets in.

    Each effort acts a share `delay` of the period after its state; the weight before the first.
    """
    # A machine that travels along a rail is not quick at a fifth of a metre a second.
    moving = np.array(robot.model.joint_types) != 'prismatic'
    moving |= not moving.any()
    limit = robot.model.effort_limit if limit is None else limit
    q = starts(robot, count)
    qd = np.tile(speed * moving, (count, 1))
    tau = robot.gravity_vector(q)
    steps = max(1, round(period / STEP))
    h, late = period / steps, round(delay * steps)
    energies, speeds = [robot.kinetic_energy(q, qd)], [np.abs(qd).max(axis=1)]
    for _ in range(round(duration / period)):
        answer = np.array(
            [law(*state, period, -limit, limit) for state in zip(q, qd, strict=True)]
        )
        for step in range(steps):
            tau = answer if step == late else tau
            qd = qd + h * robot.forward_dynamics(q, qd, tau)
            q = q + h * qd
        tau = answer
        energies.append(robot.kinetic_energy(q, qd))
        speeds.append(np.abs(qd).max(axis=1))
    return Motion(np.array(energies), np.array(speeds))


def accepted(robot, period):
    """The least, the usual and the greatest damping that is accepted."""
    lowest, highest, _ = damping_range(robot, period)
    return [GravityHold(robot, damping, period=period) for damping in (lowest, None, highest)]


# The Panda at every period, each robot at one at least.
@pytest.mark.parametrize(
    ('period', 'name'),
    some_of(
        [(period, name) for period in PERIODS for name in ('stacker', 'ur5', 'panda')],
        [(0.004, 'panda'), (0.01, 'panda'), (0.02, 'panda'), (0.02, 'ur5'), (0.01, 'stacker')],
    ),
)
def test_energy_leaves_at_every_damping_that_is_accepted(arms, name, period):
    robot = arms[name]
    count = 3 if name == 'stacker' else 8
    for law in accepted(robot, period):
        for delay in (0.0, 1.0) if period > 0.005 else (1.0,):
            motion = fall(robot, law.effort, period, delay=delay, count=count)
            assert motion.speeds.max() <= 0.5
            assert motion.growth(period) <= 0.01
            if name != 'stacker':  # whose limits are for a thirtieth of this speed
                # At worst the weight gives back half of what damping takes.
                left = np.exp(-law.damping * 2.0) + 1e-20
                assert (motion.energies[-1] <= left * motion.energies[0]).all()


def test_a_brake_joint_by_joint_would_not_do(arms):
    """What drove arms to their limits: the diagonal of the mass matrix, sampled at 20 Hz."""

    def joint_by_joint(robot):
        def law(q, qd, period, lower, upper):
            brake = 20.0 * robot.mass_matrix(q).diagonal() * qd
            return np.clip(robot.gravity_vector(q) - brake, lower, upper)

        return law

    for name in ('ur5', 'panda'):
        motion = fall(arms[name], joint_by_joint(arms[name]), 0.05, count=5, duration=1.0)
        assert motion.speeds.max() > 0.5
        assert motion.growth(0.05) > 1.0


def test_the_weight_of_the_last_position_would_not_do(arms):
    """It is that of a period and a half ago at the end, and pushes light wrists."""
    panda, period = arms['panda'], 0.02
    law = accepted(panda, period)[0]

    def behind(q, qd, period, lower, upper):
        brake = -law.damping * panda.mass_matrix(q) @ qd
        return np.clip(panda.gravity_vector(q) + brake, lower, upper)

    motion, right = (
        fall(panda, answer, period, delay=1.0, count=8) for answer in (behind, law.effort)
    )
    assert motion.energies[-1].max() > 1e3 * right.energies[-1].max()


@pytest.mark.parametrize('name', ['ur5', 'panda'])
@pytest.mark.parametrize('delay', [0.0, 1.0])
def test_energy_leaves_within_narrow_effort_limits(arms, name, delay):
    """Limits that carry the weight, and a third of the brake that 1 rad/s takes."""
    robot, period = arms[name], 0.01
    everywhere = np.random.default_rng(1).uniform(-3.0, 3.0, (2000, robot.n))
    law, met = GravityHold(robot, period=period), 0
    wanted = law.damping * robot.mass_matrix(starts(robot, 5)).sum(axis=-1).mean(axis=0)
    limit = 1.05 * np.abs(robot.gravity_vector(everywhere)).max(axis=0) + 0.3 * np.abs(wanted)

    def counted(q, qd, period, lower, upper):
        nonlocal met
        effort = law.effort(q, qd, period, lower, upper)
        assert ((effort >= lower) & (effort <= upper)).all()
        met += (np.abs(effort) >= 0.999 * limit).any()
        return effort

    motion = fall(robot, counted, period, delay=delay, limit=limit, count=5, speed=1.0)
    assert met > 20
    assert motion.growth(period) <= 0.01
    assert (motion.energies[-1] <= 0.01 * motion.energies[0]).all()


def test_limited_efforts_are_the_nearest_in_the_metric_of_kinetic_energy(arms):
    """By the conditions of Karush, Kuhn and Tucker, and better than cutting joint by joint."""
    robot = arms['ur5']
    law, period = GravityHold(robot, 10.0, period=0.01), 0.01
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(20):
        q, qd = rng.uniform(-1.5, 1.5, (2, robot.n))
        M, weight = robot.mass_matrix(q), robot.gravity_vector(q + period * qd)
        lower, upper = weight - rng.uniform(0.5, 8.0, 6), weight + rng.uniform(0.5, 8.0, 6)
        wanted = weight - 10.0 * M @ qd
        effort = law.effort(q, qd, period, lower, upper)
        gradient = np.linalg.solve(M, effort - wanted)
        scale = 1e-8 * np.abs(np.linalg.solve(M, wanted - weight)).max()
        at_lower, at_upper = np.isclose(effort, lower), np.isclose(effort, upper)
        assert (gradient[~at_upper] >= -scale).all()
        assert (gradient[~at_lower] <= scale).all()
        inside += (~at_lower & ~at_upper).sum()
        # The weight is within the limits: power is taken, whatever the others do.
        assert (effort - weight) @ qd < 0.0
    assert inside > 10


@settings(
    max_examples=settings.default.max_examples // 6,
    phases=[Phase.explicit, Phase.generate],  # every example is compiled: no search for a smaller
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_energy_leaves_random_trees(random_trees, data):
    robot = kd.loads(data.draw(random_trees))
    period = 0.004
    try:
        law = GravityHold(robot, period=period)
    except ParameterError as refusal:
        assert 'states at most' in str(refusal)
        return
    limit = 1.1 * np.abs(robot.gravity_vector(starts(robot, 500) * 5.0)).max(axis=0) + 5.0
    motion = fall(robot, law.effort, period, delay=1.0, limit=limit, count=5, duration=1.0)
    assert motion.growth(period) <= 0.01
    assert motion.energies[-1].max() <= 0.9 * motion.energies[0].max()


@pytest.fixture(scope='module')
def boom(stacker_files):
    return kd.load(stacker_files.urdf, flexible=stacker_files.flexible)


def settle(stacker, boom, law, period):
    """Largest joint rates of the last second of 12, efforts a period late, shares of the first."""
    limit, n = stacker.model.effort_limit, stacker.n
    q = quasi_static_equilibrium(boom, np.array([100.0, 0.5, 0.05]))
    qd = np.zeros(boom.n)
    qd[:n] = first = 0.05 * stacker.model.velocity_limit
    tau = np.zeros(boom.n)
    weight = boom.gravity_vector(q)[:n]
    tau[:n] = weight
    rates = []
    steps = round(period / 0.002)
    for _ in range(round(12.0 / period)):
        # The weight of the bent boom, so that nothing but the brake is seen.
        brake = law.effort(q[:n], qd[:n], period, -limit, limit)
        answer = brake - stacker.gravity_vector(q[:n] + period * qd[:n]) + weight
        for _ in range(steps):
            free = tau - boom.model.structural_damping * qd
            qd = qd + 0.002 * boom.forward_dynamics(q, qd, free)
            q = q + 0.002 * qd
        tau[:n] = answer
        rates.append(np.abs(qd[:n]))
    return np.array(rates[-round(1.0 / period) :]).max(axis=0)[:2] / first[:2]


def test_flexible_links_lower_the_highest_damping(stacker, boom):
    """At first the joints move less than the inertia of stiff links."""
    period = 0.05
    rigid, flexible = (damping_range(stacker, period, robot) for robot in (stacker, boom))
    M = boom.mass_matrix(np.zeros(5))
    hub = M[:3, :3] - M[:3, 3:] @ np.linalg.solve(M[3:, 3:], M[3:, :3])
    least = stacker.mass_matrix(np.zeros(3))[1, 1] / hub[1, 1]
    assert flexible.inertia_ratio >= least > 2.0
    assert flexible.highest == pytest.approx(rigid.highest / flexible.inertia_ratio)
    law = GravityHold(stacker, flexible.highest, period=period, flexible=boom)
    # The same bound where states come at another rate.
    for factor in (1.0, 2.0):
        bound = law.largest_damping(factor * period)
        assert bound == pytest.approx(flexible.highest / factor, rel=1e-12)
    settled = settle(stacker, boom, law, period)
    assert (settled < 1e-4).all()
    # What would be right for stiff links has the slewing drive swing.
    too_much = GravityHold(stacker, 1.2 * rigid.highest, period=period / 2.0)
    swinging = settle(stacker, boom, too_much, period)
    assert swinging[1] > 10.0 * settled[1]


# What is refused


def test_a_damping_outside_the_range_is_refused_with_the_range(arms):
    panda = arms['panda']
    lowest, highest, _ = damping_range(panda, 0.01)
    assert highest == pytest.approx(25.0)
    for damping in (0.99 * lowest, 1.01 * highest, np.nan):
        with pytest.raises(ParameterError, match=rf'expected {lowest:.4g} to 25 1/s with states'):
            GravityHold(panda, damping, period=0.01)


def test_states_that_come_too_seldom_are_refused_with_the_period_that_would_do(arms):
    with pytest.raises(ParameterError, match="cannot brake 'panda' with states 0.05 s") as refusal:
        damping_range(arms['panda'], 0.05)
    longest = float(str(refusal.value).split('at most ')[1].split()[0])
    assert 0.015 < longest < 0.05
    damping_range(arms['panda'], longest)
    with pytest.raises(ParameterError):
        damping_range(arms['panda'], 1.01 * longest)


@pytest.mark.parametrize('period', [0.0, -0.01, np.nan, np.inf])
def test_a_period_that_is_no_time_is_refused(arms, period):
    with pytest.raises(ParameterError, match='expected a time above 0'):
        damping_range(arms['ur5'], period)


@pytest.mark.parametrize('value', ['a', None, 1j])
def test_what_is_no_number_is_refused_by_name(arms, value):
    with pytest.raises(kd.ArgumentTypeError, match='^period of the states is'):
        damping_range(arms['ur5'], value)
    if value is not None:
        with pytest.raises(kd.ArgumentTypeError, match='^damping is'):
            GravityHold(arms['ur5'], value, period=0.01)


def test_the_range_follows_the_weight_not_its_sign(arm):
    """For the planar arm M^-1 dg/dq is known: the fastest hanging pose counts."""
    q = np.random.default_rng(0).uniform([-2.0, -2.5], [2.0, 2.5], (4000, 2))
    G = np.array([[(arm.gravity_vector(x + e) - arm.gravity_vector(x - e)) / 2e-6
                   for e in 1e-6 * np.eye(2)] for x in q])  # fmt: skip
    fastest = np.abs(np.linalg.eigvals(np.linalg.solve(arm.mass_matrix(q), G))).max()
    period = 0.04
    assert damping_range(arm, period).lowest == pytest.approx(fastest * period, rel=0.05)


def test_no_command_changes_while_no_time_passes(arms):
    law, q = GravityHold(arms['ur5'], period=0.01), np.full(6, 0.3)
    sent = arms['ur5'].gravity_vector(q) + 1.0
    np.testing.assert_array_equal(law.effort(q, q, 0.01, sent, sent), sent)


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_the_search_within_limits_finds_what_scipy_finds(seed, n):
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(n, n)))[0]
    M = turned @ np.diag(10.0 ** rng.uniform(-3.0, 3.0, n)) @ turned.T
    M = (M + M.T) / 2.0
    wanted = M @ rng.normal(size=n)
    scale = np.abs(wanted).max()
    lower, upper = -scale * rng.uniform(0.0, 1.0, (2, n)) * [[1.0], [-1.0]]
    A = np.linalg.inv(np.linalg.cholesky(M))
    expected = lsq_linear(A, A @ wanted, (lower, upper), method='bvls').x
    found = _nearest(M, wanted, lower, upper)
    assert ((found >= lower - 1e-12 * scale) & (found <= upper + 1e-12 * scale)).all()
    cost, best = (np.square(A @ (x - wanted)).sum() for x in (found, expected))
    assert cost <= best * (1.0 + 1e-6) + 1e-12


def held(robot, q, qd, effort, time):
    """The velocity after an effort was held, of a machine whose drives carry its weight."""
    for _ in range(200):
        tau = effort + robot.gravity_vector(q)
        qd = qd + time / 200 * robot.forward_dynamics(q, qd, tau)
        q = q + time / 200 * qd
    return qd


@pytest.mark.parametrize('name', ['stacker', 'ur5', 'panda'])
def test_a_brake_held_for_its_longest_time_halves_the_speed_and_held_longer_turns_it(arms, name):
    robot = arms[name]
    hold = GravityHold(robot, period=0.01, compensate_gravity=False)
    wide = np.full(robot.n, 1e12)
    for q in starts(robot, 5):
        qd = 0.01 * np.random.default_rng(3).uniform(-1.0, 1.0, robot.n)
        brake = hold.effort(q, qd, 0.01, -wide, wide)
        at_first = qd @ robot.mass_matrix(q)
        kept, turned = (
            at_first @ held(robot, q, qd, brake, factor * hold.longest_brake) / (at_first @ qd)
            for factor in (1.0, 4.0)
        )
        assert kept == pytest.approx(0.5, abs=0.05)
        assert turned == pytest.approx(-1.0, abs=0.2)


def test_a_brake_of_flexible_links_is_held_more_briefly(stacker_files):
    """What the boom bends moves at once, so that joints are lighter at first."""
    machine = kd.load(stacker_files.urdf, flexible=stacker_files.flexible)
    rigid = machine.rigid
    hold = GravityHold(rigid, period=0.02, flexible=machine)
    limits = rigid.model
    q = np.random.default_rng(0).uniform(limits.position_lower, limits.position_upper, (200, 3))
    M = rigid.mass_matrix(q)
    poses = np.hstack([q, np.zeros((200, machine.n - rigid.n))])
    light = np.linalg.inv(machine.mass_matrix(poses))[:, : rigid.n, : rigid.n]
    # Shares of the speed that are left in each direction, with the weight carried.
    left = 1.0 - hold.longest_brake * hold.damping * np.linalg.eigvals(light @ M).real
    assert left.min() >= 0.5 - 1e-9
    assert left.min() < 0.6


def test_a_payload_takes_its_range_and_a_damping_outside_it_over(arms):
    robot = arms['ur5']
    slow, fast = GravityHold(robot, 2.0, period=0.02), GravityHold(robot, 30.0, period=0.005)
    slow.adopt(fast)
    assert (slow.range, slow.damping) == (fast.range, 2.0)
    fast.adopt(GravityHold(robot, 2.5, period=0.02))
    assert fast.damping == 2.5
