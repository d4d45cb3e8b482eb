# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names, units and signs of recorded joints, made those of the model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag, read_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.cli import main
from kron_dynamics.exceptions import BagError, KronDynamicsError

# As another driver would send the same motion.
NAMES = ('m/turn_axis', 'm/lift_axis', 'slide')
RENAME = {'m/*_axis': '*', 'slide': 'reach'}
SCALE = {'turn': 'deg', 'reach': -1.0, 'lift:effort': 'kN', 'reach:position': 'mm'}
OPTIONS = [f'--rename={old}={new}' for old, new in RENAME.items()]
OPTIONS += [f'--scale={joint}={factor}' for joint, factor in SCALE.items()]


@pytest.fixture
def foreign(make_bag, arm_motion, arm_urdf):
    """A bag in other names, units and signs, and the motion in it."""
    motion = arm_motion(6.0)
    turn = math.degrees(1.0)
    place, rate, effort = (turn, 1.0, -1e3), (turn, 1.0, -1.0), (1.0, 1e-3, -1.0)
    with make_bag('foreign') as bag:
        bag.text('/robot_description', arm_urdf)
        for k, time in enumerate(motion.time):
            values = (motion.q[k] * place, motion.qd[k] * rate, motion.effort[k] * effort)
            bag.joint_state('/js', time, NAMES, *values)
    return bag.path, motion


def test_numbers_are_those_of_the_model(foreign):
    path, motion = foreign
    states = read_bag(path, rename=RENAME, scale=SCALE).joint_states['/js']
    assert states.names == motion.robot.joint_names
    for quantity, right in (
        ('position', motion.q),
        ('velocity', motion.qd),
        ('effort', motion.effort),
    ):
        found = states.values(motion.robot.joint_names, quantity)
        np.testing.assert_allclose(found, right, rtol=1e-12)


def test_the_analysis_is_that_of_the_model(foreign, capsys):
    path, _ = foreign
    (run,) = analyze_bag(path, rename=RENAME, scale=SCALE).runs
    assert all(joint.ratio < 0.01 for joint in run.joints)
    output = path.with_name('out')
    assert main(['analyze', str(path), *OPTIONS, '--format=json', f'--output={output}']) == 0
    assert '/js' in capsys.readouterr().out


def test_joints_that_are_not_found_suggest_names(foreign):
    with pytest.raises(BagError, match='lacks lift, reach, turn.*--rename RECORDED=MODEL'):
        analyze_bag(foreign[0])
    with pytest.raises(BagError, match='/js lacks lift, reach, turn.*--rename'):
        analyze_bag(foreign[0], joint_states=['/js'])


@pytest.mark.parametrize(
    ('rename', 'scale', 'words'),
    [
        (
            {'slid': 'reach'},
            {},
            "rename of 'slid' matches no joint; recorded are m/turn_axis, m/",
        ),
        ({'m/*axes': '*'}, {}, r"rename of 'm/\*axes' matches no joint"),
        ({'m/turn_axis': 'slide'}, {}, "m/turn_axis and slide would both be renamed to 'slide'"),
        ({}, {'turn': 2.0}, "scale of 'turn' matches no joint; recorded are m/turn_axis"),
        # Units are those of joints by their new names, whatever the old ones.
        (
            {'m/*_axis': '*'},
            {'m/*_axis': 2.0},
            r"scale of 'm/\*_axis' matches no joint; named after --rename are turn",
        ),
        ({'a*b*': '*'}, {}, 'one [*] in both'),
        ({'a': '*'}, {}, 'one [*] in both'),
        ({}, {'slide': 'furlong'}, 'expected a number or one of deg'),
        ({}, {'slide:torque': 1.0}, 'expected position, velocity, effort'),
        ({}, {'slide:effort': 'deg'}, 'deg is no unit of effort'),
        ({}, {'slide': 0.0}, 'finite number that is not 0'),
    ],
)
def test_rules_that_make_no_sense(foreign, rename, scale, words):
    with pytest.raises(KronDynamicsError, match=words) as caught:
        read_bag(foreign[0], rename=rename, scale=scale)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('option', ['--rename=a', '--rename==b', '--scale=a', '--scale=a='])
def test_options_that_are_no_pairs(foreign, option, capsys):
    assert main(['analyze', str(foreign[0]), option]) == 2
    assert ' is not ' in capsys.readouterr().err


def test_velocities_that_are_zero_are_not_used(make_bag, arm_motion, arm_urdf):
    motion = arm_motion(6.0)
    rng = np.random.default_rng(3)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for k, time in enumerate(motion.time):
            q = motion.q[k] + rng.normal(0.0, 1e-6, 3)
            rates = motion.qd[k] * (0.0, 1.0, 0.0)
            bag.joint_state('/js', time, motion.robot.joint_names, q, rates, motion.effort[k])
    analysis = analyze_bag(bag.path)
    (run,) = analysis.runs
    signals = [item.signals for item in run.replay.filters]
    assert (signals[0], signals[2]) == ('position', 'position')
    assert signals[1] != 'position'
    assert 'velocity of turn, reach is 0 in every message while' in format_report(analysis)
    assert all(joint.ratio < 0.02 for joint in run.joints)
