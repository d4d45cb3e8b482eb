# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Publishers of dynamics_node: commands, and estimates of the machine's motion."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import AccelStamped, TwistStamped
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from kron_dynamics.control import AssembledState
from kron_dynamics.control.acceleration import AccelerationEstimator
from kron_dynamics.control.tracking_controller import Command
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.batch import flat
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.conversions import Stamp, fill_motion
from kron_dynamics.ros.external_effort import ExternalEffortOutput
from kron_dynamics.ros.flexible_output import DeflectionOutput
from kron_dynamics.ros.linearized_output import LinearizedOutput
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.publishers import WITHOUT_EVENTS
from kron_dynamics.ros.serialized_numbers import SerializedNumbers
from kron_dynamics.typing import FloatArray

_WARN_PERIOD = 5.0
_DELIVERY = Duration(seconds=0.5)  # longest wait for acknowledgements in `flush`


class CommandOutput:
    """Publishes efforts: as plain array for controllers, and with stamp and names for others."""

    def __init__(self, node: LifecycleNode) -> None:
        """Make the lifecycle publishers, which are silent while the node is not active."""
        self._bare = node.create_lifecycle_publisher(Float64MultiArray, '~/commands', 1)
        self._named = node.create_lifecycle_publisher(
            JointState, '~/command_state', 1, event_callbacks=WITHOUT_EVENTS
        )
        # Reused for all commands: messages are serialised when they are published.
        self._efforts, self._state = SerializedNumbers(), JointState()

    def name_joints(self, names: Sequence[str]) -> None:
        """Set the names of the n joints for the commands with names."""
        self._state.name = list(names)

    def publish(self, stamp: Stamp, effort: FloatArray) -> None:
        """Send efforts, shape (n,), N m or N, with the stamp of the state that they answer."""
        self._bare.publish(self._efforts.message(effort))
        if self._named.get_subscription_count() == 0:
            return
        self._state.header.stamp, self._state.effort = stamp.to_msg(), flat(effort)
        self._named.publish(self._state)

    def flush(self) -> None:
        """Wait, at most 0.5 s per topic, until all subscribers have received the commands."""
        for publisher in (self._bare, self._named):
            publisher.wait_for_all_acked(_DELIVERY)


class StateOutputs:
    """Publishes tip motion, external efforts, deflection and linear model of a robot."""

    def __init__(
        self,
        node: LifecycleNode,
        configured: ConfiguredRobot,
        parameters: ParameterSet,
        clock: Clock,
    ) -> None:
        """Make the publishers; the kernels are ready.

        Args:
            node: node that publishes.
            configured: the machine and its tip.
            parameters: parameters of dynamics_node.
            clock: steady clock for publishers with their own rate.
        """
        self._node = node
        robot = configured.robot
        self._estimator = AccelerationEstimator(
            robot, parameters.value('acceleration_source'), parameters.value('filter_cutoff')
        )
        # Callback groups never free their entries completely: this one goes with its publishers.
        group = MutuallyExclusiveCallbackGroup()
        self.external = ExternalEffortOutput(node, configured, parameters, group)
        self._tip = TipOutput(node, robot, configured.tip_frame, group)
        self._deflection = self._linearized = None
        if configured.mode_names:
            self._deflection = DeflectionOutput(node, configured, group)
        if parameters.value('linearized_model_rate') > 0.0:
            self._linearized = LinearizedOutput(
                node, configured.flexible, parameters, clock, group
            )

    def destroy(self) -> None:
        """Destroy the publishers."""
        for output in (self._tip, self.external, self._deflection, self._linearized):
            if output is not None:
                output.destroy()

    def publish(
        self, received: Stamp, time: float, state: AssembledState, command: Command | None
    ) -> None:
        """Publish the motion in a state; the linear model follows at its own rate.

        A warning is logged if the accelerations cannot be estimated.

        Args:
            received: stamp of the state.
            time: time of the state, s.
            state: fresh positions and velocities.
            command: command that answers the state, or None.
        """
        stamp = received.to_msg()
        qdd_ref = None if command is None else command.qdd_ref
        try:
            qdd = self._estimator.estimate(time, state.q, state.qd, state.effort, qdd_ref)
        except KronDynamicsError as error:  # without payload a joint may move no mass
            self._node.get_logger().warning(
                f'no acceleration: {error}', throttle_duration_sec=_WARN_PERIOD
            )
            qdd = None
        self._tip.publish(stamp, state, qdd)
        if self._deflection is not None:
            estimate = None if command is None else command.deflection
            self._deflection.publish(stamp, state, qdd, estimate)
        if self._linearized is not None:
            self._linearized.update(stamp, state, command, qdd)

    def values(self) -> dict[str, str]:
        """Return frequencies and damping ratios of the last linear model, as texts."""
        return {} if self._linearized is None else self._linearized.values


class TipOutput:
    """Publishes twist and acceleration of one link, in base axes."""

    def __init__(self, node: LifecycleNode, robot: Robot, link: str, group: CallbackGroup) -> None:
        """Make the publishers for a link of a robot."""
        self._node = node
        self._frame = robot.frame(link)
        self._twist = node.create_publisher(
            TwistStamped, '~/tip_twist', 1, callback_group=group, event_callbacks=WITHOUT_EVENTS
        )
        self._acceleration = node.create_publisher(
            AccelStamped,
            '~/tip_acceleration',
            1,
            callback_group=group,
            event_callbacks=WITHOUT_EVENTS,
        )
        # Reused for all states: messages are serialised when they are published.
        self._twist_message = TwistStamped()
        self._acceleration_message = AccelStamped()
        for message in (self._twist_message, self._acceleration_message):
            message.header.frame_id = robot.model.root_link

    def destroy(self) -> None:
        """Destroy the publishers."""
        self._node.destroy_publisher(self._twist)
        self._node.destroy_publisher(self._acceleration)

    def publish(self, stamp: Time, state: AssembledState, qdd: FloatArray | None) -> None:
        """Publish the tip's motion in a state on the topics that have subscribers.

        Args:
            stamp: stamp of the state.
            state: fresh positions and velocities.
            qdd: accelerations of the joints, shape (n,), or None if unknown.
        """
        if self._twist.get_subscription_count():
            twist = self._twist_message
            fill_motion(twist.twist, self._frame.velocity(state.q, state.qd))
            twist.header.stamp = stamp
            self._twist.publish(twist)
        if qdd is not None and self._acceleration.get_subscription_count():
            acceleration = self._acceleration_message
            fill_motion(acceleration.accel, self._frame.acceleration(state.q, state.qd, qdd))
            acceleration.header.stamp = stamp
            self._acceleration.publish(acceleration)
