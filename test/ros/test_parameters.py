# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter is described, checked, and locked where a change would do nothing or harm."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / 'config' / 'stacker_reclaimer.yaml'
STACKER = {'robot_description_file': str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')}
NODES = ('dynamics_node', 'simulator_node')
# Of rclpy, not of the package.
FOREIGN = ('use_sim_time', 'start_type_description_service', 'qos_overrides.')


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


# (node, parameters, what the error must name)
BAD = {
    'choice of control_law': ('dynamics_node', {'control_law': 'magic'}, 'control_law'),
    'choice of fault_action': ('dynamics_node', {'fault_action': 'pray'}, 'fault_action'),
    'choice of source': ('dynamics_node', {'acceleration_source': 'x'}, 'acceleration_source'),
    'NaN timeout': ('dynamics_node', {'state_timeout': math.nan}, 'state_timeout'),
    'infinite cutoff': ('dynamics_node', {'filter_cutoff': math.inf}, 'filter_cutoff'),
    'scale above 1': ('dynamics_node', {'effort_limit_scale': 1.5}, 'effort_limit_scale'),
    'text for a flag': ('dynamics_node', {'autostart': 'yes'}, 'autostart'),
    'number for a text': ('dynamics_node', {'control_law': 1}, 'control_law'),
    'text for a gain': ('dynamics_node', {**STACKER, 'gains.slew.kp': 'high'}, 'gains.slew.kp'),
    'NaN gain': ('dynamics_node', {**STACKER, 'gains.slew.kd': math.nan}, 'gains.slew.kd'),
    'negative gain': ('dynamics_node', {**STACKER, 'gains.slew.kp': -1.0}, 'gains.slew.kp'),
    'unknown tip': ('dynamics_node', {**STACKER, 'tip_frame': 'crane'}, 'crane'),
    'choice of timeout_action': ('simulator_node', {'timeout_action': 'x'}, 'timeout_action'),
    'NaN step': ('simulator_node', {'step': math.nan}, 'step'),
    'rate of zero': ('simulator_node', {'publish_rate': 0.0}, 'publish_rate'),
    'negative seed': ('simulator_node', {'seed': -1}, 'seed'),
    'text for a number': ('simulator_node', {'publish_rate': 'fast'}, 'publish_rate'),
    'start beyond a stop': (
        'simulator_node',
        {**STACKER, 'initial_position.luff': 0.3},
        "'luff' starts at 0.3",
    ),
    'negative noise': (
        'simulator_node',
        {**STACKER, 'effort_noise.slew': -1.0},
        'effort_noise.slew',
    ),
    'pace without clock': (
        'simulator_node',
        {'real_time_factor': 2.0},
        'real_time_factor is 2 but publish_clock is false',
    ),
    'simulated time': ('simulator_node', {'use_sim_time': True}, 'use_sim_time'),
}


@pytest.fixture(scope='module')
def ends(run_to_end):
    return run_to_end({key: (node, values) for key, (node, values, _) in BAD.items()})


@pytest.mark.parametrize('key', BAD)
def test_a_bad_value_at_start_ends_the_node_with_its_name(ends, key):
    code, output = ends[key]
    assert code == 1, output
    fatal = [line for line in output.splitlines() if line.startswith('[FATAL]')]
    assert len(fatal) == 1, output
    assert BAD[key][2] in fatal[0]
    assert 'Traceback' not in output
    # The node may have said before what it was about, and nothing else.
    assert all(line.startswith(('[FATAL]', '[ERROR]')) for line in output.splitlines())
