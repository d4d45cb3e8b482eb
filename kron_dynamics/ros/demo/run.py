# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One run of the demonstration: simulator_node and dynamics_node follow one motion."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import AccelStamped
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kron_dynamics.control.goal_code import GoalCode
from kron_dynamics.demo import Motion
from kron_dynamics.demo.scenarios import SETTLE, Setting
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.model import read_urdf_file
from kron_dynamics.ros.conversions import seconds, stamp_from
from kron_dynamics.ros.demo.processes import NodeProcess
from kron_dynamics.ros.demo.recorder import BagRecorder
from kron_dynamics.ros.description import LATCHED
from kron_dynamics.typing import FloatArray

# Simulated time between sending a reference and its start, for shaping it, s. On a busy computer
# nodes may run further ahead of this process and refuse a start in the past: then it is later.
_DELAY, _LONGEST_DELAY = 5.0, 80.0
_START_TIMEOUT = 180.0  # wall time, s; kernels may have to be compiled
# Longest wall time without a joint state, s. In lockstep simulated time waits for the answer to
# each state, so a shorter silence only means that the computer is busy.
_SILENCE_TIMEOUT = 5.0
_DEPTH = QoSProfile(depth=1000)
# Wall time between polls of the topics, s. An executor that wakes up for each message would use
# more processor time than the nodes.
_PERIOD = 0.02


class DemoError(KronDynamicsError, RuntimeError):
    """A run of the demonstration failed."""


class DemoRun:
    """One run of the two nodes, in its own namespace below that of the demonstration's node."""

    def __init__(
        self, node: Node, recorder: BagRecorder, setting: Setting, look: Callable[[], None]
    ) -> None:
        """Publish the machine's description and subscribe.

        Args:
            node: node that publishes and subscribes for the demonstration.
            recorder: recorder of the bag.
            setting: setting of the run; its name is the namespace.
            look: called repeatedly; raises an exception to end the run.
        """
        self.name, self._setting = setting.name, setting
        self._namespace = f'{node.get_namespace().rstrip("/")}/{self.name}'
        self.model = setting.machine.robot().model
        self._look = look
        self._node = node
        self._recorder = recorder
        # Own executor: rclpy.spin_once would add and remove the node for every message.
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._state: JointState | None = None
        self._heard = time.monotonic()
        self._active = False
        self._fault: str | None = None
        self._late = False
        self._processes: list[NodeProcess] = []
        self._entities = [
            node.create_subscription(
                JointState, f'{self._namespace}/joint_states', self._on_state, 1
            ),
            node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10),
        ]
        self._reference = node.create_publisher(
            JointTrajectory, f'{self._namespace}/dynamics_node/reference', 1
        )
        self._description = node.create_publisher(
            String, f'{self._namespace}/robot_description', LATCHED
        )
        self._description.publish(String(data=read_urdf_file(setting.machine.urdf)))

    def record(self) -> None:
        """Record the run's topics, with only the run's name as namespace in the bag.

        The topics of flexible links stay empty without flexible links.
        """
        for message_type, topic in (
            (JointState, 'joint_states'),
            (JointState, 'dynamics_node/command_state'),
            (JointState, 'simulator_node/modal_states'),
            (JointState, 'dynamics_node/deflection'),
            (Float64MultiArray, 'dynamics_node/commands'),
            (AccelStamped, 'dynamics_node/tip_acceleration'),
            (JointTrajectory, 'dynamics_node/reference'),
            (Clock, 'clock'),
        ):
            self._record(message_type, topic, _DEPTH)
        for topic in ('robot_description', 'robot_constraints'):
            self._record(String, topic, LATCHED)
        self._recorder.record(DiagnosticArray, '/diagnostics', '/diagnostics', _DEPTH)

    def _record(self, message_type: Any, topic: str, qos: QoSProfile) -> None:
        own, recorded = f'{self._namespace}/{topic}', f'/{self.name}/{topic}'
        self._recorder.record(message_type, own, recorded, qos)

    def start(self, simulator_parameters: Mapping[str, str], logs: Path) -> None:
        """Start simulator_node and dynamics_node as processes.

        Args:
            simulator_parameters: parameters of simulator_node in addition to the machine's file.
            logs: folder for the output of the processes.
        """
        machine = self._setting.machine
        common = ['--params-file', str(machine.configuration)]
        common += ['-r', f'__ns:={self._namespace}', '-r', '/clock:=clock']
        if machine.constraints is not None:
            common += ['-p', f'constraints_file:={machine.constraints}']
        simulator = [
            *common,
            *('-r', '~/commands:=dynamics_node/commands'),
            *('-r', '~/command_state:=dynamics_node/command_state'),
            *('-p', 'publish_clock:=true'),
            *('-p', 'lockstep:=true'),
            *('-p', f'command_timeout:={_SILENCE_TIMEOUT}'),
            *_assigned(simulator_parameters),
        ]
        controller = [
            *common,
            *('-p', 'use_sim_time:=true'),
            *('-p', 'allow_commands_in_sim_time:=true'),
            *('-p', 'diagnostics_period:=0.25'),
            *('-p', f'state_timeout:={_SILENCE_TIMEOUT}'),
            *_assigned(self._setting.controller),
        ]
        for name, arguments in (('simulator_node', simulator), ('dynamics_node', controller)):
            log = logs / f'{self.name}_{name}.log'
            module = f'kron_dynamics.ros.{name}'
            self._processes.append(NodeProcess(f'{name} ({self.name})', module, arguments, log))

    def wait_until_active(self) -> FloatArray:
        """Wait until the node commands the machine; return the first joint positions.

        Returns:
            Positions before the motion, shape (n,), rad or m, in the order of the model.

        Raises:
            DemoError: the node is not active within the timeout.
            ProcessError: a process ended.
        """
        first: JointState | None = None
        deadline = time.monotonic() + _START_TIMEOUT
        # Discovery has no order: diagnostics may come before joint states, and the node may not
        # yet receive references.
        while first is None or not self._active or not self._reference.get_subscription_count():
            self._spin()
            first = first or self._state
            if time.monotonic() > deadline:
                raise DemoError(
                    f'dynamics_node ({self.name}) is not active after {_START_TIMEOUT:g} s: '
                    f'{self._fault or "no diagnostics or no joint states received"}'
                )
        names = self.model.joint_names
        order = [list(first.name).index(name) for name in names]
        return np.asarray(first.position)[order]

    def follow(self, motion: Motion, progress: Callable[[float], None]) -> float:
        """Send a motion, wait for its end, and return its start in simulated time, s.

        Args:
            motion: motion that starts at the current position.
            progress: called repeatedly with the share that is done, 0 to 1.

        Raises:
            DemoError: the node reports a fault, or joint states are missing.
            ProcessError: a process ended.
        """
        start, delay, refused = self._send(motion, _DELAY), _DELAY, None
        duration = motion.times[-1] + SETTLE
        while self._now() < start + duration or self._fault is not None:
            self._spin()
            progress(float(np.clip((self._now() - start) / duration, 0.0, 1.0)))
            if time.monotonic() - self._heard > _SILENCE_TIMEOUT:
                raise DemoError(f'no joint states of {self.name} for {_SILENCE_TIMEOUT:g} s')
            if self._fault is None or (self._fault == refused and self._now() < start):
                continue
            if not self._late or delay >= _LONGEST_DELAY:
                raise DemoError(f'dynamics_node ({self.name}) reports: {self._fault}')
            refused, delay = self._fault, 4.0 * delay
            start = self._send(motion, delay)
        return start

    def _send(self, motion: Motion, delay: float) -> float:
        """Send a motion that starts after a delay, s; return its start in simulated time, s."""
        start = self._now() + delay
        self._reference.publish(_message(motion, start))
        return start

    def stop(self) -> None:
        """Stop the processes, dynamics_node first.

        Raises:
            ProcessError: a process does not end, or fails.
        """
        for process in reversed(self._processes):
            process.stop()

    def catch_up(self) -> None:
        """Record what the processes sent before they ended, then stop recording."""

        def wait() -> None:
            time.sleep(_PERIOD)
            self._look()

        self._recorder.catch_up(wait)
        self._recorder.stop()

    def abandon(self) -> None:
        """Kill the processes that still run, and destroy publishers and subscriptions."""
        for process in self._processes:
            process.kill()
        self._executor.remove_node(self._node)
        self._executor.shutdown()
        for subscription in self._entities:
            self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(self._reference)
        self._node.destroy_publisher(self._description)

    def _spin(self) -> None:
        for process in self._processes:
            process.check()
        time.sleep(_PERIOD)
        self._recorder.take()
        for _ in self._entities:
            self._executor.spin_once(timeout_sec=0.0)
        self._look()

    def _now(self) -> float:
        return 0.0 if self._state is None else seconds(self._state.header.stamp)

    def _on_state(self, message: JointState) -> None:
        self._state = message
        self._heard = time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if f'/{status.name}' == f'{self._namespace}/dynamics_node: control':
                healthy = status.level == DiagnosticStatus.OK
                values = {item.key: item.value for item in status.values}
                refused = values.get('last refused reference')
                # What was refused stays in the diagnostics, also during a fault.
                self._fault = refused if healthy else status.message
                code = values.get('code of this refusal')
                self._late = healthy and code == GoalCode.OLD_HEADER_TIMESTAMP.name
                self._active = healthy


def _assigned(parameters: Mapping[str, str]) -> list[str]:
    return [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]


def _message(motion: Motion, start: float) -> JointTrajectory:
    """Return a motion as a reference message that starts at `start`, s."""
    message = JointTrajectory(joint_names=list(motion.joint_names))
    message.header.stamp = stamp_from(start)
    for k, moment in enumerate(motion.times):
        point = JointTrajectoryPoint(
            positions=motion.positions[k].tolist(),
            velocities=motion.velocities[k].tolist(),
            time_from_start=Duration(seconds=float(moment)).to_msg(),
        )
        if motion.accelerations is not None:
            point.accelerations = motion.accelerations[k].tolist()
        message.points.append(point)
    return message
