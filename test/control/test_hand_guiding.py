# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot that a hand moves: it stays where it is left, and never runs."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import PERIOD, POSE, ROBOTS, SampledRun, machine

from kron_dynamics.control.gravity_hold import damping_range
from kron_dynamics.control.hand_guiding import HandGuiding
from kron_dynamics.control.law import LawState
from kron_dynamics.control.terms import TERMS, EffortTerms
from kron_dynamics.exceptions import ParameterError, SpeedLimitError

SPEED = 0.25


@pytest.fixture(scope='module')
def models(kernel_cache):
    return {name: machine(name) for name in ROBOTS}


def guiding(model, name, **changes):
    changes.setdefault('speed_limit', SPEED * model.model.velocity_limit)
    return HandGuiding(model, period=PERIOD[name], **changes)


def pushed(model, law, name, effort, duration, robot=None, **changes):
    """A run under a constant push on the joints; the plant has no friction to stop it."""
    run = SampledRun(
        robot or model, law, PERIOD[name], POSE[name], external=lambda t, q: effort, **changes
    )
    zero, speeds = np.zeros(model.n), []
    while run.time < duration:
        speeds.append(np.abs(run.step((POSE[name], zero, zero)).qd))
    return run, np.array(speeds)


@pytest.mark.parametrize('name', ROBOTS)
def test_it_stays_where_it_is_left(models, name):
    law = guiding(models[name], name)
    run, speeds = pushed(models[name], law, name, np.zeros(models[name].n), 5.0)
    np.testing.assert_allclose(run.plant.q, POSE[name], atol=1e-6)
    assert (speeds <= 1e-5 * models[name].model.velocity_limit).all()


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_a_hand_moves_it_and_what_moves_comes_to_rest(models, name):
    smooth = machine(name, coulomb=0.0)
    # All joints together, at 0.5 rad/s^2.
    push = 0.5 * smooth.mass_matrix(POSE[name]).sum(axis=1)
    law = guiding(smooth, name)
    run, speeds = pushed(smooth, law, name, push, 0.3)
    assert np.abs(run.plant.q - POSE[name]).max() > 0.005
    run.external = None
    zero = np.zeros(smooth.n)
    energy = []
    for _ in range(round(4.0 / run.period)):
        run.step((POSE[name], zero, zero))
        energy.append(smooth.kinetic_energy(run.plant.q, run.plant.qd))
    third = len(energy) // 3
    assert max(energy[third:]) < 0.6 * energy[0]
    assert energy[-1] < np.exp(-law.damping * 4.0) * energy[0]  # half of the rate without weight


@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_a_push_that_lasts_does_not_bring_it_to_speed(models, name):
    """Where the least damping alone would: the brake grows above the limit."""
    smooth = machine(name, coulomb=0.0)
    limit = SPEED * smooth.model.velocity_limit
    # What would bring the first joint to several times its limit.
    law = guiding(smooth, name)
    M = smooth.mass_matrix(POSE[name])
    push = np.zeros(smooth.n)
    push[0] = 4.0 * law.damping * M[0, 0] * limit[0]
    run, speeds = pushed(smooth, law, name, push, 4.0)
    assert speeds[:, 0].max() > 0.8 * limit[0]
    assert (speeds <= 2.0 * limit).all()


def test_above_the_speed_limit_damping_grows_towards_the_largest_that_is_stable(models):
    model, period, q = models['ur5'], PERIOD['ur5'], POSE['ur5']
    law = guiding(model, 'ur5')
    lowest, highest, _ = damping_range(model, period)
    assert law.damping == lowest < highest
    for share in (0.5, 0.99, 1.01, 1.2, 1.9):  # of the second joint's limit, the others' are less
        qd = share * SPEED * model.model.velocity_limit * [0.3, 1.0, -0.5, 0.2, 0.0, 0.9]
        damping = lowest + max(0.0, 1.0 - 1.0 / share) * (highest - lowest)
        expected = model.gravity_vector(q + period * qd) - damping * model.mass_matrix(q) @ qd
        effort = law(q, qd, (q, qd, qd), law.start(q), period)
        np.testing.assert_allclose(effort, expected, rtol=1e-12, atol=1e-12)


def test_a_robot_that_runs_is_refused_by_name(models):
    model = models['ur5']
    law = guiding(model, 'ur5')
    qd = np.array([0.0, 0.0, -1.6, 0.0, 0.5, 0.0])
    state, reference = law.start(POSE['ur5']), (POSE['ur5'], np.zeros(6), np.zeros(6))
    assert isinstance(state, LawState)
    with pytest.raises(SpeedLimitError, match="joint 'elbow_joint' moves at 1.6 under hand"):
        law(POSE['ur5'], qd, reference, state, 0.008)
    assert np.isnan(law(POSE['ur5'], np.full(6, np.nan), reference, state, 0.008)).all()


def test_references_play_no_part(models):
    law, q, qd = guiding(models['ur5'], 'ur5'), POSE['ur5'], 0.05 * np.ones(6)
    state = law.start(q)
    here, far = (law(q, qd, (x, 9 * x, 9 * x), state, 0.008) for x in (q, q + 1.0))
    np.testing.assert_array_equal(here, far)
    assert not law.follows_references


def test_effort_is_weight_brake_and_a_share_of_friction():
    model = machine('ur5', coulomb=0.02)
    q, qd, period = POSE['ur5'], 0.05 * np.arange(6.0), PERIOD['ur5']
    weight, M = model.gravity_vector(q + period * qd), model.mass_matrix(q)
    brake = 3.0 * M @ qd
    for share, terms, expected in (
        (0.0, None, weight - brake),
        (0.5, None, weight - brake + 0.5 * model.joint_friction(qd)),
        (0.9, None, weight - brake + 0.9 * model.joint_friction(qd)),
        (0.0, EffortTerms(frozenset({'inertia'}), frozenset({'gravity'})), -brake),
    ):
        law = guiding(model, 'ur5', damping=3.0, friction_share=share, terms=terms)
        effort = law(q, qd, (q, qd, qd), law.start(q), period)
        np.testing.assert_allclose(effort, expected, rtol=1e-12, atol=1e-12)
        assert law.terms == frozenset(
            ({'gravity'} if terms is None else set()) | ({'friction'} if share else set())
        )
    # Where states come late, the brake is what is stable then.
    law = guiding(model, 'ur5', damping=30.0)
    late = law(q, 0.1 * qd, (q, qd, qd), law.start(q), 0.05)
    expected = model.gravity_vector(q + period * 0.1 * qd) - 0.25 / 0.05 * M @ (0.1 * qd)
    np.testing.assert_allclose(late, expected, rtol=1e-12)


def test_what_cannot_be_is_refused(models):
    model = models['ur5']
    for changes, text in (
        ({'damping': 1e3}, "damping of control law 'gravity' is 1000 1/s, expected"),
        ({'damping': 0.01}, "damping of control law 'gravity' is 0.01 1/s, expected"),
        ({'friction_share': 0.91}, 'share of the friction compensated is 0.91, expected 0 to 0.9'),
        ({'friction_share': 1.0}, 'share of the friction compensated is 1, expected 0 to 0.9'),
        ({'speed_limit': np.zeros(6)}, "speed limit cannot be used for 'shoulder_pan_joint'"),
        ({'terms': EffortTerms(frozenset({'inertia'}))}, 'gravity is in neither terms nor'),
        (
            {'terms': EffortTerms(frozenset(TERMS) - {'friction'}), 'friction_share': 0.5},
            'terms leave friction out',
        ),
    ):
        with pytest.raises(ParameterError, match=text):
            guiding(model, 'ur5', **changes)
