# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine we ship, with its configuration: simulator and node as a user starts them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kron_dynamics as kd
from kron_dynamics.ros.conversions import seconds

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / 'config' / 'stacker_reclaimer.yaml'
NODES = ('dynamics_node', 'simulator_node')
# Parameters of rclpy, not of the package.
FOREIGN = ('use_sim_time', 'start_type_description_service', 'qos_overrides.')
# As in config/stacker_reclaimer.yaml.
STATE_TIMEOUT = 0.3
RATE_LIMIT = np.array([6e5, 5e6, 2e7])
# The longest time for which one change of the command is granted, s.
LONGEST_STEP = 0.1
# Wall time that a busy computer may take on top, s.
MARGIN = 30.0
PERIOD = 0.02


class Yard:
    """The stacker-reclaimer with its configuration: simulator and node, as a user starts them."""

    def __init__(self, launcher, client):
        self._launcher = launcher
        self.client = client
        self.robot = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
        self.states = client.hear(JointState, 'joint_states')
        self.commands = client.hear(JointState, 'dynamics_node/command_state')
        self.references = client.publisher(JointTrajectory, 'dynamics_node/reference')
        self.simulator = self.start_simulator()
        self.controller = self._start('dynamics_node', diagnostics_period=0.05)

    def start_simulator(self, **settings):
        remap = {'~/commands': 'dynamics_node/commands'}
        self.simulator = self._start('simulator_node', remap=remap, **settings)
        return self.simulator

    def _start(self, node, **settings):
        return self._launcher(
            node,
            self.client.namespace,
            files=[CONFIGURATION],
            robot_description_file=str(ROOT / 'urdf' / 'stacker_reclaimer.urdf'),
            **settings,
        )

    def wait_until_active(self):
        def active():
            status = self.client.status()
            return status is not None and status.message == 'active'

        self.client.wait_for(active, 'active node')


@pytest.fixture(scope='module')
def yard(launcher, connect):
    """Simulator and node; both must end in order."""
    both = Yard(launcher, connect('yard'))
    both.wait_until_active()
    yield both
    both.controller.stop(trouble=['fault: joint states are not fresh'])
    both.simulator.stop()


@pytest.fixture(scope='module')
def declared(yard):
    """{node: names of its parameters}, asked from the running nodes."""
    return {
        node: [
            name
            for name in yard.client.call(ListParameters, f'{node}/list_parameters').result.names
            if not name.startswith(FOREIGN)
        ]
        for node in NODES
    }


@pytest.mark.parametrize('node', NODES)
def test_every_parameter_is_typed_described_and_ranged(yard, declared, node):
    names = declared[node]
    assert {'robot_description', 'gravity.z'} < set(names)
    answer = yard.client.call(DescribeParameters, f'{node}/describe_parameters', names=names)
    assert [descriptor.name for descriptor in answer.descriptors] == names
    for descriptor in answer.descriptors:
        assert descriptor.description.endswith('.'), descriptor.name
        assert descriptor.type != ParameterType.PARAMETER_NOT_SET, descriptor.name
        assert not descriptor.dynamic_typing, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_INTEGER:
            assert descriptor.integer_range, descriptor.name
        if descriptor.name.rpartition('_')[2] in ('action', 'law', 'source'):
            assert descriptor.additional_constraints.startswith('one of '), descriptor.name


def flattened(tree, prefix=''):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flattened(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


@pytest.mark.parametrize('node', NODES)
def test_the_configuration_file_names_parameters_of_the_node(yard, declared, node):
    section = yaml.safe_load(CONFIGURATION.read_text())[f'/**/{node}']['ros__parameters']
    values = dict(flattened(section))
    assert values.keys() <= set(declared[node])
    answer = yard.client.call(GetParameters, f'{node}/get_parameters', names=list(values))
    told = [parameter_value_to_python(value) for value in answer.values]
    expected = [
        0.05 if (node, name) == ('dynamics_node', 'diagnostics_period') else value
        for name, value in values.items()
    ]
    assert told == expected


@pytest.mark.parametrize(
    ('node', 'name', 'value'),
    [
        ('simulator_node', 'publish_rate', 10.0),
        ('simulator_node', 'position_noise.luff', 1.0),
        ('dynamics_node', 'gravity.z', -1.6),
        ('dynamics_node', 'robot_description', '<robot name="other"/>'),
        ('dynamics_node', 'diagnostics_period', 0.1),
    ],
)
def test_what_is_read_once_is_read_only(yard, node, name, value):
    reason = yard.client.set_parameters({name: value}, node)
    assert 'read-only' in reason or 'active' in reason
    descriptor = yard.client.call(
        DescribeParameters, f'{node}/describe_parameters', names=[name]
    ).descriptors[0]
    assert descriptor.read_only


def test_stamps_are_of_the_wall_clock_and_the_order_is_the_models(yard):
    yard.states.clear()
    yard.client.wait_for(lambda: len(yard.states) > 20, 'states')
    stamps = [seconds(state.header.stamp) for state in yard.states]
    steps = np.diff(stamps)
    assert (np.abs(steps / PERIOD - np.round(steps / PERIOD)) < 1e-4).all()
    assert steps.min() > 0.5 * PERIOD
    assert abs(stamps[-1] - time.time()) < MARGIN
    assert tuple(yard.states[-1].name) == yard.robot.joint_names


def efforts(messages):
    return np.array([message.effort for message in messages])


def test_the_simulator_is_killed_and_comes_back(yard):
    client, robot = yard.client, yard.robot
    joints = robot.joint_names
    client.wait_for(lambda: yard.states, 'states')
    travel = JointTrajectory(joint_names=joints)
    travel.points = [JointTrajectoryPoint(positions=list(yard.states[-1].position))]
    travel.points[0].positions[0] += 1.0
    travel.points[0].time_from_start.sec = 6
    # A computer that was busy for a moment is no fault here; an answer tells, too, that the node
    # knows the publisher.
    client.wait_for(
        lambda: client.call(Trigger, 'dynamics_node/clear_fault').success, 'healthy node'
    )
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

    def held():
        """At the last state, which may be heard after the fault."""
        efforts = yard.commands[-1].effort if yard.commands else np.nan
        weight = robot.gravity_vector(yard.states[-1].position)
        return np.allclose(efforts, weight, rtol=1e-9, atol=1e-3)

    client.wait_for(held, 'hold_gravity at the last position')
    last = yard.states[-1]
    weight = robot.gravity_vector(last.position)
    refused = client.call(Trigger, 'dynamics_node/clear_fault')
    assert not refused.success
    assert 'joint states are not fresh' in refused.message

    # The machine is found where it stopped.
    yard.states.clear()
    pose = dict(zip(joints, last.position, strict=True))
    yard.start_simulator(joints={f'initial_position.{name}': q for name, q in pose.items()})
    client.wait_for(lambda: len(yard.states) > 10, 'states of the new simulator')
    assert client.status().level == DiagnosticStatus.ERROR
    client.wait_for(
        lambda: client.call(Trigger, 'dynamics_node/clear_fault').success, 'cleared fault'
    )
    before = len(yard.commands)
    in_fault = yard.commands[-1].effort

    def answers():
        """Commands with the stamp of a state."""
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
