# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Identification of machines that are known: noise floor, intervals, other motions, the URDF."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from sampled_runs import POSE, machine

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.exceptions import ModelError, ParameterError, ShapeError
from kron_dynamics.identification import Identification, Motion, identify
from kron_dynamics.identification.base_parameters import identified_base
from kron_dynamics.identification.description import beside_the_urdf, identified_urdf
from kron_dynamics.identification.least_squares import weighted_least_squares
from kron_dynamics.identification.procedure import _excited, _split
from kron_dynamics.identification.pseudo_inertia import is_consistent

pytestmark = pytest.mark.interpreted

PROJECT = Path(__file__).parents[2]
STACKER = PROJECT / 'urdf' / 'stacker_reclaimer.urdf'
CONFIG = PROJECT / 'config'
NOISE = 0.01  # of the efforts
STEP = 0.01


def recorded(
    robot: kd.Robot, name: str, seconds: float, seed: int, moving: int | None = None
) -> Motion:
    """Sines of all joints, or of the last ones, with friction, noise, rounding and an offset."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, STEP)
    q = np.tile(POSE[name], (len(t), 1))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    for joint in range(robot.n if moving is None else moving):
        joint = robot.n - 1 - joint
        for _ in range(3):
            w = 2.0 * np.pi * rng.uniform(0.1, 0.6)
            top = min(robot.model.velocity_limit[joint], 1.5) / 4.0
            phase = rng.uniform(0.0, 2.0 * np.pi)
            q[:, joint] += top / w * np.sin(w * t + phase)
            qd[:, joint] += top * np.cos(w * t + phase)
            qdd[:, joint] -= top * w * np.sin(w * t + phase)
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    tau += NOISE * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    quantum = 1e-5
    return Motion(
        t, quantum * np.round(q / quantum), qd + 1e-5 * rng.standard_normal(q.shape), tau
    )


@lru_cache
def known(name: str) -> tuple[kd.Robot, kd.Robot, Motion, Identification]:
    """A machine of 1.3 times the masses and other friction than described, identified."""
    described, true = machine(name), machine(name, mass=1.3, coulomb=0.03)
    motion = recorded(true, name, 20.0, 1)
    terms = ('coulomb', 'viscous', 'offset')
    return described, true, motion, identify(described, [motion], terms=terms)


@pytest.fixture(params=['stacker', 'ur5'])
def case(request: pytest.FixtureRequest) -> tuple[kd.Robot, kd.Robot, Motion, Identification]:
    return known(request.param)


def test_what_is_left_is_little_more_than_the_noise(case: tuple) -> None:
    _, true, motion, found = case
    held = motion.part(round(0.7 * len(motion.time)), len(motion.time))
    clean = true.inverse_dynamics(held.q, held.qd, held.qdd) + true.joint_friction(held.qd)
    floor = np.linalg.norm(held.effort - clean, axis=0) / np.linalg.norm(held.effort, axis=0)
    assert (found.unfiltered['identified'].joints < 1.5 * floor).all()
    assert found.residuals['identified'].total < 0.2 * found.residuals['urdf'].total
    assert found.residuals['urdf_alone'].total < 0.7 * found.residuals['urdf'].total


def test_every_body_is_possible_and_friction_slows(case: tuple) -> None:
    described, _, _, found = case
    bodies = found.inertial[: -described.n].reshape(-1, 10)
    assert all(is_consistent(ten) for ten in bodies)
    assert (found.inertial[-described.n :] >= 0.0).all()
    assert (found.friction[:, :2] >= 0.0).all() and (found.described_friction >= 0.0).all()


def truth_of(true: kd.Robot, found: Identification) -> np.ndarray:
    """All parameters of a machine on a level base, with the friction terms of `known`."""
    friction = np.column_stack([true.model.friction, true.model.damping, np.zeros(true.n)])
    level = np.zeros(2 * found.structure.tilt)
    return np.concatenate([true.inertial_parameters(), friction.ravel(), level])


def test_intervals_of_single_parameters_hold_the_truth(case: tuple) -> None:
    """Also those that only the URDF tells, whose strength predicts best: it is 30 % off."""
    _, true, _, found = case
    truth = truth_of(true, found)
    held = [
        item.low <= value <= item.high for item, value in zip(found.parameters, truth, strict=True)
    ]
    masses = [
        inside for inside, item in zip(held, found.parameters, strict=True) if 'mass' in item.name
    ]
    assert found.strength >= 100.0
    assert np.mean(held) > 0.9 and all(masses)


def test_intervals_of_base_parameters_hold_the_truth(case: tuple) -> None:
    described, true, motion, found = case
    assert found.base
    truth = truth_of(true, found)
    rows = found.structure.rows(described, [motion.part(0, round(0.7 * len(motion.time)))])
    base = identified_base(rows.matrix, weighted_least_squares(rows.matrix, rows.effort))
    values = base.combination @ truth
    held = [item.low <= value <= item.high for item, value in zip(found.base, values, strict=True)]
    assert np.mean(held) > 0.85


def test_friction_may_be_thousands_of_times_what_the_description_says() -> None:
    """Many descriptions have a number that only keeps a simulator quiet."""
    described, true = machine('ur5', coulomb=1e-6), machine('ur5', coulomb=0.03)
    motion, other = recorded(true, 'ur5', 5.0, 2), recorded(true, 'ur5', 5.0, 3)
    terms = ('coulomb', 'viscous', 'offset')
    found = identify(described, [motion], [other], terms=terms, strength=1.0)
    np.testing.assert_allclose(found.friction[:, 0], true.model.friction, rtol=0.1)
    residuals = found.residuals
    assert residuals['identified'].total < residuals['least_squares'].total


@pytest.mark.parametrize('moving', [1, 2])
def test_a_motion_unlike_the_training_is_never_worse_than_the_urdf(moving: int) -> None:
    described, true = machine('ur5'), machine('ur5', mass=1.1, coulomb=0.02)
    poor = recorded(true, 'ur5', 6.0, 2, moving=moving)  # the wrist alone
    other = recorded(true, 'ur5', 8.0, 3)
    found = identify(described, [poor], [other], terms=('coulomb', 'viscous', 'offset'))
    assert found.residuals['identified'].total < found.residuals['urdf'].total
    if 'least_squares' in found.residuals:
        assert found.residuals['identified'].total < found.residuals['least_squares'].total
    unmoved = [item for item in found.parameters if item.name.startswith('shoulder_pan_joint:')]
    assert unmoved and not any(item.is_excited for item in unmoved)


def test_the_new_urdf_says_what_was_found_and_keeps_the_rest(case: tuple) -> None:
    described, _, _, found = case
    name = 'stacker' if described.n == 3 else 'ur5'
    text = description(name).text.replace('</robot>', '<!-- kept --></robot>')
    written, notes = identified_urdf(text, described.model, found)
    new = kd.loads(written)
    assert len(new.model.warnings) <= len(described.model.warnings)
    bodies = found.inertial[: -described.n]
    scale = np.abs(bodies).max()
    np.testing.assert_allclose(
        new.inertial_parameters()[: -described.n], bodies, atol=1e-12 * scale
    )
    np.testing.assert_allclose(new.model.friction, found.described_friction[:, 0])
    np.testing.assert_allclose(new.model.damping, found.described_friction[:, 1])
    assert '<!-- kept -->' in written
    lines = [line for line in text.splitlines() if '<parent' in line]
    assert lines and set(lines) <= set(written.splitlines())  # with their indentation

    def without(text: str) -> list[tuple[str, dict[str, str]]]:
        root = etree.fromstring(text.encode())
        for tag in ('inertial', 'dynamics'):
            for element in list(root.iter(tag)):
                element.getparent().remove(element)
        return [(element.tag, dict(element.attrib)) for element in root.iter(etree.Element)]

    assert without(written) == without(text)
    beside = beside_the_urdf(found)
    assert set(beside['joints']) == set(described.joint_names)  # type: ignore[call-overload]


def test_links_with_impossible_inertia_do_not_stay_in_the_new_urdf(case: tuple) -> None:
    described, _, _, found = case
    moving = described.model.bodies[-1].links[0]
    text = description('stacker' if described.n == 3 else 'ur5').text
    root = etree.fromstring(text.encode())
    children = {child.get('link') for child in root.iterfind('joint/child')}
    (base,) = {link.get('name') for link in root.iterfind('link')} - children
    for name, mass, izz, on in (
        ('empty', 0.0, 0.0, moving),
        ('impossible', 1e-3, 1.0, moving),
        ('ground', 0.0, 0.0, base),
    ):
        inertia = f'ixx="{mass}" iyy="{mass}" izz="{izz}" ixy="0" ixz="0" iyz="0"'
        text = text.replace(
            '</robot>',
            f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {inertia}/></inertial>'
            f'</link><joint name="{name}" type="fixed"><parent link="{on}"/>'
            f'<child link="{name}"/></joint></robot>',
        )
    with pytest.warns(UserWarning):
        model = kd.loads(text).model
    written, notes = identified_urdf(text, model, found)
    root = etree.fromstring(written.encode())
    for name in ('empty', 'impossible', 'ground'):
        assert root.find(f"link[@name='{name}']/inertial") is None
    assert len(notes) == 1 and 'impossible' in notes[0] and 'empty' not in notes[0]
    bodies = found.inertial[: -described.n]
    new = kd.loads(written).inertial_parameters()[: -described.n]
    np.testing.assert_allclose(new, bodies, atol=1e-12 * np.abs(bodies).max())


def test_a_joint_shows_what_is_seen_by_a_thousandth_at_least(case: tuple) -> None:
    described, _, motion, found = case
    rows = found.structure.rows(described, [motion.part(0, round(0.7 * len(motion.time)))])
    scale = np.linalg.norm(rows.matrix, axis=(0, 1))
    matrix = rows.matrix / np.where(scale > 0.0, scale, np.inf)
    for joint, count in enumerate(found.excited):
        own = matrix[:, joint]
        assert count == np.linalg.matrix_rank(own, tol=1e-3 * np.linalg.norm(own, 2))
    # Rows without efforts show nothing: two efforts are not more than two combinations.
    rows.effort[2:, 0] = np.nan
    rows.effort[:, 1] = np.nan
    assert _excited(rows)[:2].tolist() == [2.0, 0.0]


def test_stretches_too_short_to_hold_out_a_part_train() -> None:
    """So that of a recording in pieces nothing is left out without a word."""
    robot = machine('stacker')
    motion = recorded(robot, 'stacker', 3.0, 4)
    training, held, told = _split([motion, motion.part(0, 31)], None)
    assert [len(each.time) for each in training] == [210, 31]
    assert [len(each.time) for each in held] == [90]
    assert told == ('the last 30 % of 1 of 2 stretches of motion, others being too short')
    assert _split([motion], None)[2] == 'the last 30 % of each stretch of motion'
    with pytest.raises(ParameterError, match='30 % of no stretch are 10 samples'):
        _split([motion.part(0, 31)], None)


def test_what_cannot_be_identified_is_refused_in_a_line() -> None:
    robot = machine('stacker')
    motion = recorded(robot, 'stacker', 3.0, 4)
    blank = Motion(motion.time, motion.q, motion.qd, np.full_like(motion.q, np.nan))
    still = Motion(motion.time, 0.0 * motion.q, 0.0 * motion.qd, motion.effort)
    last = np.array([False, False, True])  # which moves alone, and without efforts
    silent = Motion(
        motion.time, motion.q * last, motion.qd * last, np.where(last, np.nan, motion.effort)
    )
    for motions, message in (
        ([], 'no motion'),
        ([blank], 'no effort is recorded'),
        ([still], 'too little motion: no joint leaves'),
        ([motion.part(0, 8)], 'too little motion'),
        ([silent], 'no joint with recorded efforts moves'),
    ):
        with pytest.raises(ParameterError, match=message):
            identify(robot, motions)
    for motions in ([motion], [motion, blank]):  # efforts of one motion are enough
        with pytest.raises(ParameterError, match="no friction term 'dry'"):
            identify(robot, motions, terms=('dry',))
    with pytest.raises(ParameterError, match="'coulomb' is given twice"):
        identify(robot, [motion], terms=('coulomb', 'viscous', 'coulomb'))
    for strength in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ParameterError, match='strength is .*, expected a finite number above'):
            identify(robot, [motion], strength=strength)
    narrow = Motion(motion.time, motion.q[:, :2], motion.qd[:, :2], motion.effort[:, :2])
    for motions, held in (([narrow], None), ([motion], [narrow])):
        with pytest.raises(ShapeError, match='has 2 joints, expected 3'):
            identify(robot, motions, held)
    bending = kd.load(STACKER, flexible=CONFIG / 'stacker_reclaimer_flexible.yaml')
    with pytest.raises(ParameterError, match='trees of rigid links'):
        identify(bending, [motion])
    with pytest.raises(ParameterError, match='trees of rigid links: URDF: .*loop'):
        identify(kd.load(PROJECT / 'urdf' / 'four_bar_plus.urdf'), [motion])
    *_, found = known('stacker')
    with pytest.raises(ModelError, match="no joint 'travel"):
        identified_urdf('<robot name="x"/>', robot.model, found)
