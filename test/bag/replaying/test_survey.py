# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the filters are chosen from: never from fragments, which tell nothing of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag import read_bag
from kron_dynamics.bag.replaying import survey as surveying
from kron_dynamics.bag.replaying.replay import replay_run
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.series.runs import find_runs

pytestmark = pytest.mark.interpreted

NOTHING = Samples(np.empty(0), np.empty(0))


@pytest.fixture
def replay(make_bag, arm):
    """Return a function that records some samples of a motion, and replays them."""

    def of(motion, kept):
        with make_bag() as bag:
            for k in np.flatnonzero(kept):
                states = (motion.q[k], motion.qd[k], motion.effort[k])
                bag.joint_state('/js', motion.time[k], arm.joint_names, *states)
        (run,) = find_runs(read_bag(bag.path), arm.model)
        return replay_run(arm, run)

    return of


@pytest.mark.parametrize('left', [2, 3])
def test_a_fragment_between_two_gaps_does_not_choose_the_signals(replay, arm_motion, left):
    motion = arm_motion(8.0)
    kept = np.ones(len(motion.time), dtype=bool)
    kept[300:320] = kept[320 + left : 340 + left] = False
    found = replay(motion, kept)
    assert [len(part.position[0].time) for part in found.run.log.segments] == [
        300,
        left,
        461 - left,
    ]
    assert [item.signals for item in found.filters] == 3 * ['both']
    assert len(found.skipped) == 1 and len(found.plans) == 2


@pytest.mark.parametrize('known', [0, 150])
def test_what_is_not_surveyed_and_lacks_velocities_is_not_compared(
    replay, arm_motion, monkeypatch, known
):
    motion = arm_motion(24.0)
    kept = np.ones(len(motion.time), dtype=bool)
    kept[1000:1020] = kept[1350:1370] = False
    # Between the second and the third stretch.
    motion.qd[1020 + known : 1350, 1] = np.nan
    monkeypatch.setattr(surveying, 'STRETCH_LENGTH', 300)
    found = replay(motion, kept)
    assert [item.signals for item in found.filters] == 3 * ['both']
    assert len(found.skipped) == (0 if known else 1)
    lacking = motion.time[1020 + known] - motion.time[0], motion.time[1349] - motion.time[0]
    for part in found.segments:
        time = part.time[part.valid]
        assert len(time) > 0.8 * min(len(part.time), known or np.inf)
        # At most the few samples that a window bridges.
        assert not np.any((time > lacking[0] + 0.02) & (time < lacking[1]))
        rest = part.residual[part.valid] / np.sqrt(np.mean(motion.effort**2, axis=0))
        assert np.sqrt(np.mean(rest**2)) < 1e-2


def segment(counts):
    """Joints with so many samples within 100 s."""
    times = [np.linspace(0.0, 100.0, count) for count in counts]
    places = tuple(Samples(time, np.sin(time)) for time in times)
    return JointSegment(0, 0.0, 100.0, places, len(counts) * (NOTHING,), len(counts) * (NOTHING,))


def test_each_joint_of_what_is_surveyed_has_samples(monkeypatch):
    whole = segment((1000, 200))
    assert surveying.survey([segment((15, 200)), whole, segment((200, 15))]) == [whole]
    monkeypatch.setattr(surveying, 'STRETCH_LENGTH', 100)
    assert len(surveying.survey([whole])) == 4
    # A stretch of 10 s has two samples of a joint that is recorded every 5 s.
    rare = segment((1000, 21))
    assert surveying.survey([rare]) == [rare]
