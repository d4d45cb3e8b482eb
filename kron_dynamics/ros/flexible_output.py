# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Deflection of flexible links and the resulting tip pose, as published by dynamics_node."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, Vector3Stamped
from rclpy.callback_groups import CallbackGroup
from rclpy.lifecycle import LifecycleNode
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from kron_dynamics.control import AssembledState
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import ModelError, NonFiniteError
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.conversions import joint_state, pose_stamped, vector_stamped
from kron_dynamics.ros.publishers import WITHOUT_EVENTS
from kron_dynamics.typing import FloatArray

_WARN_PERIOD = 5.0


class DeflectionOutput:
    """Publishes the deflection of the flexible links and the tip's pose with it.

    The deflection is the estimate of vibration damping; without vibration damping it is the
    quasi-static deflection.
    """

    def __init__(
        self, node: LifecycleNode, configured: ConfiguredRobot, group: CallbackGroup
    ) -> None:
        """Make the publishers for a robot with flexible links and compiled kernels."""

        def publisher(kind: Any, topic: str) -> Publisher[Any]:
            return node.create_publisher(
                kind, topic, 1, callback_group=group, event_callbacks=WITHOUT_EVENTS
            )

        self._node = node
        self._flexible = configured.flexible
        self._names = configured.mode_names
        self._stiff_tip, self._tip = (
            robot.frame(configured.tip_frame) for robot in (configured.robot, configured.flexible)
        )
        self._base = configured.robot.model.root_link
        self._latest: FloatArray | None = None
        self._deflection = publisher(JointState, '~/deflection')
        self._pose = publisher(PoseStamped, '~/tip_pose')
        self._correction = publisher(Vector3Stamped, '~/tip_correction')

    def destroy(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._deflection, self._pose, self._correction):
            self._node.destroy_publisher(publisher)

    def publish(
        self,
        stamp: Time,
        state: AssembledState,
        qdd: FloatArray | None,
        estimate: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        """Publish the deflection in a state, or log a warning if there is no equilibrium.

        Without subscribers it is not computed.

        Args:
            stamp: stamp of the state.
            state: fresh positions and velocities.
            qdd: accelerations of the joints, shape (n_j,), or None for none.
            estimate: modal coordinates and their rates, shape (n_m,) each, or None for the
                quasi-static deflection.
        """
        topics = self._deflection, self._pose, self._correction
        if not any(publisher.get_subscription_count() for publisher in topics):
            return
        if estimate is not None:
            self._publish(stamp, state.q, *estimate)
            return
        # Initial guess: the last deflection, which is discarded if the solution fails.
        start, self._latest = self._latest, None
        try:
            q = quasi_static_equilibrium(self._flexible, state.q, state.qd, qdd, start=start)
        except (ModelError, NonFiniteError) as error:
            self._node.get_logger().warning(
                f'no deflection: {error}', throttle_duration_sec=_WARN_PERIOD
            )
            return
        self._latest = q[len(state.q) :]
        self._publish(stamp, state.q, self._latest, None)

    def _publish(self, stamp: Time, q: FloatArray, e: FloatArray, ed: FloatArray | None) -> None:
        tip = self._tip.pose(np.concatenate((q, e)))
        correction = tip[:3, 3] - self._stiff_tip.pose(q)[:3, 3]
        self._deflection.publish(joint_state(stamp, self._names, position=e, velocity=ed))
        self._pose.publish(pose_stamped(stamp, self._base, tip))
        self._correction.publish(vector_stamped(stamp, self._base, correction))
