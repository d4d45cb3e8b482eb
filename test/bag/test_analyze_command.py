# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `kron_dynamics analyze`: what it prints, writes and returns."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from kron_dynamics.cli import main

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module')
def recorded(bag_maker, arm, arm_urdf, arm_motion, tmp_path_factory):
    """Return a bag laid out as the demo's: two runs under namespaces, and other topics."""
    with bag_maker(tmp_path_factory.mktemp('recorded') / 'demo_bag', 'mcap') as bag:
        for space, scale in (('/computed_torque', 1.0), ('/pd', 0.9)):
            motion = arm_motion(duration=6.0)
            acceleration = arm.frame('tool').acceleration(motion.q, motion.qd, motion.qdd)
            bag.text(f'{space}/robot_description', arm_urdf)
            for k, time in enumerate(motion.time):
                state = (motion.q[k], motion.qd[k], scale * motion.effort[k])
                bag.joint_state(f'{space}/joint_states', time, arm.joint_names, *state)
                bag.joint_state(
                    f'{space}/dynamics_node/command_state',
                    time,
                    arm.joint_names,
                    effort=2 * motion.effort[k],
                )
                bag.acceleration(f'{space}/dynamics_node/tip_acceleration', time, acceleration[k])
            bag.raw(f'{space}/dynamics_node/reference', 'trajectory_msgs/msg/JointTrajectory', b'')
    return bag.path


@pytest.fixture
def two_runs(recorded, tmp_path):
    """Return a copy of the bag for a test of its own."""
    return shutil.copytree(recorded, tmp_path / recorded.name)


def error_of(capsys):
    """Return the only line on stderr."""
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_every_run_is_reported_and_written(two_runs, capsys):
    assert main(['analyze', str(two_runs)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ''
    assert 'run      /computed_torque/joint_states' in captured.out
    assert 'run      /pd/joint_states' in captured.out
    output = two_runs.with_name('demo_bag_analysis')
    assert sorted(path.name for path in output.iterdir()) == [
        'computed_torque.joint_states.csv',
        'pd.joint_states.csv',
        'report.html',
        'summary.json',
    ]
    assert 'not asked for with --format: parquet, mcap' in captured.out
    good, wrong = json.loads((output / 'summary.json').read_text())['runs']
    assert max(joint['ratio'] for joint in good['joints']) < 1e-3
    assert min(joint['ratio'] for joint in wrong['joints']) > 0.1
    assert good['tip'][0]['difference_rms'] < 1e-3 * good['tip'][0]['recorded_rms']


def test_options_reach_the_analysis(two_runs, tmp_path, arm_urdf, capsys):
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(arm_urdf)
    output = tmp_path / 'deep' / 'out'
    arguments = [
        'analyze',
        str(two_runs),
        '--urdf',
        str(urdf),
        '--output',
        str(output),
        '--format',
        'csv',
    ]
    arguments += ['--joint-states', '/pd/joint_states', '--window', '0.11', '--frame', 'arm']
    arguments += ['--gravity', '0', '-1', '-9', '--max-noise', '0.2']
    output.mkdir(parents=True)
    (output / 'pd.joint_states.csv').write_text('of somebody else')
    assert main(arguments) == 0
    assert 'kept as pd.joint_states.csv~\n' in capsys.readouterr().out
    assert sorted(path.name for path in output.iterdir()) == [
        'pd.joint_states.csv',
        'pd.joint_states.csv~',
        'summary.json',
    ]
    summary = json.loads((output / 'summary.json').read_text())
    assert summary['options'] == {
        'urdf': str(urdf),
        'robot_description': None,
        'joint_states': ['/pd/joint_states'],
        'rename': [],
        'scale': [],
        'hold': [],
        'frame': 'arm',
        'flexible': None,
        'constraints': None,
        'gravity': [0.0, -1.0, -9.0],
        'window': 0.11,
        'effort_delay': None,
        'max_noise': 0.2,
        'format': ['csv'],
    }
    robot = summary['runs'][0]['robot']
    assert robot['description'] == str(urdf)
    assert robot['gravity'] == [0.0, -1.0, -9.0]
    assert summary['max_noise'] == 0.2
    (run,) = summary['runs']
    assert (run['topic'], run['frame']) == ('/pd/joint_states', 'arm')
    assert run['window'] == pytest.approx(0.11)


def test_bare_file_gets_its_own_output(two_runs, capsys):
    file = two_runs / 'demo_bag.mcap'
    assert main(['analyze', str(file), '--format', 'json']) == 0
    assert (two_runs / 'demo_bag_analysis' / 'summary.json').is_file()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--joint-states', '/nowhere'], "no sensor_msgs/JointState messages on '/nowhere'"),
        (['--urdf', 'missing.urdf'], "URDF file 'missing.urdf' does not exist"),
        (['--frame', 'hand'], "link 'hand' does not exist in model 'arm'"),
        (['--window', '0.01'], 'window of 0.01 s is too short'),
        (['--window', '50'], 'has no stretch of'),
        (['--robot-description', '/x'], "no robot description on '/x'"),
    ],
)
def test_errors_are_one_line_and_exit_code_one(two_runs, capsys, arguments, message):
    assert main(['analyze', str(two_runs), *arguments]) == 1
    line = error_of(capsys)
    assert line.startswith('kron_dynamics: error: ')
    assert message in line
    assert not two_runs.with_name('demo_bag_analysis').exists()


def test_format_without_its_library_is_refused_before_anything_is_read(
    two_runs, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    monkeypatch.setattr('kron_dynamics.cli.analyze.analyze_bag', None)
    assert main(['analyze', str(two_runs), '--format', 'parquet']) == 1
    assert "pip install 'kron_dynamics[parquet]'" in error_of(capsys)


def test_missing_bag_is_an_error(tmp_path, capsys):
    assert main(['analyze', str(tmp_path / 'none')]) == 1
    assert 'no bag at' in error_of(capsys)


def test_robot_that_does_not_fit_is_named(two_runs, tmp_path, arm_urdf, capsys):
    urdf = tmp_path / 'other.urdf'
    urdf.write_text(arm_urdf.replace('"lift"', '"hoist"'))
    assert main(['analyze', str(two_runs), '--urdf', str(urdf)]) == 1
    line = error_of(capsys)
    assert '/pd/joint_states lacks hoist' in line and '--urdf' in line


def test_broken_description_in_the_bag_is_an_error(make_bag, capsys):
    with make_bag() as bag:
        bag.text('/robot_description', '<robot name="x"><link name="a"')
        bag.joint_state('/joint_states', 1.0, ['a'], [1])
    assert main(['analyze', str(bag.path)]) == 1
    assert 'URDF' in error_of(capsys)


def test_output_that_cannot_be_written_is_an_error(two_runs, tmp_path, capsys):
    blocked = tmp_path / 'file'
    blocked.write_text('')
    assert main(['analyze', str(two_runs), '--output', str(blocked)]) == 1
    assert str(blocked) in error_of(capsys)


@pytest.mark.parametrize(
    'arguments',
    [
        ['--window', '0'],
        ['--window', 'nan'],
        ['--window', 'long'],
        ['--max-noise', '-1'],
        ['--gravity', '0', '0'],
        ['--gravity', '0', '0', 'inf'],
        ['--colour', 'red'],
        ['--format', 'png'],
    ],
)
def test_wrong_command_lines_are_one_line_and_exit_code_two(capsys, arguments):
    assert main(['analyze', 'bag', *arguments]) == 2
    line = error_of(capsys)
    assert line.startswith('kron_dynamics: error: ')
    assert arguments[0] in line


def test_noise_that_dominates_is_no_error(make_bag, arm_urdf, arm_motion, tmp_path, capsys):
    motion = arm_motion()
    motion.q = motion.q + 1e-2 * np.random.default_rng(9).standard_normal(motion.q.shape)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', motion, 'pe')
    assert main(['analyze', str(bag.path), '--window', '0.05']) == 0
    output = capsys.readouterr().out
    residuals, _, rates = output.partition('recomputed RMS')
    assert residuals.count('noise dominates') == 3
    assert 'noise dominates' in rates
    assert output.count('or record its velocity') == 3
