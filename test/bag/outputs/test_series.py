# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The series that all files are written from."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.series import quantities_of, series_blocks

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[3]


class Pieces:
    """A replay whose blocks are cut into pieces of some rows."""

    def __init__(self, replay, rows):
        self._replay, self._rows = replay, rows

    def __getattr__(self, name):
        return getattr(self._replay, name)

    def blocks(self):
        for part in self._replay.blocks():
            count = len(part.time)
            for first in range(0, count, self._rows):
                some = slice(first, first + self._rows)
                cut = {'terms': {name: table[some] for name, table in part.terms.items()}}
                for field in fields(part):
                    value = getattr(part, field.name)
                    if isinstance(value, np.ndarray) and len(value) == count:
                        cut[field.name] = value[some]
                yield replace(part, **cut)


def whole(run):
    """Return times and the series of each quantity, all blocks together."""
    blocks = list(series_blocks(run))
    keys = [quantity.key for quantity in quantities_of(run.replay)]
    return (
        np.concatenate([block.time for block in blocks]),
        np.concatenate([block.compared for block in blocks]),
        {key: np.concatenate([block.values[key] for block in blocks]) for key in keys},
    )


@pytest.mark.parametrize('rows', [1, 3, 97])
def test_series_are_the_same_however_they_are_cut(analysis, rows):
    run = analysis.runs[0]
    time, compared, values = whole(run)
    cut = replace(run, replay=Pieces(run.replay, rows))
    cut_time, cut_compared, cut_values = whole(cut)
    assert np.array_equal(cut_time, time)
    assert np.array_equal(cut_compared, compared)
    for key, table in values.items():
        np.testing.assert_allclose(cut_values[key], table, rtol=1e-9, atol=1e-9, err_msg=key)


def test_every_row_comes_once(analysis):
    run = analysis.runs[0]
    replay = run.replay
    time, compared, values = whole(run)
    assert len(time) == sum(part.rows for part in replay.stretches)
    assert compared.sum() == sum(part.compared for part in replay.stretches)
    for quantity in quantities_of(replay):
        shape = values[quantity.key].shape
        assert shape == (len(time), len(quantity.columns)) == (len(time), len(quantity.units))


def assert_series_of(motion, frequency, run):
    """Every quantity is that of a sinusoidal motion, recomputed by other functions."""
    robot, replay = motion.robot, run.replay
    time, compared, values = whole(run)
    rows = np.rint(time * 100).astype(int)
    known = compared & np.isfinite(values['jerk']).all(axis=1)
    assert known.sum() > 0.6 * len(time)
    qddd = (-(np.square(frequency)) * motion.qd)[rows]
    link = robot.frame(replay.frame)
    state = (motion.q[rows], motion.qd[rows], motion.qdd[rows])
    friction = robot.joint_friction(motion.qd)
    rate = robot.inverse_dynamics_rate(*state, qddd) + np.gradient(friction, 0.01, axis=0)[rows]
    # Where no Coulomb friction changes sign within a window.
    smooth = known & (np.abs(motion.qd[rows, 0]) > 0.3 * np.abs(motion.qd[:, 0]).max())
    for key, expected, where in (
        ('position', state[0], known),
        ('velocity', state[1], known),
        ('acceleration', state[2], known),
        ('jerk', qddd, known),
        ('inertia', robot.inverse_dynamics(*state) - robot.bias_forces(*state[:2]), smooth),
        ('coriolis', robot.coriolis_vector(*state[:2]), smooth),
        ('gravity', robot.gravity_vector(state[0]), smooth),
        ('friction', friction[rows], smooth),
        ('recorded', motion.effort[rows], smooth),
        ('recomputed', motion.effort[rows], smooth),
        ('recomputed_rate', rate, smooth),
        ('recorded_rate', rate, smooth),
        ('tip_velocity', link.velocity(*state[:2]), known),
        ('tip_recomputed', link.acceleration(*state), known),
        ('tip_jerk', link.jerk(*state, qddd), known),
    ):
        error = np.abs(values[key] - expected)[where].max()
        assert error < 0.04 * np.abs(expected[where]).max() + 1e-9, key


def test_series_are_those_of_the_motion(arm_urdf, arm_motion, make_bag):
    motion = arm_motion()
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', motion)
    (run,) = analyze_bag(bag.path, frame='tool', window=0.11).runs
    assert_series_of(motion, (2.1, 1.7, 2.6), run)


def test_series_of_closed_loops_are_those_of_the_motion(make_motion, make_bag):
    urdf = (ROOT / 'urdf' / 'four_bar.urdf').read_text(encoding='utf-8')
    loops = ROOT / 'config' / 'four_bar_constraints.yaml'
    robot = kd.loads(urdf, constraints=loops)
    motion = make_motion(robot, 2.0 + np.arange(331) / 100.0, [0.9], [0.2], [2.0])
    with make_bag() as bag:
        bag.text('/robot_description', urdf)
        bag.motion('/joint_states', motion)
    (run,) = analyze_bag(bag.path, constraints=loops, window=0.11).runs
    assert_series_of(motion, (2.0,), run)
