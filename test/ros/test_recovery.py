# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine falls silent as it moves: the node holds, says why, resumes without a jump."""

from __future__ import annotations

import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from kron_dynamics.ros.conversions import seconds

pytestmark = pytest.mark.ros

# As in config/stacker_reclaimer.yaml.
STATE_TIMEOUT = 0.3
RATE_LIMIT = np.array([6e5, 5e6, 2e7])
# The longest time for which one change of the command is granted, s.
LONGEST_STEP = 0.1
# Wall time that a busy computer may take on top, s.
MARGIN = 1.0


def efforts(messages):
    return np.array([message.effort for message in messages])


def test_the_simulator_is_killed_and_comes_back(yard):
    client, robot = yard.client, yard.robot
    joints = robot.joint_names
    travel = JointTrajectory(joint_names=joints)
    travel.points = [JointTrajectoryPoint(positions=list(yard.states[-1].position))]
    travel.points[0].positions[0] += 1.0
    travel.points[0].time_from_start.sec = 6
    # An answer tells that the node knows the publisher too.
    assert client.lifecycle_state() == 'active'
    yard.references.publish(travel)
    client.wait_for(lambda: yard.states[-1].velocity[0] > 0.05, 'motion')
    client.wait_for(lambda: len(yard.commands) > 10, 'commands')
    yard.commands.clear()

    yard.simulator.kill()
    silent_since = time.monotonic()
    client.wait_for(lambda: client.status().level == DiagnosticStatus.ERROR, 'fault')
    assert time.monotonic() - silent_since < STATE_TIMEOUT + MARGIN
    status = client.status()
    assert 'joint states are not fresh' in status.message
    assert {item.key: item.value for item in status.values}['fault action'] == 'hold_gravity'
    last = yard.states[-1]
    weight = robot.gravity_vector(last.position)
    client.wait_for(
        lambda: np.allclose(yard.commands[-1].effort, weight, rtol=1e-9, atol=1e-3),
        'hold_gravity at the last position',
    )
    refused = client.call(Trigger, 'dynamics_node/clear_fault')
    assert not refused.success
    assert 'joint states are not fresh' in refused.message

    # The machine is found where it stopped.
    yard.states.clear()
    pose = dict(zip(joints, last.position, strict=True))
    yard.start_simulator(joints={f'initial_position.{name}': q for name, q in pose.items()})
    client.wait_for(lambda: len(yard.states) > 10, 'states of the new simulator')
    assert client.status().level == DiagnosticStatus.ERROR
    before = len(yard.commands)
    in_fault = yard.commands[-1].effort
    client.wait_for(
        lambda: client.call(Trigger, 'dynamics_node/clear_fault').success, 'cleared fault'
    )

    def answers():
        """Commands with the stamp of a state: the fault action answers none."""
        stamps = {seconds(state.header.stamp) for state in yard.states}
        fresh = list(yard.commands)[before:]
        return [command for command in fresh if seconds(command.header.stamp) in stamps]

    client.wait_for(lambda: len(answers()) > 50, 'a second of commands')
    client.next_status()
    assert client.status().level == DiagnosticStatus.OK

    # No command, from before the kill to after the return, is a jump.
    steps = np.abs(np.diff(efforts(yard.commands), axis=0))
    assert (steps <= RATE_LIMIT * LONGEST_STEP * (1.0 + 1e-9)).all()
    first = np.abs(np.array(answers()[0].effort) - in_fault)
    allowed = 0.01 * np.where(weight, np.abs(weight), robot.model.effort_limit)
    assert (first < allowed).all()
    # And the machine stays where it was.
    moved = np.abs(np.array(yard.states[-1].position) - last.position)
    assert (moved < (1e-3, 1e-5, 1e-5)).all()
