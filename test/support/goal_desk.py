# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of FollowJointTrajectory: messages and handles are stand-ins, the controller is real."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import kron_dynamics as kd
from kron_dynamics.control import CommandGuard, ComputedTorque, FaultAction, ReferenceBounds
from kron_dynamics.control.goal_monitor import GoalTolerances
from kron_dynamics.control.tracking_controller import TrackingController

with contextlib.suppress(ImportError):  # then the tests are not collected
    from builtin_interfaces.msg import Duration
    from std_msgs.msg import Header
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from kron_dynamics.ros.conversions import stamp_from
    from kron_dynamics.ros.goal_settings import GoalSettings
    from kron_dynamics.ros.reference_input import ReferenceInput
    from kron_dynamics.ros.trajectory_goals import TrajectoryGoals

URDF = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
HELD, GOAL = np.array([0.2, -0.3]), np.array([0.5, 0.1])
OLD, PATH, END, JOINTS, INVALID = -3, -4, -5, -2, -1


class Result:
    error_code, error_string = 99, ''


class Feedback:
    def __init__(self):
        self.header, self.joint_names = Header(), []
        self.desired = self.actual = self.error = None


class Handle:
    """Goal handle of an action server: its states are those of ROS."""

    def __init__(self, request):
        self.request, self.status, self.feedback = request, 'accepted', []
        self.is_cancel_requested, self.result = False, None

    def execute(self):
        self._change('executing', ('accepted',))

    def succeed(self):
        self._change('succeeded', ('executing', 'canceling'))

    def abort(self):
        self._change('aborted', ('executing', 'canceling'))

    def canceled(self):
        self._change('canceled', ('canceling',))

    def cancel(self):
        self._change('canceling', ('accepted', 'executing'))
        self.is_cancel_requested = True

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)

    def _change(self, status, allowed):
        assert self.status in allowed, f'{self.status} -> {status}'
        self.status = status

    @property
    def outcome(self):
        return None if self.result is None else (self.status, self.result.error_code)


class Logger:
    def __init__(self):
        self.lines = []

    def info(self, line, **_):
        self.lines.append(line)

    warning = info


class Desk:
    """A controller, the input of references and the goals; states come when told to."""

    def __init__(self, shaping=None, background=None):
        robot = self.robot = kd.load(URDF)
        limit = np.full(2, 1e4)
        self.controller = TrackingController(
            robot,
            ComputedTorque(robot, np.full(2, 100.0), np.full(2, 20.0)),
            None,
            CommandGuard(limit, np.full(2, np.inf), robot.joint_names),
            fault_action=FaultAction.ZERO,
            start_tolerance=np.full(2, 0.01),
            effort_limit=limit,
            longest_gap=5.0,
            period=0.02,
            bounds=ReferenceBounds(acceleration=np.ones(2)),
            shaping=shaping,
        )
        self.controller.start(HELD, np.full(2, np.nan))
        self.logger = Logger()
        self.input = ReferenceInput(self.logger, background)
        action = SimpleNamespace(Result=Result, Feedback=Feedback)
        self.goals = TrajectoryGoals(
            action,
            self.input,
            self.logger,
            lambda handle, result: setattr(handle, 'result', result),
        )
        none, some = np.full((2, 2), np.inf), np.full((2, 2), 0.05)
        self.goals.settings = GoalSettings(GoalTolerances(none, some, 1.0), True, 0.1)
        self.time, self.off = 10.0, np.zeros(2)
        self.see()

    def see(self, seconds=0.02):
        """States come: the machine is where it should be, but for `off`."""
        for _ in range(round(seconds / 0.02)):
            self.time = round(self.time + 0.02, 6)
            q, qd, _ = self.controller.reference_at(self.time)
            self.input.proceed(self.controller)
            self.goals.watch(self.controller, q + self.off, qd, self.time)
            assert self.controller.update(q + self.off, qd, self.time, self.time) is not None

    def send(self, goal=GOAL, duration=2.0, names=None, start=None, count=1, **tolerances):
        point = JointTrajectoryPoint(positions=list(map(float, goal)))
        point.time_from_start = Duration(sec=int(duration), nanosec=int(duration % 1 * 1e9))
        trajectory = JointTrajectory(
            joint_names=list(self.robot.joint_names if names is None else names),
            points=[point] * count,
        )
        if start is not None:
            trajectory.header.stamp = stamp_from(start)
        request = SimpleNamespace(
            trajectory=trajectory,
            path_tolerance=tolerances.get('path', []),
            goal_tolerance=tolerances.get('end', []),
            goal_time_tolerance=Duration(sec=tolerances.get('seconds', 0)),
            **tolerances.get('more', {}),
        )
        handle = Handle(request)
        self.goals.take(handle, self.controller, self.time)
        return handle

    @property
    def reference(self):
        return self.controller.reference_at(self.time)


def tolerance(name, position, velocity=0.0, acceleration=0.0):
    return SimpleNamespace(
        name=name, position=position, velocity=velocity, acceleration=acceleration
    )
