# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the node says of itself on /diagnostics."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

_REMEMBERED = 1000  # control cycles in the statistics


@dataclass(slots=True)
class CycleStatistics:
    """Times of the last control cycles."""

    compute: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    arrivals: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def values(self) -> dict[str, str]:
        """Return rate and compute time percentiles as texts."""
        values = {}
        if len(self.arrivals) > 1:
            span = self.arrivals[-1] - self.arrivals[0]
            if span > 0.0:
                values['state rate [Hz]'] = f'{(len(self.arrivals) - 1) / span:.1f}'
        if self.compute:
            half, most = np.percentile(self.compute, [50, 99]) * 1e3
            values['compute time median [ms]'] = f'{half:.3f}'
            values['compute time p99 [ms]'] = f'{most:.3f}'
        return values


class DiagnosticsPublisher:
    """Publishes one status of a node."""

    def __init__(self, node: Node) -> None:
        """Publish on /diagnostics for a node."""
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)

    def publish(
        self, level: bytes, message: str, hardware_id: str, values: Mapping[str, str]
    ) -> None:
        """Publish a status.

        Args:
            level: of `DiagnosticStatus`.
            message: one line.
            hardware_id: what the status is about: the robot's name.
            values: further facts.
        """
        status = DiagnosticStatus(
            level=level,
            name=f'{self._node.get_fully_qualified_name().lstrip("/")}: control',
            message=message,
            hardware_id=hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)
