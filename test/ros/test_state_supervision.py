# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states of publishers that share the joints: their times, and what is plausible."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
from sampled_runs import ROBOTS, machine

from kron_dynamics.control import JointStateAssembler

with contextlib.suppress(ImportError):  # then these tests are not collected
    from rclpy.serialization import serialize_message

    from kron_dynamics.ros.conversions import joint_state, stamp_from
    from kron_dynamics.ros.state_supervision import StateSupervision

pytestmark = pytest.mark.ros

START = 100.0


class Shared:
    """The supervision of a machine, half of whose joints each publisher has."""

    def __init__(self, name):
        self.robot = machine(name)
        names = self.robot.joint_names
        values = {'state_timeout': 0.5, 'velocity_fault_factor': 1.5}
        settings = SimpleNamespace(
            value=values.__getitem__, per_joint=lambda pattern, joints: np.zeros(len(joints))
        )
        self.warnings = []
        log = SimpleNamespace(warning=lambda text, **throttle: self.warnings.append(text))
        clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=1e9 * self.clock))
        node = SimpleNamespace(get_logger=lambda: log, get_clock=lambda: clock)
        self.clock = self.now = START
        self.supervision = StateSupervision(
            node, settings, self.robot, JointStateAssembler(names, timeout=0.5)
        )
        model = self.robot.model
        self.lower = np.where(np.isfinite(model.position_lower), model.position_lower, -1.0)
        self.upper = np.where(np.isfinite(model.position_upper), model.position_upper, 1.0)
        half = len(names) // 2
        self.parts = slice(half), slice(half, None)

    def receive(self, part, q, qd, stamp):
        """Receive the part of a state that one publisher has; without a stamp if it is 0."""
        self.now += 1e-3
        k = self.parts[part]
        message = joint_state(stamp_from(stamp), self.robot.joint_names[k], q[k], qd[k], None)
        return self.supervision.receive(bytes(serialize_message(message)), {}, self.now)


@pytest.fixture(params=ROBOTS)
def shared(request, kernel_cache):
    return Shared(request.param)


@pytest.mark.parametrize('late', [0.0, 0.03, -0.03], ids=['equal', 'later', 'older'])
def test_motion_within_the_limits_is_plausible_at_any_period(shared, late):
    """At the velocity limit a joint moves by twice the allowed jump in a period."""
    period, limit = 0.1, shared.robot.model.velocity_limit
    speed = np.minimum(limit, (shared.upper - shared.lower) / (12 * period))
    q = (shared.upper + shared.lower) / 2 - 5 * period * speed
    for k in range(10):
        time = START + k * period
        for part, stamp in enumerate((time, time + late)):
            received = shared.receive(part, q + k * period * speed, speed, stamp)
            assert received.problem is None
            assert (received.state is None) == (k == part == 0)


def test_joints_of_others_tell_nothing_about_the_clock(shared):
    """A tool's, without stamps, beside a machine whose states are stamped."""
    q, rest = (shared.upper + shared.lower) / 2, np.zeros(shared.robot.n)
    tool = joint_state(stamp_from(0.0), ['tool'], np.zeros(1), np.zeros(1), None)
    for k, clock in enumerate((START, START - 0.5, START - 50.0)):
        shared.clock = clock
        received = shared.supervision.receive(bytes(serialize_message(tool)), {}, shared.now)
        assert received.problem is None
        states = [shared.receive(part, q, rest, START + 0.02 * k) for part in (0, 1)]
        assert [each.problem for each in states] == [None, None]
        assert states[1].state is not None
    assert 'clock stepped back' not in shared.supervision._assembler.rejections


def test_joints_of_others_are_no_states_that_are_dropped(shared):
    """A gripper beside an arm: neither a warning for ever nor the reason of a silence."""
    q, rest = (shared.upper + shared.lower) / 2, np.zeros(shared.robot.n)
    names = shared.robot.joint_names
    for k in range(3):
        for part in (0, 1):
            shared.receive(part, q, rest, START + 0.02 * k)
    for stamp, others in ((0.0, ['tool']), (START + 1.0, ['tool', 'finger'])):
        zero = np.zeros(len(others))
        tool = joint_state(stamp_from(stamp), others, zero, zero, None)
        shared.now += 1.0
        received = shared.supervision.receive(bytes(serialize_message(tool)), {}, shared.now)
        assert received.state is None
    assert shared.warnings == []
    assert 'not fresh' in shared.supervision.problem(shared.now)
    assert 'dropped' not in shared.supervision.problem(shared.now)
    # A message of the machine's own that cannot be used is told, as is one without joints.
    for own in ([], names):
        bad = joint_state(stamp_from(START + 2.0), own, np.zeros(3), np.zeros(2), None)
        shared.supervision.receive(bytes(serialize_message(bad)), {}, shared.now)
        assert 'joint state dropped' in shared.warnings.pop()
    assert 'states arrive and are dropped' in shared.supervision.problem(shared.now)


@pytest.mark.parametrize('part', [0, 1])
def test_a_jump_is_found_however_long_the_joint_rested(shared, part):
    period, limit = 0.02, shared.robot.model.velocity_limit
    q, rest = (shared.upper + shared.lower) / 2, np.zeros(shared.robot.n)

    def received(k, q):
        return [shared.receive(p, q, rest, START + k * period) for p in (0, 1)]

    for k in range(100):
        last = received(k, q)
    assert all(answer.state is not None for answer in last)
    joint = shared.parts[part].start or 0
    jumped = q.copy()
    jumped[joint] += 3.0 * period * limit[joint] + 0.05 * limit[joint]
    verdicts = [answer.state is not None for answer in received(100, jumped)]
    assert verdicts == [part == 1, False]
    assert received(101, q)[1].state is not None


def test_time_does_not_go_back_whoever_stamps(shared):
    """One publisher stamps its states, which take a while; the other leaves that to the node."""
    q, rest, delay = (shared.upper + shared.lower) / 2, np.zeros(shared.robot.n), 0.015
    times = []
    for k in range(20):
        shared.clock = START + 0.02 * k
        for part, stamp in ((1, 0.0), (0, shared.clock - delay)):
            received = shared.receive(part, q, rest, stamp)
            assert received.problem is None
            times.append(received.time)
    assert times == sorted(times)
    assert times[-1] == pytest.approx(shared.clock)
    # A clock that was set is a fault, and what counts from then on.
    shared.clock = START - 50.0
    received = shared.receive(1, q, rest, 0.0)
    assert 'clock stepped back' in received.problem
    assert received.time == pytest.approx(shared.clock)


def test_time_begins_anew_with_the_stamps(shared):
    q, rest = (shared.upper + shared.lower) / 2, np.zeros(shared.robot.n)
    for part in (0, 1):
        shared.receive(part, q, rest, START)
    for part, problem in ((0, 'stamps of joint_states stepped back'), (1, None)):
        received = shared.receive(part, q, rest, START - 50.0)
        assert (received.problem, received.time) == (problem, START - 50.0)
