# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A replay is the same in blocks of any size, and each row is in one of them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from kron_dynamics.bag import read_bag
from kron_dynamics.bag.replaying import replay as replaying
from kron_dynamics.bag.replaying import survey as surveying
from kron_dynamics.bag.replaying.replay import replay_run
from kron_dynamics.bag.results import joint_results, tip_results
from kron_dynamics.bag.series.runs import find_runs
from kron_dynamics.bag.smoothness import smoothness

pytestmark = pytest.mark.interpreted


def recorded_run(make_bag, arm, arm_motion, jitter=0.0):
    """Two stretches with noise, efforts that are late, and the tip's acceleration."""
    rng = np.random.default_rng(4)
    with make_bag() as bag:
        for start in (5.0, 20.0):
            motion = arm_motion(6.0, 100.0, start)
            stamps = motion.time + rng.uniform(-jitter, jitter, len(motion.time))
            q = motion.q + rng.normal(0.0, 1e-5, motion.q.shape)
            tip = arm.frame('tool').acceleration(motion.q, motion.qd, motion.qdd)
            for k, time in enumerate(stamps):
                # The effort of the sample before.
                effort = motion.effort[max(0, k - 1)]
                bag.joint_state('/js', time, arm.joint_names, q[k], motion.qd[k], effort)
                bag.acceleration('/tip_acceleration', time, tip[k])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    return run


def summary(replay):
    parts = (joint_results(replay, 0.5), tip_results(replay, 0.5), smoothness(replay).joints)
    numbers = []

    def collect(value):
        if isinstance(value, dict):
            for item in value.values():
                collect(item)
        elif isinstance(value, (float, int)):
            numbers.append(float(value))

    for part in parts:
        for item in part:
            collect(asdict(item))
    return np.array(numbers)


def test_the_summary_does_not_depend_on_the_size_of_blocks(make_bag, arm, arm_motion):
    run = recorded_run(make_bag, arm, arm_motion, jitter=1e-3)
    whole = replay_run(arm, run, frame='tool', window=0.3, block_rows=10**6)
    assert whole.effort_delay > 0.0
    for rows in (37, 301):
        other = replay_run(arm, run, frame='tool', window=0.3, block_rows=rows)
        np.testing.assert_allclose(summary(other), summary(whole), rtol=1e-9, atol=1e-12)
        assert other.stretches == whole.stretches
        assert other.effort_delay == pytest.approx(whole.effort_delay, rel=1e-9)


def test_sums_are_those_of_the_series(make_bag, arm, arm_motion):
    run = recorded_run(make_bag, arm, arm_motion)
    replay = replay_run(arm, run, frame='tool', block_rows=50)
    rest = np.concatenate([part.residual[part.valid] for part in replay.segments])
    found = [result.residual_rms for result in joint_results(replay, 0.5)]
    np.testing.assert_allclose(found, np.sqrt(np.mean(rest**2, axis=0)), rtol=1e-8)
    peaks = [result.residual_peak for result in joint_results(replay, 0.5)]
    np.testing.assert_allclose(peaks, np.abs(rest).max(axis=0), rtol=1e-7)
    linear, _ = tip_results(replay, 0.5)
    missed = np.concatenate(
        [(part.tip_recorded - part.tip_recomputed)[part.valid, :3] for part in replay.segments]
    )
    assert linear.difference_rms == pytest.approx(np.sqrt(np.mean(np.sum(missed**2, axis=1))))
    apart = max(replay.sums.rates.apart)
    change = np.concatenate(
        [
            (part.acceleration[apart:] - part.acceleration[:-apart])[
                part.valid[apart:] & part.valid[:-apart]
            ]
            for part in replay.segments
        ]
    ) / (apart * replay.plans[0].step)
    jerk = [joint.jerk.rms for joint in smoothness(replay).joints]
    np.testing.assert_allclose(jerk, np.sqrt(np.mean(change**2, axis=0)), rtol=1e-9)
    at_once = replay_run(arm, run, frame='tool', block_rows=1_000_000).sums.thinned.segments()
    for few, all_rows in zip(replay.sums.thinned.segments(), at_once, strict=True):
        for name in ('time', 'valid', 'position', 'velocity', 'effort'):
            found, expected = getattr(few, name), getattr(all_rows, name)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_each_row_is_in_one_block(make_bag, arm, arm_motion, monkeypatch):
    replay = replay_run(arm, recorded_run(make_bag, arm, arm_motion), frame='tool')
    whole = replay.segments
    monkeypatch.setattr(replaying, 'BLOCK_ROWS', 97)
    blocks = list(replay.blocks())
    assert max(len(block.time) for block in blocks) == 97
    assert [block.segment for block in blocks] == sorted(block.segment for block in blocks)
    for name in ('time', 'acceleration', 'recomputed', 'recorded', 'valid', 'tip_recorded'):
        joined = np.concatenate([getattr(block, name) for block in blocks])
        right = np.concatenate([getattr(part, name) for part in whole])
        np.testing.assert_allclose(joined, right, rtol=1e-9, atol=1e-12)
    assert [len(part.time) for part in whole] == [part.rows for part in replay.stretches]


def test_a_long_run_is_judged_by_stretches_of_all_of_it(make_bag, arm, arm_motion, monkeypatch):
    run = recorded_run(make_bag, arm, arm_motion)
    assert surveying.survey(run.log.segments) == list(run.log.segments)
    monkeypatch.setattr(surveying, 'STRETCHES', 4)
    monkeypatch.setattr(surveying, 'STRETCH_LENGTH', 200)
    found = surveying.survey(run.log.segments)
    assert [len(part.position[0].time) for part in found] == 4 * [200]
    assert found[0].start == run.log.segments[0].start
    assert found[-1].end == run.log.segments[-1].end
    assert all(len(part.effort[2].time) == 200 for part in found)
    whole, by_stretches = (replay_run(arm, run, frame='tool') for _ in range(2))
    assert whole.window == by_stretches.window
