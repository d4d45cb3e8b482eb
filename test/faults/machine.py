# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine on topics, simulated in this process, which can be told to misbehave."""

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

# s: a process that is away for longer was not run, or was busy with something else.
_PAUSE = 0.02
# What a state is turned into before it is sent: messages, in the order of their sending.
Spoiler = Callable[[JointState], list[JointState]]


class BadCommandError(AssertionError):
    """The node sent what must never reach a machine."""


class Machine:
    """Plays a machine that obeys the commands of a dynamics_node, in wall time."""

    def __init__(
        self,
        robot: Robot,
        q: np.ndarray,
        namespace: str,
        rate_limit: np.ndarray,
        rate: float = 100.0,
    ) -> None:
        """Stand at q, shape (n,); tell states at a rate, Hz."""
        self.robot = robot
        self.rate = rate
        self.plant = Plant(robot, q)
        self._start = q
        self.push = np.zeros(robot.n)  # of the surroundings, N m or N
        self.braked = False  # its brakes hold it where it is
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
        # From a state to the next command, s, without the pauses of this process, which are none
        # of the node's.
        self.longest_gap = self.longest_pause = 0.0
        self._asked: float | None = None
        self._paused, self._awake = 0.0, None
        self.fault: str | None = None
        self.active = False
        self.bad: list[str] = []

    def close(self) -> None:
        """Leave the topics."""
        self._executor.shutdown()
        self.node.destroy_node()

    def forget_command(self) -> None:
        """The next command is another process's: it need not go on from the last."""
        self._last = self._asked = None

    def stand(self) -> None:
        """Be where it was at first, at rest: somebody has moved it back, its brakes hold it."""
        self.plant = Plant(self.robot, self._start)
        self.braked = True

    def state(self, offset: float = 0.0) -> JointState:
        """The machine's true state, stamped now or by an offset, s."""
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
        """Send a state as it is."""
        if self._asked is None:
            self._asked, self._paused = time.monotonic(), 0.0
        self._states.publish(message)

    def run(self, seconds: float, spoil: Spoiler = lambda state: [state]) -> None:
        """Move for a while, and tell states that a spoiler has had in its hands.

        Raises:
            BadCommandError: a command was not finite, of another length, beyond a limit, or too
                far from the one before.
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
        """Answer one message; notes how much longer than that this process was away."""
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
            # The node's clock and this one's differ by what messages take; it grants a command
            # 0.1 s of change at most.
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
