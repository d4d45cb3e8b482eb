# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the efforts come from, what the drives add, and collisions by name."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import POSE, SampledRun, Swing, machine

from kron_dynamics.control import ComputedTorque
from kron_dynamics.control.external_effort.monitor import ExternalEffortMonitor
from kron_dynamics.control.terms import TERMS, EffortTerms
from kron_dynamics.exceptions import ParameterError

NAN = np.full(6, np.nan)


@pytest.fixture(scope='module')
def ur5(kernel_cache):
    return machine('ur5')


def at_rest(monitor, q, measured, command, count=40, h=0.01):
    """The last estimate of a robot that stands still under an effort."""
    estimate = None
    for k in range(count):
        monitor.commanded(command)
        estimate = monitor.update(k * h, q, np.zeros(6), measured)
    return estimate


def test_measured_efforts_are_preferred_and_commands_do_without(ur5):
    q, weight = POSE['ur5'], ur5.gravity_vector(POSE['ur5'])
    one, two = np.ones(6), 2.0 * np.ones(6)
    for source, measured, expected in (
        ('auto', weight - one, one),
        ('auto', NAN, two),
        ('auto', np.where(np.arange(6) == 2, np.nan, weight - one), two),
        ('measured', weight - one, one),
        ('commanded', weight - one, two),
    ):
        monitor = ExternalEffortMonitor(ur5, 5.0, source=source)
        estimate = at_rest(monitor, q, measured, weight - two)
        np.testing.assert_allclose(estimate, expected, rtol=1e-3)
    assert at_rest(ExternalEffortMonitor(ur5, 5.0, source='measured'), q, NAN, weight) is None
    assert at_rest(ExternalEffortMonitor(ur5, 5.0), q, NAN, None) is None


def test_a_change_of_the_source_is_no_push(ur5):
    q, weight = POSE['ur5'], ur5.gravity_vector(POSE['ur5'])
    monitor = ExternalEffortMonitor(ur5, 5.0)
    at_rest(monitor, q, weight, weight - 3.0)
    monitor.commanded(weight - 3.0)
    assert monitor.update(0.4, q, np.zeros(6), NAN) is None
    assert np.abs(monitor.update(0.41, q, np.zeros(6), NAN)).max() < 1.5


@pytest.mark.parametrize('drive', [{'gravity'}, {'gravity', 'coriolis'}])
def test_what_the_drives_add_is_no_external_effort(ur5, drive):
    """Commands without the weight, drives that carry it: in motion nothing is seen but delay."""
    terms = EffortTerms(frozenset(TERMS) - drive, frozenset(drive))
    law = ComputedTorque(ur5, np.full(6, 100.0), np.full(6, 20.0), terms=terms)

    def added(q, qd):
        return terms.drive_effort(ur5, q, qd)

    run = SampledRun(ur5, law, 0.008, POSE['ur5'], drive=added)
    swing = Swing.within(ur5, POSE['ur5'], 0.2)
    knows, ignores = (
        ExternalEffortMonitor(ur5, 5.0, source='commanded', terms=given) for given in (terms, None)
    )
    largest = np.zeros((2, 6))
    while run.time < 2.0:
        reference = swing(run.time)
        sample = run.step(reference)
        for row, monitor in enumerate((knows, ignores)):
            monitor.commanded(sample.command)
            estimate = monitor.update(sample.time, sample.q, sample.qd, NAN)
            if estimate is not None:
                largest[row] = np.maximum(largest[row], np.abs(estimate))
    assert np.abs(sample.q - reference[0]).max() < 0.01  # the drives carry their part
    assert largest[0].max() < 1.5
    assert largest[1].max() > 20.0


def test_other_terms_of_the_drives_are_no_push(ur5):
    q, weight = POSE['ur5'], ur5.gravity_vector(POSE['ur5'])
    monitor = ExternalEffortMonitor(ur5, 5.0, source='commanded')
    at_rest(monitor, q, NAN, weight - 1.0)
    monitor.terms = EffortTerms()  # the same as before: nothing starts anew
    monitor.commanded(weight - 1.0)
    np.testing.assert_allclose(monitor.update(0.4, q, np.zeros(6), NAN), 1.0, rtol=1e-3)
    monitor.terms = EffortTerms(frozenset(TERMS) - {'gravity'}, frozenset({'gravity'}))
    monitor.commanded(np.zeros(6))
    assert monitor.update(0.41, q, np.zeros(6), NAN) is None
    monitor.commanded(np.zeros(6))
    assert np.abs(monitor.update(0.42, q, np.zeros(6), NAN)).max() < 1e-9


def test_a_collision_names_joint_value_and_parameter(ur5):
    thresholds = np.array([np.inf, 12.0, np.inf, 5.0, np.inf, np.inf])
    monitor = ExternalEffortMonitor(ur5, 5.0, thresholds=thresholds)
    assert monitor.watches_for_collisions
    assert monitor.collision(np.array([1e9, -11.9, 1e9, 4.9, 0.0, 0.0])) is None
    reason = monitor.collision(np.array([1e9, -24.04, 0.0, 5.5, 0.0, 0.0]))
    assert reason == (
        "collision: external effort at joint 'shoulder_lift_joint' is -24.04 N m, expected at "
        'most 12 N m (collision_threshold.shoulder_lift_joint)'
    )
    assert not ExternalEffortMonitor(ur5, 5.0).watches_for_collisions


def test_unusable_arguments_are_named(ur5):
    with pytest.raises(ParameterError, match="source of the external efforts is 'guess'"):
        ExternalEffortMonitor(ur5, 5.0, source='guess')
    with pytest.raises(
        ParameterError, match="collision_threshold cannot be used for 'elbow_joint'"
    ):
        ExternalEffortMonitor(ur5, 5.0, thresholds=np.array([1, 1, -1, 1, 1, 1.0]))


@pytest.mark.filterwarnings('error')
def test_an_estimate_that_is_none_hides_no_collision(ur5):
    monitor = ExternalEffortMonitor(ur5, 5.0, thresholds=[np.inf, 10.0, 20.0, 5.0, np.inf, 5.0])
    for bad in (np.nan, np.inf, -np.inf):
        for other in (0.0, 50.0):
            said = monitor.collision(np.array([bad, 0.0, other, bad, bad, 0.0]))
            assert said is not None
            assert f"joint '{ur5.joint_names[3]}' is {bad:.4g}" in said
    assert monitor.collision(np.array([np.nan, 9.0, 20.0, 0.0, np.inf, -5.0])) is None
