# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: info, exit codes, and errors that are one line."""

from __future__ import annotations

import argparse
import builtins
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.cli import demo, info, main

STACKER = Path(__file__).parents[1] / 'urdf' / 'stacker_reclaimer.urdf'

GRIPPER = """<robot name="gripper">
  <link name="palm"/>
  <link name="left"><inertial><mass value="0.2"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.3"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pad"/>
  <joint name="left_finger" type="prismatic"><parent link="palm"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" velocity="0.1" effort="20"/>
    <dynamics damping="3"/></joint>
  <joint name="right_finger" type="prismatic"><parent link="palm"/><child link="right"/>
    <axis xyz="0 -1 0"/><limit lower="-0.01" upper="0.07" velocity="0.2" effort="20"/>
    <mimic joint="left_finger" multiplier="2" offset="-0.01"/></joint>
  <joint name="pad_mount" type="fixed"><parent link="right"/><child link="pad"/></joint>
</robot>"""


@pytest.fixture
def gripper(tmp_path):
    path = tmp_path / 'gripper.urdf'
    path.write_text(GRIPPER)
    return path


def test_info_of_the_stacker_reclaimer(capsys):
    assert main(['info', str(STACKER)]) == 0
    captured = capsys.readouterr()
    robot = kd.load(STACKER)
    assert captured.err == ''
    lines = captured.out.splitlines()
    assert lines[0].startswith('robot    stacker_reclaimer: 3 coordinates')
    assert 'mass     1.15e+06 kg moving' in lines
    assert 'gravity  0 0 -9.80665 m/s^2 in the axes of rail' in lines
    assert 'tip      bucket_wheel' in lines
    assert f'model    {robot.model.fingerprint}' in lines
    tree = lines.index('rail')
    assert lines[tree + 1].startswith('`- travel (prismatic): gantry')
    assert lines[tree + 2].startswith('   `- slew (revolute): slew_deck')
    assert lines[tree + 3].startswith('      `- luff (revolute): boom')
    (travel,) = [line for line in lines if line.startswith('travel ')]
    for text in ('prismatic', '0 .. 600 m', '0.5 m/s', '600000 N', 'N s/m'):
        assert text in travel
    (slew,) = [line for line in lines if line.startswith('slew ')]
    for text in ('revolute', '-1.92 .. 1.92 rad', 'rad/s', 'N m s/rad'):
        assert text in slew
    kernels = {line.split()[0] for line in lines if ' c ' in line or ' numpy ' in line}
    assert {'mass_matrix', 'inverse_dynamics', 'velocity_free_coriolis_matrix'} <= kernels
    assert lines[-1].startswith('check    mass matrix at the middle of the range: positive')


@pytest.mark.interpreted
def test_info_of_flexible_links(capsys):
    boom = STACKER.parents[1] / 'config' / 'stacker_reclaimer_flexible.yaml'
    assert main(['info', str(STACKER), '--flexible', str(boom)]) == 0
    text = capsys.readouterr().out
    assert 'stacker_reclaimer: 5 coordinates' in text
    assert re.search(r'boom/w1 +modal +no limit +no limit +0 N ', text)
    assert re.search(
        r'flexible boom: 60 m, 165000 kg along it, modes of the clamped link '
        r'v1 1\.095 Hz, w1 0\.821\d* Hz',
        text,
    )
    assert 'positive definite' in text


def test_info_shows_mimic_joints_branches_and_lumped_links(gripper, capsys):
    assert main(['info', str(gripper)]) == 0
    output = capsys.readouterr().out
    assert '|- left_finger (prismatic): left; 0.2 kg' in output
    assert '`- right_finger (prismatic, mimics left_finger): right, pad; 0.3 kg' in output
    assert 'mimic    right_finger = 2 * left_finger - 0.01' in output
    assert 'gripper: 1 coordinates' in output


def test_info_takes_gravity(gripper, capsys):
    assert main(['info', str(gripper), '--gravity', '1', '-2.5', '0']) == 0
    assert 'gravity  1 -2.5 0 m/s^2' in capsys.readouterr().out


def test_info_names_a_mass_matrix_that_is_not_positive(gripper, capsys, monkeypatch):
    monkeypatch.setattr(kd.Robot, 'mass_matrix', lambda self, q: -np.eye(self.n))
    assert main(['info', str(gripper)]) == 1
    assert 'not positive definite: smallest eigenvalue -1' in capsys.readouterr().err


BROKEN = {
    'no xml': ('this is no robot', 'XML'),
    'floating joint': (
        GRIPPER.replace('"left_finger" type="prismatic"', '"left_finger" type="floating"'),
        'left_finger',
    ),
    'negative mass': (GRIPPER.replace('value="0.3"', 'value="-0.3"'), 'right'),
    'two roots': (GRIPPER.replace('</robot>', '<link name="alone"/></robot>'), 'alone'),
    'zero axis': (GRIPPER.replace('xyz="0 1 0"', 'xyz="0 0 0"'), 'left_finger'),
    'limit that is no number': (GRIPPER.replace('upper="0.04"', 'upper="nan"'), 'left_finger'),
}


@pytest.mark.parametrize(('text', 'named'), BROKEN.values(), ids=BROKEN)
def test_broken_urdf_is_one_line_and_exit_code_one(tmp_path, capsys, text, named):
    path = tmp_path / 'broken.urdf'
    path.write_text(text)
    assert main(['info', str(path)]) == 1
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith('kron_dynamics: error: ')
    assert named in line
    assert captured.out == ''


def test_missing_urdf_is_named(capsys):
    assert main(['info', 'nowhere.urdf']) == 1
    assert capsys.readouterr().err == (
        "kron_dynamics: error: URDF file 'nowhere.urdf' does not exist\n"
    )


@pytest.mark.parametrize(
    'arguments', [[], ['dance'], ['info'], ['info', 'a', 'b'], ['info', 'a', '--gravity', '9.81']]
)
def test_wrong_command_line_is_one_line_and_exit_code_two(arguments, capsys):
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('kron_dynamics: error: ')
    assert '--help' in line


@pytest.mark.parametrize('arguments', [['--help'], ['info', '--help'], ['analyze', '--help']])
def test_help_is_given(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith('usage: kron_dynamics')


def test_version_is_the_package_s(capsys):
    assert main(['--version']) == 0
    assert capsys.readouterr().out == f'kron_dynamics {kd.__version__}\n'


def test_demo_without_ros_says_what_is_missing(capsys, monkeypatch):
    real_import = builtins.__import__

    def without_ros(name, *arguments, **options):
        if name.split('.')[0] == 'rclpy':
            raise ModuleNotFoundError(f'No module named {name!r}', name='rclpy')
        return real_import(name, *arguments, **options)

    for name in list(sys.modules):
        if name.split('.')[0] == 'rclpy' or name.startswith('kron_dynamics.ros'):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, '__import__', without_ros)
    assert main(['demo']) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('kron_dynamics: error: the demo needs ROS 2 for Python')
    assert 'rclpy' in line


def test_an_interrupt_during_the_demos_imports_is_no_missing_module(monkeypatch):
    """Extension modules turn what is raised while they are initialized into an ImportError."""

    def interrupted(_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError('initialization failed') from error

    monkeypatch.setattr(demo, 'importlib', SimpleNamespace(import_module=interrupted))
    with pytest.raises(KeyboardInterrupt):
        demo.run(argparse.Namespace(demo_arguments=[]))


def test_demo_gets_its_own_options(monkeypatch):
    class Demo:
        seen: list[str] = []

        @classmethod
        def main(cls, arguments):
            cls.seen = arguments
            return 7

    monkeypatch.setitem(sys.modules, 'kron_dynamics.ros.demo.demonstration', Demo)
    assert main(['demo', '--output', 'here', '-h', 'word']) == 7
    assert Demo.seen == ['--output', 'here', '-h', 'word']


def test_interrupt_is_quiet(monkeypatch, gripper, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(info, 'load', interrupt)
    assert main(['info', str(gripper)]) == 130
    assert capsys.readouterr() == ('', '')


def test_reader_that_leaves_early_is_no_error():
    """`kron_dynamics info ... | head -1`, with a reader that closes before anything is written."""
    code = 'import sys; from kron_dynamics.cli import main; sys.exit(main())'
    process = subprocess.Popen(
        [sys.executable, '-c', code, 'info', str(STACKER)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 141
    assert errors == ''
