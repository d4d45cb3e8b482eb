# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator with a flexible link: sensors tell the joints, ~/modal_states the true bending."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

import kron_dynamics as kd
from kron_dynamics.ros.conversions import seconds
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.ros

URDF = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
BEAM = {
    'length': 1.0,
    'mass_per_length': 2.0,
    'bending_stiffness': {'v': 2000.0},
    'modes': {'v': 1},
    'damping_ratio': 0.1,
}
GRAVITY = (9.0, 0.0, 0.0)
START = [0.5, -0.25]
SETTINGS = {
    'robot_description_file': str(URDF),
    'publish_rate': 50.0,
    'step': 0.002,
    **{f'gravity.{axis}': value for axis, value in zip('xyz', GRAVITY, strict=True)},
    **{f'initial_position.{j}': q for j, q in zip(('shoulder', 'elbow'), START, strict=True)},
}
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def write(folder, name, links):
    file = folder / name
    file.write_text(yaml.safe_dump({'flexible_links': links}), encoding='utf-8')
    return str(file)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('flexible')


@pytest.fixture(scope='module')
def description(folder):
    return write(folder, 'bending_arm.yaml', {'upper_arm': BEAM})


def test_sensors_tell_the_joints_and_modal_states_the_bending(start, connect, description):
    robot = kd.load(URDF, gravity=GRAVITY, flexible=description)
    client = connect('flexible')
    states = client.hear(JointState, 'joint_states')
    bending = client.hear(JointState, 'simulator_node/modal_states')
    commands = client.publisher(Float64MultiArray, 'simulator_node/commands')
    noise = {'position_noise.elbow': 0.01, 'velocity_noise.elbow': 0.01}
    settings = {**SETTINGS, **noise, 'flexible_description_file': description}
    process = start('simulator_node', 'flexible', joints=settings)
    client.wait_for(lambda: len(states) > 10 and len(bending) > 10, 'states')
    at_rest = Plant(robot, START).q
    assert abs(at_rest[2]) > 1e-3
    for state in states:
        assert list(state.name) == ['shoulder', 'elbow']
        assert len(state.position) == len(state.velocity) == 2
        np.testing.assert_allclose(state.effort, robot.gravity_vector(at_rest)[:2], rtol=1e-6)
    for state in bending:
        assert list(state.name) == ['upper_arm/v1']
        # The truth: noise is of sensors.
        np.testing.assert_allclose(state.position, at_rest[2:], rtol=1e-9)
        np.testing.assert_allclose(state.velocity, 0.0, atol=1e-9)
        assert list(state.effort) == []
    # Both at the same moments, but for what was lost before the subscriptions were known.
    stamps, others = ({seconds(s.header.stamp) for s in heard} for heard in (states, bending))
    assert len(stamps & others) > 8
    # Commands are for the joints: one for each coordinate is refused, one for each joint moves
    # the arm, which straightens as it falls.
    commands.publish(Float64MultiArray(data=[0.0, 0.0, 0.0]))
    refusal = 'command dropped: [0.0, 0.0, 0.0], expected 2 finite numbers for shoulder, elbow'

    def refused():
        commands.publish(Float64MultiArray(data=[0.0, 0.0, 0.0]))
        return refusal in process.output

    client.wait_for(refused, 'refusal')
    assert abs(bending[-1].velocity[0]) < 1e-9

    def moves():
        commands.publish(Float64MultiArray(data=[0.0, 0.0]))
        return abs(bending[-1].position[0]) < 0.5 * abs(at_rest[2])

    client.wait_for(moves, 'motion')
    assert 'modal coordinates upper_arm/v1' in process.output
    process.stop()


def test_an_unusable_flexible_description_ends_the_node_with_one_line(run_to_end, folder):
    unknown = write(folder, 'of_another_machine.yaml', {'boom': BEAM})
    heavy = write(folder, 'too_heavy.yaml', {'upper_arm': {**BEAM, 'mass_per_length': 9.0}})
    limp = write(folder, 'limp.yaml', {'upper_arm': {**BEAM, 'length': -1.0}})
    named = {
        unknown: "'boom' does not exist in the URDF",
        heavy: "'upper_arm'",
        limp: 'length',
        str(folder / 'nowhere.yaml'): 'nowhere.yaml',
    }
    ways = {
        'file': {},
        'parameter': {'robot_description': URDF.read_text(encoding='utf-8')},
    }
    ends = run_to_end(
        {
            (f'{way} {file}'): (
                'simulator_node',
                {**SETTINGS, **given, 'flexible_description_file': file},
            )
            for file in named
            for way, given in ways.items()
        }
    )
    for file, problem in named.items():
        for way in ways:
            code, output = ends[f'{way} {file}']
            assert code == 1
            (line,) = output.splitlines()
            assert line.startswith('[FATAL]')
            assert line.count(file) == 1
            assert problem in line


def test_what_is_wrong_with_the_urdf_is_not_laid_upon_the_flexible_description(
    run_to_end, description
):
    broken = {**SETTINGS, 'robot_description_file': 'nowhere.urdf'}
    settings = {**broken, 'flexible_description_file': description}
    code, output = run_to_end({'broken': ('simulator_node', settings)})['broken']
    assert code == 1
    assert 'nowhere.urdf' in output
    assert description not in output


def test_a_step_too_long_for_the_vibrations_ends_the_node(run_to_end, description):
    settings = {**SETTINGS, 'step': 0.1, 'flexible_description_file': description}
    code, output = run_to_end({'long': ('simulator_node', settings)})['long']
    assert code == 1
    (line,) = output.splitlines()
    assert line.startswith('[FATAL]')
    assert 'the step of 0.1 s is too long for flexible links' in line


def test_a_robot_from_the_topic_has_its_flexible_links_too(start, connect, description):
    client = connect('flexible_topic')
    bending = client.hear(JointState, 'simulator_node/modal_states')
    settings = {**SETTINGS, 'robot_description_file': '', 'flexible_description_file': description}
    process = start('simulator_node', 'flexible_topic', joints=settings)
    client.wait_for(lambda: 'waiting for' in process.output, 'simulator that waits')
    topic = client.publisher(String, 'robot_description', LATCHED)
    text = URDF.read_text(encoding='utf-8')
    # Without the link that bends: the reason names the file.
    topic.publish(String(data=text.replace('"upper_arm"', '"lower_arm"')))
    refusal = f"robot_description refused: {description}: flexible link 'upper_arm'"
    client.wait_for(lambda: refusal in process.output, 'refusal')
    topic.publish(String(data=text))
    client.wait_for(lambda: bending, 'bending')
    assert list(bending[0].name) == ['upper_arm/v1']
    process.stop(trouble=['robot_description refused'])


def test_joint_states_of_closed_loops_with_bending_links_have_the_passive_joints(
    start, connect, description, folder
):
    gear = {'type': 'coupling', 'ratios': {'shoulder': 1.0, 'elbow': 2.0}}
    constraints = folder / 'gear.yaml'
    constraints.write_text(yaml.safe_dump({'constraints': {'gear': gear}, 'actuated': ['elbow']}))
    client = connect('flexible_loop')
    states = client.hear(JointState, 'joint_states')
    bending = client.hear(JointState, 'simulator_node/modal_states')
    settings = {
        **{key: value for key, value in SETTINGS.items() if 'shoulder' not in key},
        'flexible_description_file': description,
        'constraints_file': str(constraints),
    }
    process = start('simulator_node', 'flexible_loop', joints=settings)
    client.wait_for(lambda: len(states) > 5 and len(bending) > 5, 'states')
    for state in states:
        assert list(state.name) == ['elbow', 'shoulder']
        elbow, shoulder = state.position
        assert elbow == START[1] and shoulder == pytest.approx(-2.0 * elbow)
        assert len(state.velocity) == len(state.effort) == 2 and state.effort[1] == 0.0
    for state in bending:
        assert list(state.name) == ['upper_arm/v1'] and abs(state.position[0]) > 1e-3
    process.stop()
