# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External efforts and phases in the series, against what really pushed and when it moved."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.external_effort import ExternalEfforts
from kron_dynamics.bag.outputs.files import write_files
from kron_dynamics.bag.outputs.slow_series import NO_PHASE, SlowSeries
from kron_dynamics.bag.phases import KINDS, Phase
from kron_dynamics.bag.replaying.thinned_rows import ThinnedSegment


@pytest.fixture(scope='module')
def rows(bag_maker, arm, arm_urdf, make_motion, tmp_path_factory):
    """Rows of a CSV: an arm moves, is pushed from 8 s to 12 s, and holds its load from 20 s on."""
    folder = tmp_path_factory.mktemp('pushed')
    motion = make_motion(
        arm, np.arange(3001) / 100, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (0.7, 0.6, 0.9)
    )
    t = motion.time
    pushed = 6.0 * ((t > 8.0) & (t < 12.0))
    stops = (t > 20.0)[:, None]
    place = motion.q[2000]
    motion.q = np.where(stops, place, motion.q)
    motion.qd = np.where(stops, 0.0, motion.qd)
    motion.effort = np.where(stops, arm.gravity_vector(place), motion.effort)
    motion.effort[:, 1] -= pushed
    with bag_maker(folder / 'bag', 'mcap') as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', motion)
    write_files(analyze_bag(bag.path, effort_delay=0.0), folder / 'files', ['csv'])
    with (folder / 'files' / 'joint_states.csv').open(newline='') as file:
        return list(csv.DictReader(file))


def test_what_pushes_is_in_every_row(rows):
    time = np.array([float(row['time']) for row in rows])
    external = np.array([float(row['lift.external'] or 'nan') for row in rows])
    pushed, free = (time > 8.7) & (time < 11.3), (time > 2.0) & (time < 7.3)
    assert np.isfinite(external[pushed | free]).all()
    assert np.abs(external[pushed] - 6.0).max() < 0.3
    assert np.abs(external[free]).max() < 0.3


def test_phases_are_in_every_row(rows):
    named = {row['phase'] for row in rows if row['compared'] == '1'}
    assert {'moving', 'holding'} <= named <= {*KINDS, ''}
    for row in rows:
        time = float(row['time'])
        if 2.0 < time < 6.0:
            assert row['phase'] == 'moving'
        elif 22.0 < time < 29.0:
            assert row['phase'] == 'holding'


def test_gaps_of_what_is_known_stay_gaps():
    time = np.arange(5.0)
    effort = np.array([[1.0], [3.0], [np.nan], [5.0], [7.0]])
    known = np.ones(5, dtype=bool)
    rigid = np.empty((5, 0))
    thin = ThinnedSegment(time, effort, effort, rigid, rigid, effort, known)
    phases = (Phase('moving', 0, 0.5, 1.5, ()), Phase('holding', 0, 1.5, 3.0, ()))
    run = SimpleNamespace(external_series=(ExternalEfforts(thin, effort),), phases=phases)
    slow = SlowSeries(run)
    at = np.array([-0.5, 0.5, 1.5, 2.5, 3.5, 4.5])
    found = slow.external(0, at)[:, 0]
    np.testing.assert_array_equal(found, [np.nan, 2.0, np.nan, np.nan, 6.0, np.nan])
    moving, holding = KINDS.index('moving'), KINDS.index('holding')
    expected = [NO_PHASE, moving, holding, holding, NO_PHASE, NO_PHASE]
    assert slow.phase(0, at).tolist() == expected
    assert slow.phase(1, at).tolist() == [NO_PHASE] * 6
