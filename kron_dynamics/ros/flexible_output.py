# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What dynamics_node publishes of links that bend: how far, and where the tip is for that."""

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
    """Deflection of the flexible links and the tip's pose with it.

    As vibration damping estimates it; without it, as the links are bent but do not vibrate.
    """

    def __init__(
        self, node: LifecycleNode, configured: ConfiguredRobot, group: CallbackGroup
    ) -> None:
        """Make the publishers for a robot with links that bend, whose kernels are ready."""

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
        """Take the topics back."""
        for publisher in (self._deflection, self._pose, self._correction):
            self._node.destroy_publisher(publisher)

    def publish(
        self,
        stamp: Time,
        state: AssembledState,
        qdd: FloatArray | None,
        estimate: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        """Publish the deflection in a state; nothing, with a warning, where there is none.

        It is not even looked for where nobody listens.

        Args:
            stamp: of the state.
            state: fresh positions and velocities.
            qdd: accelerations of the joints, shape (n_j,), or None for none.
            estimate: modal coordinates and their rates, shape (n_m,) each, or None.
        """
        topics = self._deflection, self._pose, self._correction
        if not any(publisher.get_subscription_count() for publisher in topics):
            return
        if estimate is not None:
            self._publish(stamp, state.q, *estimate)
            return
        # Near the last one, which is forgotten where this one cannot be found.
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
