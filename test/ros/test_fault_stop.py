# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A fault in mid-motion stops an arm: simulator and node as a user starts them, in lockstep."""

from __future__ import annotations

import numpy as np
import pytest
from lockstep import ANSWERED
from long_runs import some_of
from pinocchio_oracle import example_robots
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kron_dynamics as kd
from kron_dynamics.control import GravityHold
from kron_dynamics.ros.conversions import seconds, stamp_from

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]

PERIOD = 0.01
# Gains of each joint, 1/s^2 and 1/s.
KP, KD = 100.0, 20.0
ARMS = {
    'ur5_robot.urdf': [0.0, -1.2, 1.4, -0.5, 0.4, 0.0],
    'panda.urdf': [0.0, -0.4, 0.2, -1.8, 0.3, 1.6, 0.2, 0.02],
}


class Cell:
    """An arm in its simulator under the node."""

    def __init__(self, launcher, client, path, start):
        self.client = client
        self.robot = kd.load(path)
        self.start = np.array(start)
        joints = self.robot.joint_names
        common = {'robot_description_file': str(path)}
        self.states = client.hear(JointState, 'joint_states')
        self.commands = client.hear(JointState, 'dynamics_node/command_state')
        self.references = client.publisher(JointTrajectory, 'dynamics_node/reference')
        self.intruder = client.publisher(JointState, 'joint_states')
        pose = {f'initial_position.{j}': q for j, q in zip(joints, start, strict=True)}
        self.simulator = launcher(
            'simulator_node',
            client.namespace,
            remap=ANSWERED,
            joints=pose,
            publish_rate=1.0 / PERIOD,
            lockstep=True,
            command_timeout=20.0,
            **common,
        )
        # The simulator's states are answered on the node's own topic.
        gains = {f'gains.{joint}.kp': KP for joint in joints}
        gains |= {f'gains.{joint}.kd': KD for joint in joints}
        self.controller = launcher(
            'dynamics_node',
            client.namespace,
            joints=gains,
            state_period=PERIOD,
            state_timeout=5.0,
            diagnostics_period=0.05,
            **common,
        )
        client.wait_for(
            lambda: (status := client.status()) is not None and status.message == 'active',
            'active node',
        )
        # Discovery has no order: the node may be active before anything of it is heard here.
        client.wait_for(lambda: self.states and self.commands, 'states and their answers')
        client.wait_for(self.references.get_subscription_count, 'listener of references')
        client.wait_for(lambda: self.intruder.get_subscription_count() >= 2, 'two of states')

    def refer(self, goal, duration):
        n = self.robot.n
        point = JointTrajectoryPoint(positions=list(goal), velocities=[0.0] * n)
        point.time_from_start.sec = duration
        self.references.publish(
            JointTrajectory(joint_names=self.robot.joint_names, points=[point])
        )

    def latest(self):
        state = self.states[-1]
        return np.array(state.position), np.array(state.velocity)


@pytest.fixture(params=some_of(sorted(ARMS), ['panda.urdf']))
def cell(request, launcher, connect):
    (path,) = (path for path in example_robots().values() if path.name == request.param)
    made = Cell(launcher, connect(f'cell_{path.stem}'), path, ARMS[request.param])
    yield made
    made.controller.stop(trouble=['fault: stamps of joint_states stepped back'])
    made.simulator.stop()


def test_one_stamp_that_steps_back_stops_the_arm_gently(cell):
    robot, client = cell.robot, cell.client
    goal = cell.start + np.where(np.arange(robot.n) < 6, 0.5, 0.0)
    cell.refer(goal, 2)
    client.wait_for(lambda: np.abs(cell.latest()[1]).max() > 0.25, 'motion')
    moving = cell.states[-1]
    since = seconds(moving.header.stamp)
    moving.header.stamp = stamp_from(since - 1.5)
    cell.intruder.publish(moving)
    client.wait_for(lambda: client.status().message.startswith('fault'), 'fault')
    client.wait_for(lambda: seconds(cell.states[-1].header.stamp) > since + 2.5, '2.5 s')

    states = {seconds(state.header.stamp): state for state in cell.states}
    commands = list(cell.commands)
    stamps = [seconds(command.header.stamp) for command in commands]
    # From the answer to the stamp that stepped back on; the simulator may have had it before.
    fault = max(k for k, stamp in enumerate(stamps) if abs(stamp - since + 1.5) < 1e-6)
    answered = [k for k in range(fault + 1, len(commands)) if stamps[k] in states]
    answers = [(states[stamps[k]], np.array(commands[k].effort)) for k in answered]
    assert len(answers) > 150
    law = GravityHold(robot, period=PERIOD)
    first = answers[0][0]
    energy = robot.kinetic_energy(first.position, first.velocity)
    assert energy > 0.01
    most = law.damping * np.sqrt(2.0 * energy)  # of the brake, in the metric of M^-1
    energies = []
    for state, effort in answers:
        q, qd = np.array(state.position), np.array(state.velocity)
        brake = effort - robot.gravity_vector(q + PERIOD * qd)
        # A little more while the rate limit lets go of the effort before.
        assert np.sqrt(brake @ np.linalg.solve(robot.mass_matrix(q), brake)) <= 1.05 * most
        energies.append(robot.kinetic_energy(q, qd))
    # The effort before the fault acts until the first answer has come. And on a busy computer the
    # weight alone may have been sent in between, when the states were silent for too long: the
    # simulator takes it for an answer, and goes on before the next one.
    gone = np.array(energies)[2:]
    between = np.diff(answered)[2:] > 1
    braked = np.convolve(between, np.ones(3))[: len(between)] == 0
    assert braked.mean() > 0.5
    assert (gone[1:] <= 1.01 * gone[:-1] + 1e-6 * energy)[braked].all()
    stopped = seconds(first.header.stamp) + 2.0
    late = [np.abs(state.velocity).max() for time, state in states.items() if time > stopped]
    assert max(late) < 0.002

    # Nothing moves after the fault without a new order; with one the arm goes on.
    assert client.call(Trigger, 'dynamics_node/clear_fault').success
    rest, cleared = cell.latest()[0], seconds(cell.states[-1].header.stamp)
    client.wait_for(lambda: seconds(cell.states[-1].header.stamp) > cleared + 2.5, '2.5 s')
    assert np.abs(cell.latest()[0] - rest).max() < 0.002
    cell.refer(goal, 3)
    client.wait_for(lambda: np.abs(cell.latest()[0] - goal).max() < 0.005, 'the goal')
