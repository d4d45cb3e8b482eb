# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files: what they name exists, and arguments arrive; with ROS's launch also for real."""

from __future__ import annotations

import ast
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ros_domains import domain_number

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.py'))
MACHINE, DEMO = (ROOT / 'launch' / f'{name}.launch.py' for name in ('stacker_reclaimer', 'demo'))
URDF = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
PATIENCE = 240.0

each_file = pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)


def calls(path: Path, name: str) -> list[ast.Call]:
    """Return the calls of a function or class in a file."""
    nodes = ast.walk(ast.parse(path.read_text(encoding='utf-8')))
    return [
        node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    ]


def keywords(call: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def texts(node: ast.AST) -> list[str]:
    """Return the texts in a piece of a file, in order."""
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return [value for value in constants if isinstance(value, str)]


def dictionary_keys(path: Path) -> set[str]:
    """Return the keys of all dictionaries, which in these files are parameters."""
    nodes = ast.walk(ast.parse(path.read_text(encoding='utf-8')))
    keys = [key for node in nodes if isinstance(node, ast.Dict) for key in node.keys]
    return {ast.literal_eval(key) for key in keys if key is not None}


def paths_named(path: Path) -> list[Path]:
    return [ROOT.joinpath(*texts(call)) for call in calls(path, 'PathJoinSubstitution')]


def with_included(path: Path) -> list[Path]:
    return [path, *(named for named in paths_named(path) if named.name.endswith('.launch.py'))]


def declared(path: Path) -> set[str]:
    return {texts(call)[0] for call in calls(path, 'DeclareLaunchArgument')}


def test_both_files_are_found() -> None:
    assert FILES == sorted([MACHINE, DEMO])


@each_file
def test_every_argument_has_a_default_and_a_description(path: Path) -> None:
    arguments = calls(path, 'DeclareLaunchArgument')
    assert arguments
    for argument in arguments:
        given = keywords(argument)
        assert 'default_value' in given, ast.unparse(argument)
        assert ''.join(texts(given['description'])).endswith('.'), ast.unparse(argument)


@each_file
def test_every_argument_used_is_declared_and_every_one_declared_is_used(path: Path) -> None:
    files = with_included(path)
    known = {name for file in files for name in declared(file)}
    configurations = [call for file in files for call in calls(file, 'LaunchConfiguration')]
    used = {name for call in configurations for name in texts(call)}
    assert used <= known
    assert known <= used | {key for file in files for key in dictionary_keys(file)}


@each_file
def test_the_files_named_are_installed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr('setuptools.setup', lambda **arguments: seen.update(arguments))
    seen: dict[str, Any] = {}
    runpy.run_path('setup.py')
    installed = {ROOT / name for _, names in seen['data_files'] for name in names}
    named = paths_named(path)
    assert named
    assert set(named) <= installed


@each_file
def test_nodes_and_remapped_names_exist(path: Path) -> None:
    sources = [file.read_text(encoding='utf-8') for file in ROOT.glob('kron_dynamics/ros/*.py')]
    known = {text for source in sources for text in texts(ast.parse(source))}
    scripts = (ROOT / 'setup.py').read_text(encoding='utf-8')
    for node in calls(path, 'Node'):
        given = keywords(node)
        executable = texts(given['executable'])[0]
        assert f"'{executable} = kron_dynamics.ros.{executable}:main'" in scripts
        # The parameter file addresses the nodes by these names.
        assert texts(given['name']) == [executable]
        pairs = given['remappings']
        assert isinstance(pairs, ast.List)
        assert {texts(pair)[0] for pair in pairs.elts} <= known


@pytest.mark.ros
@pytest.mark.parametrize(('path', 'of_node'), [(MACHINE, 'DYNAMICS'), (DEMO, 'SIMULATOR')])
def test_parameters_are_declared_by_the_node(path: Path, of_node: str) -> None:
    pytest.importorskip('rclpy')
    from kron_dynamics.ros import node_parameters

    names = {parameter.name for parameter in getattr(node_parameters, of_node)}
    keys = dictionary_keys(path)
    assert keys
    assert keys <= names | {'use_sim_time'}  # which every node has


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ROS finds the package, as colcon installs it, but without executables."""
    share = tmp_path / 'share' / 'kron_dynamics'
    for folder in ('config', 'launch', 'urdf'):
        shutil.copytree(ROOT / folder, share / folder)
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'kron_dynamics').touch()
    (tmp_path / 'lib' / 'kron_dynamics').mkdir(parents=True)
    found = os.environ.get('AMENT_PREFIX_PATH')
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(filter(None, [str(tmp_path), found])))
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'log'))
    return tmp_path


def make_executable(prefix: Path, name: str, text: str) -> None:
    script = prefix / 'lib' / 'kron_dynamics' / name
    script.write_text(f'#!{sys.executable}\n{text}', encoding='utf-8')
    script.chmod(0o755)


# Instead of a node: writes its arguments down, with the parameter files, which are temporary.
# It then waits for the other ones, as the demo ends with the first of its nodes.
RECORDER = """
import json, os, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
folder = pathlib.Path(os.environ['RECORDS'])
files = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == '--params-file']
record = {'words': sys.argv[1:], 'files': [pathlib.Path(file).read_text() for file in files]}
name = pathlib.Path(sys.argv[0]).name
(folder / name).write_text(json.dumps(record))
(folder / name).rename(folder / (name + '.json'))
end = time.monotonic() + 120
while len(list(folder.glob('*.json'))) < int(os.environ['NODES']) and time.monotonic() < end:
    time.sleep(0.01)
"""


class Started:
    """What a node was started with."""

    def __init__(self, name: str, record: dict[str, Any]) -> None:
        self.parameters: dict[str, Any] = {}
        for text in record['files']:
            for address, content in yaml.safe_load(text).items():
                if address == '/**' or address.endswith(f'/{name}'):
                    self.parameters.update(content['ros__parameters'])
        words = record['words']
        after = [words[i + 1] for i, word in enumerate(words[:-1]) if word == '-r']
        self.remaps = dict(rule.split(':=') for rule in after)
        self.log_level = words[words.index('--log-level') + 1]


@pytest.fixture
def launch(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Launch a file with recorders for nodes; return the exit code and the nodes started."""
    pytest.importorskip('launch_ros')
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    records = prefix / 'records'
    records.mkdir()
    monkeypatch.setenv('RECORDS', str(records))
    for name in ('dynamics_node', 'simulator_node'):
        make_executable(prefix, name, RECORDER)

    def run(path: Path, **arguments: str) -> tuple[int, dict[str, Started]]:
        monkeypatch.setenv('NODES', '2' if path == DEMO else '1')
        source = PythonLaunchDescriptionSource(str(path))
        include = IncludeLaunchDescription(source, launch_arguments=arguments.items())
        service = LaunchService(noninteractive=True)
        service.include_launch_description(LaunchDescription([include]))
        code = service.run()
        found = {file.stem: json.loads(file.read_text()) for file in records.glob('*.json')}
        return code, {name: Started(name, record) for name, record in found.items()}

    return run


def test_the_word_is_with_the_parameter_file(launch: Callable[..., Any], tmp_path: Path) -> None:
    own = {
        'autostart': False,
        'use_sim_time': True,
        'allow_commands_in_sim_time': True,
        'robot_description_file': 'own.urdf',
    }
    file = tmp_path / 'own.yaml'
    file.write_text(yaml.safe_dump({'/**/dynamics_node': {'ros__parameters': own}}))
    code, nodes = launch(MACHINE, params_file=str(file))
    assert code == 0
    assert list(nodes) == ['dynamics_node']
    assert nodes['dynamics_node'].parameters == own


def test_arguments_go_before_the_parameter_file(launch: Callable[..., Any]) -> None:
    # Texts that YAML would take for other types stay texts.
    _, nodes = launch(
        MACHINE,
        robot_description_file='1',
        flexible_description_file='2',
        autostart='False',
        use_sim_time='true',
        joint_states='other_states',
        commands='effort_controller/commands',
        namespace='m1',
        log_level='debug',
    )
    node = nodes['dynamics_node']
    assert node.parameters['robot_description_file'] == '1'
    assert node.parameters['flexible_description_file'] == '2'
    assert node.parameters['autostart'] is False
    assert node.parameters['use_sim_time'] is True
    assert node.parameters['fault_action'] == 'hold_gravity'
    assert node.remaps == {
        '__node': 'dynamics_node',
        '__ns': '/m1',
        'joint_states': 'other_states',
        '~/commands': 'effort_controller/commands',
    }
    assert node.log_level == 'debug'


def test_both_nodes_of_the_demo_agree(launch: Callable[..., Any]) -> None:
    code, nodes = launch(
        DEMO,
        namespace='m1',
        joint_states='states',
        commands='efforts',
        real_time_factor='2',
        flexible_description_file='bends.yaml',
    )
    assert code == 0
    dynamics, simulator = nodes['dynamics_node'], nodes['simulator_node']
    for name in ('__ns', 'joint_states', '~/commands'):
        assert dynamics.remaps[name] == simulator.remaps[name]
    assert simulator.remaps['~/command_state'] == 'dynamics_node/command_state'
    for node in (dynamics, simulator):
        assert Path(node.parameters['robot_description_file']).read_bytes() == URDF.read_bytes()
        assert node.parameters['flexible_description_file'] == 'bends.yaml'
    assert dynamics.parameters['use_sim_time'] is True
    assert dynamics.parameters['allow_commands_in_sim_time'] is True
    assert simulator.parameters['publish_clock'] is True
    assert 'use_sim_time' not in simulator.parameters
    # A whole number is a number all the same: the parameter is a float.
    assert isinstance(simulator.parameters['real_time_factor'], float)
    assert simulator.parameters['real_time_factor'] == 2.0


@pytest.mark.parametrize('path', [MACHINE, DEMO], ids=lambda path: path.name)
@pytest.mark.parametrize(
    'wrong',
    [{'params_file': '/no/such.yaml'}, {'autostart': 'maybe'}, {'log_level': 'loud'}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_wrong_arguments_start_nothing(
    launch: Callable[..., Any], path: Path, wrong: dict[str, str]
) -> None:
    assert launch(path, **wrong) == (1, {})


def test_the_demo_ends_with_the_first_of_its_nodes(
    launch: Callable[..., Any], prefix: Path
) -> None:
    ready, interrupted = prefix / 'ready', prefix / 'interrupted'
    waiting = f"""
import pathlib, signal, sys, time
def end(*_):
    pathlib.Path({str(interrupted)!r}).touch()
    sys.exit()
signal.signal(signal.SIGINT, end)
pathlib.Path({str(ready)!r}).touch()
time.sleep(120)
"""
    dying = f"""
import pathlib, sys, time
end = time.monotonic() + 120
while not pathlib.Path({str(ready)!r}).exists() and time.monotonic() < end:
    time.sleep(0.01)
sys.exit(1)
"""
    make_executable(prefix, 'dynamics_node', waiting)
    make_executable(prefix, 'simulator_node', dying)
    launch(DEMO)
    assert interrupted.exists()


@pytest.fixture
def domain(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The package's own nodes, in a domain of their own, whose number is returned."""
    for name in ('dynamics_node', 'simulator_node'):
        make_executable(
            prefix,
            name,
            f'import sys\nfrom kron_dynamics.ros.{name} import main\nsys.exit(main())',
        )
    # Not the one of the other tests of nodes in this session.
    number = domain_number(second=True)
    monkeypatch.setenv('ROS_DOMAIN_ID', str(number))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    return number


@pytest.mark.ros
def test_the_demo_runs_and_ends_in_order(domain: int, tmp_path: Path) -> None:
    pytest.importorskip('ros2launch')
    rclpy = pytest.importorskip('rclpy')
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import Float64MultiArray

    ros2 = shutil.which('ros2')
    assert ros2 is not None
    log = tmp_path / 'output'
    command = [ros2, 'launch', '--noninteractive', 'kron_dynamics', DEMO.name, 'namespace:=m1']
    with log.open('w', encoding='utf-8') as output:
        demo = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    context = rclpy.Context()
    try:
        rclpy.init(args=[], context=context, domain_id=domain)
        node = rclpy.create_node('test', context=context)
        commands: list[Any] = []
        topic = '/m1/dynamics_node/commands'
        node.create_subscription(Float64MultiArray, topic, commands.append, 1)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + PATIENCE
        while len(commands) < 20 and demo.poll() is None and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        demo.send_signal(signal.SIGINT)
        code = demo.wait(PATIENCE)
    finally:
        rclpy.try_shutdown(context=context)
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGKILL)
            demo.wait()
    said = log.read_text(encoding='utf-8')
    assert code == 0, said
    assert len(commands) >= 20, said
    assert all(len(command.data) == 3 for command in commands)
    assert 'Traceback' not in said
    assert said.count('process has finished cleanly') == 2, said
