# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of FollowJointTrajectory: checked, monitored, cancelled, ended with a reason.

Message types are passed in, so this module does not import control_msgs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from trajectory_msgs.msg import JointTrajectoryPoint

from kron_dynamics.control import Reference
from kron_dynamics.control.goal_code import GoalCode
from kron_dynamics.control.goal_monitor import (
    GoalMonitor,
    GoalOutcome,
    GoalTolerances,
    JointTolerance,
)
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.control.turns import whole_turns
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.ros.conversions import stamp_from
from kron_dynamics.ros.goal_settings import GoalSettings
from kron_dynamics.ros.reference_input import ReferenceInput, TopicSender
from kron_dynamics.typing import FloatArray, IndexArray

_CANCELLED = 'the goal was cancelled: the machine stopped on its path and holds'


class _Goal:
    """One goal, which is the `Sender` of its reference."""

    def __init__(self, goals: TrajectoryGoals, handle: Any, controller: TrackingController):
        self.references = controller.references
        self.goals, self.handle, self.robot = goals, handle, controller.references.robot
        self.tolerances: GoalTolerances | None = None
        self.monitor: GoalMonitor | None = None
        self.cancelling = False
        self.next_feedback = -np.inf

    def accepted(self, reference: Reference, joints: IndexArray | None) -> None:
        assert self.tolerances is not None
        robot = self.robot
        chosen = np.ones(robot.n, dtype=bool)
        if joints is not None:
            chosen = np.isin(np.arange(robot.n), joints)
        turns = whole_turns(endless(robot.model.joint_types))
        self.monitor = GoalMonitor(reference, self.tolerances, robot.joint_names, turns, chosen)
        self.goals.logger.info(
            f'following a goal of {reference.followed.duration:.3g} s'
            if not self.cancelling
            else f'goal cancelled: stopping within {reference.followed.duration:.3g} s'
        )

    def refused(self, error: KronDynamicsError) -> None:
        self._end(GoalOutcome(GoalCode.of_refusal(error), str(error)))

    def replaced(self, reason: str) -> None:
        # A goal that is still waiting moves nothing; what moves is the one that it has ended.
        if self.monitor is not None and self.monitor.reference is self.references.present:
            self.goals.ended_early = self.monitor.reference
        self._end(GoalOutcome(GoalCode.INVALID_GOAL, reason))

    def _end(self, outcome: GoalOutcome) -> None:
        """End the goal because its reference is not followed to its end."""
        if self.handle.is_cancel_requested:  # perhaps since the last state only
            outcome = GoalOutcome(GoalCode.SUCCESSFUL, outcome.text)
            self.goals.end(self, 'canceled', outcome)
        else:
            self.goals.abort(self, outcome)


class TrajectoryGoals:
    """All goals that have not ended. Not thread-safe: used by the thread of the states."""

    def __init__(
        self,
        action: Any,
        references: ReferenceInput,
        logger: RcutilsLogger,
        finish: Callable[[Any, Any], None],
    ) -> None:
        """Start without goals.

        Args:
            action: action type with `Result` and `Feedback`.
            references: input for the references of goals.
            logger: logger.
            finish: called with handle and result of a goal that has ended, to send the result.
        """
        self._action, self._references, self.logger = action, references, logger
        self._finish = finish
        self._goals: list[_Goal] = []
        # Reference of a goal that was ended by a newer one, which may start only later.
        self.ended_early: Reference | None = None
        self.settings: GoalSettings | None = None

    def take(self, handle: Any, controller: TrackingController | None, time: float) -> None:
        """Receive a goal that the action server has accepted; a refusal aborts it with the reason.

        Args:
            handle: goal handle of rclpy's action server.
            controller: controller that is to follow it, or None.
            time: current time on the states' clock, s.
        """
        handle.execute()
        if controller is not None:
            self.cancel_requested(controller, time)
        if controller is None or self.settings is None:
            text = 'the node is not active'
            self._close(handle, 'abort', GoalOutcome(GoalCode.INVALID_GOAL, text))
            return
        goal = _Goal(self, handle, controller)
        self._goals.append(goal)
        request, names = handle.request, controller.references.robot.joint_names
        try:
            goal.tolerances = _tolerances(request, self.settings.tolerances, names)
        except KronDynamicsError as error:
            goal.refused(error)
            return
        if any(each.acceleration > 0.0 for each in _all_tolerances(request)):
            self.logger.warning(
                'goal: tolerances of accelerations are ignored, as none are measured'
            )
        message = request.trajectory
        self._references.receive(
            message,
            controller,
            controller.references.robot,
            time,
            sender=goal,
            partial=self.settings.partial,
        )

    def watch(
        self, controller: TrackingController, q: FloatArray, qd: FloatArray, time: float
    ) -> None:
        """End goals that have succeeded, failed or been cancelled; send feedback of the others.

        Args:
            controller: controller that follows them.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            time: time of the state, s.
        """
        self.cancel_requested(controller, time)
        for goal in list(self._goals):
            if goal in self._goals and goal.monitor is not None:
                self._watch(goal, goal.monitor, controller, (q, qd), time)

    def cancel_requested(self, controller: TrackingController, time: float) -> None:
        """Stop goals whose cancellation was accepted since the last state.

        A newer reference is planned after the stop: if it starts later, nothing else would stop
        the motion of the goal that it replaces.

        Args:
            controller: controller that follows them.
            time: current time on the states' clock, s.
        """
        for goal in list(self._goals):
            if goal.handle.is_cancel_requested and not goal.cancelling:
                self._cancel(goal, controller, time)

    def progress(self, time: float) -> str | None:
        """Return the progress of the goal that is followed, as text; None if there is none."""
        for goal in self._goals:
            if goal.monitor is not None:
                what = 'being cancelled' if goal.cancelling else 'goal'
                return f'{what}, {goal.monitor.progress(time):.0%}'
        return None

    def _watch(
        self,
        goal: _Goal,
        monitor: GoalMonitor,
        controller: TrackingController,
        state: tuple[FloatArray, FloatArray],
        time: float,
    ) -> None:
        if goal.cancelling:
            if time >= monitor.reference.end:
                self.end(goal, 'canceled', GoalOutcome(GoalCode.SUCCESSFUL, _CANCELLED))
            return
        wanted = controller.reference_at(time)
        if time >= goal.next_feedback:
            assert self.settings is not None
            goal.next_feedback = time + self.settings.feedback_period
            goal.handle.publish_feedback(self._feedback(goal, monitor, wanted, state, time))
        followed = controller.references.present
        if time >= monitor.reference.start and followed is not monitor.reference:
            # A goal that is told of its replacement has ended; none succeeds by another's end.
            self.abort(goal, GoalOutcome(GoalCode.INVALID_GOAL, 'another reference is followed'))
            return
        outcome = monitor.outcome(wanted[:2], *state, time)
        if outcome is None:
            return
        if outcome.code is GoalCode.SUCCESSFUL:
            self.end(goal, 'succeed', outcome)
            return
        self.abort(goal, outcome)
        if outcome.code is GoalCode.PATH_TOLERANCE_VIOLATED:
            self._references.stop(controller, TopicSender(self.logger))

    def _cancel(self, goal: _Goal, controller: TrackingController, time: float) -> None:
        goal.cancelling = True
        references, monitor = controller.references, goal.monitor
        waits = monitor is not None and time < monitor.reference.start
        # What is followed until then stays, unless it is a goal that has ended: nobody else could
        # cancel that motion.
        if waits and references.present is not self.ended_early:
            references.drop_waiting()
            monitor = None
        if monitor is None:  # the goal is not followed yet
            self._references.withdraw(goal)
            text = 'the goal was cancelled before it was followed'
            self.end(goal, 'canceled', GoalOutcome(GoalCode.SUCCESSFUL, text))
            return
        goal.monitor = None
        self._references.stop(controller, goal)

    def abort(self, goal: _Goal, outcome: GoalOutcome) -> None:
        """End a goal that fails."""
        if goal in self._goals:
            self.logger.warning(f'goal aborted ({outcome.code.name}): {outcome.text}')
        self.end(goal, 'abort', outcome)

    def end(self, goal: _Goal, how: str, outcome: GoalOutcome) -> None:
        """End a goal, unless it has ended already.

        Args:
            goal: the goal.
            how: 'succeed', 'abort' or 'canceled'.
            outcome: outcome for the result message.
        """
        if goal in self._goals:
            self._goals.remove(goal)
            self._close(goal.handle, how, outcome)

    def _close(self, handle: Any, how: str, outcome: GoalOutcome) -> None:
        getattr(handle, how)()
        result = self._action.Result()
        result.error_code, result.error_string = int(outcome.code), outcome.text
        self._finish(handle, result)

    def _feedback(
        self,
        goal: _Goal,
        monitor: GoalMonitor,
        wanted: tuple[FloatArray, FloatArray, FloatArray],
        state: tuple[FloatArray, FloatArray],
        time: float,
    ) -> Any:
        feedback = self._action.Feedback()
        feedback.header.stamp = stamp_from(time)
        feedback.joint_names = list(goal.robot.joint_names)
        since = stamp_from(max(time - monitor.reference.start, 0.0))
        for label, rows in (
            ('desired', wanted),
            ('actual', state),
            ('error', monitor.errors(wanted[:2], *state)),
        ):
            point = JointTrajectoryPoint()
            for field, values in zip(
                ('positions', 'velocities', 'accelerations'), rows, strict=False
            ):
                setattr(point, field, values.tolist())
            point.time_from_start.sec, point.time_from_start.nanosec = since.sec, since.nanosec
            setattr(feedback, label, point)
        return feedback


def _all_tolerances(request: Any) -> list[Any]:
    return [*request.path_tolerance, *request.goal_tolerance]


def _tolerances(request: Any, defaults: GoalTolerances, names: tuple[str, ...]) -> GoalTolerances:
    """Return the tolerances of a goal.

    Raises:
        JointNamesError: a tolerance is for an unknown joint.
        TrajectoryError: a tolerance is out of range, or the goal has multi-DOF joints.
    """
    others = ('component_path_tolerance', 'component_goal_tolerance')
    multi = getattr(request, 'multi_dof_trajectory', None)
    if (multi is not None and (multi.points or multi.joint_names)) or any(
        getattr(request, field, None) for field in others
    ):
        raise TrajectoryError('the goal has joints of several degrees of freedom, expected none')
    path, goal = (
        [JointTolerance(each.name, each.position, each.velocity) for each in given]
        for given in (request.path_tolerance, request.goal_tolerance)
    )
    duration = request.goal_time_tolerance
    return defaults.changed(names, path, goal, duration.sec + 1e-9 * duration.nanosec)
