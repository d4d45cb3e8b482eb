# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts ahead of their state make up for delay and hold, on three machines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from long_runs import some_of
from sampled_runs import PERIOD, POSE, machine

from kron_dynamics.control import ControlSettings, assembled_controller
from kron_dynamics.control.effort_lead import EffortLead
from kron_dynamics.control.reference.stream import ReferenceStream
from kron_dynamics.control.terms import TERMS, EffortTerms
from kron_dynamics.exceptions import ArgumentTypeError, ParameterError
from kron_dynamics.simulation.plant import Plant

# Bandwidth, Hz; time of a motion, s; its share of the velocity limits.
MOTION = {'stacker': (0.3, 20.0, 0.3), 'ur5': (2.0, 1.5, 0.6), 'panda': (3.0, 1.5, 0.6)}


def settings(robot, name, **changes):
    one, f = np.ones(robot.n), 2.0 * np.pi * MOTION[name][0]
    return ControlSettings(
        **{
            'kp': f**2 * one,
            'kd': 2.0 * f * one,
            'effort_limit': robot.model.effort_limit,
            'rate_limit': np.inf * one,
            'start_tolerance': 0.01 * one,
            'resolution': 1e-5 * one,
            'period': PERIOD[name],
            'state_timeout': 0.2,
            **changes,
        }
    )


def controller(robot, name, **changes):
    with ThreadPoolExecutor(1) as background:
        chosen = settings(robot, name, **changes)
        return assembled_controller(chosen, robot, robot, POSE[name], background)


def tracked(name, lead, friction=0.0, **changes):
    """Follow a motion of all joints, efforts a period late; errors (K, n) and efforts (K, n)."""
    robot = machine(name, friction=friction)
    _, duration, share = MOTION[name]
    ways = np.where(np.arange(robot.n) % 2, -1.0, 1.0)
    goal = POSE[name] + share * duration / 1.875 * robot.model.velocity_limit * ways * 0.7
    control = controller(robot, name, effort_lead=lead, **changes)
    plant, acting = Plant(robot, POSE[name]), robot.gravity_vector(POSE[name])
    control.start(POSE[name], acting)
    rest = np.zeros((2, robot.n))
    control.set_reference([0.0, duration], [POSE[name], goal], rest, rest, start_time=0.0)
    errors, efforts = [], []
    for k in range(round(duration / PERIOD[name])):
        time = k * PERIOD[name]
        command = control.update(plant.q.copy(), plant.qd.copy(), time, time)
        assert command is not None, control.latch.reason
        errors.append(plant.q - command.q_ref)
        efforts.append(command.effort)
        plant.advance(acting, PERIOD[name], PERIOD[name] / 10)
        acting = command.effort
    return np.array(errors), np.array(efforts)


def rms(errors):
    return np.sqrt(np.mean(np.square(errors), axis=0))


@pytest.mark.parametrize('name', some_of(PERIOD, ['stacker', 'panda']))
def test_errors_of_delay_and_hold_are_gone(name):
    """A period late and held for one: efforts are 1.5 periods late on average."""
    period = PERIOD[name]
    late, half, right = (rms(tracked(name, lead * period)[0]) for lead in (0.0, 0.5, 1.5))
    np.testing.assert_allclose(half / late, 2.0 / 3.0, atol=0.05)
    assert (right < 0.1 * late).all()


@pytest.mark.parametrize('name', some_of(PERIOD, ['stacker', 'panda']))
def test_with_friction_and_drives_that_are_slow_it_does_little_harm(name):
    period = PERIOD[name]
    late, efforts = tracked(name, 0.0, friction=1.0)
    assert (rms(tracked(name, 1.5 * period, friction=1.0)[0]) < 1.05 * rms(late)).all()
    steepest = np.abs(np.diff(efforts, axis=0)).max(axis=0) / period
    slow = {'friction': 1.0, 'rate_limit': 0.5 * steepest}
    held_up, _ = tracked(name, 0.0, **slow)
    errors, efforts = tracked(name, 1.5 * period, **slow)
    assert (np.abs(np.diff(efforts, axis=0)) <= 0.5 * steepest * period * (1.0 + 1e-9)).all()
    assert (rms(errors) < 1.1 * rms(held_up)).all()


def followed(robot, name, times, points, rates=None):
    """What a machine at rest follows from now on."""
    control = controller(robot, name)
    control.start(points[0], robot.gravity_vector(points[0]))
    control.set_reference(times, points, rates, None, start_time=0.0)
    control.references.sample(0.0)
    return control.references


def test_it_is_what_the_efforts_of_the_reference_change_by(assert_close):
    robot = machine('panda')
    rng = np.random.default_rng(2)
    points = POSE['panda'] + 0.05 * rng.standard_normal((4, 7))
    references = followed(robot, 'panda', [0.0, 0.7, 1.1, 2.0], points)
    lead = 1e-5
    ahead = EffortLead(robot, lead)
    for t in (0.2, 0.9, 1.6):
        now, then = (robot.inverse_dynamics(*references.sample(at)) for at in (t, t + lead))
        added = ahead.effort(references.sample(t), references.jerk(t, lead))
        assert_close(added, then - now, 1e-3)
    assert not references.jerk(5.0, lead).any()  # what holds has no rate
    assert not ahead.effort(references.sample(5.0), np.zeros(7)).any()


def test_leaps_of_the_acceleration_are_ahead_and_nothing_goes_on_beyond_them(assert_close):
    """Cubic pieces: the derivative before a leap says nothing of what comes after it."""
    robot = machine('ur5')
    goal, rest = POSE['ur5'] + 0.1, np.zeros(6)
    times, points = [0.0, 1.0, 2.0], [POSE['ur5'], POSE['ur5'] + 0.06, goal]
    references = followed(robot, 'ur5', times, points, [rest, rest + 0.03, rest])
    lead = 0.012
    ahead = EffortLead(robot, lead)
    for t in (1.0 - 0.5 * lead, 2.0 - 0.5 * lead):
        now, then = references.sample(t), references.sample(t + lead)
        leap = robot.inverse_dynamics(*then) - robot.inverse_dynamics(*now)
        added = ahead.effort(now, references.jerk(t, lead))
        assert np.abs(leap).max() > 0.05
        np.testing.assert_allclose(added, leap, rtol=0, atol=0.02 * np.abs(leap).max())


def test_it_does_not_look_beyond_a_reference_that_waits():
    robot = machine('ur5')
    control = controller(robot, 'ur5')
    control.start(POSE['ur5'], robot.gravity_vector(POSE['ur5']))
    rest = np.zeros((2, 6))
    for start, goal in ((0.0, 0.1), (0.5, 0.3)):
        points = [POSE['ur5'], POSE['ur5'] + goal]
        if start:
            points[0] = control.references.sample(start)[0]
            rest[0] = control.references.sample(start)[1]
        control.set_reference([0.0, 1.0], points, rest, None, start_time=start)
    references = control.references
    before = 0.5 - 1e-3
    change = references.present.followed.sample(0.5)[2] - references.sample(before)[2]
    np.testing.assert_allclose(references.jerk(before, 0.1), change / 0.1, rtol=1e-12)


def test_the_integral_does_not_take_it_for_a_limit():
    """It would add to itself what it did not ask for: back-calculation."""
    name = 'ur5'
    period, one = PERIOD[name], 2.0 * np.pi * MOTION[name][0] * np.ones(6)
    integral = {'kp': 3.0 * one**2, 'kd': 3.0 * one, 'ki': one**3}
    late, right = (rms(tracked(name, lead * period, **integral)[0]) for lead in (0.0, 1.5))
    assert (right < 0.12 * late).all()


def test_laws_hear_of_limits_and_not_of_the_lead():
    """Their filters would take it for an effort that moves the machine off the reference."""
    robot = machine('ur5')
    period = PERIOD['ur5']
    for rate_limit in (np.inf, 1.0):
        control = controller(robot, 'ur5', effort_lead=period, rate_limit=rate_limit * np.ones(6))
        weight = robot.gravity_vector(POSE['ur5'])
        control.start(POSE['ur5'], weight)
        goal = [POSE['ur5'], POSE['ur5'] + 0.2]
        control.set_reference([0.0, 1.0], goal, np.zeros((2, 6)), None, start_time=0.0)
        told = []
        control._law_state = SimpleNamespace(set_applied_effort=told.append, deflection=None)
        control.update(POSE['ur5'], np.zeros(6), 0.0, 0.0)
        command = control.update(POSE['ur5'], np.zeros(6), period, period)
        wanted = control.law.effort(POSE['ur5'], np.zeros(6), control.reference_at(period))
        added = EffortLead(robot, period).effort(
            control.reference_at(period), control.references.jerk(period, period)
        )
        assert np.abs(added).min() > 1e-3
        np.testing.assert_allclose(command.effort - added, told[1], rtol=1e-12)
        assert np.allclose(told[1], wanted, rtol=1e-9) == (rate_limit == np.inf)


@pytest.mark.parametrize('known', [1, 2])
def test_streamed_points_do_not_suffer(known):
    """What comes after them is not known: not the stop that is planned, nor the same jerk."""
    robot = machine('ur5')
    period, duration = PERIOD['ur5'], 1.6

    def point(t):
        w = 2.0 * np.pi / duration
        s, c = np.sin(w * t), np.cos(w * t)
        return POSE['ur5'] + 0.08 * s**3, np.full(6, 0.24 * w * s * s * c)

    def errors(lead):
        control = controller(robot, 'ur5', effort_lead=lead)
        plant, acting = Plant(robot, POSE['ur5']), robot.gravity_vector(POSE['ur5'])
        control.start(POSE['ur5'], acting)
        stream, found = ReferenceStream(control.references, 0.2), []
        for k in range(round(duration / period) - known):
            command = control.update(plant.q.copy(), plant.qd.copy(), k * period, 0.0)
            found.append(plant.q - command.q_ref)
            stream.take(*point((k + known) * period), None, known * period)
            plant.advance(acting, period, period / 10)
            acting = command.effort
        assert stream.counts.followed == len(found)
        return np.array(found)

    late = rms(errors(0.0))
    for lead in (0.5, 1.5):
        assert (rms(errors(lead * period)) < 1.2 * late).all()


def test_drives_that_carry_the_weight_get_no_rate_of_it():
    robot = machine('panda')
    rng = np.random.default_rng(4)
    q, qd, qdd, jerk = POSE['panda'], *rng.standard_normal((3, 7))
    lead = 1e-3
    franka = EffortTerms(frozenset(TERMS) - {'gravity'}, frozenset({'gravity'}))
    whole = EffortLead(robot, lead).effort((q, qd, qdd), jerk)
    rest = EffortLead(robot, lead, terms=franka).effort((q, qd, qdd), jerk)
    h = 1e-5
    slope = (robot.gravity_vector(q + h * qd) - robot.gravity_vector(q - h * qd)) / (2.0 * h)
    np.testing.assert_allclose(
        whole - rest, lead * slope, rtol=0, atol=1e-2 * np.abs(lead * slope).max()
    )
    assert np.abs(slope).max() > 1.0


@pytest.mark.parametrize('left_out', ['inertia', 'coriolis'])
def test_terms_that_cannot_be_told_apart_are_refused(left_out):
    terms = EffortTerms(frozenset(TERMS) - {left_out})
    with pytest.raises(ParameterError, match='effort_lead is 0.012 s: expected inertia and cor'):
        controller(machine('ur5'), 'ur5', effort_lead=0.012, terms=terms)


@pytest.mark.parametrize('law', ['pd', 'gravity'])
def test_laws_without_the_model_have_no_lead(law):
    robot = machine('ur5')
    with_lead, without = (
        controller(robot, 'ur5', law=law, effort_lead=lead, kp=np.ones(6), kd=2.0 * np.ones(6))
        for lead in (0.02, 0.0)
    )
    for control in (with_lead, without):
        control.start(POSE['ur5'], robot.gravity_vector(POSE['ur5']))
    if law == 'pd':
        for control in (with_lead, without):
            points = [POSE['ur5'], POSE['ur5'] + 0.1]
            control.set_reference([0.0, 1.0], points, None, None, start_time=0.0)
    efforts = [
        control.update(POSE['ur5'], np.zeros(6), 0.3, 0.3).effort
        for control in (with_lead, without)
    ]
    np.testing.assert_array_equal(*efforts)


@pytest.mark.parametrize('lead', [-0.1, 0.0, np.nan, np.inf])
def test_a_lead_that_is_no_time_is_refused(lead):
    with pytest.raises(ParameterError, match='effort_lead is'):
        EffortLead(machine('ur5'), lead)


@pytest.mark.parametrize('lead', ['1', None, 1j])
def test_a_lead_that_is_no_number_is_refused(lead):
    with pytest.raises(ArgumentTypeError, match='effort_lead is'):
        EffortLead(machine('ur5'), lead)
