# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine on topics, simulated in this process, with faults on request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from kron_dynamics import Robot
from kron_dynamics.simulation import Plant

# Longer delays of this process, s, are not attributed to the node: it was preempted or busy.
_PAUSE = 0.02
# Function of a state that returns the messages sent in its place, in order.
Spoiler = Callable[[JointState], list[JointState]]


class BadCommandError(AssertionError):
    """The node sent a command that must never reach a machine."""


class Machine:
    """Simulates a machine that executes the commands of a dynamics_node, in wall time."""

    def __init__(
        self,
        robot: Robot,
        q: np.ndarray,
        namespace: str,
        rate_limit: np.ndarray,
        rate: float = 100.0,
    ) -> None:
        """Start at rest at q, shape (n,); publish states at `rate`, Hz."""
        self.robot = robot
        self.rate = rate
        self.plant = Plant(robot, q)
        self._start = q
        self.push = np.zeros(robot.n)  # external effort on the joints, N m or N
        self.braked = False  # brakes engaged: the machine does not move
        self.node = rclpy.create_node('machine', namespace=namespace)
        self._states = self.node.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        )
        self.node.create_subscription(
            Float64MultiArray, 'dynamics_node/commands', self._on_command, 10
        )
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._clear = self.node.create_client(Trigger, 'dynamics_node/clear_fault')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._limit = robot.model.effort_limit
        self._rate_limit = rate_limit
        self._effort = robot.gravity_vector(q)
        self._last: tuple[float, np.ndarray] | None = None
        self.commands = 0
        # Longest time from a state to the next command, s, without pauses of this process, and
        # the longest such pause.
        self.longest_gap = self.longest_pause = 0.0
        self._asked: float | None = None
        self._paused, self._awake = 0.0, None
        self.fault: str | None = None
        self.active = False
        self.bad: list[str] = []

    def close(self) -> None:
        """Destroy the ROS node of the machine."""
        self._executor.shutdown()
        self.node.destroy_node()

    def forget_command(self) -> None:
        """Do not compare the next command with the last: it comes from another process."""
        self._last = self._asked = None

    def stand(self) -> None:
        """Reset to the initial pose, at rest with brakes engaged."""
        self.plant = Plant(self.robot, self._start)
        self.braked = True

    def state(self, offset: float = 0.0) -> JointState:
        """Return the machine's true state, stamped now plus an offset, s."""
        stamp = self.node.get_clock().now().nanoseconds + round(offset * 1e9)
        message = JointState(
            name=list(self.robot.joint_names),
            position=self.plant.q.tolist(),
            velocity=self.plant.qd.tolist(),
            effort=self._effort.tolist(),
        )
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        return message

    def publish(self, message: JointState) -> None:
        """Publish a state unchanged."""
        if self._asked is None:
            self._asked, self._paused = time.monotonic(), 0.0
        self._states.publish(message)

    def run(self, seconds: float, spoil: Spoiler = lambda state: [state]) -> None:
        """Simulate for some seconds and publish the states, modified by a spoiler.

        Raises:
            BadCommandError: a command was not finite, had a wrong length, exceeded a limit, or
                differed too much from the previous one.
        """
        begin = time.monotonic()
        period = 1.0 / self.rate
        for k in range(round(seconds * self.rate)):
            while (wait := begin + k * period - time.monotonic()) > 0.0:
                self._spin(wait)
            self._spin(0.0)
            if not self.braked:
                self.plant.advance(self._effort + self.push, period, period / 4)
            for message in spoil(self.state()):
                self.publish(message)
        if self.bad:
            raise BadCommandError('; '.join(self.bad[:5]))

    def _spin(self, seconds: float) -> None:
        """Process one message; record by how much this process was delayed."""
        started = time.monotonic()
        away = started - self._awake if self._awake is not None else 0.0
        self._executor.spin_once(timeout_sec=seconds)
        self._awake = time.monotonic()
        away += max(self._awake - started - seconds, 0.0)
        self._paused += away if away > _PAUSE else 0.0
        self.longest_pause = max(self.longest_pause, away)

    def clear(self) -> bool:
        """Ask the node to clear its fault, sending states meanwhile; return whether it did."""
        future = self._clear.call_async(Trigger.Request())
        end = time.monotonic() + 10.0
        while not future.done() and time.monotonic() < end:
            self.run(0.05)
        return bool(future.done() and future.result().success)

    def _on_command(self, message: Float64MultiArray) -> None:
        effort, now = np.array(message.data), time.monotonic()
        self.commands += 1
        if effort.shape != (self.robot.n,) or not np.isfinite(effort).all():
            self.bad.append(f'command {effort}')
            return
        if (np.abs(effort) > self._limit * (1.0 + 1e-9)).any():
            self.bad.append(f'command {effort} beyond the limits {self._limit}')
        if self._last is not None:
            if self._asked is not None:
                away = max(now - (self._awake or now) - _PAUSE, 0.0) + self._paused
                self.longest_gap = max(self.longest_gap, now - self._asked - away)
            # Latency of the messages is added to the interval between commands. The node limits a
            # command to the change of 0.1 s.
            step = np.abs(effort - self._last[1])
            allowed = self._rate_limit * min(now - self._last[0] + 0.05, 0.1)
            if (step > allowed * (1.0 + 1e-9)).any():
                self.bad.append(f'step {step}, allowed {allowed}')
        self._last, self._asked = (now, effort), None
        self._effort = effort

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == f'{self.node.get_namespace().strip("/")}/dynamics_node: control':
                self.active = status.message != 'not active'
                text = status.message
                self.fault = text.partition(': ')[2] if text.startswith('fault') else None
