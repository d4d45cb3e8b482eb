# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links against chains of rigid segments with springs, which Pinocchio computes."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flexible_chain import chain_text, single_link
from long_runs import some_of
from scipy.linalg import eigh
from segment_chain import Linear, SegmentBeam, SegmentChain, extrapolate

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.flexible import Beam
from kron_dynamics.model import load_model

TESTS = Path(__file__).parents[1]
CASES = {
    case['id']: case
    for case in json.loads((TESTS / 'vectors' / 'public_vectors.json').read_text('utf-8'))['cases']
    if case['kind'] in ('flexible_link', 'flexible_chain')
}
STACKER = (TESTS.parent / 'urdf' / 'stacker_reclaimer.urdf').read_text('utf-8')
DRIVES = ('travel', 'slew', 'luff')
BOOM = {
    'length': 60.0,
    'mass_per_length': 2750.0,
    'bending_stiffness': {'v': 3.2e11, 'w': 1.8e11},
}
# Two flexible links that stand askew in their frames. On the first a moving arm rides between
# root and tip, by a rigid offset aside; the second bends at the end of a slider at the tip.
ARM = """<robot name="arm"><link name="base"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="first"/>
  <origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.4 0.5"/><axis xyz="0.6 0 0.8"/></joint>
<link name="first"><inertial><origin xyz="0.2 0.1 0.5" rpy="0.2 0.1 -0.3"/><mass value="4"/>
  <inertia ixx="1.5" iyy="1.7" izz="1.2" ixy="0.05" ixz="-0.1" iyz="0.02"/></inertial></link>
<joint name="swing" type="revolute"><parent link="first"/><child link="aside"/>
  <origin xyz="0.48 0.2 0.52" rpy="-0.7 0.2 0.4"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<link name="aside"><inertial><origin xyz="0.2 0.05 -0.1"/><mass value="0.7"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.002" ixz="0" iyz="-0.003"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="first"/><child link="second"/>
  <origin xyz="0.86 0.05 0.98" rpy="0.4 1.1 -0.6"/><axis xyz="1 2 -2"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<link name="second"><inertial><origin xyz="0.1 0.4 0"/><mass value="1.2"/>
  <inertia ixx="0.2" iyy="0.05" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="grip" type="fixed"><parent link="second"/><child link="payload"/>
  <origin xyz="0.05 1.0 -0.1" rpy="0.5 0.6 0.7"/></joint>
<link name="payload"><inertial><origin xyz="0.25 0.4 -0.3" rpy="1 2 3"/><mass value="0.5"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0.01" ixz="-0.02" iyz="0.015"/></inertial></link>
</robot>"""
FIRST = {
    'length': 1.2,
    'axis': [0.6, 0, 0.8],
    'lateral': [0, 1, 0],
    'origin': [0.1, 0.0, 0.05],
    'mass_per_length': 1.1,
    'bending_stiffness': {'v': 30.0, 'w': 22.0},
}
SECOND = {
    'length': 0.9,
    'axis': [0, 1, 0],
    'lateral': [0.8, 0, -0.6],
    'stations': [0.0, 0.3, 0.9],
    'mass_per_length': [0.9, 0.8, 0.5],
    'bending_stiffness': {'v': [14.0, 12.0, 7.0], 'w': 20.0},
}
UNIFORM = {
    'length': 0.9,
    'axis': SECOND['axis'],
    'lateral': SECOND['lateral'],
    'mass_per_length': 0.7,
    'bending_stiffness': {'v': 12.0, 'w': 20.0},
}
GRAVITY = (1.0, -3.0, -9.0)


def segment_beam(entry: Mapping[str, Any]) -> SegmentBeam:
    """The beam of a flexible description's entry, which bends where it has modes."""
    taken = ('length', 'mass_per_length', 'stations', 'axis', 'lateral', 'origin', 'attachments')
    stiffness = {plane: entry['bending_stiffness'][plane] for plane in entry['modes']}
    known = {key: entry[key] for key in taken if key in entry}
    return SegmentBeam(bending_stiffness=stiffness, **known)


def limit(make: Callable[[int], Any]) -> Any:
    """Extrapolated from three refinements."""
    values = [make(refinement) for refinement in (1, 2, 4)]
    if isinstance(values[0], Linear):
        return Linear(*map(extrapolate, zip(*values, strict=True)))
    return extrapolate(values)


@pytest.mark.parametrize(('tip_mass', 'tip_inertia'), [(0.0, 0.0), (0.45, 0.03)])
def test_frequencies_of_a_cantilever(tip_mass: float, tip_inertia: float) -> None:
    expected = Beam(1.3, 14.0, 0.9, tip_mass, tip_inertia).modes(3).natural_frequencies
    p = {'l': 1.3, 'rhoA': 0.9, 'EI': 14.0, 'm_E': tip_mass, 'J_E': tip_inertia, 'n': 3}
    beams = {'l1': SegmentBeam(1.3, 0.9, {'v': 14.0, 'w': 20.0})}
    text = single_link(p)[0]
    found = [
        SegmentChain(text, beams, ['j1'], refinement).modes('l1', 'v', 3)[0]
        for refinement in (1, 2, 4)
    ]
    order = np.log2((found[0] - found[1]) / (found[1] - found[2]))
    np.testing.assert_allclose(order, 2.0, atol=0.05)
    np.testing.assert_allclose(extrapolate(found), expected, rtol=1e-6)


@pytest.mark.parametrize('name', CASES)
def test_chains_reproduce_the_vectors(name: str, assert_close: Callable[..., None]) -> None:
    inputs, expected = CASES[name]['inputs'], CASES[name]['expected']
    if 'chain' in inputs:
        links, reference = inputs['chain']['links'], inputs['reference']
        text, gravity = chain_text(links, inputs['chain']['payload']), inputs['chain']['gravity']
        motion, first = [reference[key] for key in ('q', 'qd', 'qdd')], inputs['joint_index']
        shapes: dict[str, Any] = {}
    else:
        p, expected = inputs['params'], expected['geometric']
        text, beam = single_link(p)
        links, gravity, first = [{'beam': beam}], (0.0, -p['g'], 0.0), [0]
        motion = [[p[key]] for key in ('q_a', 'qd_a', 'qdd_a')]
        shapes = {'tip_mass': p['m_E'], 'tip_inertia': p['J_E']}
        shapes = shapes if p['modes'] == 'clamped_tip' else {}
    beams, modes = {}, {}
    for k, link in enumerate(links, 1):
        if 'beam' in link:
            b = link['beam']
            stiffness = {
                plane: b[f'EI_{axis}'] for plane, axis in ('vz', 'wy') if f'n{plane}' in b
            }
            beams[f'l{k}'] = SegmentBeam(b['l'], b['rhoA'], stiffness)
            for plane, EI in stiffness.items():
                beam = Beam(b['l'], EI, b['rhoA'], **shapes)
                modes[f'l{k}', plane] = beam.modes(b[f'n{plane}'])
    joints = [f'j{k + 1}' for k in range(len(links))]

    def linearized(refinement: int) -> Linear:
        chain = SegmentChain(text, beams, joints, refinement, gravity=gravity)
        angles = {
            key: chain.angles(key[0], lambda x, key=key: modes[key].shapes(x, 1)) for key in modes
        }
        return chain.linearized(*motion, angles)

    found = limit(linearized)
    # The vectors have each joint before the modes of its link, the chain has all joints first.
    order = first + [k for k in range(len(found.tau)) if k not in first]
    block = np.ix_(order, order)
    for matrix, key in ((found.M, 'M_L'), (found.D, 'D_L'), (found.K, 'K_L')):
        assert_close(matrix, np.array(expected[key])[block], 1e-6, floor=1.0)
    assert_close(-found.tau, np.array(expected['h_L_without_tau'])[order], 1e-6)


STACKER_MOTIONS = {
    'rest': [np.zeros(3)] * 3,
    'raised': [[50.0, 0.7, 0.2], np.zeros(3), np.zeros(3)],
    'fast': [[50.0, 0.7, -0.15], [0.5, 1.0, -0.7], [0.3, -0.8, 0.6]],
    'spinning': [[0.0, -1.2, 0.1], [-2.0, 3.0, 2.0], [1.0, 2.0, -3.0]],
}
ARM_MOTIONS = {
    'rest': [np.zeros(3)] * 3,
    'moving': [[0.7, -1.1, 0.3], [1.9, -2.4, 0.8], [-1.3, 2.2, 1.7]],
}


def test_straight_chains_are_the_rigid_robot(assert_close: Callable[..., None]) -> None:
    both = {'v': 1, 'w': 1}
    entries = {'first': FIRST | {'modes': both, 'attachments': {'aside': 0.9}}}
    entries['second'] = SECOND | {'modes': both}
    model = load_model(ARM, gravity=GRAVITY)
    chain, _ = chain_of(ARM, entries, model.joint_names, GRAVITY, 1)
    found = chain.linearized(*ARM_MOTIONS['moving'])
    expected = dynamics.linearization(model, *map(np.array, ARM_MOTIONS['moving']))
    assert_close(found.M[:3, :3], expected.mass_matrix)
    assert_close(found.D[:3, :3], expected.damping_matrix)
    assert_close(found.K[:3, :3], expected.stiffness_matrix)
    assert_close(found.tau[:3], expected.effort)


def modal_names(angles: Mapping[tuple[str, str], np.ndarray]) -> list[str]:
    return [f'{a}/{b}{k + 1}' for (a, b), part in angles.items() for k in range(part.shape[1])]


@functools.cache
def _chain(
    text: str, written: str, joints: tuple[str, ...], gravity: tuple[float, ...], refinement: int
) -> tuple[SegmentChain, dict[tuple[str, str], np.ndarray]]:
    entries = json.loads(written)
    beams = {link: segment_beam(entry) for link, entry in entries.items()}
    chain = SegmentChain(text, beams, joints, refinement, gravity=gravity)
    angles = {}
    for link, beam in beams.items():
        for plane, count in entries[link]['modes'].items():
            if entries[link].get('mode_shapes') == 'clamped_free':
                EI = float(beam.bending_stiffness[plane])
                modes = Beam(beam.length, EI, float(beam.mass_per_length)).modes(count)
                angles[link, plane] = chain.angles(link, lambda x, m=modes: m.shapes(x, 1))
            else:
                own = chain.modes(link, plane, count)[1]
                angles[link, plane] = own / chain.deflections(link, own, beam.length)
    return chain, angles


def chain_of(
    text: str,
    entries: Mapping[str, Mapping[str, Any]],
    joints: Sequence[str],
    gravity: Sequence[float],
    refinement: int,
) -> tuple[SegmentChain, dict[tuple[str, str], np.ndarray]]:
    """The chain, and hinge angles of the modes that the entries ask for; each is made once.

    Modes of a uniform beam alone are Khang's. All others are the chain's own and scaled to a
    deflection of 1 at the tip.
    """
    return _chain(text, json.dumps(entries), tuple(joints), tuple(gravity), refinement)


def check_linearization(
    text: str,
    entries: Mapping[str, Mapping[str, Any]],
    motion: Any,
    tolerance: float,
    gravity: Any = (0.0, 0.0, -9.80665),
) -> None:
    """M_L, D_L, K_L and tau of the flexible robot are those of the extrapolated chain.

    Entries are compared in units in which all masses on the diagonal are 1.
    """
    model = kd.loads(text, flexible={'flexible_links': entries}, gravity=gravity).model
    joints = [name for name in model.joint_names if '/' not in name]
    assert list(model.joint_names[: len(joints)]) == joints
    names: list[str] = []

    def linearized(refinement: int) -> Linear:
        chain, angles = chain_of(text, entries, joints, gravity, refinement)
        names[:] = joints + modal_names(angles)
        return chain.linearized(*motion, angles)

    expected = limit(linearized)
    assert sorted(names) == sorted(model.joint_names)
    order = [names.index(name) for name in model.joint_names]
    rest = np.zeros(model.n - len(joints))
    # On floats: to compile the equations of many coordinates takes longer than to evaluate them.
    found = dynamics.linearization(model, *(np.concatenate([part, rest]) for part in motion))
    unit = 1 / np.sqrt(np.diag(expected.M)[order])
    for name, actual, right in zip(Linear._fields, found, expected, strict=True):
        scale = np.outer(unit, unit) if actual.ndim == 2 else unit
        right = right[np.ix_(*[order] * actual.ndim)] * scale
        # Joints alone have small entries, which the stiff modes must not hide.
        for part in (np.s_[: len(joints)], np.s_[:]):
            block = (part,) * actual.ndim
            error = np.abs(actual * scale - right)[block].max()
            assert error <= tolerance * np.abs(right[block]).max(), (name, part, error)


@pytest.mark.parametrize(
    ('planes', 'name'),
    some_of(
        [(planes, name) for planes in ('vw', 'w') for name in STACKER_MOTIONS],
        [('vw', 'rest'), ('vw', 'spinning'), ('w', 'fast')],
    ),
)
def test_the_stackers_linearization(planes: str, name: str) -> None:
    boom = BOOM | {'modes': dict.fromkeys(planes, 1)}
    check_linearization(STACKER, {'boom': boom}, STACKER_MOTIONS[name], 1e-5)


@pytest.mark.parametrize('motion', STACKER_MOTIONS.values(), ids=list(STACKER_MOTIONS))
def test_the_stackers_linearization_with_many_modes(motion: Any) -> None:
    entry = BOOM | {'modes': {'v': 3, 'w': 2}, 'mode_shapes': 'clamped_free'}
    check_linearization(STACKER, {'boom': entry}, motion, 1e-5)


@pytest.mark.parametrize('free', [(), ('slew', 'luff')], ids=['locked', 'free'])
def test_the_stackers_frequencies(free: tuple[str, ...]) -> None:
    q = np.array([50.0, 0.4, 0.1])

    def frequencies(refinement: int) -> np.ndarray:
        entries = {'boom': BOOM | {'modes': {'v': 1, 'w': 1}}}
        chain, _ = chain_of(STACKER, entries, DRIVES, (0.0, 0.0, -9.80665), refinement)
        return chain.frequencies(chain.linearized(q, np.zeros(3), np.zeros(3)), free)[:5]

    expected = limit(frequencies)
    entries = {'boom': BOOM | {'modes': {'v': 8, 'w': 8}}}
    model = kd.loads(STACKER, flexible={'flexible_links': entries}).model
    rest = np.zeros(model.n)
    M, _, K, _ = dynamics.linearization(model, np.concatenate([q, rest[3:]]), rest, rest)
    kept = [k for k, name in enumerate(model.joint_names) if name in free or '/' in name]
    block = np.ix_(kept, kept)
    squares = eigh(K[block], M[block], eigvals_only=True)
    found = (np.sign(squares) * np.sqrt(np.abs(squares)))[: len(expected)]
    # With free joints the boom and counterweight hardly know up from down: w^2 is a difference.
    bends = expected > 1.0
    assert bends.sum() >= 3
    np.testing.assert_allclose(found[bends], expected[bends], rtol=1e-4)


def test_one_mode_in_each_plane_tells_the_first_frequencies(stacker: kd.Robot) -> None:
    """Shapes of what the boom carries, as the shipped description has them: held, raised boom."""
    q = np.array([50.0, 0.4, 0.1])

    def frequencies(refinement: int) -> np.ndarray:
        entries = {'boom': BOOM | {'modes': {'v': 1, 'w': 1}}}
        chain, _ = chain_of(STACKER, entries, DRIVES, (0.0, 0.0, -9.80665), refinement)
        return chain.frequencies(chain.linearized(q, np.zeros(3), np.zeros(3)), ())[:2]

    rest = np.zeros(5)
    M, _, K, _ = stacker.linearization(np.concatenate([q, rest[3:]]), rest, rest)
    found = np.sqrt(eigh(K[3:, 3:], M[3:, 3:], eigvals_only=True))
    np.testing.assert_allclose(found, limit(frequencies), rtol=1e-4)


@pytest.mark.parametrize(
    ('place', 'name'),
    some_of(
        [(place, name) for place in ('there', 'elsewhere') for name in ARM_MOTIONS],
        [('there', 'rest'), ('elsewhere', 'moving')],
    ),
)
def test_two_links_that_stand_askew(place: str, name: str) -> None:
    motion, attachments = ARM_MOTIONS[name], {} if place == 'there' else {'aside': 0.9}
    alone = {'modes': {'v': 2, 'w': 2}, 'mode_shapes': 'clamped_free'}
    first = FIRST | alone | {'attachments': attachments}
    check_linearization(ARM, {'first': first, 'second': UNIFORM | alone}, motion, 1e-5, GRAVITY)


@pytest.mark.parametrize('motion', ARM_MOTIONS.values(), ids=list(ARM_MOTIONS))
def test_a_taper_and_modes_of_what_the_links_carry(motion: Any) -> None:
    loaded = {'modes': {'v': 1, 'w': 1}, 'mode_shapes': 'loaded'}
    entries = {'first': FIRST | loaded, 'second': SECOND | loaded}
    check_linearization(ARM, entries, motion, 1e-4, GRAVITY)


@pytest.mark.long  # as test_flexible_robot.py does for the boom with damping
def test_compiled_equations_linearize_likewise(assert_close: Callable[..., None]) -> None:
    entries = {'boom': BOOM | {'modes': {'v': 1, 'w': 1}}}
    robot = kd.loads(STACKER, flexible={'flexible_links': entries})
    assert robot.joint_names == (*DRIVES, 'boom/v1', 'boom/w1')
    motion = [np.concatenate([part, [0.0, 0.0]]) for part in STACKER_MOTIONS['fast']]
    found, expected = robot.linearize(*motion), dynamics.linearization(robot.model, *motion)
    assert_close(found.mass, expected.mass_matrix)
    assert_close(found.damping, expected.damping_matrix)
    assert_close(found.stiffness, expected.stiffness_matrix)
    assert_close(found.effort, expected.effort)
