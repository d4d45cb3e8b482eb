# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads from efforts that are known exactly, of machines that are not as described."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from identified_arms import identified_arm

import kron_dynamics as kd
from kron_dynamics.bag.payload import bag_payload
from kron_dynamics.exceptions import (
    ModelError,
    NonFiniteError,
    ParameterError,
    ShapeError,
    UnknownFrameError,
)
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload import fit_payload
from kron_dynamics.identification.payload_friction import payload_beside_friction, payload_rows
from kron_dynamics.identification.piecewise import changes
from kron_dynamics.identification.rows import joined, regressor_rows
from kron_dynamics.model.payload import RigidPayload

pytestmark = pytest.mark.interpreted

PROJECT = Path(__file__).parents[2]
NOISE = 0.05
LOAD = RigidPayload(2.0, [0.05, -0.03, 0.08], 0.003 * np.eye(3))


@cache
def described():
    return kd.loads(identified_arm('6'))


@cache
def machine(mass, payload):
    """The arm with a mass of the lower arm that carries a payload: its kernels are traced once."""
    return kd.loads(identified_arm(mass), payload={} if payload is None else {'tool': payload})


def record(payload, seed, moving=(1.0, 1.0, 1.0), duration=20.0, wrong=True):
    """Motion of a machine whose lower arm is heavier, with friction and offsets."""
    real = machine('7' if wrong else '6', payload)
    random = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 0.01)
    frequency = 2 * np.pi * random.uniform(0.1, 0.6, (3, 3))
    phase = random.uniform(0, 6, (3, 3))
    share = np.array([0.3, 0.25, 0.27]) * moving * np.ones((3, 3))
    angle = np.multiply.outer(time, frequency) + phase
    q = np.array([0.1, 0.4, 0.2]) + np.sum(share * np.sin(angle), axis=1)
    qd = np.sum(share * frequency * np.cos(angle), axis=1)
    qdd = -np.sum(share * frequency**2 * np.sin(angle), axis=1)
    effort = real.inverse_dynamics(q, qd, qdd) + NOISE * random.standard_normal(q.shape)
    if wrong:
        effort += 1.5 * np.tanh(qd / 0.02) + 0.8 * qd + np.array([0.3, -0.5, 0.2])
    return Motion(time, q, qd, effort)


def rows(motion):
    return regressor_rows(described(), motion, 0.05)


@pytest.fixture(scope='module')
def empty():
    return rows(record(None, 100))


def test_intervals_hold_what_was_carried(empty):
    robot, held, masses = described(), [], []
    for seed in range(20):
        whole = fit_payload(robot, 'tool', rows(record(LOAD, seed)), empty).whole
        masses.append(whole.mass)
        low, high = whole.mass_interval
        limits = whole.center_interval
        held.append(
            [low < LOAD.mass < high]
            + list((limits[:, 0] < LOAD.center_of_mass) & (LOAD.center_of_mass < limits[:, 1]))
        )
        assert whole.excited == (True, True, True)
        # And is no wider than it has to be.
        assert high - low < 0.09
    assert np.abs(np.array(masses) - LOAD.mass).max() < 0.02 * LOAD.mass
    assert np.mean(held, axis=0).min() >= 0.85


def test_wrong_model_is_no_load(empty):
    robot = described()
    found = fit_payload(robot, 'tool', rows(record(None, 1)), empty).whole
    assert found.mass_interval[0] < 0.0 < found.mass_interval[1]
    assert abs(found.mass) < 0.02
    # Trusted as it is described, the same model makes one: the interval has to say so.
    trusting = fit_payload(robot, 'tool', rows(record(LOAD, 1)), None).whole
    assert trusting.mass_deviation > 5.0 * found.mass_deviation


def test_right_model_needs_no_motion_without_load():
    found = fit_payload(described(), 'tool', rows(record(LOAD, 2, wrong=False))).whole
    low, high = found.mass_interval
    assert low < LOAD.mass < high and high - low < 1.0


def test_change_is_found_where_it_is(empty):
    first, second = rows(record(RigidPayload(1.0), 3)), rows(record(LOAD, 3))
    half = len(first) // 3
    changing = replace(
        first,
        matrix=np.concatenate([first.matrix[:half], second.matrix[half:]]),
        effort=np.concatenate([first.effort[:half], second.effort[half:]]),
    )
    fit = fit_payload(described(), 'tool', changing, empty)
    assert len(fit.pieces) == 2
    for piece, mass in zip(fit.pieces, (1.0, 2.0), strict=True):
        assert abs(piece.mass - mass) < min(0.1, 3.0 * piece.mass_deviation)
    assert fit.pieces[0].end == pytest.approx(first.time[half], abs=0.2)
    # Windows tell the same, each less surely.
    early = [window for window in fit.windows if window.end < first.time[half] - 1.0]
    assert early and all(abs(w.mass - 1.0) < 4.0 * w.mass_deviation < 2.0 for w in early)
    assert len(fit_payload(described(), 'tool', first, empty).pieces) == 1


def test_rows_between_two_loads_spoil_neither(empty):
    first, second = rows(record(RigidPayload(1.0), 3)), rows(record(LOAD, 3))
    half, rest = len(first) // 2 - 4, len(first) // 2 + 4
    # While it is handed over, another holds a part of it: too few rows for a stretch.
    held = np.repeat([0.0, 0.5, 1.0], [half, rest - half, len(first) - rest])[:, None]
    effort = first.effort + held * (second.effort - first.effort)
    effort[half:rest] += np.array([4.0, -3.0, 2.0])
    fit = fit_payload(described(), 'tool', replace(first, effort=effort), empty)
    early, late = fit.pieces
    assert early.end < first.time[half] + 0.1 and late.start > first.time[rest] - 0.1
    for piece, mass in ((early, 1.0), (late, 2.0)):
        assert abs(piece.mass - mass) < 3.0 * piece.mass_deviation < 0.1


def test_moved_load_of_the_same_mass_is_a_change(empty):
    moved = RigidPayload(2.0, [0.05, -0.03, 0.14], 0.003 * np.eye(3))
    first, second = rows(record(LOAD, 3)), rows(record(moved, 3))
    half = len(first) // 2
    effort = np.concatenate([first.effort[:half], second.effort[half:]])
    pieces = fit_payload(described(), 'tool', replace(first, effort=effort), empty).pieces
    assert len(pieces) == 2
    for piece, load in zip(pieces, (LOAD, moved), strict=True):
        off = np.abs(piece.center_of_mass - load.center_of_mass)
        assert np.all(off < 3.0 * piece.center_deviation)
        assert piece.center_deviation.max() < 0.01
        assert abs(piece.mass - 2.0) < 3.0 * piece.mass_deviation


@pytest.mark.parametrize('seed', [3, 4, 5])
def test_a_lighter_load_about_the_same_center_is_a_change(empty, seed):
    lighter = RigidPayload(1.6, LOAD.center_of_mass, LOAD.inertia)
    first, second = rows(record(LOAD, seed)), rows(record(lighter, seed))
    half = len(first) // 2
    effort = np.concatenate([first.effort[:half], second.effort[half:]])
    pieces = fit_payload(described(), 'tool', replace(first, effort=effort), empty).pieces
    assert len(pieces) == 2
    for piece, mass in zip(pieces, (2.0, 1.6), strict=True):
        assert abs(piece.mass - mass) < 3.0 * piece.mass_deviation
        off = np.abs(piece.center_of_mass - LOAD.center_of_mass)
        assert np.all(off < 3.0 * piece.center_deviation)


def test_what_no_term_explains_is_no_change_and_widens_the_interval(empty):
    def rippled(motion):
        return rows(replace(motion, effort=motion.effort + np.sin(30.0 * motion.q + 0.5)))

    motion = record(LOAD, 3)
    (piece,) = fit_payload(described(), 'tool', rippled(motion), rippled(record(None, 100))).pieces
    assert abs(piece.mass - LOAD.mass) < 3.0 * piece.mass_deviation
    off = np.abs(piece.center_of_mass - LOAD.center_of_mass)
    assert np.all(off < 3.0 * piece.center_deviation)
    (plain,) = fit_payload(described(), 'tool', rows(motion), empty).pieces
    assert piece.mass_deviation > 2.0 * plain.mass_deviation


def test_center_that_no_motion_tells_is_said_to_be_unknown():
    # The lift alone, and only its effort: nothing depends on where the load is along its axis.
    motions = [record(load, seed, (0, 1, 0)) for load, seed in ((LOAD, 4), (None, 5))]
    motions = [
        replace(motion, effort=np.where([False, True, False], motion.effort, np.nan))
        for motion in motions
    ]
    found = fit_payload(described(), 'tool', *map(rows, motions)).whole
    assert not all(found.excited)
    limits = found.center_interval
    assert np.all((limits[:, 0] < LOAD.center_of_mass) & (LOAD.center_of_mass < limits[:, 1]))


def test_given_center_makes_the_mass_surer(empty):
    loaded = rows(record(LOAD, 6))
    free = fit_payload(described(), 'tool', loaded, empty).whole
    given = fit_payload(described(), 'tool', loaded, empty, center=LOAD.center_of_mass).whole
    assert given.mass_deviation <= free.mass_deviation
    assert given.mass == pytest.approx(LOAD.mass, rel=0.01)
    assert np.array_equal(given.center_of_mass, LOAD.center_of_mass)


def test_efforts_that_lie_now_and_then_cost_little(empty):
    motion = record(LOAD, 7)
    motion.effort[300:330] += 100.0
    found = fit_payload(described(), 'tool', rows(motion), empty).whole
    assert found.mass == pytest.approx(LOAD.mass, rel=0.02)


def test_what_cannot_be_is_refused(empty):
    with pytest.raises(ParameterError, match='3 independent samples .* too few'):
        fit_payload(described(), 'tool', empty.taken(np.arange(3)))
    with pytest.raises(ModelError, match="'base' does not move"):
        fit_payload(described(), 'base', empty)
    with pytest.raises(UnknownFrameError, match='hand'):
        fit_payload(described(), 'hand', empty)
    for center, error in (([0.0, 0.0], ShapeError), ([0.0, 0.0, np.nan], NonFiniteError)):
        with pytest.raises(error, match='^center'):
            fit_payload(described(), 'tool', empty, center=np.array(center))
    for terms, message in (
        (('viscous',), "'coulomb' among them"),
        (('coulomb', 'viscous', 'viscous'), "'viscous' is given twice"),
        (('coulomb', 'viscous'), 'rows have shape .3, 42.'),
    ):
        with pytest.raises(ParameterError, match=message):
            fit_payload(described(), 'tool', empty, terms=terms)


def test_loops_and_flexible_links_are_refused(empty):
    four_bar = kd.load(PROJECT / 'urdf' / 'four_bar_plus.urdf')
    stacker = PROJECT / 'urdf' / 'stacker_reclaimer.urdf'
    bending = kd.load(stacker, flexible=PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml')
    for robot in (four_bar, bending):
        with pytest.raises(ParameterError, match='trees of rigid links'):
            fit_payload(robot, robot.model.tip_link, empty)
    with pytest.raises(ParameterError, match='trees of rigid links: URDF: .*loop'):
        bag_payload('no_bag', urdf=PROJECT / 'urdf' / 'four_bar_plus.urdf')


def test_stretches_of_any_number_of_changes_are_found():
    random = np.random.default_rng(8)
    level = np.repeat([0.0, 3.0, -2.0, -2.0, 5.0], 40)
    matrix = random.uniform(0.5, 1.5, (200, 2, 1))
    effort = matrix[..., 0] * level[:, None] + 0.5 * random.standard_normal((200, 2))
    cuts = changes(matrix / 0.5, effort / 0.5)
    assert [end for _, end in cuts] == pytest.approx([40, 80, 160, 200], abs=2)
    assert changes(matrix / 0.5, 0.0 * effort) == [(0, 200)]


def test_recordings_in_pieces_are_one(empty):
    motion = record(LOAD, 9)
    parts = joined([rows(motion.part(0, 900)), rows(motion.part(1100, 2000))])
    assert fit_payload(described(), 'tool', parts, empty).whole.mass == pytest.approx(
        2.0, rel=0.02
    )


@pytest.mark.parametrize('share', [0.0, 0.03])
def test_friction_that_grows_with_the_effort_is_no_load(share):
    robot = described()

    def rubbing(motion):
        grown = share * np.abs(motion.effort) * np.tanh(motion.qd / 0.02)
        return payload_rows(robot, replace(motion, effort=motion.effort + grown), 0.05)

    errors, masses = [], []
    for seed in range(4):
        loaded, bare = rubbing(record(LOAD, seed)), rubbing(record(None, 100 + seed))
        found = payload_beside_friction(robot, 'tool', loaded, bare)
        assert ('load' in found.terms) == (share > 0.0)
        low, high = found.whole.mass_interval
        masses.append(low < LOAD.mass < high)
        errors.append(abs(found.whole.mass / LOAD.mass - 1.0))
        assert len(found.pieces) == 1
    assert max(errors) < 0.02
    assert all(masses)
