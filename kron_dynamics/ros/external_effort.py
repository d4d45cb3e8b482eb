# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimated external efforts and wrenches of dynamics_node, and collision detection."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.callback_groups import CallbackGroup
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from kron_dynamics.control import AssembledState
from kron_dynamics.control.external_effort.monitor import ExternalEffortMonitor
from kron_dynamics.control.external_effort.tip_wrench import TipWrench
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.controller_factory import effort_terms
from kron_dynamics.ros.conversions import Stamp, joint_state, wrench_stamped
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.publishers import WITHOUT_EVENTS
from kron_dynamics.typing import FloatArray

# States between checks for new subscribers: a check takes a tenth of a control cycle.
_CHECK_INTERVAL = 10


class ExternalEffortOutput:
    """External joint efforts and the wrench at the tip.

    They are computed only while there are subscribers or a collision threshold is set.
    """

    def __init__(
        self,
        node: LifecycleNode,
        configured: ConfiguredRobot,
        parameters: ParameterSet,
        group: CallbackGroup,
    ) -> None:
        """Make the publishers.

        Args:
            node: node that publishes.
            configured: the machine and its tip, with compiled kernels.
            parameters: parameters of dynamics_node, those of the joints included.
            group: callback group of the publishers' events.

        Raises:
            ParameterError: a term would be compensated twice.
        """
        self._node = node
        self._parameters = parameters
        robot = configured.robot
        self._monitor = ExternalEffortMonitor(
            robot,
            parameters.value('external_effort_bandwidth'),
            source=parameters.value('external_effort_source'),
            terms=effort_terms(parameters),
        )
        self._controller: TrackingController | None = None
        self._names = robot.joint_names
        self._base = robot.model.root_link
        self._tip = TipWrench(robot, configured.tip_frame)
        self._tip.wrench(*np.zeros((2, robot.n)))
        self._running, self._until_check = False, 0
        self._efforts = node.create_publisher(
            JointState,
            '~/external_effort',
            1,
            callback_group=group,
            event_callbacks=WITHOUT_EVENTS,
        )
        self._wrench = node.create_publisher(
            WrenchStamped,
            '~/external_wrench',
            1,
            callback_group=group,
            event_callbacks=WITHOUT_EVENTS,
        )

    def destroy(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._efforts, self._wrench):
            self._node.destroy_publisher(publisher)

    def update(
        self,
        stamp: Stamp,
        time: float,
        state: AssembledState,
        controller: TrackingController | None,
    ) -> str | None:
        """Update the estimate with a state and publish it.

        Args:
            stamp: stamp of the state.
            time: time of the state, s.
            state: fresh positions and velocities, and efforts if there are any.
            controller: controller that sends commands, before it answers this state; None if
                there is none.

        Returns:
            Description of a collision, or None.
        """
        monitor = self._monitor
        if controller is not self._controller:
            # Parameters may change until the node is active, and contradict each other meanwhile.
            self._controller = controller
            if controller is not None:
                monitor.reset()
                monitor.terms = effort_terms(self._parameters)
            monitor.thresholds = self._thresholds(active=controller is not None)
        if self._until_check > 0 and not monitor.watches_for_collisions:
            self._until_check -= 1
            return None
        subscribed = [
            publisher.get_subscription_count() > 0 for publisher in (self._efforts, self._wrench)
        ]
        if not any(subscribed) and not monitor.watches_for_collisions:
            self._running, self._until_check = False, _CHECK_INTERVAL
            return None
        if not self._running:
            monitor.reset()
            self._running = True
        monitor.commanded(None if controller is None else controller.guard.last)
        effort = monitor.update(time, state.q, state.qd, state.effort)
        if effort is None:
            return None
        if subscribed[0]:
            self._efforts.publish(joint_state(stamp.to_msg(), self._names, effort=effort))
        if subscribed[1]:
            wrench = self._tip.wrench(state.q, effort)
            self._wrench.publish(wrench_stamped(stamp.to_msg(), self._base, wrench))
        return monitor.collision(effort)

    def _thresholds(self, *, active: bool) -> FloatArray:
        if not active:
            return np.full(len(self._names), np.inf)
        return self._parameters.per_joint('collision_threshold.{joint}', self._names)
