# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that bend in long recordings: memory does not grow with them, and results are the same."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from long_runs import some_of

from benchmarks.vibrating_machines import STACKER, Truth, recorded
from kron_dynamics.bag.reading import spool
from kron_dynamics.bag.replaying import elastic_motion, segment_replay
from kron_dynamics.bag.replaying.replay import BLOCK_ROWS, replay_run
from kron_dynamics.bag.vibration import modal_content, record_windows, vibration_records
from kron_dynamics.identification.modal_fit import FittedMode, ModalFit

TIP = 'bucket_wheel'
PERIOD = 0.01
SOURCES = ('measured',) * 3


@pytest.fixture(scope='module')
def model():
    return STACKER.robot()


def run_of(count):
    """A slow motion of the machine with stiff links, of so many samples."""
    robot, time = STACKER.robot(bends=False), PERIOD * np.arange(1.0, count + 1.0)
    angle = time[:, None] * (0.11, 0.19, 0.23)
    reach, pose, rate = np.array([0.5, 0.02, 0.01]), np.array(STACKER.pose), (0.11, 0.19, 0.23)
    q, qd = pose + reach * np.sin(angle), reach * rate * np.cos(angle)
    qdd = -reach * np.square(rate) * np.sin(angle)
    effort = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    tip = robot.frame(TIP).acceleration(q, qd, qdd)
    return recorded(STACKER, Truth(time, q, qd, effort, tip), 1)


def table_of(run):
    """What one array of a recording's joints takes, in bytes."""
    return run.log.message_count * 3 * 8


def peak_of(task):
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_vibrations_of_a_long_recording_are_looked_for_in_little_memory(model):
    few, run = run_of(2000), run_of(400_000)
    modal_content.modal_content(model, few, TIP, SOURCES)  # compiles
    peak = peak_of(lambda: modal_content.modal_content(model, run, TIP, SOURCES))
    # Ten tables of joints, tip and efforts, smoothed ones and their parts, would be there else.
    assert peak < 3 * table_of(run)


@pytest.mark.parametrize('share', some_of((1, 16), (16,)))
def test_motion_of_links_in_a_long_recording_takes_little_memory(model, monkeypatch, share):
    """In a sixteenth of such a recording, and of all that is held in memory at a time."""
    for module, name in ((elastic_motion, '_BLOCK'), (segment_replay, '_ROWS')):
        monkeypatch.setattr(module, name, getattr(module, name) // share)
    monkeypatch.setattr(spool, 'IN_MEMORY', spool.IN_MEMORY // share)
    run, options = run_of(400_000 // share), {'effort_delay': 0.0, 'window': 0.2}
    replay_run(model, run_of(2000), **options)  # compiles
    bending, stiff = (
        peak_of(
            lambda robot=robot: replay_run(robot, run, block_rows=BLOCK_ROWS // share, **options)
        )
        for robot in (model, model.rigid)
    )
    # Modes, their rates and accelerations, and the joints' that they are made of, are five tables.
    assert bending < stiff + 1.5 * table_of(run)


@pytest.mark.interpreted
def test_results_are_the_same_however_the_recording_is_cut(model, monkeypatch):
    """All that is fitted to: the fit itself takes longer, and does not know of recordings."""
    run, looked_at = run_of(4000), []

    def fitted(windows):
        looked_at[-1].append(windows)
        mode = FittedMode(1.0, 0.0, 0.1, 0.0, 0.0, np.zeros(windows.channels.shape[2]), False)
        return ModalFit((mode,) * windows.modes, 1.0, 0)

    def content():
        looked_at.append([])
        return modal_content.modal_content(model, run, TIP, SOURCES)

    monkeypatch.setattr(modal_content, 'fit_modes', fitted)
    whole = content()
    monkeypatch.setattr(vibration_records, '_ROWS', 701)
    monkeypatch.setattr(record_windows, '_ROWS', 1500)
    cut = content()
    assert [mode.verdict for mode in cut.modes] == [mode.verdict for mode in whole.modes]
    assert cut.windows == whole.windows > 1
    for one, other in zip(cut.modes, whole.modes, strict=True):
        assert one.predicted_frequency == pytest.approx(other.predicted_frequency, rel=1e-12)
    assert len(looked_at[0]) > 1
    for one, other in zip(*looked_at, strict=True):
        for field in fields(one):
            here, there = getattr(one, field.name), getattr(other, field.name)
            scale = np.abs(there).max(initial=0.0)
            np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-12 * scale)
