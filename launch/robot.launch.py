# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""dynamics_node for any robot, real or simulated, configured by launch arguments."""

from __future__ import annotations

import shlex
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.events.process import ShutdownProcess
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

# Launch files use both spellings of YAML booleans.
SWITCH = ['', 'true', 'false', 'True', 'False']
LEVELS = ['debug', 'info', 'warn', 'error', 'fatal']
# Arguments that are parameters of both nodes, or of dynamics_node only, with their types.
BOTH = {
    'robot_description_file': str,
    'flexible_description_file': str,
    'constraints_file': str,
    'hold_base': bool,
}
DYNAMICS = {'autostart': bool, 'use_sim_time': bool, 'allow_commands_in_sim_time': bool}


def argument(name: str, default: str, description: str, **more: Any) -> DeclareLaunchArgument:
    """Return an optional launch argument."""
    return DeclareLaunchArgument(name, default_value=default, description=description, **more)


ARGUMENTS = [
    argument(
        'namespace', '', 'Namespace of the nodes and of all names below without a leading /.'
    ),
    argument('params_file', '', 'YAML file with the parameters of the nodes, such as the gains.'),
    argument(
        'robot_description_file',
        '',
        'URDF or xacro file. Empty: as in params_file, otherwise the latched topic '
        'robot_description of robot_state_publisher.',
    ),
    argument('xacro_args', '', "Arguments of a xacro file: 'name:=value name:=value'."),
    argument(
        'flexible_description_file',
        '',
        'YAML file that describes the flexible links. Empty: as in params_file, otherwise all '
        'links are rigid.',
    ),
    argument(
        'constraints_file',
        '',
        'YAML file with loop closures and the joints with a drive. Empty: as in params_file, '
        'otherwise the robot is a tree.',
    ),
    argument(
        'hold_base',
        '',
        'Fix a floating or planar base where it is. Empty: as in params_file.',
        choices=SWITCH,
    ),
    argument('joint_states', 'joint_states', 'Topic of the joint states.'),
    argument(
        'commands',
        'dynamics_node/commands',
        'Topic of the commanded efforts, for instance effort_controller/commands.',
    ),
    argument(
        'simulated',
        'false',
        'Start simulator_node in place of the machine.',
        choices=SWITCH[1:],
    ),
    argument(
        'real_time_factor',
        '',
        'Simulated seconds per second, with use_sim_time. Empty: as in params_file.',
    ),
    argument(
        'use_sim_time',
        '',
        'Take time from the topic clock. Empty: false if the robot is simulated, otherwise as in '
        'params_file.',
        choices=SWITCH,
    ),
    argument(
        'clock',
        '',
        'Topic of the clock for use_sim_time. Empty: /clock for a real robot; clock in the '
        'namespace for a simulated one, whose simulator publishes it.',
    ),
    argument(
        'allow_commands_in_sim_time',
        '',
        'Send commands although time comes from the topic clock. Empty: as use_sim_time if the '
        'robot is simulated, otherwise as in params_file.',
        choices=SWITCH,
    ),
    argument(
        'autostart',
        '',
        'Configure and activate without external lifecycle transitions. Empty: as in params_file.',
        choices=SWITCH,
    ),
    argument('log_level', 'info', 'Logging level.', choices=LEVELS),
]


def generate_launch_description() -> LaunchDescription:
    """Return dynamics_node, and simulator_node if the robot is simulated."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=_nodes)])


def _nodes(context: LaunchContext) -> list[Any]:
    """Return the nodes; for empty arguments the values of params_file apply.

    Raises:
        ValueError: an argument is unusable or unknown.
        FileNotFoundError: a file does not exist, which launch itself would ignore.
    """
    given = {each.name: LaunchConfiguration(each.name).perform(context) for each in ARGUMENTS}
    _refuse_unknown(context.argv, list(given))
    _check(given)
    simulated, clock = _is_true(given['simulated']), given['clock']
    if simulated:
        sim_time = given['use_sim_time'] = given['use_sim_time'] or 'false'
        given['allow_commands_in_sim_time'] = given['allow_commands_in_sim_time'] or sim_time
    remaps = {
        'joint_states': given['joint_states'],
        '~/commands': given['commands'],
        '/clock': clock or ('clock' if simulated else '/clock'),
    }
    both = _parameters(given, BOTH)
    if given['xacro_args']:
        words = _words('xacro_args', given['xacro_args'])
        both['xacro_args'] = ParameterValue(words, value_type=list[str])
    dynamics = _node('dynamics_node', given, {**both, **_parameters(given, DYNAMICS)}, remaps)
    if not simulated:
        return [dynamics]
    own = _parameters(given, {'real_time_factor': float})
    own['publish_clock'] = _is_true(given['use_sim_time'])
    own['use_sim_time'] = False  # whatever a file says: the simulator is the source of time
    remaps['~/command_state'] = 'dynamics_node/command_state'
    simulator = _node('simulator_node', given, {**both, **own}, remaps)
    # Shut down both nodes together: one would wait for the other for ever.
    return [_end_with(dynamics, simulator), _end_with(simulator, dynamics), dynamics, simulator]


def _node(name: str, given: dict[str, str], parameters: dict[str, Any], remaps: Any) -> Node:
    files = [given['params_file']] if given['params_file'] else []
    return Node(
        package='kron_dynamics',
        executable=name,
        name=name,
        namespace=given['namespace'],
        parameters=[*files, *([parameters] if parameters else [])],
        remappings=list(remaps.items()),
        ros_arguments=['--log-level', given['log_level']],
        output='screen',
    )


def _parameters(given: dict[str, str], types: dict[str, type]) -> dict[str, Any]:
    """Return nonempty arguments as parameters of the given types, without YAML type guessing."""
    read = {bool: _is_true, float: float, str: str}
    return {
        name: ParameterValue(read[kind](given[name]), value_type=kind)
        for name, kind in types.items()
        if given[name]
    }


def _end_with(first: Node, second: Node) -> RegisterEventHandler:
    """Return an event handler that shuts the second node down when the first one has ended."""
    end = EmitEvent(event=ShutdownProcess(process_matcher=matches_action(second)))
    return RegisterEventHandler(
        OnProcessExit(
            target_action=first,
            on_exit=lambda event, context: [] if context.is_shutdown else [end],
        )
    )


def _words(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f'{name} is {text!r}: {error}') from None


def _is_true(text: str) -> bool:
    return text.lower() == 'true'


def _refuse_unknown(argv: list[str], known: list[str]) -> None:
    """Check for unknown arguments, which launch itself ignores.

    Only if a launch file of this folder was launched directly: a file that includes one may have
    arguments of its own.
    """
    folder = Path(__file__).resolve().parent
    own = {path.name for path in folder.glob('*.launch.py')}
    by_package = 'kron_dynamics' in sys.argv and not own.isdisjoint(sys.argv)
    by_path = any(
        word.endswith('.launch.py') and Path(word).resolve().parent == folder for word in sys.argv
    )
    if not by_package and not by_path:
        return
    for name in (word.partition(':=')[0] for word in argv if ':=' in word):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f'there are {", ".join(known)}'
            raise ValueError(f"launch argument '{name}' does not exist: {hint}")


def _check(given: dict[str, str]) -> None:
    for name in (
        'params_file',
        'robot_description_file',
        'flexible_description_file',
        'constraints_file',
    ):
        if given[name] and not Path(given[name]).is_file():
            raise FileNotFoundError(f"{name} '{given[name]}' does not exist")
    factor = given['real_time_factor']
    if not factor:
        return
    if not _is_true(given['simulated']):
        raise ValueError(f'real_time_factor is {factor}, but the robot is not simulated')
    try:
        paced = float(factor) != 1.0
    except ValueError:
        raise ValueError(f"real_time_factor is '{factor}', expected a number") from None
    if paced and not _is_true(given['use_sim_time']):
        raise ValueError(f'real_time_factor is {factor}, which needs use_sim_time:=true')
