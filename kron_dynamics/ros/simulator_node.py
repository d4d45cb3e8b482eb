# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""simulator_node: simulates a machine from its URDF, with the topics of a real one.

Subscribes to ~/commands and, in lockstep, to ~/command_state; publishes joint_states and, with
publish_clock, /clock. With flexible links it publishes ~/modal_states: the true deflections,
which no sensor of the machine measures, for evaluation.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from kron_dynamics.exceptions import KronDynamicsError, ParameterError
from kron_dynamics.model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import joint_state, seconds, stamp_from
from kron_dynamics.ros.description import (
    publish_constraints,
    robot_from_parameters,
    robot_from_text,
    subscribe_description,
)
from kron_dynamics.ros.joint_parameters import simulator_joint_parameters
from kron_dynamics.ros.main import run_node
from kron_dynamics.ros.node_parameters import SIMULATOR
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.signals import stopped_at_once
from kron_dynamics.ros.unknown_parameters import refuse_unknown_parameters
from kron_dynamics.simulation import JointSensors, Measurement, Plant
from kron_dynamics.simulation.passive_joints import passive_joints, with_passive_joints
from kron_dynamics.typing import FloatArray

# Largest number of periods simulated at once after a delay of the process; simulated time does
# not catch up the remaining wall time.
_CATCH_UP = 5
# States kept for reliable subscribers that are late, such as a recorder on a busy computer.
_KEPT = 1000
# Wall time between log messages that the simulation cannot keep up, s.
_BEHIND_INTERVAL = 5.0


class SimulatorNode(Node):
    """Receives efforts on ~/commands and publishes joint_states and, optionally, /clock.

    With closed loops, commands are for the driven joints. joint_states contains the driven joints
    and then the passive ones, with effort 0, because RViz and robot_state_publisher need all.
    With flexible links, commands and joint_states are for the joints only. ~/modal_states
    (sensor_msgs/JointState) has the modal coordinates for every joint state, with its stamp and
    without sensor errors: names such as boom/w1, position in m, velocity in m/s, no effort.
    """

    def __init__(self) -> None:
        """Declare the parameters and start as soon as there is a description.

        Raises:
            KronDynamicsError: a parameter, or the description in the parameters, is unusable.
        """
        super().__init__('simulator_node')
        self._settings = ParameterSet(self)
        self._settings.declare(SIMULATOR)
        self._factor: float = self._settings.value('real_time_factor')
        self._with_clock: bool = self._settings.value('publish_clock')
        if self._factor != 1.0 and not self._with_clock:
            raise ParameterError(
                f'real_time_factor is {self._factor:g} but publish_clock is false: stamps would '
                f'run at another pace than the clock of the other nodes'
            )
        if self._settings.value('use_sim_time'):
            raise ParameterError('use_sim_time is set: the simulator is the source of time')
        self._plant: Plant | None = None
        robot = robot_from_parameters(self._settings)
        publish_constraints(self, self._settings)
        if robot is None:
            subscribe_description(self, self._on_description)
            self.get_logger().info('waiting for robot_description')
        else:
            self._begin(robot)

    def _on_description(self, text: str) -> None:
        if self._plant is not None:
            self.get_logger().warning('another robot_description arrived: restart to simulate it')
            return
        try:
            robot = robot_from_text(self._settings, text)
        except KronDynamicsError as error:
            self.get_logger().error(f'robot_description refused: {error}')
            return
        self._begin(robot)

    @stopped_at_once()
    def _begin(self, robot: Robot) -> None:
        parameters, count = self._settings, robot.model.joint_count
        joints, modal = robot.joint_names[:count], robot.joint_names[count:]
        parameters.declare(simulator_joint_parameters(joints, _starts(robot.model, count)))
        refuse_unknown_parameters(self)
        self._joint_names, self._modal_names = joints, modal
        self._measured_names = joints + passive_joints(robot.model)
        try:
            self._plant = Plant(robot, parameters.per_joint('initial_position.{joint}', joints))
        except ParameterError as error:
            raise ParameterError(f'{error} (parameters initial_position.<joint>)') from None
        self._sensors = JointSensors(
            position_resolution=parameters.per_joint('position_resolution.{joint}', joints),
            position_noise=parameters.per_joint('position_noise.{joint}', joints),
            velocity_noise=parameters.per_joint('velocity_noise.{joint}', joints),
            effort_noise=parameters.per_joint('effort_noise.{joint}', joints),
            seed=parameters.value('seed'),
        )
        self._step = parameters.value('step')
        self._period = 1.0 / parameters.value('publish_rate')
        self._command_timeout = parameters.value('command_timeout')
        self._command = np.zeros(count)
        self._command_time = -np.inf
        self._set_brakes(True)
        # Compile the kernels of the integration before simulated time starts.
        robot.prepare()
        self._plant.advance(self._command, 0.0, self._step)
        self._states = self.create_publisher(JointState, 'joint_states', _KEPT)
        if modal:
            self._modal_states = self.create_publisher(JointState, '~/modal_states', _KEPT)
        if self._with_clock:
            self._clock_publisher = self.create_publisher(ClockMessage, '/clock', 10)
        self.create_subscription(Float64MultiArray, '~/commands', self._on_command, 1)
        self._lockstep = parameters.value('lockstep')
        self._answered: float | None = None
        self._commands_in_answers = False
        self._published_at = 0.0
        if self._lockstep:
            self._answers = self.create_subscription(
                JointState, '~/command_state', self._on_answer, 1
            )
        # Simulated time in periods. The first stamp is one period, because 0 means "no stamp".
        self._periods = 0
        self._origin = 0.0 if self._with_clock else self.get_clock().now().nanoseconds * 1e-9
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        bending = f'modal coordinates {", ".join(modal)}; ' if modal else ''
        self.get_logger().info(
            f"simulating '{robot.model.name}': joints {', '.join(joints)}; "
            f'{bending}'
            f'{1.0 / self._period:g} Hz, step {self._step:g} s, '
            f'real time factor {self._factor:g}'
        )
        # Writing the first log message takes a while, so time starts after it.
        self._epoch = self._silent_until = self._wall_time()
        self.create_timer(self._period / self._factor, self._tick, clock=self._steady)

    def _wall_time(self) -> float:
        """Return the time of the timer's steady clock, s."""
        return self._steady.now().nanoseconds * 1e-9

    def _on_command(self, message: Float64MultiArray) -> None:
        command = np.asarray(message.data, dtype=np.float64)
        if not self._is_usable(command, 'command'):
            return
        if self._lockstep and self._answered is None and not self._answers.get_publisher_count():
            self.get_logger().warning(
                f'not in lockstep: nobody publishes on {self._answers.topic_name}, expected the '
                'command_state of the controller; connect it by a remapping',
                throttle_duration_sec=30.0,
            )
        # In lockstep the answers have the efforts, which may come earlier or later by this topic.
        if self._answered is None or not self._commands_in_answers:
            self._take(command)

    def _take(self, command: FloatArray) -> None:
        self._command = command
        self._command_time = self._now()
        self._set_brakes(False)

    def _is_usable(self, command: FloatArray, what: str) -> bool:
        if command.shape == self._command.shape and np.isfinite(command).all():
            return True
        self.get_logger().warning(
            f'{what} dropped: {command.tolist()}, expected {len(self._command)} finite '
            f'numbers for {", ".join(self._joint_names)}',
            throttle_duration_sec=5.0,
        )
        return False

    def _on_answer(self, message: JointState) -> None:
        """In lockstep: take the efforts for a state, and continue if a period is due.

        An answer without efforts only tells that those on ~/commands are for this state.
        """
        self._commands_in_answers = bool(message.effort)
        if self._commands_in_answers:
            given = dict(zip(message.name, message.effort, strict=False))
            command = np.array([given.get(name, np.nan) for name in self._joint_names])
            if self._is_usable(command, 'command_state'):
                self._take(command)
        self._answered = seconds(message.header.stamp)
        self._tick()

    def _waits(self) -> bool:
        """Return whether lockstep stops time, because the last state has no answer yet."""
        if self._answered is None or self._answered >= self._now() - 0.5 * self._period:
            return False
        if self._wall_time() - self._published_at < self._command_timeout:
            return True
        # The controller has gone or is silent: time runs freely until its next answer.
        self._answered = None
        return False

    def _now(self) -> float:
        """Return simulated time as used for stamps, s."""
        return self._origin + self._periods * self._period

    def _set_brakes(self, engaged: bool) -> None:
        assert self._plant is not None
        coast = self._settings.value('timeout_action') == 'coast'
        self._plant.brakes_set = engaged and not coast

    def _tick(self) -> None:
        """Advance the plant to the wall clock, then publish."""
        plant = self._plant
        assert plant is not None
        if self._lockstep and self._waits():
            return
        # Round to the nearest period: a slightly early tick counts for its period.
        due = round((self._wall_time() - self._epoch) * self._factor / self._period)
        behind = due - self._periods
        most = 1 if self._lockstep else _CATCH_UP
        if behind > most:
            self._epoch += (behind - most) * self._period / self._factor
            behind = most
            self._say_behind()
        for _ in range(behind):
            if self._now() - self._command_time > self._command_timeout:
                self._command = np.zeros_like(self._command)
                self._set_brakes(True)
            plant.advance(self._command, self._period, self._step)
            self._periods += 1
            # Measured every period, published or not, so that noise depends on the seed only.
            sample = self._sensors.measure(plant)
        if behind > 0:
            self._publish(plant, sample)

    def _say_behind(self) -> None:
        """Log it at intervals; rclpy's throttling would look up the caller each time (0.4 ms)."""
        now = self._wall_time()
        if now >= self._silent_until:
            self._silent_until = now + _BEHIND_INTERVAL
            text = 'the simulation cannot keep up with its real time factor'
            logger = self.get_logger()
            if self._with_clock:
                logger.info(text)
                return
            late = self.get_clock().now().nanoseconds * 1e-9 - self._now()
            logger.warning(f'{text}: stamps are {late:.3g} s behind the clock, and stay so')

    def _publish(self, plant: Plant, sample: Measurement) -> None:
        stamp = stamp_from(self._now())
        self._published_at = self._wall_time()
        if self._with_clock:
            self._clock_publisher.publish(ClockMessage(clock=stamp))
        has_passive = len(self._measured_names) > len(self._joint_names)
        measured = with_passive_joints(plant, sample) if has_passive else sample
        self._states.publish(
            joint_state(
                stamp, self._measured_names, measured.position, measured.velocity, measured.effort
            )
        )
        if self._modal_names:
            count = len(self._joint_names)
            q, qd = plant.q[count:], plant.qd[count:]
            self._modal_states.publish(joint_state(stamp, self._modal_names, q, qd))


def _starts(model: RobotModel, count: int) -> list[float]:
    """Return the default start positions: 0, or the middle of a range without 0."""
    starts = []
    limits = model.position_lower.tolist(), model.position_upper.tolist()
    for lower, upper in zip(*limits, strict=True):
        nearest, middle = min(max(0.0, lower), upper), (lower + upper) / 2.0
        starts.append(nearest if nearest == 0.0 or not math.isfinite(middle) else middle)
    return starts[:count]


def main(arguments: list[str] | None = None) -> int:
    """Run simulator_node; return the process's exit code."""
    return run_node(SimulatorNode, arguments)


if __name__ == '__main__':
    sys.exit(main())
