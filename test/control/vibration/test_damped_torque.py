# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws with a memory: what the controller tells them, and how they get their gains."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics import control
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.control.vibration.feedforward import FollowedLinks
from kron_dynamics.exceptions import ModelError

HELD = np.array([0.2, -0.3])
LIMIT = np.array([30.0, 10.0])


class Recorder(control.ControlLaw):
    """Asks for more than the limit, and notes what it hears."""

    def __init__(self):
        self.heard = []
        self.trouble = None

    def start(self, q):
        if self.trouble is not None:
            raise self.trouble
        self.heard.append(('start', q.tolist()))
        return RecorderState(self.heard)

    def __call__(self, q, qd, reference, state, elapsed):
        if self.trouble is not None:
            raise self.trouble
        self.heard.append(('call', round(elapsed, 6)))
        return 2.0 * LIMIT


class RecorderState(control.LawState):
    def __init__(self, heard):
        self.heard = heard

    def set_applied_effort(self, effort):
        self.heard.append(('applied', effort.tolist()))

    @property
    def deflection(self):
        return np.array([0.1]), np.array([0.2])


@pytest.fixture
def recorded(arm):
    law = Recorder()
    controller = TrackingController(
        arm,
        law,
        control.GravityHold(arm, period=0.02),
        control.CommandGuard(LIMIT, np.full(2, np.inf), arm.joint_names),
        fault_action=control.FaultAction.HOLD_GRAVITY,
        start_tolerance=np.array([0.01, 0.01]),
        effort_limit=LIMIT,
        longest_gap=1.0,
        period=0.02,
    )
    controller.start(HELD, np.zeros(2))
    return law, controller


def test_a_law_hears_when_it_starts_how_much_time_passes_and_what_is_sent(recorded):
    law, controller = recorded
    for time in (10.0, 10.02, 10.01):
        command = controller.update(HELD, np.zeros(2), time, time)
        np.testing.assert_array_equal(command.deflection, ([0.1], [0.2]))
    # The first command goes on with the effort that was measured, 0.
    efforts, times = [np.zeros(2), LIMIT, LIMIT], [0.0, 0.02, 0.0]
    cycles = [
        note
        for effort, elapsed in zip(efforts, times, strict=True)
        for note in (('call', elapsed), ('applied', effort.tolist()))
    ]
    assert law.heard == [('start', HELD.tolist()), *cycles]
    controller.latch.trip('trouble', 0.0)
    assert controller.clear(None, HELD + 0.1, np.zeros(2))
    assert law.heard[-1] == ('start', (HELD + 0.1).tolist())


def test_links_that_give_way_are_a_fault(recorded):
    law, controller = recorded
    law.trouble = ModelError('the links give way')
    assert controller.update(HELD, np.zeros(2), 10.0, 0.0) is None
    assert controller.latch.reason == 'the links give way'


def test_no_fault_is_cleared_where_the_links_give_way(recorded):
    law, controller = recorded
    controller.latch.trip('trouble', 0.0)
    held = controller.fault_effort_without_state(1.0)
    law.trouble = ModelError('the links give way')
    with pytest.raises(ModelError, match='give way'):
        controller.clear(None, HELD + 0.1, np.zeros(2))
    assert controller.latch.reason == 'trouble'
    np.testing.assert_array_equal(controller.fault_effort_without_state(1.0), held)
    law.trouble = None
    assert controller.clear(None, HELD + 0.1, np.zeros(2))
    assert not controller.latch.faulted


class Damper:
    """Stands for a `VibrationDamper` and its gains."""

    def __init__(self):
        self.gains = SimpleNamespace(period=0.02, name='first')
        self.deflection = self.deflection_rate = np.zeros(1)

    def reset(self):
        pass

    def update(self, *arguments):
        return np.zeros(2)


class Later:
    """An executor that does its jobs when it is told to."""

    def __init__(self):
        self.jobs = []

    def submit(self, function, *arguments):
        job = Future()
        self.jobs.append((job, function, arguments))
        return job

    def work(self):
        for job, function, arguments in self.jobs:
            try:
                job.set_result(function(*arguments))
            except ModelError as error:
                job.set_exception(error)
        done, self.jobs = len(self.jobs), []
        return done


@pytest.fixture
def damped(arm):
    """A law whose gains are made of the pose, and fail behind 1 rad."""

    def gains_at(q):
        if q[0] > 1.0:
            raise ModelError('no gains there')
        return SimpleNamespace(period=0.02, name=q.tolist())

    links = SimpleNamespace(
        vibrating=False,
        start=lambda q: FollowedLinks(np.zeros(1), np.zeros(1)),
        follow=lambda *motion: np.zeros(2),
    )
    damper, later = Damper(), Later()
    law = control.DampedTorque(arm, links, damper, gains_at, later, compensate_friction=False)
    state = law.start(HELD)

    def go_on(q, duration, period=0.02):
        for _ in range(round(duration / period)):
            law(q, np.zeros(2), (q, np.zeros(2), np.zeros(2)), state, period)

    return SimpleNamespace(law=law, state=state, later=later, go_on=go_on)


def test_gains_for_the_pose_are_made_in_the_background(damped):
    damped.go_on(HELD, 0.4)
    assert not damped.later.jobs
    damped.go_on(HELD, 5.0)
    assert damped.state.damper.gains.name == 'first'
    assert damped.later.work() == 1  # one at a time
    damped.go_on(HELD, 0.02)
    assert damped.state.damper.gains.name == HELD.tolist()
    assert damped.state.problem is None


def test_runs_of_one_law_do_not_know_of_each_other_but_for_the_newest_gains(damped):
    other = damped.law.start(HELD)
    damped.go_on(HELD, 1.0)
    damped.later.work()
    damped.go_on(HELD, 2.0, period=0.01)
    assert damped.state.problem is not None
    assert (other.problem, other.job, other.since_job) == (None, None, 0.0)
    assert other.damper.gains.name == 'first'
    assert damped.law.start(HELD).damper.gains.name == HELD.tolist()


def test_where_there_are_no_gains_the_former_ones_stay_and_that_is_told(damped):
    far = HELD + [1.0, 0.0]
    damped.go_on(far, 1.0)
    damped.later.work()
    damped.go_on(far, 0.02)
    assert damped.state.damper.gains.name == 'first'
    assert damped.state.problem == 'no gains there'
    for _ in range(2):  # one for the far pose is under way
        damped.go_on(HELD, 1.0)
        damped.later.work()
    damped.go_on(HELD, 0.02)
    assert damped.state.problem is None
    assert damped.state.damper.gains.name == HELD.tolist()


def test_states_at_another_rate_than_that_of_the_gains_are_told(damped):
    damped.go_on(HELD, 2.0, period=0.021)
    assert damped.state.problem is None
    damped.go_on(HELD, 2.0, period=0.01)
    assert damped.state.problem == 'states come every 0.0102 s, gains are for 0.02 s'


@pytest.mark.parametrize(('vibrating', 'total'), [(False, (0.3, -0.5)), (True, (0.4, -0.3))])
def test_links_bend_by_what_the_reference_does_and_what_is_estimated(arm, vibrating, total):
    links = SimpleNamespace(
        vibrating=vibrating, start=lambda q: FollowedLinks(np.array([0.1]), np.array([0.2]))
    )
    damper = Damper()
    damper.deflection, damper.deflection_rate = np.array([0.3]), np.array([-0.5])
    law = control.DampedTorque(arm, links, damper, lambda q: damper.gains, Later())
    np.testing.assert_allclose(np.ravel(law.start(HELD).deflection), total)
