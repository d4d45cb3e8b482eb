# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External efforts by momenta, and what a machine did when."""

from __future__ import annotations

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.bag.phases import _variation

pytestmark = pytest.mark.interpreted

PUSH = np.array([4.0, -6.0, 3.0])
# A wheel about a vertical axis, which needs no effort to stand.
WHEEL = """<robot name="wheel"><link name="base"/><link name="wheel"><inertial><mass value="3"/>
<inertia ixx="1" iyy="1" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="wheel"/>
<axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def analyze(make_bag, arm_urdf):
    def record(motion):
        with make_bag() as bag:
            bag.text('/robot_description', arm_urdf)
            bag.motion('/joint_states', motion)
        return analyze_bag(bag.path, effort_delay=0.0)

    return record


def test_external_effort_is_what_pushes(analyze, arm_motion):
    motion = arm_motion(duration=20.0)
    random = np.random.default_rng(1)
    motion.qd = motion.qd + 1e-3 * random.standard_normal(motion.qd.shape)
    motion.q = motion.q + 1e-4 * random.standard_normal(motion.q.shape)
    slow = np.sin(0.8 * motion.time)[:, None]
    # What others exert, the drives need not.
    motion.effort = motion.effort - PUSH * slow + 0.2 * random.standard_normal(motion.q.shape)
    (run,) = analyze(motion).runs
    for k, item in enumerate(run.external):
        assert item.rms == pytest.approx(abs(PUSH[k]) / np.sqrt(2), rel=0.1), item.name
        assert item.peak == pytest.approx(abs(PUSH[k]), rel=0.1)


def test_noise_of_external_efforts_is_stated(analyze, arm_motion):
    motion = arm_motion(duration=60.0)
    random = np.random.default_rng(2)
    motion.qd = motion.qd + 5e-3 * random.standard_normal(motion.qd.shape)
    motion.q = motion.q + 1e-3 * random.standard_normal(motion.q.shape)
    motion.effort = motion.effort + 0.5 * random.standard_normal(motion.q.shape)
    (run,) = analyze(motion).runs
    # The turn's friction jumps besides, where it turns round.
    for item in run.external[1:]:
        assert 0.6 < item.rms / item.noise < 1.5, item.name


def test_phases_are_named_with_their_times(analyze, arm, make_motion):
    motion = make_motion(
        arm, np.arange(4001) / 100, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6)
    )
    t = motion.time
    moves = (t < 10.0) | (t >= 30.0)
    # From 10 s on it stands and holds, from 20 s on brakes hold it; from 30 s on it digs.
    place = motion.q[1000]
    motion.q = np.where(moves[:, None], motion.q, place)
    motion.qd = np.where(moves[:, None], motion.qd, 0.0)
    holding = arm.gravity_vector(place)
    motion.effort = np.where(moves[:, None], motion.effort, np.where(t[:, None] < 20, holding, 0))
    digs = 30.0 * np.sign(np.sin(2 * np.pi * 0.7 * t)) * (t > 31.0)
    motion.effort[:, 1] += digs
    analysis = analyze(motion)
    (run,) = analysis.runs
    found = [(phase.kind, phase.start, phase.end) for phase in run.phases]
    kinds = [kind for kind, _, _ in found]
    assert kinds[0] == 'moving' and kinds[-1] == 'digging'
    assert 'holding' in kinds and 'at rest' in kinds
    spans = {kind: (start, end) for kind, start, end in found}
    assert spans['holding'][0] == pytest.approx(10.0, abs=2.5)
    assert spans['at rest'][1] == pytest.approx(30.0, abs=2.5)
    assert 'lift' in run.phases[-1].joints
    report = format_report(analysis)
    assert 'digging' in report and 'at rest' in report
    # One follows another, none overlaps.
    for (_, _, end), (_, start, _) in zip(found[:-1], found[1:], strict=True):
        assert start == pytest.approx(end, abs=0.2)


def test_stops_of_more_than_a_second_are_phases_and_what_holds_is_told(make_bag, make_motion):
    """Stops of 0.6 s, and of 2 s with a twenty-fifth and a fifteenth of the largest effort."""
    motion = make_motion(kd.loads(WHEEL), np.arange(3001) / 100, (0.0,), (0.8,), (3.0,))
    t = motion.time
    spans = ((5.0, 5.6), (10.0, 12.0), (20.0, 22.0))
    outside = np.array([np.maximum(start - t, t - end) for start, end in spans])  # s, to a stop
    # It slows down for 0.3 s before a stop, and as long gathers speed after it.
    speed = np.clip(outside.min(axis=0) / 0.3, 0.0, 1.0)
    place = 3.0 * np.cumsum(speed) / 100.0
    motion.q[:, 0] = 0.8 * np.sin(place)
    motion.qd[:, 0] = 2.4 * speed * np.cos(place)
    motion.effort[:, 0] = 2.0 * np.gradient(motion.qd[:, 0], t)
    for stop, share in zip(outside <= 0.0, (0.0, 0.04, 0.065), strict=True):
        motion.effort[stop] = share * np.abs(motion.effort).max()
    with make_bag() as bag:
        bag.text('/robot_description', WHEEL)
        bag.motion('/joint_states', motion)
    (run,) = analyze_bag(bag.path, effort_delay=0.0).runs
    kinds = ['moving', 'at rest', 'moving', 'holding', 'moving']
    assert [phase.kind for phase in run.phases] == kinds
    for place, start, end in ((1, 10.0, 12.0), (3, 20.0, 22.0)):
        assert run.phases[place].start == pytest.approx(start, abs=0.9)
        assert run.phases[place].end == pytest.approx(end, abs=0.9)


def test_noise_of_recorded_rates_is_the_rate_of_noise(analyze, arm_motion):
    motion = arm_motion(duration=60.0)
    random = np.random.default_rng(3)
    motion.effort = np.array([0.3, 1.0, 2.0]) * random.standard_normal(motion.q.shape)
    for joint in analyze(motion).runs[0].smoothness.joints:
        assert joint.effort_rate.noise == pytest.approx(joint.effort_rate.rms, rel=0.15)
        assert joint.effort_rate.noise_dominates


def test_noise_of_velocities_is_no_digging(analyze, arm_motion):
    motion = arm_motion(duration=30.0)
    random = np.random.default_rng(4)
    # A motion so slow that hardly any effort is needed, with noise that is large beside it.
    middle = motion.q.mean(axis=0)
    motion.q = middle + 1e-3 * (motion.q - middle) + 1e-3 * random.standard_normal(motion.q.shape)
    motion.qd = 1e-3 * motion.qd + 5e-2 * random.standard_normal(motion.q.shape)
    still = np.zeros_like(motion.q)
    motion.effort = motion.robot.inverse_dynamics(motion.q * 0 + middle, still, still)
    (run,) = analyze(motion).runs
    assert max(item.noise for item in run.external) > 0.0
    assert 'digging' not in {phase.kind for phase in run.phases}


@pytest.mark.parametrize(('share', 'kind'), [(0.0, 'moving'), (0.01, 'moving'), (-0.5, 'digging')])
@pytest.mark.parametrize('since', [-1.0, 10.0])
def test_what_a_brake_holds_is_no_digging(analyze, arm, make_motion, since, share, kind):
    """The weight that it bears varies as another joint moves; without it, the drive bears all."""
    time = np.arange(2001) / 100
    motion = make_motion(arm, time, (0.3, 0.2, 1.0), (0.8, 0.5, 1.5), (0.7, 0.5, 2.0))
    held = time > since
    motion.q[held, 1], motion.qd[held, 1], motion.qdd[held, 1] = motion.q[1000, 1], 0.0, 0.0
    motion.effort = arm.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    motion.effort += arm.joint_friction(motion.qd)
    assert np.std(motion.effort[held, 1]) > 0.2 * np.abs(motion.effort[:, 1]).max()
    motion.effort[held, 1] *= share
    (run,) = analyze(motion).runs
    assert run.phases[0].kind == ('moving' if since > 0.0 else kind)
    assert run.phases[-1].kind == kind
    assert len(run.phases) <= 2 and (kind == 'digging' or len(run.phases) == 1)


@pytest.mark.parametrize('lost', [(), slice(900, 1000)])
def test_a_constant_external_effort_is_no_digging(analyze, arm_motion, lost):
    motion = arm_motion(duration=20.0)
    # A spring on the lift, or a load that the model lacks; efforts may fail for a second.
    motion.effort[:, 1] += 60.0
    motion.effort[lost, 1] = np.nan
    (run,) = analyze(motion).runs
    unknown = np.isnan(run.external_series[0].effort[:, 1]).sum()
    assert unknown > 16 + 2 * bool(lost)
    assert {phase.kind for phase in run.phases} == {'moving'}


def test_variation_is_that_of_the_known_rows():
    random = np.random.default_rng(5)
    effort = 1e6 + random.standard_normal((200, 3))
    effort[:8] = effort[-8:] = effort[60:91, 0] = np.nan
    effort[60:101, 1] = effort[130:, 2] = np.nan
    found = _variation(effort)

    def around(row, joint):
        near = effort[max(0, row - 20) : row + 21, joint]
        return near[np.isfinite(near)]

    for joint in range(3):
        known = np.flatnonzero(np.isfinite(effort[:, joint]))
        for row in range(200):
            expected = [np.nan]  # fewer than a quarter of 41 rows
            if len(around(row, joint)) > 10:
                apart = np.abs(known - row)
                expected = [around(k, joint).std() for k in known[apart == apart.min()]]
            assert any(
                found[row, joint] == pytest.approx(each, rel=1e-6, nan_ok=True)
                for each in expected
            )
    assert np.isnan(_variation(np.full((50, 1), np.nan))).all()


@pytest.mark.parametrize(('scale', 'kind'), [(0.5, 'digging'), (1.0, 'moving')])
def test_digging_all_the_time_is_doubted(analyze, arm_motion, scale, kind):
    motion = arm_motion(duration=20.0)
    motion.effort = motion.effort * [scale, 1.0, 1.0]
    analysis = analyze(motion)
    assert {phase.kind for phase in analysis.runs[0].phases} == {kind}
    doubted = 'digging most of the time that it moves' in format_report(analysis)
    assert doubted == (kind == 'digging')


def test_standstill_without_noise_is_no_digging(analyze, arm_motion):
    """As a simulator records it: efforts of exactly zero vary by rounding alone."""
    motion = arm_motion(duration=5.0)
    motion.q, motion.qd = np.tile(motion.q[0], (len(motion.q), 1)), 0.0 * motion.qd
    motion.effort = motion.robot.gravity_vector(motion.q)
    assert not motion.effort[:, 0].any() and motion.effort[:, 1].all()
    (run,) = analyze(motion).runs
    assert {phase.kind for phase in run.phases} == {'holding'}


def test_efforts_that_are_not_measured_dig_nothing(analyze, arm_motion):
    motion = arm_motion(duration=5.0)
    motion.effort = 0.0 * motion.effort
    (run,) = analyze(motion).runs
    assert {phase.kind for phase in run.phases} == {'moving'}
