# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What tuning calls stable and unstable, against the nonlinear plant with delay and saturation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.control import ComputedTorque
from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.control.terms import TERMS, EffortTerms
from kron_dynamics.control.tuning.linear_machine import linear_machine, model_errors
from kron_dynamics.control.tuning.loop_limits import SampledLoops
from kron_dynamics.control.tuning.refusal import little_room
from kron_dynamics.control.tuning.tuning import tune
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.simulation import Plant

WITHOUT_FRICTION = EffortTerms(frozenset(TERMS) - {'friction'})

ROOT = Path(__file__).parents[3]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
# Rate of the joint states and a bandwidth that is stable, Hz.
CASES = {'stacker': (50.0, 0.3), 'ur5': (125.0, 2.0), 'panda': (200.0, 3.0)}
STEP = 0.002  # s, of the integration
ERROR = 0.2


def frictionless(path):
    """The text of a robot without friction and damping, which the bounds do not count on."""
    return re.sub(r'<dynamics[^>]*>', '', path.read_text(encoding='utf-8'))


@pytest.fixture(scope='module')
def robots(kernel_cache):
    files = {path.name: path for path in example_robots().values()}
    paths = {'stacker': STACKER, 'ur5': files['ur5_robot.urdf'], 'panda': files['panda.urdf']}
    return {name: kd.loads(frictionless(path)) for name, path in paths.items()}


@pytest.fixture
def no_rate_nor_delay(monkeypatch):
    """Leave out searches for other rates and delays, which take a third of the time of `tune`."""
    monkeypatch.setattr(SampledLoops, 'least_rate', lambda *_: 1.0)
    monkeypatch.setattr(SampledLoops, 'longest_delay', lambda _: 1.0)


def speeds(
    plant, rigid, pose, bandwidth, rate, delay, *, scale=1.0, count=300, size=1e-4, step=STEP
):
    """Largest speed in each period after a small step, the model being `scale` times the machine.

    Efforts act `delay` after their state and saturate.
    """
    w = 2.0 * np.pi * np.broadcast_to(bandwidth, rigid.n)
    law = ComputedTorque(rigid, w**2, 2.0 * w, terms=WITHOUT_FRICTION)
    limit, still, period = rigid.model.effort_limit, np.zeros(rigid.n), 1.0 / rate
    reference = (pose + size, still, still)
    whole, rest = divmod(round(delay / period, 9), 1)
    waiting = [rigid.gravity_vector(pose)] * (int(whole) + 1)
    found = []
    for _ in range(count):
        state = plant.q[: rigid.n], plant.qd[: rigid.n]
        waiting.append(np.clip(scale * law(*state, reference), -limit, limit))
        if rest:
            plant.advance(waiting[0], rest * period, step)
        plant.advance(waiting[1], (1.0 - rest) * period, step)
        waiting.pop(0)
        found.append(np.abs(plant.qd).max())
    return np.array(found)


def settles(found):
    return found[-30:].max() < 1e-2 * found[:60].max()


@pytest.mark.usefixtures('no_rate_nor_delay')
@pytest.mark.parametrize(
    ('name', 'periods'),
    some_of(
        [(name, periods) for name in CASES for periods in (1.0, 1.5)],
        [('stacker', 1.5), ('ur5', 1.0)],
    ),
)
def test_the_bound_of_an_exact_model_is_that_of_the_plant(robots, name, periods):
    robot, (rate, bandwidth) = robots[name], CASES[name]
    delay = periods / rate
    bound = tune(robot, bandwidth, rate, delay=delay, model_error=0.0).stable_to
    for pose in 0.5 * poses_within_limits(robot, 2) + 0.5 * poses_within_limits(robot, 100).mean(
        axis=0
    ):
        plants = Plant(robot, pose), Plant(robot, pose)
        assert settles(speeds(plants[0], robot, pose, 0.9 * bound, rate, delay))
        assert not settles(speeds(plants[1], robot, pose, 1.2 * bound, rate, delay))


@pytest.mark.usefixtures('no_rate_nor_delay')
@pytest.mark.parametrize('name', some_of(CASES, ['panda']))
def test_the_bound_holds_for_models_that_are_too_heavy_and_too_light(robots, name):
    robot, (rate, bandwidth) = robots[name], CASES[name]
    bound = tune(robot, bandwidth, rate, model_error=ERROR).stable_to
    pose = 0.5 * (poses_within_limits(robot, 1)[0] + poses_within_limits(robot, 100).mean(axis=0))
    for scale in (1.0 - ERROR, 1.0, 1.0 + ERROR):
        found = speeds(Plant(robot, pose), robot, pose, 0.9 * bound, rate, 1.0 / rate, scale=scale)
        assert settles(found)
    heavy = speeds(
        Plant(robot, pose), robot, pose, 1.2 * bound, rate, 1.0 / rate, scale=1.0 + ERROR
    )
    assert not settles(heavy)


@pytest.mark.parametrize('name', some_of(['ur5', 'panda'], ['panda']))
def test_gains_that_are_too_weak_for_a_light_model_let_the_machine_fall(robots, name):
    """In the worst pose, about the reference that makes the machine rest there."""
    robot, (rate, bandwidth) = robots[name], CASES[name]
    w, period = 2.0 * np.pi * bandwidth, 1.0 / rate
    machine = linear_machine(robot)
    errors = model_errors(machine, ERROR, coupled=False)
    loops = SampledLoops(machine, errors, np.full(robot.n, w), 1.0, period, period)
    lowest, _ = loops.stable_range()
    case = int(loops.growth(0.97 * lowest).argmax())
    share = {0: 0.0, 1: ERROR, 2: -ERROR}[case // len(machine.q)]
    pose, still = machine.q[errors.pose[case]], np.zeros(robot.n)
    assert share == -ERROR
    for factor, falls in ((0.8, True), (1.25, False)):
        kp = (factor * lowest * w) ** 2
        law = ComputedTorque(robot, [kp] * robot.n, [2 * np.sqrt(kp)] * robot.n)
        weight = robot.gravity_vector(pose)
        ahead = -share / (1.0 + share) / kp * np.linalg.solve(robot.mass_matrix(pose), weight)
        plant, effort = Plant(robot, pose), weight
        plant.q = plant.q + 1e-5
        off = []
        for _ in range(round(3.0 * rate)):
            answer = (1.0 + share) * law(plant.q, plant.qd, (pose + ahead, still, still))
            plant.advance(effort, period, STEP)
            effort = answer
            off.append(np.abs(plant.q - pose).max())
        assert (off[-1] > 1.5 * off[0]) if falls else (off[-1] < 0.1 * off[0])


@pytest.mark.usefixtures('no_rate_nor_delay')
@pytest.mark.interpreted
def test_the_bound_with_flexible_links_is_that_of_the_plant(kernel_cache):
    flexible = kd.loads(frictionless(STACKER), flexible=BOOM)
    rigid, rate = flexible.rigid, 50.0
    tuning = tune(flexible, 0.2, rate, model_error=0.0)
    assert tuning.lowest_mode == pytest.approx(0.82, abs=0.01)
    # Far below that of stiff links.
    assert tuning.stable_to[0] < 0.3 * tuning.single_to
    machine = linear_machine(rigid, flexible)
    errors = model_errors(machine, 0.0, coupled=False)
    w = 2.0 * np.pi * tuning.stable_to
    loops = SampledLoops(machine, errors, w, 1.0, 1.0 / rate, 1.0 / rate)
    pose = machine.q[int(loops.growth(1.1).argmax())]
    for factor, stable in ((0.9, True), (1.2, False)):
        found = speeds(
            Plant(flexible, pose), rigid, pose, factor * tuning.stable_to, rate, 1.0 / rate,
            size=1e-6, count=500, step=5 * STEP,  # 0.15 rad of the fastest mode
        )  # fmt: skip
        assert bool(settles(found)) is stable


@pytest.mark.usefixtures('no_rate_nor_delay')
def test_joints_of_different_bandwidth_are_looked_at_together(robots):
    """A fast joint beside a slow one; the others' bounds rise and fall with theirs."""
    robot = robots['ur5']
    names = robot.joint_names
    tuning = tune(robot, {**dict.fromkeys(names, 2.0), names[2]: 4.0}, 125.0)
    ratio = tuning.stable_to / tuning.bandwidth
    assert ratio == pytest.approx(np.full(6, ratio[0]))
    # With its model off the fast joint alone would be stable up to 7.29 Hz.
    assert 0.8 * 7.29 < tuning.stable_to[2] < 7.35
    pose = np.array([0.3, -1.0, 1.2, -0.4, 0.9, 0.1])
    found = speeds(
        Plant(robot, pose), robot, pose, 1.25 * 8.48 / 4.0 * tuning.bandwidth, 125.0, 0.008
    )
    assert not settles(found)


@pytest.mark.usefixtures('no_rate_nor_delay')
def test_what_is_unstable_is_refused_with_joint_and_bound(robots):
    with pytest.raises(ParameterError) as refusal:
        tune(robots['ur5'], 9.0, 125.0)
    text = str(refusal.value)
    assert text.startswith(
        "joint 'shoulder_pan_joint' is unstable at 9 Hz with joint states at 125"
    )
    bound = float(re.search(r'at most (\S+) Hz is stable$', text)[1])
    assert tune(robots['ur5'], bound, 125.0).stable_to[0] >= bound
    with pytest.raises(ParameterError, match='at most'):
        tune(robots['ur5'], 1.02 * bound, 125.0)
    with pytest.raises(ParameterError, match=r"joint '\w+' is unstable at 0.3 Hz .* too weak"):
        tune(robots['ur5'], 0.3, 125.0)
    tune(robots['ur5'], 0.3, 125.0, model_error=0.0)


def test_a_bandwidth_near_its_bound_is_a_warning(robots):
    easy, close = (tune(robots['stacker'], f, 125.0).warnings for f in (2.0, 6.0))
    assert easy == ()
    assert re.search(r'all joints have a bandwidth of 6 Hz, .* joint states at \d+ Hz', close[0])
    rate = float(re.search(r'states at (\d+) Hz', close[0])[1])
    assert tune(robots['stacker'], 6.0, 1.01 * rate).warnings == ()
    bound = tune(robots['stacker'], 2.0, 125.0).stable_to.min()
    below, above = (tune(robots['stacker'], share * bound, 125.0) for share in (0.49, 0.51))
    assert (below.warnings, len(above.warnings)) == ((), 1)


def test_a_rate_that_would_give_enough_margin_is_told_where_there_is_one(robots):
    tuning = tune(robots['stacker'], 6.0, 125.0)
    told, silent = (little_room(tuning, rate)[0] for rate in (300.0, np.inf))
    assert told == f'{silent}: joint states at 300 Hz would give enough margin'
    assert silent.endswith(' Hz')


def test_the_rate_and_the_delay_that_are_told_are_where_it_becomes_unstable(robots):
    robot = robots['stacker']
    tuning = tune(robot, 1.0, 50.0)
    tune(robot, 1.0, 1.02 * tuning.least_rate)
    with pytest.raises(ParameterError, match='is unstable at 1 Hz'):
        tune(robot, 1.0, 0.97 * tuning.least_rate)
    assert (tune(robot, 1.0, 50.0, delay=0.0).stable_to > tuning.stable_to).all()
    tune(robot, 1.0, 50.0, delay=0.98 * tuning.longest_delay)
    with pytest.raises(ParameterError, match='is unstable at 1 Hz'):
        tune(robot, 1.0, 50.0, delay=1.02 * tuning.longest_delay)


def test_the_step_that_takes_all_effort_does(robots):
    robot, tuning = robots['stacker'], tune(robots['stacker'], 2.0, 125.0)
    law = ComputedTorque(robot, tuning.kp, tuning.kd)
    still = np.zeros(robot.n)

    def most(joint, step):
        """The largest share of an effort limit that a step of a joint takes in any pose."""
        off = step * np.eye(robot.n)[joint]
        return max(
            (np.abs(law(q, still, (q + sign * off, still, still))) / tuning.effort_limit).max()
            for q in poses_within_limits(robot, 300)
            for sign in (-1.0, 1.0)
        )

    for joint in range(robot.n):
        assert most(joint, tuning.saturating_step[joint]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ('arguments', 'options', 'message'),
    [
        ((0.0, 50.0), {}, 'bandwidth is 0 Hz, expected more than 0'),
        ((1.0, np.nan), {}, 'rate of the joint states is nan Hz'),
        ((1.0, 50.0), {'delay': -0.1}, 'delay is -0.1 s, expected 0 or more'),
        ((1.0, 50.0), {'model_error': 1.0}, 'model error is 1, expected 0 to below 1'),
        ((1.0, 50.0), {'damping_ratio': 0.0}, 'damping ratio is 0, expected more than 0'),
        (({'slwe': 1.0}, 50.0), {}, "joint 'slwe', expected one of travel, slew, luff"),
        (({'slew': 1.0}, 50.0), {}, "no bandwidth is given for 'travel', 'luff'"),
        ((1.0, 50.0), {'effort_limit': {'x': 1.0}}, "effort limit is given for joint 'x'"),
        ((1.0, 50.0), {'effort_limit': {'luff': 0.0}}, "joint 'luff' has effort limit 0"),
        ((0.05, 1.0), {}, 'expected states at most'),
    ],
)
def test_arguments_that_cannot_be_used_are_named(robots, arguments, options, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        tune(robots['stacker'], *arguments, **options)


@pytest.mark.interpreted
def test_drives_of_less_than_a_newton_meter_are_tuned_like_any():
    """The step that takes all effort is tau / (kp I) for a turntable."""
    turntable = kd.loads(
        '<robot name="turntable"><link name="base"/><link name="plate"><inertial>'
        '<mass value="0.1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="turn" type="continuous"><parent link="base"/>'
        '<child link="plate"/><axis xyz="0 0 1"/><limit effort="0.5" velocity="1"/>'
        '</joint></robot>'
    )
    tuning = tune(turntable, 1.0, 50.0, model_error=0.0)
    assert tuning.effort_limit == pytest.approx([0.5])
    assert tuning.saturating_step == pytest.approx([0.5 / ((2.0 * np.pi) ** 2 * 0.1)])
