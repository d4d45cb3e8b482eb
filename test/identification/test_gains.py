# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gains of motors by known loads, of an arm that is heavier than described."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from identified_arms import identified_arm

import kron_dynamics as kd
from kron_dynamics.exceptions import (
    InvalidInertiaError,
    ModelError,
    ParameterError,
    UnknownFrameError,
)
from kron_dynamics.identification import KnownLoad, Motion, identify
from kron_dynamics.identification.calibration import estimated_gains, rough_gains
from kron_dynamics.identification.effort_units import (
    described_gains,
    load_efforts,
    unit_notes,
)
from kron_dynamics.identification.gains import GainFit
from kron_dynamics.identification.known_load import carried_parameters
from kron_dynamics.identification.payload import fit_payload
from kron_dynamics.identification.rows import regressor_rows
from kron_dynamics.identification.structure import Structure
from kron_dynamics.model.magnitudes import reach_of
from kron_dynamics.model.payload import RigidPayload

pytestmark = pytest.mark.interpreted

STATED = RigidPayload(3.0, [0.06, -0.04, 0.09], np.diag([0.01, 0.012, 0.008]))
UNKNOWN = RigidPayload(1.7, [-0.05, 0.05, 0.06], 0.004 * np.eye(3))
# N m per A; the motor of the second joint is wired the other way round.
GAINS = np.array([8.0, -12.0, 0.7])
NOISE = np.array([0.4, 0.8, 0.15])
STRUCTURE = Structure(0.05)
ALL = np.arange(3)


def text(upper: float = 6.0, fore: float = 4.0) -> str:
    return identified_arm(upper, fore)


def described() -> kd.Robot:
    return kd.loads(text())


def record(
    payload: RigidPayload | None,
    seed: int,
    *,
    noise: float = 1.0,
    gains: np.ndarray = GAINS,
    slow: float = 1.0,
    friction: bool = True,
    real: str | None = None,
) -> Motion:
    """Currents of a machine whose arms are heavier, with friction and offsets."""
    loads = {} if payload is None else {'tool': payload}
    robot = kd.loads(text(7.5, 5.2) if real is None else real, payload=loads)
    random = np.random.default_rng(seed)
    time = np.arange(0.0, 20.0, 0.01)
    frequency = 2 * np.pi * random.uniform(0.1, 0.6, (3, 3)) * np.array([slow, 1.0, 1.0])
    phase = random.uniform(0, 6, (3, 3))
    share = np.array([0.3, 0.25, 0.27]) * np.ones((3, 3))
    angle = np.multiply.outer(time, frequency) + phase
    q = np.array([0.1, 0.4, 0.2]) + np.sum(share * np.sin(angle), axis=1)
    qd = np.sum(share * frequency * np.cos(angle), axis=1)
    qdd = -np.sum(share * frequency**2 * np.sin(angle), axis=1)
    effort = robot.inverse_dynamics(q, qd, qdd) + noise * NOISE * random.standard_normal(q.shape)
    if friction:
        effort += [1.5, 1.5, 0.2] * np.tanh(qd / 0.02) + [0.8, 0.8, 0.1] * qd + [0.3, -0.5, 0.02]
    return Motion(time, q, qd, effort / gains)


def carrying(motion: Motion, mass: float = STATED.mass, inertia: bool = False) -> Motion:
    payload = RigidPayload(
        mass, STATED.center_of_mass, STATED.inertia if inertia else np.zeros((3, 3))
    )
    return replace(motion, loads=(KnownLoad('tool', payload, inertia),))


def gains_of(robot: kd.Robot, motions: list[Motion], joints: np.ndarray = ALL) -> GainFit:
    rough = rough_gains(robot, motions, STRUCTURE, joints)
    return estimated_gains(robot, motions, STRUCTURE, joints, rough)


def test_known_load_is_the_difference_of_two_robots() -> None:
    robot = described()
    loaded = kd.loads(text(), payload={'tool': STATED})
    np.testing.assert_allclose(
        carried_parameters(robot, [KnownLoad('tool', STATED)]),
        loaded.inertial_parameters() - robot.inertial_parameters(),
        atol=1e-12,
    )


def test_rows_with_a_known_load_are_those_of_the_robot_alone() -> None:
    robot = described()
    quiet = {'noise': 0.0, 'gains': np.ones(3), 'friction': False, 'real': text()}
    motion = carrying(record(STATED, 1, **quiet), inertia=True)
    rows = regressor_rows(robot, motion, 0.05, terms=('load',))
    inertial = robot.inertial_parameters()
    left = rows.effort - rows.matrix[:, :, : len(inertial)] @ inertial
    assert np.abs(left).max() < 1e-3 * np.abs(rows.effort).max()
    # Friction by the weight that a joint bears knows of the load, too.
    lift = rows.matrix[:, 1, len(inertial) + 1]
    alone = regressor_rows(robot, replace(motion, loads=()), 0.05, terms=('load',))
    more = np.linalg.norm(lift) / np.linalg.norm(alone.matrix[:, 1, len(inertial) + 1])
    weight = [
        np.linalg.norm(kd.loads(text(), payload=loads).gravity_vector(motion.q)[:, 1])
        for loads in ({'tool': STATED}, {})
    ]
    assert more == pytest.approx(weight[0] / weight[1], rel=0.05)


def test_gains_are_found_without_bias_and_with_their_intervals() -> None:
    robot, errors, held, half, naive = described(), [], [], [], []
    for seed in range(8):
        motions = [record(None, 2 * seed), carrying(record(STATED, 2 * seed + 1))]
        found = gains_of(robot, motions).reported(robot)
        assert all(gain.is_identifiable for gain in found)
        values = np.array([gain.value for gain in found])
        errors.append(values / GAINS - 1.0)
        held.append([g.low <= k <= g.high for g, k in zip(found, GAINS, strict=True)])
        half.append([0.5 * (g.high - g.low) / abs(g.value) for g in found])
        naive.append(currents_as_regressors(robot, motions) / GAINS - 1.0)
    errors, half = np.array(errors), np.mean(half, axis=0)
    assert np.abs(errors).max() < 0.02
    assert np.mean(held) > 0.85
    assert (np.abs(errors.mean(axis=0)) < 0.6 * half).all()
    # What least squares with the currents among the regressors would say of the last joint.
    assert abs(np.mean(naive, axis=0)[2]) > 3.0 * abs(errors.mean(axis=0)[2])


def currents_as_regressors(robot: kd.Robot, motions: list[Motion]) -> np.ndarray:
    """Gains by least squares of the known load's efforts, as if currents were exact."""
    rows = STRUCTURE.rows(robot, motions)
    loads = load_efforts(robot, rows, motions)
    recorded = rows.effort + loads
    columns = np.zeros((*recorded.shape, 3))
    columns[:, ALL, ALL] = recorded
    A = np.concatenate([columns, -rows.matrix], axis=2).reshape(-1, 3 + rows.matrix.shape[2])
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = np.inf
    return (np.linalg.lstsq(A / scale, loads.ravel(), rcond=1e-7)[0] / scale)[:3]


def test_gains_do_not_depend_on_the_masses_described() -> None:
    motions = [record(None, 1), carrying(record(STATED, 2))]
    found = [gains_of(kd.loads(text(m, f)), motions).factors for m, f in ((6, 4), (12, 8))]
    np.testing.assert_allclose(found[0], found[1], rtol=2e-3)


def test_payload_of_a_third_recording_is_found_with_the_gains() -> None:
    robot = described()
    empty = record(None, 1)
    fit = gains_of(robot, [empty, carrying(record(STATED, 2))])
    rows = [STRUCTURE.rows(robot, fit.applied([motion])) for motion in (record(UNKNOWN, 3), empty)]
    # Three joints hardly tell a mass from its place, which is given.
    found = fit_payload(robot, 'tool', *rows, center=UNKNOWN.center_of_mass).whole
    assert found.mass == pytest.approx(UNKNOWN.mass, rel=0.02)


def test_load_stated_wrongly_makes_gains_wrong_by_the_same_share_unseen() -> None:
    robot, left = described(), []
    motions = [record(None, 1), record(STATED, 2)]
    right = gains_of(robot, [motions[0], carrying(motions[1])])
    wrong = gains_of(robot, [motions[0], carrying(motions[1], 1.1 * STATED.mass)])
    np.testing.assert_allclose(wrong.factors / right.factors, 1.1, rtol=5e-3)
    short = [motion.part(0, 1000) for motion in motions]
    for mass in (STATED.mass, 1.1 * STATED.mass):
        trained = [short[0], carrying(short[1], mass)]
        found = identify(
            robot,
            trained,
            [record(None, 4).part(0, 1000)],
            terms=('coulomb', 'viscous', 'offset'),
            strength=0.01,
            estimate_gains=robot.joint_names,
        )
        left.append(found.residuals['identified'].total)
    assert left[1] == pytest.approx(left[0], rel=0.01)


def test_joint_that_never_feels_the_load_cannot_be_told() -> None:
    robot = described()
    # The vertical axis hardly accelerates, and noise hides what the others do to it.
    slow = {'slow': 0.02, 'noise': 4.0}
    motions = [record(None, 1, **slow), carrying(record(STATED, 2, **slow))]
    turn, lift, roll = gains_of(robot, motions).reported(robot)
    assert not turn.is_identifiable and turn.high / turn.low > 1.2
    assert lift.is_identifiable and roll.is_identifiable


def test_known_gains_tell_those_of_the_others_without_a_load() -> None:
    robot = described()
    motions = [record(None, seed, gains=np.array([1.0, 1.0, 0.7])) for seed in (1, 2)]
    fit = gains_of(robot, motions, np.array([2]))
    np.testing.assert_array_equal(fit.factors[:2], 1.0)
    (roll,) = fit.reported(robot)
    assert roll.joint == 'roll' and roll.low < 0.7 < roll.high


def test_inertia_of_a_load_is_estimated_where_it_is_not_stated() -> None:
    # Ten times that of a body of its size: a point of the same mass would not do.
    heavy = RigidPayload(3.0, STATED.center_of_mass, np.diag([0.2, 0.25, 0.15]))
    robot, ones = described(), np.ones(3)
    motions = [
        record(None, 1, gains=ones, noise=0.1),
        carrying(record(heavy, 2, gains=ones, noise=0.1)),
    ]
    fit = gains_of(robot, motions, np.array([], dtype=int))
    ((load, found),) = fit.loads.items()
    assert not load.has_inertia and found.has_inertia
    assert found.payload.mass == 3.0
    np.testing.assert_array_equal(found.payload.center_of_mass, STATED.center_of_mass)
    np.testing.assert_allclose(np.diag(found.payload.inertia), np.diag(heavy.inertia), rtol=0.15)


def test_the_expected_size_of_a_load_is_a_tenth_of_the_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The moments of inertia of a load of that radius of gyration are the prior's deviations."""
    priors = []

    def fit(rows: Any, prior: Any, *others: Any) -> None:
        priors.append(prior)
        raise ParameterError('enough is known')

    monkeypatch.setattr('kron_dynamics.identification.gains.weighted_fit', fit)
    robot, ones = described(), np.ones(3)
    motions = [record(None, 1, gains=ones), carrying(record(STATED, 2, gains=ones))]
    with pytest.raises(ParameterError, match='enough'):
        gains_of(robot, motions, np.array([], dtype=int))
    expected = STATED.mass * (0.1 * reach_of(robot.model)) ** 2
    np.testing.assert_allclose(priors[0].scale[-6:], expected)


def test_currents_are_pointed_out() -> None:
    robot = described()
    for gains, expected in ((GAINS, ['turn', 'lift']), (np.ones(3), [])):
        motions = [record(None, 1, gains=gains)]
        rows = STRUCTURE.rows(robot, motions)
        notes = unit_notes(robot, rows, motions, STRUCTURE.terms)
        assert [note.split("'")[1] for note in notes] == expected
    assert all('--estimate-gains' in note for note in notes)


def test_efforts_of_the_opposite_sign_are_pointed_out_on_one_line() -> None:
    robot = described()
    motions = [record(None, 1, gains=np.array([-1.0, -1.0, 1.0]))]
    rows = STRUCTURE.rows(robot, motions)
    (note,) = unit_notes(robot, rows, motions, STRUCTURE.terms)
    assert "joints 'turn', 'lift': " in note
    assert 'JOINT:effort=-1' in note and '--gravity' in note and '--estimate-gains' not in note


def test_efforts_of_the_opposite_sign_in_another_unit_are_pointed_out_for_each_joint() -> None:
    robot = described()
    motions = [record(None, 1, gains=np.array([-1e-3, -1e-3, -1e-3]))]
    rows = STRUCTURE.rows(robot, motions)
    notes = unit_notes(robot, rows, motions, STRUCTURE.terms)
    assert notes and all('another unit' in note and 'times' in note for note in notes)


def test_efforts_that_do_not_go_with_those_described_are_no_other_unit() -> None:
    robot = described()
    motion = record(None, 1)
    # Of another motion: as large as currents are, but at other times.
    other = replace(motion, effort=record(None, 2).effort)
    rows = STRUCTURE.rows(robot, [other])
    factors, correlation = described_gains(robot, rows, [other], STRUCTURE.terms)
    assert (np.abs(factors[:2]) > 5.0).all()
    assert (np.abs(correlation) < 0.6).all()
    assert unit_notes(robot, rows, [other], STRUCTURE.terms) == []
    rows = STRUCTURE.rows(robot, [motion])
    _, correlation = described_gains(robot, rows, [motion], STRUCTURE.terms)
    assert (np.abs(correlation[:2]) > 0.9).all() and (np.abs(correlation) <= 1.0).all()


def test_what_tells_no_gains_is_refused() -> None:
    robot, empty, loaded = described(), record(None, 1), carrying(record(STATED, 2))
    both = [empty, loaded]
    other = replace(loaded, loads=loaded.loads)
    again = carrying(replace(loaded, loads=()))  # the same load, given twice
    assert again.loads != loaded.loads
    for motions, joints, message in (
        ([empty, empty], robot.joint_names, 'with one load alone'),
        ([loaded, other], robot.joint_names, 'with one load alone'),
        ([loaded, again], robot.joint_names, 'with one load alone'),
        (both, ('turn', 'elbow'), "no joint 'elbow', expected one of turn, lift, roll"),
    ):
        with pytest.raises(ParameterError, match=message):
            identify(robot, motions, estimate_gains=joints)
    with pytest.raises(ModelError, match="'base' does not move"):
        carried_parameters(robot, [KnownLoad('base', STATED)])
    with pytest.raises(UnknownFrameError, match='hand'):
        carried_parameters(robot, [KnownLoad('hand', STATED)])
    with pytest.raises(InvalidInertiaError, match="'tool' has a mass of 0 kg"):
        KnownLoad('tool', RigidPayload(0.0))
