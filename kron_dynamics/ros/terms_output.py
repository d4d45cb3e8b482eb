# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Publishes the model terms that commands of dynamics_node contain, for recordings and drives."""

from __future__ import annotations

from collections.abc import Collection

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from kron_dynamics.control.terms import in_order
from kron_dynamics.ros.publishers import WITHOUT_EVENTS


class TermsOutput:
    """Latched publisher of the names of the model terms in the commands."""

    def __init__(self, node: Node) -> None:
        """Make the publisher."""
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publisher = node.create_publisher(
            String, '~/terms', latched, event_callbacks=WITHOUT_EVENTS
        )

    def publish(self, terms: Collection[str]) -> None:
        """Publish the terms, some of `control.terms.TERMS`; an empty text for none."""
        self._publisher.publish(String(data=', '.join(in_order(terms))))
