# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What dynamics_node publishes: commands, and the tip's motion."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import AccelStamped, TwistStamped
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from kron_dynamics.control import AssembledState
from kron_dynamics.control.acceleration import AccelerationEstimator
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import (
    accel_stamped,
    effort_array,
    joint_state,
    twist_stamped,
)
from kron_dynamics.ros.parameters import ParameterSet
from kron_dynamics.typing import FloatArray

_DELIVERY = Duration(seconds=0.5)


class CommandOutput:
    """Efforts, bare for controllers and stamped with names for everybody else."""

    def __init__(self, node: LifecycleNode) -> None:
        """Make the publishers, which are silent while the node is not active."""
        self._bare = node.create_lifecycle_publisher(Float64MultiArray, '~/commands', 1)
        self._named = node.create_lifecycle_publisher(JointState, '~/command_state', 1)

    def publish(self, stamp: Time, names: Sequence[str], effort: FloatArray) -> None:
        """Send efforts, shape (n,), N m or N; the stamp is that of the state they answer."""
        self._bare.publish(effort_array(effort))
        self._named.publish(joint_state(stamp, names, effort=effort))

    def flush(self) -> None:
        """Wait, not for long, until everybody who listens has got what was sent."""
        for publisher in (self._bare, self._named):
            publisher.wait_for_all_acked(_DELIVERY)


class TipOutput:
    """Twist and acceleration of one link, in base axes."""

    def __init__(self, node: LifecycleNode, robot: Robot, parameters: ParameterSet) -> None:
        """Compile the robot's and the link's kernels, then make the publishers.

        Raises:
            UnknownFrameError: the parameter tip_frame names no link.
        """
        self._node = node
        self.link = parameters.value('tip_frame') or robot.model.tip_link
        self._frame = robot.frame(self.link)
        self._base = robot.model.root_link
        self._estimator = AccelerationEstimator(
            robot, parameters.value('acceleration_source'), parameters.value('filter_cutoff')
        )
        robot.prepare(self.link)  # it may fail, and publishers would stay
        self._twist = node.create_publisher(TwistStamped, '~/tip_twist', 1)
        self._acceleration = node.create_publisher(AccelStamped, '~/tip_acceleration', 1)

    def destroy(self) -> None:
        """Take the topics back."""
        self._node.destroy_publisher(self._twist)
        self._node.destroy_publisher(self._acceleration)

    def publish(
        self, stamp: Time, time: float, state: AssembledState, qdd_ref: FloatArray | None
    ) -> None:
        """Publish the tip's motion in a state.

        Args:
            stamp: of the state.
            time: the same in s.
            state: fresh positions and velocities.
            qdd_ref: accelerations of the reference, shape (n,), or None without one.
        """
        velocity = self._frame.velocity(state.q, state.qd)
        self._twist.publish(twist_stamped(stamp, self._base, velocity))
        qdd = self._estimator.estimate(time, state.q, state.qd, state.effort, qdd_ref)
        if qdd is not None:
            acceleration = self._frame.acceleration(state.q, state.qd, qdd)
            self._acceleration.publish(accel_stamped(stamp, self._base, acceleration))
