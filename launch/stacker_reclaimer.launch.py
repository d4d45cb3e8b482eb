# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""dynamics_node at a machine: joint states in, efforts for a forward_command_controller out."""

from __future__ import annotations

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

# Both spellings of YAML are in use among launch files.
SWITCH = ['', 'true', 'false', 'True', 'False']


def generate_launch_description() -> LaunchDescription:
    """Return dynamics_node with everything that differs between machines as an argument."""
    share = FindPackageShare('kron_dynamics')
    arguments = [
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'stacker_reclaimer.yaml']),
            description='Parameters of dynamics_node.',
        ),
        DeclareLaunchArgument(
            'robot_description_file',
            default_value='',
            description='URDF of the machine. Empty: as params_file says, and without it there '
            'the topic robot_description, as robot_state_publisher latches it.',
        ),
        DeclareLaunchArgument(
            'flexible_description_file',
            default_value='',
            description='Links of the machine that bend, for instance '
            'config/stacker_reclaimer_flexible.yaml. Empty: as params_file says, and without it '
            'there all links are stiff.',
        ),
        DeclareLaunchArgument(
            'joint_states', default_value='joint_states', description='Topic of the joint states.'
        ),
        DeclareLaunchArgument(
            'commands',
            default_value='dynamics_node/commands',
            description='Topic of the efforts, for instance effort_controller/commands.',
        ),
        DeclareLaunchArgument(
            'autostart',
            default_value='',
            choices=SWITCH,
            description='Configure and activate without lifecycle transitions from outside. '
            'Empty: as params_file says.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='',
            choices=SWITCH,
            description='Take time from /clock. Empty: as params_file says.',
        ),
        DeclareLaunchArgument(
            'allow_commands_in_sim_time',
            default_value='',
            choices=SWITCH,
            description='Send commands although time comes from /clock. Empty: as params_file '
            'says.',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='Logging level.',
        ),
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=_dynamics_node)])


def _dynamics_node(context: LaunchContext) -> list[Node]:
    """Return the node; arguments that are not given leave params_file the word.

    Raises:
        FileNotFoundError: there is no params_file; launch itself would go on without.
    """
    params_file = LaunchConfiguration('params_file').perform(context)
    if not Path(params_file).is_file():
        raise FileNotFoundError(f"params_file '{params_file}' does not exist")
    types = {
        'robot_description_file': str,
        'flexible_description_file': str,
        'autostart': bool,
        'use_sim_time': bool,
        'allow_commands_in_sim_time': bool,
    }
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in types.items()
        if LaunchConfiguration(name).perform(context)
    }
    return [
        Node(
            package='kron_dynamics',
            executable='dynamics_node',
            name='dynamics_node',
            namespace=LaunchConfiguration('namespace'),
            parameters=[params_file, *([given] if given else [])],
            remappings=[
                ('joint_states', LaunchConfiguration('joint_states')),
                ('~/commands', LaunchConfiguration('commands')),
            ],
            ros_arguments=['--log-level', LaunchConfiguration('log_level')],
            output='screen',
        )
    ]
