# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Status of dynamics_node on /diagnostics."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from kron_dynamics.control import IntegralAction, JointStateAssembler
from kron_dynamics.control.terms import in_order
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.publishers import WITHOUT_EVENTS

_REMEMBERED = 1000  # control cycles in the statistics
_SLOW = 1.25  # measured over planned state period above which is a warning


class CycleStatistics:
    """Compute times and arrival times of the last control cycles, s."""

    def __init__(self) -> None:
        """Start without cycles."""
        self.compute: deque[float] = deque(maxlen=_REMEMBERED)
        self.arrivals: deque[float] = deque(maxlen=_REMEMBERED)

    def values(self) -> dict[str, str]:
        """Return rate and compute time percentiles as texts."""
        values = {}
        if len(self.arrivals) > 1:
            span = self.arrivals[-1] - self.arrivals[0]
            if span > 0.0:
                values['state rate [Hz]'] = f'{(len(self.arrivals) - 1) / span:.1f}'
        if self.compute:
            # Not np.percentile: it imports masked arrays, which would delay commands.
            ordered = 1e3 * np.sort(self.compute)
            half, most = (ordered[round(share * (ordered.size - 1))] for share in (0.5, 0.99))
            values['compute time median [ms]'] = f'{half:.3f}'
            values['compute time p99 [ms]'] = f'{most:.3f}'
        return values


def state_values(robot: Robot, assembler: JointStateAssembler, now: float) -> dict[str, str]:
    """Return model fingerprint, age of the joint states and dropped messages, as texts.

    Args:
        robot: the machine.
        assembler: assembler of its joint states.
        now: steady time, s.
    """
    age = assembler.state(now).ages[:2].max(initial=0.0)
    values = {'model': robot.model.fingerprint, 'state age [s]': f'{age:.3f}'}
    for reason, count in assembler.rejections.items():
        values[f'joint states dropped: {reason}'] = str(count)
    return values


def activity(controller: TrackingController, settings: ParameterSet) -> tuple[bytes, str]:
    """Return level and message of a node that sends commands.

    States that come more slowly than `state_period` are a warning: the stability of gains and of
    the fault action was checked for that period.
    """
    if controller.latch.reason is not None:
        return DiagnosticStatus.ERROR, f'fault: {controller.latch.reason}'
    planned = settings.value('state_period')
    if controller.period > _SLOW * planned:
        return DiagnosticStatus.WARN, (
            f'active, but joint states come every {controller.period:.3g} s and state_period, for '
            f'which the gains were checked, is {planned:g} s'
        )
    return DiagnosticStatus.OK, 'active'


def controller_values(controller: TrackingController, settings: ParameterSet) -> dict[str, str]:
    """Return law, shaping, limits, saturations and errors of a controller, as texts."""
    values = {'control law': settings.value('control_law')}
    values['terms in commands'] = ', '.join(in_order(controller.law.terms)) or 'none'
    drive_terms = [term for term in settings.value('drive_terms') if term]
    values['terms added by the drives'] = ', '.join(drive_terms) or 'none'
    shaping = controller.references.shaping
    values['reference shaping'] = 'none' if shaping is None else shaping.kind
    if shaping is not None:
        values['time added by shaping [s]'] = f'{controller.references.added_time:.3f}'
    if settings.value('vibration_damping'):
        values['vibration damping'] = controller.law_state.problem or 'active'
    if isinstance(controller.law, IntegralAction):
        limits = ', '.join(f'{limit:.4g}' for limit in controller.law.limit)
        values['limits of the integral efforts'] = limits
    if controller.latch.faulted:
        values['fault action'] = settings.value('fault_action')
    if controller.hold is not None:
        values['damping of hold_gravity [1/s]'] = f'{controller.hold.damping:.3g}'
    values['state period, planned and measured [s]'] = (
        f'{settings.value("state_period"):.4g}, {controller.period:.4g}'
    )
    guard = controller.guard
    for name, limit, cut, held in zip(
        guard.joint_names,
        guard.effort_limit,
        guard.effort_saturations,
        guard.rate_saturations,
        strict=True,
    ):
        values[f'effort limit of {name}'] = f'{limit:g}'
        values[f'effort saturations of {name}'] = str(cut)
        values[f'rate saturations of {name}'] = str(held)
    values |= _tracking_values(controller, guard.joint_names)
    return values


def _tracking_values(controller: TrackingController, joint_names: Sequence[str]) -> dict[str, str]:
    """Return each joint's tracking errors and tolerances, as texts."""
    values: dict[str, str] = {}
    errors = controller.errors
    if errors is None:
        return values
    allowed = errors.tolerances
    for k, name in enumerate(joint_names):
        values[f'tracking error of {name}'] = (
            f'{errors.position[k]:.4g}, allowed {allowed.position[k]:.4g}; velocity '
            f'{errors.velocity[k]:.4g}, allowed {allowed.velocity[k]:.4g}'
        )
    return values


class DiagnosticsPublisher:
    """Publishes one status of a node."""

    def __init__(self, node: Node) -> None:
        """Make the publisher on /diagnostics for a node."""
        self._node = node
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', 10, event_callbacks=WITHOUT_EVENTS
        )

    def publish(
        self, level: bytes, message: str, hardware_id: str, values: Mapping[str, str]
    ) -> None:
        """Publish a status.

        Args:
            level: level of `DiagnosticStatus`.
            message: one line.
            hardware_id: name of the robot.
            values: further values by key.
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
