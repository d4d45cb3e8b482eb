# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What launch files name exists, and arguments arrive at the nodes."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stand_ins
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.py'))
ROBOT, MACHINE, DEMO = (
    ROOT / 'launch' / f'{name}.launch.py' for name in ('robot', 'stacker_reclaimer', 'demo')
)
URDF = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
CONFIG = ROOT / 'config' / 'stacker_reclaimer.yaml'

each_file = pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
Launch = Callable[..., dict[str, Any]]


@pytest.fixture
def without_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in stand_ins.modules().items():
        monkeypatch.setitem(sys.modules, name, module)


def declared(path: Path) -> list[stand_ins.DeclareLaunchArgument]:
    parts = runpy.run_path(str(path))['generate_launch_description']().places[0]
    return [part for part in parts if isinstance(part, stand_ins.DeclareLaunchArgument)]


def test_all_files_are_found() -> None:
    assert sorted([ROBOT, MACHINE, DEMO]) == FILES


@each_file
def test_every_argument_has_a_default_and_a_description(path: Path, without_launch: None) -> None:
    assert declared(path)
    for argument in declared(path):
        assert 'default_value' in argument.names, argument.name
        assert argument.names['description'].endswith('.'), argument.name


@pytest.mark.parametrize('path', [MACHINE, DEMO], ids=lambda path: path.name)
def test_other_files_have_no_arguments_of_their_own(path: Path, without_launch: None) -> None:
    known = {argument.name for argument in declared(ROBOT)}
    assert {argument.name for argument in declared(path)} <= known


@each_file
def test_files_and_executables_are_installed(
    path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr('setuptools.setup', lambda **arguments: seen.update(arguments))
    runpy.run_path('setup.py')
    installed = {name for _, names in seen['data_files'] for name in names}
    assert f'launch/{path.name}' in installed
    scripts = {script.split(' = ')[0] for script in seen['entry_points']['console_scripts']}
    assert set(launch(path)) <= scripts


@pytest.mark.ros
def test_parameters_and_remapped_names_are_those_of_the_nodes(launch: Launch) -> None:
    pytest.importorskip('rclpy')
    from kron_dynamics.ros import node_parameters

    given = {
        'robot_description_file': str(URDF),
        'xacro_args': 'a:=b',
        'flexible_description_file': str(URDF),
        'constraints_file': str(URDF),
        'hold_base': 'true',
        'autostart': 'true',
        'use_sim_time': 'true',
        'real_time_factor': '2',
        'simulated': 'true',
    }
    nodes = launch(ROBOT, **given)
    sources = '\n'.join(
        file.read_text(encoding='utf-8') for file in ROOT.glob('kron_dynamics/ros/*.py')
    )
    for name, of_node in (('dynamics_node', 'DYNAMICS'), ('simulator_node', 'SIMULATOR')):
        names = {parameter.name for parameter in getattr(node_parameters, of_node)}
        assert set(nodes[name].parameters) <= names | {'use_sim_time'}  # which every node has
        for remapped in set(nodes[name].remaps) - {'__node', '__ns'}:
            assert f"'{remapped}'" in sources, remapped


def test_the_word_is_with_the_parameter_file(launch: Launch, tmp_path: Path) -> None:
    own = {
        'autostart': False,
        'use_sim_time': True,
        'allow_commands_in_sim_time': True,
        'robot_description_file': 'own.urdf',
        'hold_base': True,
    }
    file = tmp_path / 'own.yaml'
    file.write_text(yaml.safe_dump({'/**/dynamics_node': {'ros__parameters': own}}))
    for path in (ROBOT, MACHINE):
        nodes = launch(path, params_file=str(file))
        assert list(nodes) == ['dynamics_node']
        assert nodes['dynamics_node'].parameters == own
        assert nodes['dynamics_node'].remaps['/clock'] == '/clock'


def test_a_robot_needs_no_parameter_file(launch: Launch) -> None:
    nodes = launch(ROBOT, robot_description_file=str(URDF))
    assert nodes['dynamics_node'].parameters == {'robot_description_file': str(URDF)}


def test_the_stacker_reclaimer_brings_its_parameters(launch: Launch) -> None:
    nodes = launch(MACHINE)
    expected = yaml.safe_load(CONFIG.read_text())['/**/dynamics_node']['ros__parameters']
    assert nodes['dynamics_node'].parameters == expected


def test_arguments_go_before_the_parameter_file(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Texts that YAML would take for other types stay texts.
    monkeypatch.chdir(tmp_path)
    for name in '12':
        Path(name).touch()
    nodes = launch(
        MACHINE,
        robot_description_file='1',
        xacro_args="length:=2 name:='two words'",
        flexible_description_file='2',
        hold_base='true',
        autostart='False',
        use_sim_time='true',
        clock='time',
        joint_states='other_states',
        commands='effort_controller/commands',
        namespace='m1',
        log_level='debug',
    )
    node = nodes['dynamics_node']
    assert node.parameters['robot_description_file'] == '1'
    assert node.parameters['xacro_args'] == ['length:=2', 'name:=two words']
    assert node.parameters['flexible_description_file'] == '2'
    assert node.parameters['hold_base'] is True
    assert node.parameters['autostart'] is False
    assert node.parameters['use_sim_time'] is True
    assert node.parameters['allow_commands_in_sim_time'] is False  # of the file
    assert node.parameters['fault_action'] == 'hold_gravity'
    assert node.remaps == {
        '__node': 'dynamics_node',
        '__ns': '/m1',
        'joint_states': 'other_states',
        '~/commands': 'effort_controller/commands',
        '/clock': 'time',
    }
    assert node.log_level == 'debug'


def test_both_nodes_of_a_simulated_robot_agree(launch: Launch) -> None:
    nodes = launch(
        DEMO,
        namespace='m1',
        joint_states='states',
        commands='efforts',
        use_sim_time='true',
        real_time_factor='2',
        flexible_description_file=str(CONFIG),
    )
    dynamics, simulator = nodes['dynamics_node'], nodes['simulator_node']
    for name in ('__ns', 'joint_states', '~/commands', '/clock'):
        assert dynamics.remaps[name] == simulator.remaps[name]
    # In the namespace: another robot in this domain has a time of its own.
    assert dynamics.remaps['/clock'] == 'clock'
    assert simulator.remaps['~/command_state'] == 'dynamics_node/command_state'
    for node in (dynamics, simulator):
        assert Path(node.parameters['robot_description_file']).read_bytes() == URDF.read_bytes()
        assert node.parameters['flexible_description_file'] == str(CONFIG)
    assert dynamics.parameters['use_sim_time'] is True
    assert dynamics.parameters['allow_commands_in_sim_time'] is True
    assert simulator.parameters['publish_clock'] is True
    # A whole number is a number all the same: the parameter is a float.
    assert isinstance(simulator.parameters['real_time_factor'], float)
    assert simulator.parameters['real_time_factor'] == 2.0


def test_the_simulator_is_the_source_of_time_whatever_a_file_for_all_nodes_says(
    launch: Launch, tmp_path: Path
) -> None:
    """It refuses to wait for a clock."""
    file = tmp_path / 'parameters.yaml'
    file.write_text('/**:\n  ros__parameters: {use_sim_time: true}\n', encoding='utf-8')
    for asked in ('', 'true'):
        nodes = launch(DEMO, params_file=str(file), use_sim_time=asked)
        assert nodes['simulator_node'].parameters['use_sim_time'] is False
        assert nodes['dynamics_node'].parameters['use_sim_time'] is bool(asked)


def test_a_simulated_robot_goes_by_wall_time_unless_asked(launch: Launch) -> None:
    nodes = launch(DEMO)
    assert nodes['dynamics_node'].parameters['use_sim_time'] is False
    assert nodes['simulator_node'].parameters['publish_clock'] is False


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('params_file', '/no/such.yaml'),
        ('robot_description_file', '/no/such.urdf'),
        ('flexible_description_file', '/no/such.yaml'),
        ('constraints_file', '/no/such.yaml'),
        ('autostart', 'maybe'),
        ('log_level', 'loud'),
        ('real_time_factor', 'fast'),
        ('real_time_factor', '2'),
        ('xacro_args', "name:='one"),
    ],
)
def test_wrong_arguments_start_nothing(launch: Launch, path: Path, name: str, value: str) -> None:
    with pytest.raises(stand_ins.Stopped) as error:
        launch(path, **{name: value})
    assert '\n' not in str(error.value)
    if str(error.value):  # launch writes it into its log
        assert name in str(error.value)


@pytest.mark.parametrize(
    ('started', 'argument', 'said'),
    [
        (
            'kron_dynamics robot.launch.py',
            'namspace:=m1',
            "'namspace' does not exist: did you mean 'namespace'",
        ),
        (str(DEMO), 'speed:=2', "'speed' does not exist: there are namespace,"),
        # May be an argument of that file, which includes this one.
        ('my_robot robot.launch.py', 'namspace:=m1', None),
        ('/ws/robot.launch.py', 'namspace:=m1', None),
    ],
)
def test_arguments_that_do_not_exist(
    started: str,
    argument: str,
    said: str | None,
    without_launch: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, 'argv', ['ros2', 'launch', *started.split(), argument])
    if said is None:
        assert stand_ins.run(ROBOT, {}, [argument])
    else:
        with pytest.raises(ValueError) as error:
            stand_ins.run(ROBOT, {}, [argument])
        assert said in str(error.value)
