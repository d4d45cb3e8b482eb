# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands of dynamics_node compensate, for whoever records or adds to them."""

from __future__ import annotations

from collections.abc import Collection

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from kron_dynamics.control.terms import in_order
from kron_dynamics.ros.publishers import WITHOUT_EVENTS


class TermsOutput:
    """Names of the model's terms in the commands; late subscribers get them too."""

    def __init__(self, node: Node) -> None:
        """Make the publisher."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publisher = node.create_publisher(
            String, '~/terms', latched, event_callbacks=WITHOUT_EVENTS
        )

    def publish(self, terms: Collection[str]) -> None:
        """Tell the terms, some of `control.terms.TERMS`; none are an empty text."""
        self._publisher.publish(String(data=', '.join(in_order(terms))))
