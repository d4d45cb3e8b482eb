# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics tune`: the parameter file that it writes, and what it refuses."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.cli import tune as command
from kron_dynamics.control import GravityHold
from kron_dynamics.control.supervision.tolerances import default_rate_limit, tracking_tolerances
from kron_dynamics.control.tuning.parameter_file import number, parameter_file
from kron_dynamics.control.tuning.parameter_values import TunedParameter
from kron_dynamics.control.tuning.tuning import HIGHEST_RATE, LEAST_RATE
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.ros.joint_parameters import dynamics_joint_parameters
from kron_dynamics.ros.node_parameters import DYNAMICS

ROOT = Path(__file__).parents[1]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
HEADER = '# Copyright 2026 The kron_dynamics Authors\n# SPDX-License-Identifier: Apache-2.0\n#\n'
# Files that are kept, and what they were made from.
KEPT = {
    'ur5.yaml': ('ur5_robot.urdf', ['--bandwidth', '2', '--rate', '125']),
    'panda.yaml': ('panda.urdf', ['--bandwidth', '3', '--rate', '200']),
    'cylinder.yaml': (
        'stacker_reclaimer_cylinder.urdf',
        [
            *('--bandwidth', '0.16', '--rate', '50'),
            *('--constraints', str(ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml')),
        ],
    ),
}
NUMBER = re.compile(r'(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?')


@pytest.fixture(scope='module', autouse=True)
def _cache(kernel_cache):
    return kernel_cache


def values(text):
    return yaml.safe_load(text)['/**/dynamics_node']['ros__parameters']


@pytest.mark.parametrize('name', some_of(KEPT, [name for name in KEPT if name != 'ur5.yaml']))
def test_files_that_are_kept_are_what_the_command_writes(name, capsys):
    urdf, options = KEPT[name]
    files = [*example_robots().values(), *(ROOT / 'urdf').glob('*.urdf')]
    (path,) = (path for path in files if path.name == urdf)
    assert main(['tune', str(path), *options]) == 0
    captured = capsys.readouterr()
    kept = (ROOT / 'config' / name).read_text(encoding='utf-8').removeprefix(HEADER)
    assert captured.err == ''
    # Words are the same, line breaks aside; numbers are up to rounding by another processor.
    texts = [' '.join(text.replace('#', ' ').split()) for text in (kept, captured.out)]
    assert NUMBER.sub('0', texts[0]) == NUMBER.sub('0', texts[1])
    numbers = [np.array(NUMBER.findall(text), float) for text in texts]
    assert numbers[1] == pytest.approx(numbers[0], rel=5e-3)


def test_every_number_has_a_unit_and_a_declared_name(capsys):
    assert main(['tune', str(STACKER), '--bandwidth', '0.3', '--rate', '50']) == 0
    text = capsys.readouterr().out
    joints = kd.load(STACKER).joint_names
    declared = {each.name: each for each in (*DYNAMICS, *dynamics_joint_parameters(joints))}

    def leaves(tree, above=''):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield from leaves(value, f'{above}{key}.')
            else:
                yield above + key, value

    found = dict(leaves(values(text)))
    assert len(found) == 7 + 8 * len(joints)
    for name, value in found.items():
        parameter = declared[name]
        assert type(value) is parameter.kind, name
        if parameter.lower is not None:
            assert parameter.lower < value < parameter.upper
    body = text.partition('ros__parameters:\n')[2].splitlines()
    for line in body:
        if re.search(r': [\d.]', line):
            assert re.search(r'# (rad|m|N|N m|s|1/s|1/s\^2)(/s)?(,|$)', line), line
    assert all(len(line) < 100 for line in text.splitlines())


def test_values_are_those_that_bandwidth_and_limits_give(capsys):
    arguments = ['--bandwidth', '0.2', '--bandwidth', 'travel=0.3', '--damping-ratio', '0.8']
    assert main(['tune', str(STACKER), '--rate', '50', *arguments]) == 0
    found = values(capsys.readouterr().out)
    robot = kd.load(STACKER)
    for joint, f in (('travel', 0.3), ('slew', 0.2), ('luff', 0.2)):
        w = 2.0 * np.pi * f
        assert found['gains'][joint]['kp'] == pytest.approx(w**2, rel=1e-3)
        assert found['gains'][joint]['kd'] == pytest.approx(1.6 * w, rel=1e-3)
    kp = np.array([found['gains'][joint]['kp'] for joint in robot.joint_names])
    limit = robot.model.effort_limit
    rates = list(found['effort_rate_limit'].values())
    assert rates == pytest.approx(default_rate_limit(kp, limit), rel=2e-3)
    assert list(found['effort_limit'].values()) == limit.tolist()
    assert found['state_period'] == 0.02
    assert found['hold_damping'] == pytest.approx(
        GravityHold(robot, period=0.02).damping, rel=1e-3
    )
    # No tighter than friction allows, and no wider than in any pose at activation.
    derived = tracking_tolerances(robot, np.array([300.0, 0, 0]), kp, limit, with_model=True)
    assert (np.array(list(found['following_error'].values())) <= 1.01 * derived.position).all()
    inertia = np.diagonal(robot.mass_matrix(np.array([300.0, 0, 0])))
    friction = robot.model.friction / (kp * inertia)
    for name in ('following_error', 'goal_tolerance', 'reference_start_tolerance'):
        assert (np.array(list(found[name].values())) > 2.0 * friction).all()


PAN = """<robot name="pan"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pan" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit effort="10" velocity="80"/></joint></robot>"""


def test_tolerances_of_continuous_joints_are_ones_that_errors_exceed(tmp_path, capsys):
    urdf = tmp_path / 'pan.urdf'
    urdf.write_text(PAN, encoding='utf-8')
    assert main(['tune', str(urdf), '--rate', '50', '--bandwidth', '0.1']) == 0
    text = capsys.readouterr().out
    found = values(text)
    for name in ('following_error', 'goal_tolerance'):
        assert found[name]['pan'] == pytest.approx(np.pi / 2, rel=1e-3)
    most = np.pi / found['following_error_time']
    assert found['following_error_velocity']['pan'] == pytest.approx(most, rel=1e-3)
    assert text.count('continuous joint at most') == 3


def test_rates_are_those_of_periods_that_the_node_takes():
    (period,) = (each for each in DYNAMICS if each.name == 'state_period')
    assert (1.0 / HIGHEST_RATE, 1.0 / LEAST_RATE) == (period.lower, period.upper)


def test_output_goes_to_a_file_and_the_report_to_the_terminal(tmp_path, capsys):
    path = tmp_path / 'new' / 'machine.yaml'
    arguments = ['--bandwidth', '0.3', '--rate', '50', '--delay', '0.03', '--output', str(path)]
    assert main(['tune', str(STACKER), '--flexible', str(BOOM), *arguments]) == 0
    captured = capsys.readouterr()
    text = path.read_text(encoding='utf-8')
    assert values(text)['state_period'] == 0.02
    assert captured.out.startswith('Stable with joint states at 50 Hz, efforts 30 ms late and')
    assert captured.out.endswith(f'written  {path}\n')
    shown = ' '.join(text.replace('#', ' ').split())
    assert ' '.join(captured.out.partition('\n\n')[0].split()) in shown
    assert '--delay 0.03 --flexible stacker_reclaimer_flexible.yaml`' in shown
    assert re.search(r'lowest frequency of the links is 0\.82 Hz, 2\.73 times', shown)
    assert captured.err.startswith('kron_dynamics: warning: all joints have a bandwidth of 0.3 Hz')


def test_the_command_in_the_file_is_read_as_the_one_that_made_it(monkeypatch, capsys):
    """With a value of every option that is not its default, output aside."""
    parser = argparse.ArgumentParser()
    command.set_up(parser)
    given = [
        *('my machine.urdf', '--bandwidth', '0.1', '--bandwidth', 'slew=0.1234567890123'),
        *('--rate', '51.23456789', '--delay', '0.0123456789', '--damping-ratio', '0.90000001'),
        *('--model-error', '0.1000000001', '--effort-limit', 'luff=12345678.9'),
        *('--flexible', 'my boom.yaml', '--constraints', "it's.yaml", '--hold-base'),
        *('--xacro-arg', "a:=two words, it's", '--xacro-arg', 'b:=$HOME'),
    ]
    wanted = vars(parser.parse_args(given))
    defaults = {action.dest: action.default for action in parser._actions}
    assert {name for name in defaults if wanted.get(name) == defaults[name]} == {'output'}
    monkeypatch.setattr(command, 'load', lambda *_, **__: kd.load(STACKER))
    assert main(['tune', *given]) == 0
    header = capsys.readouterr().out.partition('\n\n')[0].replace('\n# ', ' ')
    (told,) = re.findall(r'made by `kron_dynamics tune (.*?)`\. SI units', header)
    assert vars(parser.parse_args(shlex.split(told))) == wanted


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--bandwidth', '5'], "joint 'travel' is unstable at 5 Hz"),
        (['--bandwidth', '0.1', '--bandwidth', 'slew=6'], "joint 'slew' is unstable at 6 Hz"),
        (['--bandwidth', '1', '--bandwidth', '2'], '--bandwidth is given twice'),
        (
            ['--bandwidth', 'slew=1', '--bandwidth', 'slew=0.1', '--bandwidth', '0.1'],
            "--bandwidth of 'slew' is given twice",
        ),
        (
            ['--bandwidth', '1', '--effort-limit', 'slew=9', '--effort-limit', 'slew=3'],
            "--effort-limit of 'slew' is given twice",
        ),
        (['--bandwidth', 'slew=1'], "no bandwidth is given for 'travel', 'luff'"),
        (['--bandwidth', '1', '--rate', '20000'], 'is 20000 Hz, expected 1 to 10000 Hz'),
        (['--bandwidth', '1', '--rate', '0.002'], 'a period of 0.002 s is a rate of 500 Hz'),
        (['--bandwidth', '1', '--rate', '1e300'], 'is 1e+300 Hz, expected 1 to 10000 Hz'),
    ],
)
def test_what_is_refused_is_one_line_and_writes_nothing(tmp_path, capsys, arguments, message):
    path = tmp_path / 'machine.yaml'
    rate = [] if '--rate' in arguments else ['--rate', '50']
    options = [*rate, *arguments, '--output', str(path)]
    assert main(['tune', str(STACKER), *options]) == 1
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith('kron_dynamics: error: ')
    assert message in line
    assert captured.out == ''
    assert not path.exists()


@pytest.mark.parametrize(
    'arguments',
    [
        ['--rate', '50'],
        ['--bandwidth', '1'],
        ['--bandwidth', '-1', '--rate', '50'],
        ['--bandwidth', '=1', '--rate', '50'],
        ['--bandwidth', '1', '--rate', '50', '--effort-limit', '3'],
    ],
)
def test_a_wrong_command_line_is_told(capsys, arguments):
    assert main(['tune', str(STACKER), *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_joint_without_effort_limit_needs_one(tmp_path, capsys):
    text = re.sub(r'effort="5.*?"', 'effort="0"', STACKER.read_text(encoding='utf-8'), count=1)
    path = tmp_path / 'machine.urdf'
    path.write_text(text, encoding='utf-8')
    options = ['tune', str(path), '--bandwidth', '0.3', '--rate', '50']
    assert main(options) == 1
    assert "joint 'slew' has effort limit 0, expected" in capsys.readouterr().err


def test_the_command_needs_no_ros(tmp_path):
    """Where rclpy cannot be imported, the names of the parameters can."""
    code = (
        'import sys\nsys.modules["rclpy"] = sys.modules["rcl_interfaces"] = None\n'
        'from kron_dynamics.cli import main\n'
        f'sys.exit(main(["tune", {str(STACKER)!r}, "--bandwidth", "0.3", "--rate", "50"]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, '')


def test_keys_and_numbers_are_what_yaml_reads_back():
    joints = ['on', 'joint 1', "it's", 'j']
    tuned = TunedParameter('gains.<joint>.kp', (1.0, 1e-7, 12345678.0, 3e20), ('1/s^2',) * 4)
    text = parameter_file(['top'], {tuned.name: tuned}, [tuned.name], joints)
    found = values(text)['gains']
    assert list(found) == joints
    assert [gain['kp'] for gain in found.values()] == [1.0, 1e-7, 12350000.0, 3e20]
    assert all(isinstance(gain['kp'], float) for gain in found.values())
    assert [number(x) for x in (0.02, 100.0, 1e-5)] == ['0.02', '100.0', '1.0e-05']


def test_names_with_points_are_written_in_full():
    """ROS's reader takes `gains: {'a.b': {kp: 1.0}, c: ...}` for `gains.a.c`."""
    tuned = TunedParameter('gains.<joint>.kp', (1.0, 2.0), ('1/s^2',) * 2)
    text = parameter_file(['top'], {tuned.name: tuned}, [tuned.name], ['arm.lift', 'turn'])
    assert values(text) == {'gains.arm.lift.kp': 1.0, 'gains.turn.kp': 2.0}


def test_a_parameter_that_the_node_does_not_have_is_not_written():
    tuned = TunedParameter('kp', (1.0,), ('1/s^2',))
    with pytest.raises(ParameterError, match='dynamics_node has no parameter kp'):
        parameter_file([], {'kp': tuned}, ['gains.<joint>.kp'], ['j'])
