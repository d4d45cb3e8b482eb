# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The reference interfaces of dynamics_node: topic, streamed points, action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.lifecycle import LifecycleNode
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kron_dynamics.control import AssembledState, ReferenceBounds
from kron_dynamics.control.reference.stream import ReferenceStream
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.reference_input import ReferenceInput, TopicSender
from kron_dynamics.ros.reference_points import points_from_bytes

if TYPE_CHECKING:
    from kron_dynamics.ros.trajectory_goals import TrajectoryGoals

_WARN_PERIOD = 5.0
# Approximate size of a point in a message, bytes: counts and time, and two numbers per joint.
_POINT_BYTES, _JOINT_BYTES = 28, 16


def reference_bounds(parameters: ParameterSet, joints: Sequence[str]) -> ReferenceBounds:
    """Return the bounds of references from the parameters."""
    return ReferenceBounds(
        start_delay=parameters.value('reference_start_delay'),
        duration=parameters.value('reference_duration'),
        acceleration=parameters.per_joint('acceleration_limit.{joint}', joints),
    )


class ReferenceInterface:
    """Receives references for the controller of a node, in the thread of its executor."""

    def __init__(
        self,
        node: LifecycleNode,
        parameters: ParameterSet,
        background: Executor,
        present: Callable[[], tuple[TrackingController | None, float]],
    ) -> None:
        """Subscribe, and serve the action if control_msgs is installed.

        Args:
            node: node that subscribes and serves the action.
            parameters: parameters of dynamics_node.
            background: executor for work longer than a control cycle.
            present: returns the controller, None while the node is not active, and the time of
                the states, s.
        """
        self._logger, self._parameters = node.get_logger(), parameters
        self._present = present
        self._input = ReferenceInput(self._logger, background)
        self._stream: ReferenceStream | None = None
        self._goals: TrajectoryGoals | None = None
        # Raw bytes: while rclpy makes objects of 20,000 points, no command could be sent.
        node.create_subscription(JointTrajectory, '~/reference', self._on_bytes, 1, raw=True)
        node.create_subscription(JointTrajectoryPoint, '~/reference_point', self._on_point, 1)
        self._server = self._action_server(node)

    def _action_server(self, node: LifecycleNode) -> Any:
        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError:
            self._logger.info('no action ~/follow_joint_trajectory: control_msgs is not installed')
            return None
        from kron_dynamics.ros.goal_server import GoalServer
        from kron_dynamics.ros.trajectory_goals import TrajectoryGoals

        server = GoalServer(
            node, FollowJointTrajectory, '~/follow_joint_trajectory', self._on_goal
        )
        self._goals = TrajectoryGoals(
            FollowJointTrajectory, self._input, self._logger, server.finish
        )
        return server

    def start(self, controller: TrackingController) -> None:
        """Receive references for a new controller from now on."""
        self._input.clear()
        self._stream = ReferenceStream(
            controller.references,
            self._parameters.value('reference_point_timeout'),
            self._parameters.value('reference_point_reach'),
        )
        if self._goals is not None:
            from kron_dynamics.ros.goal_settings import goal_settings

            joints = controller.references.robot.joint_names
            self._goals.settings = goal_settings(self._parameters, joints)

    def drop(self, reason: str) -> None:
        """End all references, so that none moves the machine later.

        Args:
            reason: reason for the log and the clients.
        """
        self._input.drop(reason)

    def proceed(
        self, controller: TrackingController, state: AssembledState, time: float
    ) -> str | None:
        """Follow references that are ready, and monitor stream and goals; called for each state.

        Args:
            controller: controller of the machine.
            state: measured state.
            time: time of the state, s.

        Returns:
            why the machine has to be stopped by a fault, or None.
        """
        self._input.proceed(controller)
        if controller.latch.faulted:
            return None
        try:
            self._watch_stream(controller)
        except KronDynamicsError as error:
            return f'the stream of reference points cannot be stopped: {error}'
        if self._goals is not None:
            self._goals.watch(controller, state.q, state.qd, time)
        return None

    def _watch_stream(self, controller: TrackingController) -> None:
        """Stop a stream that broke off; raise KronDynamicsError if that fails."""
        references = controller.references
        waiting = references.waiting
        if self._stream is None or not self._stream.watch():
            return
        self._logger.warning(
            'no reference_point in time: stopping', throttle_duration_sec=_WARN_PERIOD
        )
        if waiting is not None and references.waiting is not waiting:
            self._logger.warning('the reference that waited for its start is dropped')
            self._input.replaced('the machine was stopped: no reference_point in time')

    def values(self) -> dict[str, str]:
        """Return the current and the waiting reference, and statistics, as texts."""
        values = self._input.values()
        controller, time = self._present()
        if controller is None or self._stream is None:
            return values
        references = controller.references
        present, waiting = references.present, references.waiting
        goal = None if self._goals is None else self._goals.progress(time)
        if controller.latch.faulted:
            values['reference'] = 'none: a fault is latched'
        elif goal is not None:
            values['reference'] = goal
        elif self._stream.active:
            values['reference'] = 'streamed points'
        elif present is not None and time < present.end:
            values['reference'] = f'following, {present.end - time:.1f} s left'
        else:
            values['reference'] = 'holding'
        if waiting is not None:
            values['waiting reference'] = f'starts in {waiting.start - time:.1f} s'
        counts = self._stream.counts
        values['reference points followed, limited, refused, stops'] = (
            f'{counts.followed}, {counts.limited}, {counts.refused}, {counts.stops}'
        )
        for joint, limit in zip(
            references.robot.joint_names, references.acceleration_limit, strict=True
        ):
            values[f'acceleration limit of {joint}'] = f'{limit:.4g}'
        return values

    def _on_bytes(self, data: bytes) -> None:
        controller, time = self._present()
        if controller is not None and self._goals is not None:
            self._goals.cancel_requested(controller, time)
        names = () if controller is None else controller.references.robot.joint_names
        partial = self._parameters.value('allow_partial_joints_goal')
        self._input.submit(
            lambda: points_from_bytes(data, names, partial),
            len(data) // (_POINT_BYTES + _JOINT_BYTES * len(names)),
            controller,
            time,
            TopicSender(self._logger),
        )

    def _on_point(self, point: JointTrajectoryPoint) -> None:
        controller, _ = self._present()
        try:
            if controller is None or self._stream is None:
                raise TrajectoryError('the node is not active')
            if controller.latch.faulted:
                raise TrajectoryError(f'a fault is latched: {controller.latch.reason}')
            after = point.time_from_start
            fresh = not self._stream.active
            limited = self._stream.counts.limited
            self._stream.take(
                np.array(point.positions),
                np.array(point.velocities) if point.velocities else None,
                np.array(point.accelerations) if point.accelerations else None,
                after.sec + 1e-9 * after.nanosec,
            )
        except KronDynamicsError as error:
            self._logger.warning(
                f'reference_point refused: {error}', throttle_duration_sec=_WARN_PERIOD
            )
            return
        self._input.drop('a reference point replaced it')
        if fresh:
            self._logger.info('following reference points')
        if self._stream.counts.limited > limited:
            self._logger.warning(
                'reference_point is reached late: a velocity or acceleration limit is',
                throttle_duration_sec=_WARN_PERIOD,
            )

    def _on_goal(self, handle: Any) -> None:
        controller, time = self._present()
        assert self._goals is not None
        self._goals.take(handle, controller, time)
