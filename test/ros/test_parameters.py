# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A value that cannot be used ends the node at its start, with the parameter's name."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from kron_dynamics.control.law import LAWS
from kron_dynamics.control.shaping.shapers import KINDS
from kron_dynamics.ros.joint_parameters import (
    dynamics_joint_parameters,
    simulator_joint_parameters,
)
from kron_dynamics.ros.node_parameters import DYNAMICS, SIMULATOR

pytestmark = pytest.mark.ros

STACKER = Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf'
MACHINE = {'robot_description_file': str(STACKER)}
# (node, parameters, what the error must name)
BAD = {
    'choice of control_law': ('dynamics_node', {'control_law': 'magic'}, 'control_law'),
    'choice of fault_action': ('dynamics_node', {'fault_action': 'pray'}, 'fault_action'),
    'choice of source': ('dynamics_node', {'acceleration_source': 'x'}, 'acceleration_source'),
    'NaN timeout': ('dynamics_node', {'state_timeout': math.nan}, 'state_timeout'),
    'infinite cutoff': ('dynamics_node', {'filter_cutoff': math.inf}, 'filter_cutoff'),
    'scale above 1': ('dynamics_node', {'effort_limit_scale': 1.01}, 'effort_limit_scale'),
    'text for a flag': ('dynamics_node', {'autostart': 'yes'}, 'autostart'),
    'number for a text': ('dynamics_node', {'control_law': 1}, 'control_law'),
    'text for a gain': ('dynamics_node', {**MACHINE, 'gains.slew.kp': 'high'}, 'gains.slew.kp'),
    'NaN gain': ('dynamics_node', {**MACHINE, 'gains.slew.kd': math.nan}, 'gains.slew.kd'),
    'negative gain': ('dynamics_node', {**MACHINE, 'gains.slew.kp': -1.0}, 'gains.slew.kp'),
    'unknown tip': ('dynamics_node', {**MACHINE, 'tip_frame': 'crane'}, 'crane'),
    'choice of timeout_action': ('simulator_node', {'timeout_action': 'x'}, 'timeout_action'),
    'NaN step': ('simulator_node', {'step': math.nan}, 'step'),
    'rate of zero': ('simulator_node', {'publish_rate': 0.0}, 'publish_rate'),
    'negative seed': ('simulator_node', {'seed': -1}, 'seed'),
    'text for a number': ('simulator_node', {'publish_rate': 'fast'}, 'publish_rate'),
    'start beyond a stop': (
        'simulator_node',
        {**MACHINE, 'initial_position.luff': 0.3},
        "'luff' starts at 0.3, expected a position within [-0.20944, 0.244346] (parameters "
        'initial_position.<joint>)',
    ),
    'negative noise': (
        'simulator_node',
        {**MACHINE, 'effort_noise.slew': -1.0},
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
    # The node may have said before what it was about, and what is not installed; nothing else.
    said = [line for line in output.splitlines() if 'control_msgs is not installed' not in line]
    assert all(line.startswith(('[FATAL]', '[ERROR]')) for line in said)


def test_choices_are_told_in_words():
    declared = {parameter.name: parameter for parameter in DYNAMICS}
    laws = "one of 'computed_torque', 'pd', 'gravity'"
    assert declared['control_law'].expected_choice == laws
    assert declared['control_law'].problem('magic') == (
        f"parameter 'control_law' is 'magic', expected {laws}"
    )
    drives = "any of 'coriolis', 'gravity', 'friction', or none"
    assert declared['drive_terms'].expected_choice == drives
    assert declared['drive_terms'].problem(['friction', 'magic']) == (
        f"parameter 'drive_terms' is ['friction', 'magic'], expected {drives}"
    )
    assert declared['drive_terms'].problem(['']) is None


@pytest.mark.parametrize(
    ('name', 'choices'), [('control_law', LAWS), ('reference_shaping', ('none', *KINDS))]
)
def test_the_choices_are_those_that_there_are(name, choices):
    (parameter,) = (declared for declared in DYNAMICS if declared.name == name)
    assert parameter.choices == choices


def test_what_a_parameter_is_by_default_and_what_its_zero_means_can_be_set():
    joints = [*dynamics_joint_parameters(['turn']), *simulator_joint_parameters(['turn'], [0.0])]
    for declared in (*DYNAMICS, *SIMULATOR, *joints):
        if declared.lower is None:
            continue
        assert declared.lower <= declared.default <= declared.upper, declared
        if re.search(r'\b0: ', declared.description):
            assert declared.lower <= 0.0, declared
