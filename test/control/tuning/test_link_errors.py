# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of single links, above all of a boom and of the counterweight that is fixed to it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.control import ComputedTorque, tune
from kron_dynamics.control.tuning.linear_machine import linear_machine
from kron_dynamics.control.tuning.link_errors import link_errors
from kron_dynamics.control.tuning.loop_limits import SampledLoops
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

BOOM, COUNTERWEIGHT = 100.0, 380.0
RATE, ERROR = 50.0, 0.2


def link(name, mass, place, share=0.01):
    about = share * mass
    return (
        f'<link name="{name}"><inertial><origin xyz="{place} 0 0"/><mass value="{mass}"/>'
        f'<inertia ixx="{about}" iyy="{about}" izz="{about}" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link>'
    )


def machine(boom=1.0, counterweight=1.0, payload=''):
    """A luffing boom, nearly balanced, with the masses times two factors."""
    return kd.loads(
        '<robot name="balanced"><link name="base"/>'
        '<joint name="luff" type="revolute"><parent link="base"/><child link="boom"/>'
        '<axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" effort="1000" velocity="2"/></joint>'
        '<joint name="clamp" type="fixed"><parent link="boom"/><child link="weight"/>'
        '<origin xyz="-0.25 0 0"/></joint>'
        f'{link("boom", boom * BOOM, 1.0)}{link("weight", counterweight * COUNTERWEIGHT, 0.0)}'
        f'{payload}</robot>'
    )


@pytest.fixture(scope='module')
def models():
    return machine(1.0 - ERROR, 1.0 + ERROR), machine(1.0 + ERROR, 1.0 - ERROR)


def test_models_are_those_of_descriptions_with_other_masses(models):
    robot = machine()
    linear = linear_machine(robot)
    errors = link_errors(robot, linear, ERROR)
    found = []
    for case in range(0, len(errors.pose), 7):
        q = linear.q[errors.pose[case]]
        (model,) = (one for one in models if np.allclose(one.mass_matrix(q), errors.inertia[case]))
        a = (robot.gravity_vector(q) - model.gravity_vector(q)) / model.mass_matrix(q)[0]
        above, below = (model.inverse_dynamics(q + h, 0 * q, a) for h in (1e-5, -1e-5))
        np.testing.assert_allclose(errors.weight[case][0], (above - below) / 2e-5, rtol=1e-6)
        found.append(models.index(model))
    assert set(found) == {0, 1}
    assert set(errors.pose) == set(range(len(linear.q)))


def test_a_counterbalanced_boom_falls_below_the_bound_and_only_there(models, monkeypatch):
    """With one of the models, near one end; about the reference with which the machine rests."""
    robot = machine()
    monkeypatch.setattr(SampledLoops, 'least_rate', lambda *_: 1.0)
    monkeypatch.setattr(SampledLoops, 'longest_delay', lambda _: 1.0)
    tuning = tune(robot, 1.0, RATE, model_error=ERROR)
    growth = {factor: [] for factor in (0.85, 1.2)}
    for factor, model, pose in product(growth, models, (-1.45, 1.45)):
        w, q = 2.0 * np.pi * factor * tuning.stable_from, np.array([pose])
        law, weight = ComputedTorque(model, w**2, 2.0 * w), robot.gravity_vector(q)
        ahead = (weight - model.gravity_vector(q)) / (w**2 * model.mass_matrix(q)[0])
        plant, effort = Plant(robot, q + 1e-5), weight
        for _ in range(round(2.5 * RATE)):
            answer = law(plant.q, plant.qd, (q + ahead, 0 * q, 0 * q))
            plant.advance(effort, 1.0 / RATE, 0.02)
            effort = answer
        growth[factor].append(abs(plant.q[0] - pose) / 1e-5)
    assert max(growth[0.85]) > 1.3
    assert max(growth[1.2]) < 0.8
    # All masses off alike call for a sixth of that.
    assert tuning.stable_from[0] == pytest.approx(0.29, abs=0.005)


def test_a_payload_is_one_more_link():
    """It counted as missing in all models, as if its whole mass were unknown."""
    carrying = kd.CarryingRobot(machine(), 'weight')
    carrying.set_payload(
        'weight', kd.RigidPayload(40.0, np.array([0.1, 0.0, 0.0]), np.zeros((3, 3)))
    )
    described = machine(
        payload='<joint name="hook" type="fixed"><parent link="weight"/><child link="load"/>'
        f'<origin xyz="0.1 0 0"/></joint>{link("load", 40.0, 0.0, 0.0)}'
    )
    found = []
    for robot in (carrying, described):
        errors = link_errors(robot, linear_machine(robot), ERROR)
        found.append(np.unique(np.round(errors.inertia[:, 0, 0], 6)))
    np.testing.assert_allclose(*found)
