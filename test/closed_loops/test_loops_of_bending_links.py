# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed loops with links that bend, in the coordinates of drives and modes."""

from __future__ import annotations

import copy
import functools
import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml
from uncompiled import ConstrainedOnFloats, OnFloats

import kron_dynamics as kd
from kron_dynamics.carrying import can_carry
from kron_dynamics.dynamics import gravity_vector
from kron_dynamics.dynamics.payload import carrying
from kron_dynamics.flexible import deflections

ROOT = Path(__file__).parents[2]
URDF = ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf'
BEAM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
PINS = ROOT / 'config' / 'stacker_reclaimer_cylinder_flexible.yaml'
MODAL = ['boom/v1', 'boom/w1']
DRIVES = ('travel', 'slew', 'cylinder')


@functools.cache
def closed() -> OnFloats:
    return OnFloats(kd.load(URDF, flexible=BEAM, constraints=PINS).model)


@functools.cache
def general() -> ConstrainedOnFloats:
    """The same machine in all its joints, with constraints beside it."""
    description = yaml.safe_load(PINS.read_text(encoding='utf-8'))
    description['independent'] = description['actuated'] = [*DRIVES, *MODAL]
    return ConstrainedOnFloats.described(OnFloats(kd.load(URDF, flexible=BEAM).model), description)


def states(count: int = 2):
    rng = np.random.default_rng(11)
    for _ in range(count):
        q = np.array([5.0, 0.4, *rng.uniform(-0.8, 1.2, 1), *rng.uniform(-2.0, 2.0, 2)])
        yield q, *rng.normal(size=(2, 5))


def places():
    names = general().robot.joint_names
    return [names.index(name) for name in (*DRIVES, *MODAL)]


def test_coordinates_are_those_of_drives_and_modes():
    model = closed().model
    assert model.joint_names == (*DRIVES, *MODAL)
    assert model.joint_count == 3 and model.is_flexible and model.has_closed_loops
    assert model.joint_types == ('prismatic', 'revolute', 'prismatic', 'modal', 'modal')
    assert model.structural_damping[:3].tolist() == [0.0] * 3
    assert (model.structural_damping[3:] == kd.load(URDF, flexible=BEAM).model.damping[7:]).all()
    stiff = kd.load(URDF, constraints=PINS).model
    assert closed().rigid.joint_names == DRIVES
    assert closed().rigid.model.fingerprint == stiff.fingerprint
    assert (model.position_upper[:3] == stiff.position_upper).all()
    assert np.isinf(model.position_upper[3:]).all()
    again = pickle.loads(pickle.dumps(model))
    assert again.fingerprint == model.fingerprint and again.rigid.joint_names == DRIVES


def test_loops_stay_closed_while_the_boom_bends():
    system = general()._system
    for q, _, _ in states(6):
        x = closed().tree_coordinates(q)
        assert np.abs(system.terms(x, 0 * x, 0.0).phi).max() < 1e-13
        assert (x[places()] == q).all()
    # The cab rides on the boom: its loop moves with the bending.
    straight, bent = (closed().tree_coordinates([0.0, 0.0, 0.3, 0.0, w]) for w in (0.0, 1.0))
    assert np.abs(straight - bent)[:7].max() > 1e-3


def test_a_machine_may_stand_far_from_its_root():
    text = URDF.read_text(encoding='utf-8')
    joint = text.index('<joint name="travel"')
    end = text.index('</joint>', joint)
    assert '<origin' not in text[joint:end]
    far = text[:end] + '<origin xyz="1000 0 0"/>' + text[end:]
    model = kd.loads(far, flexible=BEAM, constraints=PINS).model
    near = closed().model
    np.testing.assert_allclose(model.position_lower, near.position_lower, rtol=1e-9)
    np.testing.assert_allclose(model.position_upper, near.position_upper, rtol=1e-9)


def test_dynamics_are_those_of_the_tree_with_its_constraints(assert_close):
    at = places()
    for q, qd, qdd in states():
        x = closed().tree_coordinates(q)
        xd = general().velocities(x, qd)
        xdd = general().accelerations(x, xd, qdd)
        assert_close(closed().tree_rates(q, qd), xd, 1e-11)
        tau = closed().inverse_dynamics(q, qd, qdd)
        assert_close(tau, general().inverse_dynamics(x, xd, xdd)[at], 1e-9)
        assert_close(closed().mass_matrix(q), general().mass_matrix(x), 1e-10)
        tip, tree = closed().frame('bucket_wheel'), general().robot.frame('bucket_wheel')
        assert_close(tip.acceleration(q, qd, qdd), tree.acceleration(x, xd, xdd), 1e-10)
        parts = closed().coriolis_vector(q, qd) + closed().gravity_vector(q)
        assert_close(parts + closed().mass_matrix(q) @ qdd, tau, 1e-9)


def test_straight_links_are_stiff_ones(assert_close):
    q = np.array([1.0, 0.2, 0.4])
    qd, qdd = np.array([0.1, 0.02, 0.01]), np.array([0.01, 0.003, -0.02])
    stiff = OnFloats(closed().rigid.model)
    full = [np.concatenate([x, np.zeros(2)]) for x in (q, qd, qdd)]
    found = closed().inverse_dynamics(*full)[:3]
    assert_close(found, stiff.inverse_dynamics(q, qd, qdd), 1e-10)


def test_deflections_are_those_of_the_tree():
    q = np.array([0.0, 0.0, 0.3, 1.0, -4.0])
    (ours,), (tree,) = (
        deflections(model, place)
        for model, place in (
            (closed().model, q),
            (general().robot.model, np.concatenate([np.zeros(7), q[3:]])),
        )
    )
    assert ours == tree and ours.share > 0.05
    with pytest.raises(kd.ModelError, match="flexible link 'boom' deflects"):
        closed().check_deflections(np.array([0.0, 0.0, 0.3, 0.0, -40.0]))


def test_modes_may_be_named_among_the_drives():
    description = yaml.safe_load(PINS.read_text(encoding='utf-8'))
    named = copy.deepcopy(description)
    for key in ('actuated', 'independent'):
        named[key] += MODAL
    model = kd.load(URDF, flexible=BEAM, constraints=named).model
    assert model.joint_names == (*DRIVES, *MODAL)


def test_a_payload_counts_through_the_loops(assert_close):
    """As one in the description: with straight links, as its modes have other shapes."""
    mass, center = 20e3, np.array([0.3, 0.1, -0.2])
    inertia = mass * (center @ center * np.eye(3) - np.outer(center, center))
    load = [mass, *(mass * center), *inertia[np.triu_indices(3)]]
    q, rest = np.array([0.0, 0.1, 0.3, 0.0, 0.0]), np.zeros(5)
    found = gravity_vector(carrying(closed().model, ['bucket_wheel'], np.array(load)), q)
    payload = {'bucket_wheel': (mass, center)}
    described = kd.load(URDF, flexible=BEAM, constraints=PINS, payload=payload)
    expected = OnFloats(described.model).gravity_vector(q)
    assert_close(found[:3], expected[:3], 1e-10)
    assert np.abs(expected - closed().inverse_dynamics(q, rest, rest))[2] > 1e5
    assert can_carry(closed().model, 'bucket_wheel') and not can_carry(closed().model, 'boom')
