# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated machine under computed torque: the same topics as a real one, without one."""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return simulator_node beside what stacker_reclaimer.launch.py starts."""
    share = FindPackageShare('kron_dynamics')
    arguments = [
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of both nodes.'
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'stacker_reclaimer.yaml']),
            description='Parameters of dynamics_node and simulator_node.',
        ),
        DeclareLaunchArgument(
            'robot_description_file',
            default_value=PathJoinSubstitution([share, 'urdf', 'stacker_reclaimer.urdf']),
            description='URDF of the machine.',
        ),
        DeclareLaunchArgument(
            'flexible_description_file',
            default_value='',
            description='Links of the machine that bend, for both nodes, for instance '
            'config/stacker_reclaimer_flexible.yaml. Empty: as params_file says, and without it '
            'there all links are stiff.',
        ),
        DeclareLaunchArgument(
            'real_time_factor', default_value='1.0', description='Simulated seconds per second.'
        ),
        # The simulator is the source of time, so these two have one value here.
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='true',
            choices=['true'],
            description='Take time from /clock.',
        ),
        DeclareLaunchArgument(
            'allow_commands_in_sim_time',
            default_value='true',
            choices=['true'],
            description='Send commands although time comes from /clock.',
        ),
    ]
    # The included file takes the arguments above and declares its others: joint_states, commands
    # and log_level hold for both nodes. It comes first, as it refuses arguments before anything
    # has started.
    dynamics = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([share, 'launch', 'stacker_reclaimer.launch.py'])
        ),
    )
    simulator = OpaqueFunction(function=_simulator_node)
    ended = RegisterEventHandler(OnProcessExit(on_exit=_shut_down))
    return LaunchDescription([*arguments, ended, dynamics, simulator])


def _simulator_node(context: LaunchContext) -> list[Node]:
    """Return the simulator, with flexible links where the argument or params_file names them."""
    given = {
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, kind in {
            'robot_description_file': str,
            'flexible_description_file': str,
            'real_time_factor': float,
        }.items()
        if LaunchConfiguration(name).perform(context)
    }
    return [
        Node(
            package='kron_dynamics',
            executable='simulator_node',
            name='simulator_node',
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), {**given, 'publish_clock': True}],
            remappings=[
                ('joint_states', LaunchConfiguration('joint_states')),
                ('~/commands', LaunchConfiguration('commands')),
                ('~/command_state', 'dynamics_node/command_state'),
            ],
            ros_arguments=['--log-level', LaunchConfiguration('log_level')],
            output='screen',
        )
    ]


def _shut_down(event: ProcessExited, context: LaunchContext) -> list[Shutdown]:
    """Return the end of the demo: one node without the other would wait for ever."""
    return [] if context.is_shutdown else [Shutdown()]
