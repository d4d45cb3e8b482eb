# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whose joint states are whose in a bag of several robots."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.series.recorded_robots import left_out, recorded_robots
from kron_dynamics.exceptions import BagError

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[3]
DESCRIPTION = 'robot_description'


def contents_of(make_bag, descriptions, states=(), constraints=()):
    with make_bag() as bag:
        for topic, text in descriptions:
            bag.text(topic, text)
        for topic, text in constraints:
            bag.text(topic, text)
        for topic in states:
            bag.joint_state(topic, 1.0, ('turn',), (0.0,))
    return read_bag(bag.path)


def test_description_is_taken_from_the_bag(make_bag):
    contents = contents_of(
        make_bag,
        [('/left/robot_description', '<robot/>'), ('/right/robot_description', '<robot/>')],
        ['/states'],
    )
    ((robot, topics),) = recorded_robots(contents)
    assert (robot.urdf, robot.origin) == ('<robot/>', '/left/robot_description')
    assert robot.constraints is None and topics == ['/states']


def test_joint_states_are_of_the_robot_that_is_described_nearest_above(make_bag):
    contents = contents_of(
        make_bag,
        [
            ('/robot_description', '<robot name="cell"/>'),
            ('/cell/left/robot_description', '<robot name="left"/>'),
            ('/cell/leftover/robot_description', '<robot name="other"/>'),
        ],
        ['/joint_states', '/cell/left/joint_states', '/cell/left/gripper/states', '/x/states'],
        [('/cell/left/robot_constraints', 'constraints: {}')],
    )
    robots = recorded_robots(contents)
    assert [(robot.origin, topics) for robot, topics in robots] == [
        ('/robot_description', ['/joint_states', '/x/states']),
        (
            '/cell/left/robot_description',
            ['/cell/left/joint_states', '/cell/left/gripper/states'],
        ),
    ]
    assert [robot.constraints for robot, _ in robots] == [None, 'constraints: {}']
    assert left_out(contents, robots) == []
    chosen = recorded_robots(contents, '/cell/left/robot_description')
    assert [topics for _, topics in chosen] == [list(contents.joint_states)]


def test_description_that_is_missing_asks_for_urdf(make_bag):
    contents = contents_of(make_bag, [('/chatter', 'x')])
    with pytest.raises(BagError, match="no topic 'robot_description' .* --urdf FILE"):
        recorded_robots(contents)


def test_descriptions_that_differ_elsewhere_must_be_chosen(make_bag):
    descriptions = [('/left/robot_description', '<robot name="l"/>')]
    descriptions.append(('/right/robot_description', '<robot name="r"/>'))
    contents = contents_of(make_bag, descriptions, ['/states'])
    with pytest.raises(BagError, match='differ between /left/robot_description, /right/robot'):
        recorded_robots(contents)
    ((robot, _),) = recorded_robots(contents, '/right/robot_description')
    assert robot.urdf == '<robot name="r"/>'
    with pytest.raises(BagError, match="no robot description on '/up'.*/left/robot_description"):
        recorded_robots(contents, '/up')


@pytest.mark.parametrize('kind', ['robot_description', 'robot_constraints'])
def test_what_changes_is_refused(make_bag, kind):
    texts = {'robot_description': ['<robot/>'], 'robot_constraints': ['a: 1']}
    texts[kind].append('<robot name="r"/>')
    with make_bag() as bag:
        for name, several in texts.items():
            for text in several:
                bag.text(f'/{name}', text)
        bag.joint_state('/states', 1.0, ('turn',), (0.0,))
    with pytest.raises(BagError, match=f"'/{kind}' holds 2 different descriptions"):
        recorded_robots(read_bag(bag.path))


def test_each_run_is_held_against_its_own_robot(make_bag, arm_urdf, arm_motion):
    """The same joints with another mass, in one bag."""
    motion = arm_motion(duration=4.0)
    heavy = kd.loads(arm_urdf.replace('<mass value="5"/>', '<mass value="9"/>'))
    with make_bag() as bag:
        bag.text('/a/robot_description', arm_urdf)
        bag.text(
            '/b/robot_description', arm_urdf.replace('<mass value="5"/>', '<mass value="9"/>')
        )
        bag.motion('/a/joint_states', motion)
        motion.effort = heavy.inverse_dynamics(motion.q, motion.qd, motion.qdd)
        motion.effort = motion.effort + heavy.joint_friction(motion.qd)
        bag.motion('/b/joint_states', motion)
        bag.motion('/nobody/joint_states', motion)
    analysis = analyze_bag(bag.path)
    assert [run.replay.run.topic for run in analysis.runs] == [
        '/a/joint_states',
        '/b/joint_states',
    ]
    assert max(joint.ratio for run in analysis.runs for joint in run.joints) < 1e-3
    assert [run.description for run in analysis.runs] == [
        '/a/robot_description',
        '/b/robot_description',
    ]
    report = format_report(analysis)
    assert '/nobody/joint_states is not used: no robot description is above it' in report
    assert report.count('\nrobot    arm') == 2
    (chosen,) = analyze_bag(bag.path, joint_states=['/b/joint_states']).runs
    assert chosen.description == '/b/robot_description'
    with pytest.raises(BagError, match='no robot description in .* is above /nobody/joint_st'):
        analyze_bag(bag.path, joint_states=['/nobody/joint_states'])
    with pytest.raises(BagError, match="no sensor_msgs/JointState messages on '/typo'"):
        analyze_bag(bag.path, joint_states=['/typo'])


def test_robots_that_cannot_be_analysed_are_told_beside_those_that_can(
    make_bag, arm_urdf, arm_motion
):
    motion = arm_motion(duration=2.0)
    with make_bag() as bag:
        for space in ('/a', '/b'):
            bag.text(f'{space}/robot_description', arm_urdf.replace('"arm"', f'"{space[1:]}"'))
        bag.motion('/a/joint_states', motion)
        bag.motion('/nobody/joint_states', motion)
        for time in motion.time:
            bag.joint_state('/b/joint_states', time, ('turn', 'lift'), (0.0, 0.0))
    missing = 'of /b/robot_description is not analysed: .*/b/joint_states lacks reach'
    analysis = analyze_bag(bag.path)
    (run,) = analysis.runs
    assert run.replay.run.topic == '/a/joint_states'
    assert any(re.search(missing, note) for note in analysis.contents.notes)
    assert '/b/joint_states lacks reach' in format_report(analysis)
    # Whoever names a topic relies on its being used.
    for topic, told in {
        '/b/joint_states': '/b/joint_states lacks reach',
        '/nobody/joint_states': 'no robot description in .* is above /nobody/joint_states$',
        '/typo': "no sensor_msgs/JointState messages on '/typo'",
    }.items():
        with pytest.raises(BagError, match=told):
            analyze_bag(bag.path, joint_states=['/a/joint_states', topic])


def test_loops_that_were_recorded_are_closed(make_bag, make_motion):
    urdf = (ROOT / 'urdf' / 'four_bar.urdf').read_text(encoding='utf-8')
    loops = ROOT / 'config' / 'four_bar_constraints.yaml'
    robot = kd.loads(urdf, constraints=loops)
    closing = robot.model.closing
    middle = closing.start[list(closing.choice.independent)]
    motion = make_motion(robot, 2.0 + np.arange(401) / 100.0, middle, [0.2], [2.0])
    with make_bag() as bag:
        bag.text('/robot_description', urdf)
        bag.text('/robot_constraints', loops.read_text(encoding='utf-8'))
        bag.motion('/joint_states', motion)
    (run,) = analyze_bag(bag.path).runs
    assert [joint.name for joint in run.joints] == list(robot.joint_names)
    assert run.joints[0].ratio < 1e-3
