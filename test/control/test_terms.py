# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every term of the model is in the commands or not, and nothing is compensated twice."""

from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sampled_runs import POSE, SampledRun, Swing, machine
from settings_of_controllers import settings

import kron_dynamics as kd
from kron_dynamics.control import (
    ComputedTorque,
    FaultAction,
    assembled_controller,
)
from kron_dynamics.control.terms import TERMS, EffortTerms, in_order
from kron_dynamics.exceptions import ParameterError, TrajectoryError

pytestmark = pytest.mark.interpreted

PERIOD = 0.008
ALL = frozenset(TERMS)
FRANKA = EffortTerms(ALL - {'gravity'}, frozenset({'gravity'}))


@pytest.fixture(scope='module')
def ur5(kernel_cache):
    return machine('ur5', coulomb=0.02)


def controller(robot, **changes):
    with ThreadPoolExecutor(1) as background:
        return assembled_controller(
            settings(robot, period=PERIOD, **changes), robot, robot, POSE['ur5'], background
        )


def test_a_law_that_does_not_exist_is_refused(ur5):
    with pytest.raises(ParameterError, match="law is 'magic', expected one of computed"):
        controller(ur5, law='magic')


@pytest.mark.parametrize('limit', [np.inf, 0.0])
def test_hand_guiding_without_a_velocity_limit_names_parameter_and_remedy(ur5, limit):
    limits = np.append(limit, ur5.model.velocity_limit[1:])
    unlimited = kd.Robot(dataclasses.replace(ur5.model, velocity_limit=limits))
    said = f"'shoulder_pan_joint' has velocity limit {limit:g}, expected one above 0 in the URDF"
    with pytest.raises(ParameterError, match=said) as caught:
        controller(unlimited, law='gravity')
    assert 'hand_guiding_speed' in str(caught.value)


def test_each_term_is_there_or_not(ur5):
    rng = np.random.default_rng(0)
    q, qd = POSE['ur5'] + 0.1 * rng.standard_normal(6), rng.standard_normal(6)
    q_ref, qd_ref, qdd_ref = q + 0.01, qd + 0.1, rng.standard_normal(6)
    M = ur5.mass_matrix(q)
    parts = {
        'inertia': M @ qdd_ref,
        'coriolis': ur5.coriolis_vector(q, qd),
        'gravity': ur5.gravity_vector(q),
        'friction': ur5.joint_friction(qd_ref),
    }
    feedback = M @ (100.0 * (q_ref - q) + 20.0 * (qd_ref - qd))
    for count in range(5):
        for chosen in itertools.combinations(parts, count):
            law = ComputedTorque(
                ur5, np.full(6, 100.0), np.full(6, 20.0), terms=EffortTerms(frozenset(chosen))
            )
            expected = feedback + sum(parts[name] for name in chosen)
            effort = law(q, qd, (q_ref, qd_ref, qdd_ref))
            np.testing.assert_allclose(effort, expected, rtol=1e-9, atol=1e-9)
            assert law.terms == frozenset(chosen)


def test_a_term_in_both_would_be_compensated_twice():
    with pytest.raises(ParameterError) as refusal:
        EffortTerms(ALL, frozenset({'gravity', 'friction'}))
    assert str(refusal.value) == (
        'terms and drive_terms both have gravity, friction, which would be compensated twice; '
        'expected terms [inertia, coriolis, flexible] if the drives add it'
    )
    with pytest.raises(ParameterError, match="terms has 'gravitiy', expected some of inertia"):
        EffortTerms(frozenset({'gravitiy'}))
    with pytest.raises(ParameterError, match="drive_terms has 'inertia', expected some of cor"):
        EffortTerms(frozenset(), frozenset({'inertia'}))
    assert in_order({'gravity', 'inertia'}) == ['inertia', 'gravity']


def test_a_robot_whose_drives_carry_the_weight_is_tracked_as_well(ur5):
    """Commands and drives together are what the commands are alone; a drive twice is not."""
    swing = Swing.within(ur5, POSE['ur5'], 0.2)
    last = []
    for terms, added in (
        (EffortTerms(), None),
        (FRANKA, FRANKA),
        (EffortTerms(), FRANKA),
    ):
        law = ComputedTorque(ur5, np.full(6, 100.0), np.full(6, 20.0), terms=terms)
        drive = None if added is None else lambda q, qd: FRANKA.drive_effort(ur5, q, qd)
        run = SampledRun(ur5, law, PERIOD, POSE['ur5'], drive=drive)
        worst = 0.0
        while run.time < 2.0:
            reference = swing(run.time)
            worst = max(worst, np.abs(run.step(reference).q - reference[0]).max())
        last.append(worst)
    assert last[1] < 2.0 * last[0]
    assert last[2] > 10.0 * last[0]


@pytest.mark.parametrize('action', list(FaultAction))
def test_no_fault_action_adds_the_weight_twice(ur5, action):
    q, qd, zero = POSE['ur5'], 0.01 * np.ones(6), np.zeros(6)
    measured = ur5.gravity_vector(q) + 1.0
    efforts = []
    for terms in (EffortTerms(), FRANKA):
        control = controller(ur5, terms=terms, fault_action=action, hold_damping=5.0)
        control.start(q, measured)
        first = control.guard.last
        control.update(q, zero, 10.0, 0.0)
        control.latch.trip('test', 0.0)
        efforts.append(
            [
                first,
                control.fault_effort(q, qd, 10.0, PERIOD),
                control.fault_effort_without_state(PERIOD),
                control.last_effort(q),
            ]
        )
    whole, part = efforts
    weight = ur5.gravity_vector(q)
    np.testing.assert_allclose(part[0], whole[0] - weight)  # measured are the drives' terms too
    ahead = ur5.gravity_vector(q + PERIOD * qd)
    for mine, theirs, carried in zip(whole[1:], part[1:], (ahead, weight, weight), strict=True):
        if action is FaultAction.STOP_PUBLISHING:
            assert mine is theirs is None
            continue
        added = carried if action is FaultAction.HOLD_GRAVITY else zero
        np.testing.assert_allclose(mine - theirs, added, atol=1e-9)
    if action is FaultAction.HOLD_GRAVITY:
        assert np.abs(whole[2] - weight).max() < 1e-9


def test_hold_gravity_must_know_who_carries_the_weight(ur5):
    nobody = EffortTerms(ALL - {'gravity'})
    with pytest.raises(ParameterError, match='gravity is in neither terms nor drive_terms'):
        controller(ur5, terms=nobody)
    controller(ur5, terms=nobody, fault_action=FaultAction.ZERO)


def test_vibration_damping_needs_the_whole_effort(ur5):
    for terms in (FRANKA, EffortTerms(ALL - {'coriolis'})):
        with pytest.raises(ParameterError, match='vibration_damping predicts the links'):
            controller(ur5, terms=terms, damping=True)
    with pytest.raises(ParameterError, match='vibration_damping estimates slow efforts itself'):
        controller(ur5, ki=np.ones(6), damping=True)


def test_hand_guiding_refuses_references_and_faults_where_it_runs(ur5):
    control = controller(ur5, law='gravity')
    q, zero = POSE['ur5'], np.zeros(6)
    control.start(q, np.full(6, np.nan))
    for k in range(3):
        moved = q + 0.1 * k
        command = control.update(moved, zero, 10.0 + PERIOD * k, 0.0)
        np.testing.assert_allclose(command.effort, ur5.gravity_vector(moved))
        np.testing.assert_array_equal(command.q_ref, moved)  # there is no error to speak of
    with pytest.raises(TrajectoryError, match='guided by hand: control law "gravity" follows no'):
        control.set_reference([1.0], [q], None, None, start_time=11.0)
    assert not control.latch.faulted
    assert control.update(moved, np.full(6, 2.0), 10.1, 0.0) is None
    assert 'under hand guiding' in control.latch.reason
    assert control.fault_effort(moved, np.full(6, 2.0), 10.11, PERIOD) is not None


def test_gains_that_are_unstable_at_the_period_are_refused(ur5):
    with pytest.raises(ParameterError, match='unstable with states 0.008 s apart'):
        controller(ur5, kd=np.full(6, 140.0))
    with pytest.raises(ParameterError, match="'pd' with these gains, in the pose"):
        controller(ur5, law='pd', kd=np.full(6, 60.0))
    integral = controller(ur5, ki=np.array([0, 300.0, 0, 0, 0, 0]))
    assert integral.law.terms == ALL - {'flexible'}
    plain = controller(ur5, ki=np.zeros(6))
    assert type(plain.law) is ComputedTorque
