# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A node refuses parameters that it does not have, and names what was meant."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from sensor_msgs.msg import JointState

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.ros.unknown_parameters import (
    given_to_anyone,
    nearest,
    parameter_files,
    refuse_unknown_parameters,
)

pytestmark = pytest.mark.ros

STACKER = Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf'
MACHINE = {'robot_description_file': str(STACKER)}
GAINS = {
    'gains': {joint: {'kp': 1.0, 'kd': 2.0} for joint in ('travel', 'slew', 'luff')},
    'state_period': 0.02,
}
# In whatever namespace.
OWN, SIMULATOR = '/**/dynamics_node', '/**/simulator_node'
# (node, parameters by pattern of nodes, further arguments, what the error says)
REFUSED = {
    'joint': (
        'dynamics_node',
        {OWN: {**MACHINE, 'gains.slwe.kp': 2.0}},
        [],
        "dynamics_node has no parameter 'gains.slwe.kp', did you mean 'gains.slew.kp'?",
    ),
    'gain': (
        'dynamics_node',
        {OWN: {**MACHINE, 'gains': {'slew': {'kpp': 2.0}}}},
        [],
        "'gains.slew.kpp', did you mean 'gains.slew.kp'?",
    ),
    'global': (
        'dynamics_node',
        {OWN: {**MACHINE, 'state_timout': 0.2}},
        [],
        "'state_timout', did you mean 'state_timeout'?",
    ),
    'several': (
        'dynamics_node',
        {OWN: {**MACHINE, 'fault_actoin': 'zero', 'effort_limit.lufff': 1.0}},
        [],
        "'effort_limit.lufff', did you mean 'effort_limit.luff'?",
    ),
    'nothing like it': (
        'dynamics_node',
        {OWN: {**MACHINE, 'wheel_radius': 2.0}},
        [],
        "dynamics_node has no parameter 'wheel_radius'",
    ),
    'joint of another robot': (
        'dynamics_node',
        {OWN: {**MACHINE, 'gains.a7.kp': 2.0}},
        [],
        "'gains.a7.kp' (expected one of gains.luff.kd, gains.luff.ki, gains.luff.kp, "
        'gains.slew.kd',
    ),
    'argument': (
        'dynamics_node',
        {OWN: MACHINE},
        ['-p', 'gains.slwe.kd:=2.0'],
        "'gains.slwe.kd', did you mean 'gains.slew.kd'?",
    ),
    'misspelt for any node': (
        'dynamics_node',
        {'/**': {**MACHINE, 'gains.slwe.kp': 2.0}},
        [],
        "'gains.slwe.kp', did you mean 'gains.slew.kp'?",
    ),
    'whole number': (
        'dynamics_node',
        {OWN: {**MACHINE, 'gains.slew.kp': 2}},
        [],
        "parameter 'gains.slew.kp' is 2, expected a number with a decimal point, such as 2.0",
    ),
    'text for a flag': (
        'dynamics_node',
        {OWN: {'autostart': 'yes'}},
        [],
        "parameter 'autostart' is 'yes', expected true or false",
    ),
    'simulator, joint': (
        'simulator_node',
        {SIMULATOR: {**MACHINE, 'initial_position.slwe': 0.5}},
        [],
        "simulator_node has no parameter 'initial_position.slwe', did you mean "
        "'initial_position.slew'?",
    ),
    'simulator, global': (
        'simulator_node',
        {SIMULATOR: {**MACHINE, 'publish_rat': 50.0}},
        [],
        "'publish_rat', did you mean 'publish_rate'?",
    ),
}


@pytest.fixture(scope='module')
def ends(run_to_end):
    return run_to_end({key: (case[0], case[1], *case[2]) for key, case in REFUSED.items()})


@pytest.mark.parametrize('key', REFUSED)
def test_what_a_node_does_not_have_is_refused_with_the_nearest_name(ends, key):
    code, output = ends[key]
    assert code == 1, output
    (fatal,) = [line for line in output.splitlines() if line.startswith('[FATAL]')]
    assert REFUSED[key][3] in fatal
    assert 'Traceback' not in output


def test_parameters_of_other_nodes_in_a_common_file_are_not_refused(tmp_path, start, connect):
    """What is not of a node stands under another node's name, or under that of all."""
    common = {
        **MACHINE,
        'wheel_radius': 2.0,
        'position_noise.slew': 1e-6,
        # Of another machine's joints, for a node of its own.
        'gains.slew2.kp': 1.0,
        'following_error_velocity.arm': 1.0,
        'diagnostics_rate': 1.0,
    }
    file = tmp_path / 'common.yaml'
    content = {
        '/**': {'ros__parameters': common},
        '/**/planner': {'ros__parameters': {'state_timout': 1.0}},
        OWN: {'ros__parameters': GAINS},
        SIMULATOR: {'ros__parameters': {'seed': 3}},
    }
    file.write_text(yaml.safe_dump(content), encoding='utf-8')
    client = connect('common')
    states = client.hear(JointState, 'joint_states')
    nodes = [
        start(node, client.namespace, files=[file]) for node in ('dynamics_node', 'simulator_node')
    ]
    client.wait_for(lambda: states, 'joint states')
    client.wait_for(lambda: client.lifecycle_state() == 'active', 'active node')
    assert all(node.running for node in nodes)


def test_patterns_for_any_node_are_told_from_names(tmp_path):
    file = tmp_path / 'a.yaml'
    content = {
        '/**': {'ros__parameters': {'a': 1, 'b': {'c': 2, 'd': 3}}},
        'ns': {'node': {'ros__parameters': {'b': {'c': 2}}}},
        '/ns/*': {'ros__parameters': {'e.f': 1}},
        '/other': {'ros__parameters': {'g': 1}},
    }
    file.write_text(yaml.safe_dump(content), encoding='utf-8')
    assert given_to_anyone('node', [file]) == {'a', 'b.d', 'e.f'}
    assert given_to_anyone('node', [tmp_path / 'missing.yaml']) == set()
    # Launch writes those of a launch file under a pattern for any node.
    launched = file.rename(tmp_path / 'launch_params_x')
    assert given_to_anyone('node', [launched]) == set()


def test_arguments_name_files():
    arguments = ['x', '--ros-args', '--params-file', 'a', '-p', 'b:=1', '--params-file', 'c']
    assert [str(file) for file in parameter_files(arguments)] == ['a', 'c']
    assert parameter_files(['--params-file']) == []


def test_nearest_name():
    known = ['gains.slew.kd', 'gains.slew.kp', 'gains.luff.kp', 'state_timeout']
    near, likeness = nearest('gains.slwe.kp', known)
    assert near == 'gains.slew.kp'
    assert 0.8 < likeness < 1.0
    assert nearest('gains.luff.kp', known) == ('gains.luff.kp', 1.0)
    assert nearest('x', [])[1] == 0.0


def test_the_name_of_a_group_makes_no_two_names_alike():
    assert nearest('collision_threshold.a', ['collision_threshold.b']) == ('', 0.0)


def test_what_ros_itself_makes_of_topics_is_not_refused():
    given = {'qos_overrides./clock.subscription.depth': 5, 'wheels': 3}
    node = SimpleNamespace(
        _parameter_overrides=given,
        get_parameters_by_prefix=lambda _: {},
        get_name=lambda: 'nobody',
    )
    with pytest.raises(ParameterError, match="^nobody has no parameter 'wheels'$"):
        refuse_unknown_parameters(node)
    del given['wheels']
    refuse_unknown_parameters(node)
