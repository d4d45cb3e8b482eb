# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References that are shaped in the background: never waited for, never followed after a fault."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.control import CommandGuard, ComputedTorque, FaultAction, ReferenceShaping
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import TrajectoryError

with contextlib.suppress(ImportError):  # then these tests are not collected
    from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros

URDF = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
HELD, GOAL = np.array([0.2, -0.3]), np.array([0.5, 0.1])
MODES = np.array([5.0]), np.array([0.02])


class Logger:
    """Keeps what is said."""

    def __init__(self):
        self.lines = []

    def info(self, line):
        self.lines.append(line)

    warning = info


class Worker:
    """An executor whose jobs are done when the test says so."""

    def __init__(self):
        self.waiting = []

    def submit(self, function):
        job = Future()
        self.waiting.append((job, function))
        return job

    def finish(self):
        for job, function in self.waiting:
            try:
                job.set_result(function())
            except kd.KronDynamicsError as error:
                job.set_exception(error)
        self.waiting = []


class Desk:
    """A controller with its reference input; states come when the test says so."""

    def __init__(self, shaping=ReferenceShaping('zv', lambda q: MODES)):  # noqa: B008
        from kron_dynamics.ros.reference_input import ReferenceInput

        robot = kd.load(URDF)
        self.robot = robot
        self.controller = TrackingController(
            robot,
            ComputedTorque(robot, np.full(2, 100.0), np.full(2, 20.0)),
            None,
            CommandGuard(np.full(2, 1e4), np.full(2, np.inf), robot.joint_names),
            fault_action=FaultAction.ZERO,
            start_tolerance=np.full(2, 0.01),
            effort_limit=np.full(2, 1e4),
            longest_gap=5.0,
            period=0.02,
            shaping=shaping,
        )
        self.controller.start(HELD, np.full(2, np.nan))
        self.logger, self.worker = Logger(), Worker()
        self.input = ReferenceInput(self.logger, self.worker)
        self.time = 10.0
        self.see()

    def see(self, after=0.02):
        """A state arrives, as the node takes it: what is shaped first, then the command."""
        self.time += after
        self.input.proceed(self.controller)
        q, qd, _ = self.controller.reference_at(self.time)
        return self.controller.update(q, qd, self.time, self.time)

    def refer(self, goal=GOAL, duration=2.0, start=None):
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        from kron_dynamics.ros.conversions import stamp_from

        point = JointTrajectoryPoint(positions=goal.tolist(), velocities=[0.0, 0.0])
        point.time_from_start.sec = int(duration)
        message = JointTrajectory(joint_names=self.robot.joint_names, points=[point])
        if start is not None:
            message.header.stamp = stamp_from(start)
        self.input.receive(message, self.controller, self.robot, self.time)

    def reference(self, after):
        return self.controller.reference_at(self.time + after)[0]


@pytest.fixture
def desk(ros):
    return Desk()


def test_a_state_never_waits_for_the_shaper(desk):
    desk.refer()
    (job, _), *_ = desk.worker.waiting
    for _ in range(3):
        assert desk.see() is not None
        assert not job.done()
    np.testing.assert_array_equal(desk.reference(0.0), HELD)
    desk.worker.finish()
    desk.see()
    assert desk.logger.lines[-1].startswith('following a reference of ')
    np.testing.assert_allclose(desk.reference(10.0), GOAL)


def test_a_newer_reference_replaces_one_that_is_being_shaped(desk):
    desk.refer()
    desk.refer(HELD + 0.1)
    desk.refer(HELD + 0.2)
    assert 'a newer one came before this one was checked' in desk.logger.lines[-1]
    for _ in range(3):
        desk.worker.finish()
        desk.see()
    np.testing.assert_allclose(desk.reference(10.0), HELD + 0.2)


@pytest.mark.parametrize(
    ('start', 'code'), [(-1.0, 'OLD_HEADER_TIMESTAMP'), (9000.0, 'INVALID_GOAL')]
)
def test_diagnostics_have_the_code_of_a_refusal(desk, start, code):
    desk.refer(start=desk.time + start)
    assert desk.input.values()['code of this refusal'] == code
    desk.refer()
    desk.worker.finish()
    desk.see()
    assert desk.input.values() == {}


@pytest.mark.parametrize('finished', ['before the fault', 'in the fault', 'after it', 'never'])
@pytest.mark.parametrize('waiting', [False, True])
def test_a_fault_drops_what_is_being_shaped(desk, finished, waiting):
    """It used to be planned anew from where the machine stood after the fault was cleared."""
    desk.refer()
    if waiting:
        desk.refer(HELD - 0.1)
    if finished == 'before the fault':
        desk.worker.finish()
    desk.controller.latch.trip('stale', desk.time)
    desk.input.drop('a fault stopped the machine: stale')
    assert desk.input.values() == {
        'last refused reference': 'a fault stopped the machine: stale',
        'code of this refusal': 'INVALID_GOAL',
    }
    if finished == 'in the fault':
        desk.worker.finish()
    desk.input.proceed(desk.controller)
    stopped = HELD + 0.05
    assert desk.controller.clear(None, stopped, np.full(2, np.nan))
    if finished == 'after it':
        desk.worker.finish()
    for _ in range(5):
        desk.see()
    for after in (0.0, 0.5, 5.0):
        np.testing.assert_array_equal(desk.reference(after), stopped)
    # A new order is followed.
    desk.refer()
    desk.worker.finish()
    desk.see()
    np.testing.assert_allclose(desk.reference(10.0), GOAL)


def test_a_reference_that_comes_in_a_fault_is_refused(desk):
    desk.controller.latch.trip('stale', desk.time)
    desk.refer()
    assert desk.logger.lines[-1] == 'reference refused: a fault is latched: stale'
    assert not desk.worker.waiting


def test_a_reference_that_comes_in_a_fault_before_the_first_state_is_refused_too(desk):
    """It was kept, and moved the machine once the fault was cleared."""
    desk.controller.start(HELD, np.full(2, np.nan))  # as activation and clearing do
    desk.controller.latch.trip('collision', desk.time)
    desk.input.drop('a fault stopped the machine: collision')
    desk.refer()
    assert desk.logger.lines == ['reference refused: a fault is latched: collision']
    assert desk.controller.clear(None, HELD, np.full(2, np.nan))
    for _ in range(5):
        desk.see()
        desk.worker.finish()
    np.testing.assert_array_equal(desk.reference(10.0), HELD)


def test_a_reference_is_not_followed_in_a_fault_that_came_while_it_was_shaped(desk):
    """Whoever latched the fault may not have told the input."""
    desk.refer()
    desk.worker.finish()
    desk.controller.latch.trip('stale', desk.time)
    desk.input.proceed(desk.controller)
    assert desk.logger.lines == ['reference refused: a fault is latched: stale']
    with pytest.raises(TrajectoryError, match='a fault is latched'):
        desk.controller.set_reference([1.0], [GOAL], None, None, start_time=desk.time)


def told_to_stop_in_motion(desk):
    """Tell a machine to stop that follows a reference since 2 s; return this reference."""
    from kron_dynamics.ros.reference_input import TopicSender

    desk.refer(duration=20.0)
    desk.worker.finish()
    desk.see()
    motion = desk.controller.references.waiting
    desk.see(after=2.0)
    assert desk.controller.references.present is motion
    desk.input.stop(desk.controller, TopicSender(desk.logger))
    return motion


def test_a_stop_does_not_wait_for_a_shaper_that_takes_too_long(desk):
    """Its start was put off again and again, until the motion had ended."""
    motion, told = told_to_stop_in_motion(desk), desk.time
    while desk.controller.references.present is motion:
        desk.see(after=0.1)
        desk.see(after=motion.end / 40.0)  # longer than the lead of a shaped stop
        desk.worker.finish()
        assert desk.time < told + 5.0
    stop = desk.controller.references.present
    end = stop.followed.final_position
    assert np.abs(end - GOAL).min() > 0.05
    way = motion.followed.samples(np.linspace(0.0, 20.0, 5001))[0]
    assert np.linalg.norm(way - end, axis=1).min() < 1e-3
    assert not any('refused' in line for line in desk.logger.lines)


def test_a_stop_does_not_wait_for_work_that_keeps_the_worker_busy(desk):
    """Its shaping may come after seconds of another reference's."""
    motion, told = told_to_stop_in_motion(desk), desk.time
    while desk.controller.references.present is motion:
        desk.see(after=0.02)
        assert desk.time < told + 0.2
    assert not any('refused' in line for line in desk.logger.lines)


def long_reference(robot, count):
    """A slow move with a point every 10 ms, as it comes from the topic."""
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    t = np.linspace(0.0, 1.0, count)
    duration = 0.01 * (count - 1)
    rows = [
        HELD + np.outer(10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5, GOAL - HELD),
        np.outer(30.0 * t**2 - 60.0 * t**3 + 30.0 * t**4, GOAL - HELD) / duration,
        np.outer(60.0 * t - 180.0 * t**2 + 120.0 * t**3, GOAL - HELD) / duration**2,
    ]
    points = []
    for k in range(count):
        q, qd, qdd = (row[k].tolist() for row in rows)
        point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd)
        point.time_from_start.sec, hundredths = divmod(k, 100)
        point.time_from_start.nanosec = hundredths * 10_000_000
        points.append(point)
    return serialize_message(JointTrajectory(joint_names=robot.joint_names, points=points))


def test_long_references_take_no_time_of_the_cycle(ros):
    """20,000 points took half a second of it, and a fault followed."""
    from kron_dynamics.ros.reference_input import TopicSender
    from kron_dynamics.ros.reference_points import points_from_bytes

    desk = Desk(shaping=None)
    data = long_reference(desk.robot, 20_000)
    names = desk.robot.joint_names
    spent = [time.thread_time()]
    desk.input.submit(
        lambda: points_from_bytes(data, names),
        len(data) // 40,
        desk.controller,
        desk.time,
        TopicSender(desk.logger),
    )
    spent.append(time.thread_time())
    for _ in range(2):  # read, then checked
        assert len(desk.worker.waiting) == 1
        desk.worker.finish()
        before = time.thread_time()
        desk.see()
        spent += [before, time.thread_time()]
    assert desk.logger.lines == ['following a reference of 200 s']
    # Processor time of this thread: that other programs are busy does not count.
    assert max(np.diff(spent)[::2]) < 0.02
    for after in (50.0, 100.0, 150.0):
        start = desk.controller.references.waiting or desk.controller.references.present
        late = start.start - desk.time
        s = after / 199.99
        wanted = HELD + (GOAL - HELD) * (10 * s**3 - 15 * s**4 + 6 * s**5)
        np.testing.assert_allclose(desk.reference(late + after), wanted, atol=1e-5)


def test_a_reference_whose_reading_took_long_begins_when_it_has_been_read(ros):
    from kron_dynamics.ros.reference_input import TopicSender
    from kron_dynamics.ros.reference_points import points_from_bytes

    desk = Desk(shaping=None)
    data, names = long_reference(desk.robot, 100), desk.robot.joint_names
    sender = TopicSender(desk.logger)
    desk.input.submit(
        lambda: points_from_bytes(data, names), 100, desk.controller, desk.time, sender
    )
    desk.see(after=3.0)
    for _ in range(2):  # read, then checked
        desk.worker.finish()
        desk.see()
    assert desk.logger.lines == ['following a reference of 0.99 s']


def test_without_a_controller_a_reference_is_refused_and_what_is_not_there_is_withdrawn(desk):
    desk.input.receive(JointTrajectory(), None, None, 0.0)
    assert desk.logger.lines == ['reference refused: the node is not active']
    desk.input.withdraw(object())
    assert desk.see() is not None


def test_checking_a_long_reference_costs_less_than_a_millisecond_for_ten_points(ros):
    from kron_dynamics.control import Trajectory
    from kron_dynamics.ros.reference_points import points_from_bytes

    robot = Desk().robot
    points = points_from_bytes(long_reference(robot, 20_000), robot.joint_names)
    begin = time.process_time()
    trajectory = Trajectory.from_points(
        robot.joint_names, points.times, points.positions, points.velocities, points.accelerations
    )
    for derivative in (0, 1):
        trajectory.extrema(derivative)
    assert time.process_time() - begin < 2.0
