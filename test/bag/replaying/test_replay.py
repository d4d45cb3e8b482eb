# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Replays of motions whose efforts are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.replaying.replay import replay_run
from kron_dynamics.bag.results import tip_results
from kron_dynamics.exceptions import BagError, ParameterError, UnknownFrameError

pytestmark = pytest.mark.interpreted

TOPIC = '/joint_states'


@pytest.fixture
def analyze(make_bag, arm_urdf):
    """Return a function that records with a callback and analyses the bag."""

    def record_and_analyze(record, storage='mcap', name='bag', **options):
        with make_bag(name, storage) as bag:
            bag.text('/robot_description', arm_urdf)
            record(bag)
        return analyze_bag(bag.path, **options)

    return record_and_analyze


def worst_ratio(run):
    return max(joint.ratio for joint in run.joints)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
@pytest.mark.parametrize('fields', ['pve', 'pe'])
def test_exact_motion_leaves_no_residual(analyze, arm_motion, storage, fields):
    motion = arm_motion()
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion, fields), storage).runs
    assert worst_ratio(run) < 1e-3
    assert [joint.source for joint in run.joints] == ['measured'] * 3
    assert [joint.unit for joint in run.joints] == ['N m', 'N m', 'N']
    for k, joint in enumerate(run.joints):
        assert joint.effort_rms == pytest.approx(
            np.sqrt(np.mean(motion.effort[:, k] ** 2)), rel=0.05
        )
        assert not joint.noise_dominates


def test_wide_window_leaves_no_residual_either(analyze, arm, arm_motion):
    m = arm_motion()
    acceleration = arm.frame('tool').acceleration(m.q, m.qd, m.qdd)

    def record(bag):
        bag.motion(TOPIC, m)
        for time, values in zip(m.time, acceleration, strict=True):
            bag.acceleration('/tip_acceleration', time, values)

    (run,) = analyze(record, window=0.25).runs
    assert run.replay.window == pytest.approx(0.25)
    turn, lift, reach = run.joints
    assert turn.ratio < 5e-3
    assert lift.ratio < 1e-3
    assert reach.ratio < 1e-3
    for tip in run.tip:
        assert tip.difference_rms < 1e-2 * tip.recorded_rms


def test_efforts_of_one_stretch_of_two_are_measured_ones(analyze, arm_motion):
    first, second = arm_motion(duration=5.0), arm_motion(duration=5.0, start=20.0)

    def record(bag):
        bag.motion(TOPIC, first, 'pv')
        bag.motion(TOPIC, second)

    (run,) = analyze(record).runs
    assert [len(part.effort[0].time) for part in run.replay.run.log.segments] == [0, 501]
    assert [joint.source for joint in run.joints] == ['measured'] * 3
    assert worst_ratio(run) < 1e-3


def test_terms_are_those_of_the_model(analyze, arm, arm_motion):
    m = arm_motion()
    (run,) = analyze(lambda bag: bag.motion(TOPIC, m)).runs
    gravity = arm.gravity_vector(m.q)
    expected = {
        'inertia': arm.inverse_dynamics(m.q, 0 * m.q, m.qdd) - gravity,
        'coriolis': arm.coriolis_vector(m.q, m.qd),
        'gravity': gravity,
        'friction': arm.joint_friction(m.qd),
    }
    for term, values in expected.items():
        for k, joint in enumerate(run.joints):
            found = np.sqrt(np.mean(values[:, k] ** 2))
            assert joint.term_rms[term] == pytest.approx(found, rel=0.02, abs=1e-9), term


def test_wrong_mass_shows_as_residual_and_mean(analyze, arm_urdf, arm_motion, tmp_path):
    heavier = tmp_path / 'heavier.urdf'
    heavier.write_text(arm_urdf.replace('<mass value="2"/>', '<mass value="3"/>'))
    motion = arm_motion()
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion), urdf=heavier).runs
    lift = run.joints[1]
    assert lift.ratio > 0.1
    assert lift.residual_mean < -2.0


def test_gravity_is_the_callers(analyze, arm_motion):
    motion = arm_motion()
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion), gravity=(0, 0, 0)).runs
    assert run.joints[1].term_rms['gravity'] == 0.0
    assert run.joints[1].ratio > 0.5


def test_shuffled_names_and_split_messages_change_nothing(analyze, arm, arm_motion):
    m = arm_motion()
    rng = np.random.default_rng(0)

    def record(bag):
        for k, time in enumerate(m.time):
            order = rng.permutation(3)
            first, second = order[:1], order[1:]
            for part in (first, second):
                names = [arm.joint_names[j] for j in part]
                bag.joint_state(TOPIC, time, names, m.q[k, part], m.qd[k, part], m.effort[k, part])

    (run,) = analyze(record).runs
    assert worst_ratio(run) < 1e-3


def test_publishers_at_other_rates_and_times_are_merged(analyze, arm, make_motion):
    fast, slow = 5 + np.arange(2001) / 200, 5.0013 + np.arange(991) / 100
    shape = ((0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
    m_fast, m_slow = (make_motion(arm, time, *shape) for time in (fast, slow))

    messages = [(time, ['turn'], [0], m_fast, k) for k, time in enumerate(fast)]
    messages += [(time, ['reach', 'lift'], [2, 1], m_slow, k) for k, time in enumerate(slow)]

    def record(bag):
        for time, names, columns, motion, k in sorted(messages, key=lambda item: item[0]):
            arrays = (table[k, columns] for table in (motion.q, motion.qd, motion.effort))
            bag.joint_state(TOPIC, time, names, *arrays)

    (run,) = analyze(record).runs
    assert worst_ratio(run) < 2e-3


def test_jitter_and_lost_messages_cost_little(analyze, arm, make_motion):
    rng = np.random.default_rng(1)
    time = 5 + np.arange(1001) / 100 + rng.uniform(-1e-3, 1e-3, 1001)
    time = time[rng.uniform(size=1001) > 0.05]
    motion = make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion)).runs
    assert len(run.replay.segments) == 1
    assert worst_ratio(run) < 5e-3


def test_samples_beside_missing_ones_are_not_compared(analyze, arm_motion):
    m = arm_motion()
    kept = np.delete(np.arange(len(m.time)), [500, 501, 502, 503])
    m.time, m.q, m.effort = m.time[kept], m.q[kept], m.effort[kept]
    (run,) = analyze(lambda bag: bag.motion(TOPIC, m, 'pe'), window=0.07).runs
    (part,) = run.replay.segments
    hole = (part.time > 4.995) & (part.time < 5.035)
    assert hole.sum() == 4
    assert not part.valid[hole].any()
    assert part.valid[(part.time > 0.5) & (part.time < 4.9)].all()


def test_effort_that_pauses_is_not_bridged(analyze, arm, arm_motion):
    m = arm_motion()

    def record(bag):
        for k, time in enumerate(m.time):
            effort = () if 400 <= k < 500 else m.effort[k]
            bag.joint_state(TOPIC, time, arm.joint_names, m.q[k], m.qd[k], effort)

    (run,) = analyze(record).runs
    (part,) = run.replay.segments
    pause = (part.time > 4.0) & (part.time < 4.99)
    assert part.valid[pause].all() and np.isnan(part.recorded[pause]).all()
    assert 880 <= run.joints[0].sample_count <= 890
    assert worst_ratio(run) < 1e-3


def test_nan_is_dropped_and_counted(analyze, arm, arm_motion):
    m = arm_motion()
    m.q[200, 0] = m.qd[300, 1] = m.effort[400, 2] = np.nan
    (run,) = analyze(lambda bag: bag.motion(TOPIC, m)).runs
    assert run.replay.run.log.dropped.non_finite == {
        'turn position': 1,
        'lift velocity': 1,
        'reach effort': 1,
    }
    assert worst_ratio(run) < 2e-3


def test_clock_restart_is_two_segments_without_a_seam(analyze, arm_motion):
    late, early = arm_motion(start=50.0), arm_motion(start=3.0, duration=6.0)

    def record(bag):
        bag.motion(TOPIC, late)
        bag.motion(TOPIC, early)

    (run,) = analyze(record).runs
    assert [part.epoch for part in run.replay.segments] == [0, 1]
    assert worst_ratio(run) < 1e-3


def test_gap_is_two_segments_without_a_seam(analyze, arm_motion):
    def record(bag):
        bag.motion(TOPIC, arm_motion(duration=4.0, start=5.0))
        bag.motion(TOPIC, arm_motion(duration=4.0, start=10.0))

    (run,) = analyze(record).runs
    assert len(run.replay.segments) == 2
    assert worst_ratio(run) < 1e-3


def test_stretch_too_short_for_the_window_is_skipped_and_told(analyze, arm_motion):
    def record(bag):
        bag.motion(TOPIC, arm_motion(duration=4.0, start=5.0))
        bag.motion(TOPIC, arm_motion(duration=0.1, start=10.0))

    (run,) = analyze(record, window=0.1).runs
    ((start, end),) = run.replay.skipped
    assert end - start == pytest.approx(0.1)
    assert len(run.replay.segments) == 1


def test_run_too_short_for_the_window_is_refused(analyze, arm_motion):
    with pytest.raises(BagError, match=r"'/joint_states' has no stretch of .* s without gaps"):
        analyze(lambda bag: bag.motion(TOPIC, arm_motion(duration=0.5)), window=0.3)


def test_a_stretch_needs_two_windows_and_ten_rows(analyze, arm_motion):
    """Half a window at each end is smoothed from less, and so is what that is smoothed with."""
    enough = 2.0 * 0.25 + 10 * 0.01
    with pytest.raises(BagError, match=r'of 0\.6 s without gaps, which a window of 0\.25 s needs'):
        analyze(
            lambda bag: bag.motion(TOPIC, arm_motion(duration=enough - 0.02)),
            name='short',
            window=0.25,
        )
    (run,) = analyze(
        lambda bag: bag.motion(TOPIC, arm_motion(duration=enough + 0.02)), window=0.25
    ).runs
    assert run.replay.skipped == ()


def test_window_below_five_samples_is_refused(analyze, arm_motion):
    with pytest.raises(ParameterError, match='window of 0.02 s is too short: .* 0.05 s'):
        analyze(lambda bag: bag.motion(TOPIC, arm_motion()), window=0.02)


@pytest.mark.parametrize('window', [2.0, 1e5, 1e300])
def test_window_above_half_the_recording_is_refused_before_any_work(analyze, arm_motion, window):
    with pytest.raises(BagError, match=r'which a window of \S+ s needs; the longest is 3 s'):
        analyze(lambda bag: bag.motion(TOPIC, arm_motion(duration=3.0)), window=window)


@pytest.mark.parametrize('delay', [3.0, -3.0, 1e300])
def test_effort_delay_as_long_as_the_recording_is_refused(analyze, arm_motion, delay):
    told = rf"effort delay of \S+ s is too long: expected less than 3 s, .* '{TOPIC}'"
    with pytest.raises(ParameterError, match=told):
        analyze(lambda bag: bag.motion(TOPIC, arm_motion(duration=3.0)), effort_delay=delay)


def test_unknown_frame_is_named(analyze, arm_motion):
    with pytest.raises(UnknownFrameError, match='hand'):
        analyze(lambda bag: bag.motion(TOPIC, arm_motion()), frame='hand')


def test_commanded_effort_stands_in_for_a_measured_one(analyze, arm, arm_motion):
    m = arm_motion()

    def record(bag):
        for k, time in enumerate(m.time):
            # lift has no measured effort at all; turn and reach have one.
            bag.joint_state(TOPIC, time, ['lift'], m.q[k, 1:2], m.qd[k, 1:2])
            sides = [0, 2]
            bag.joint_state(
                TOPIC, time, ['turn', 'reach'], m.q[k, sides], m.qd[k, sides], m.effort[k, sides]
            )
            bag.joint_state('/node/command_state', time, arm.joint_names, effort=1.1 * m.effort[k])

    (run,) = analyze(record).runs
    assert [joint.source for joint in run.joints] == ['measured', 'commanded', 'measured']
    assert run.joints[1].ratio == pytest.approx(0.1 / 1.1, rel=0.01)
    assert max(run.joints[0].ratio, run.joints[2].ratio) < 1e-3


def test_effort_that_is_not_recorded_is_not_zero(analyze, arm_motion):
    m = arm_motion()
    (run,) = analyze(lambda bag: bag.motion(TOPIC, m, 'pv')).runs
    for k, joint in enumerate(run.joints):
        assert joint.source == 'none'
        assert np.isnan(joint.ratio) and np.isnan(joint.effort_rms)
        assert joint.recomputed_rms == pytest.approx(
            np.sqrt(np.mean(m.effort[:, k] ** 2)), rel=0.05
        )


def test_continuous_joint_may_wrap_around(analyze, arm, arm_motion):
    m = arm_motion()
    m.q[:, 0] += 2.9
    m.effort = arm.inverse_dynamics(m.q, m.qd, m.qdd) + arm.joint_friction(m.qd)
    m.q[:, 0] = np.remainder(m.q[:, 0] + np.pi, 2 * np.pi) - np.pi
    assert np.abs(np.diff(m.q[:, 0])).max() > 6.0
    (run,) = analyze(lambda bag: bag.motion(TOPIC, m, 'pe')).runs
    assert worst_ratio(run) < 1e-3


def test_tip_acceleration_is_recomputed(analyze, arm, arm_motion):
    m = arm_motion()
    acceleration = arm.frame('arm').acceleration(m.q, m.qd, m.qdd)

    def record(bag):
        bag.motion(TOPIC, m)
        for time, values in zip(m.time, acceleration, strict=True):
            bag.acceleration('/tip_acceleration', time, values)

    (run,) = analyze(record, frame='arm').runs
    for tip, rows in zip(run.tip, (slice(0, 3), slice(3, 6)), strict=True):
        recorded = np.sqrt(np.mean(np.sum(acceleration[:, rows] ** 2, axis=1)))
        assert tip.recorded_rms == pytest.approx(recorded, rel=0.02)
        assert tip.difference_rms < 1e-3 * recorded
    # Compared with another link it is not the same: the test can tell.
    other = tip_results(replay_run(arm, run.replay.run, frame='tool'), 0.5)
    assert other[0].difference_rms > 0.1 * other[0].recorded_rms


def test_edges_are_left_out_and_counted(analyze, arm_motion):
    motion = arm_motion(duration=5.0)
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion), window=0.09).runs
    (part,) = run.replay.segments
    excluded = ~part.valid
    # Four samples and a half on each side for the window, as many again for the average.
    assert excluded[:9].all() and excluded[-9:].all() and not excluded[10:-10].any()
    assert run.joints[0].sample_count == int(part.valid.sum())


@pytest.mark.parametrize(
    ('fields', 'sigma_q', 'sigma_qd'), [('pe', 1e-4, 0.0), ('pve', 1e-5, 1e-2)]
)
def test_stated_noise_is_the_residual_that_noise_causes(
    analyze, arm_motion, fields, sigma_q, sigma_qd
):
    motion = arm_motion(duration=30.0)
    rng = np.random.default_rng(6)
    motion.q = motion.q + sigma_q * rng.standard_normal(motion.q.shape)
    motion.qd = motion.qd + sigma_qd * rng.standard_normal(motion.qd.shape)
    (run,) = analyze(lambda bag: bag.motion(TOPIC, motion, fields), window=0.09).runs
    for joint in run.joints:
        assert joint.noise == pytest.approx(joint.residual_rms, rel=0.15), joint.name


def test_window_grows_with_the_noise(analyze, arm_motion):
    windows = []
    for number, sigma in enumerate((0.0, 1e-5, 1e-4)):
        motion = arm_motion()
        rng = np.random.default_rng(7)
        motion.q = motion.q + sigma * rng.standard_normal(motion.q.shape)
        (run,) = analyze(
            lambda bag, motion=motion: bag.motion(TOPIC, motion, 'pe'), name=f'bag{number}'
        ).runs
        windows.append(run.replay.window)
        assert worst_ratio(run) < 0.02
    assert windows[0] < windows[1] < windows[2]
