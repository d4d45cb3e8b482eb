# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated machine under computed torque: the same topics as a real one, without one."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return simulator_node beside what stacker_reclaimer.launch.py starts."""
    share = FindPackageShare('kron_dynamics')
    arguments = [
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of all nodes.'
        ),
        DeclareLaunchArgument(
            'robot_description_file',
            default_value=PathJoinSubstitution([share, 'urdf', 'stacker_reclaimer.urdf']),
            description='URDF of the machine.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'stacker_reclaimer.yaml']),
            description='Parameters of dynamics_node and simulator_node.',
        ),
        DeclareLaunchArgument(
            'real_time_factor', default_value='1.0', description='Simulated seconds per second.'
        ),
        DeclareLaunchArgument('log_level', default_value='info', description='Logging level.'),
    ]
    namespace = LaunchConfiguration('namespace')
    description = LaunchConfiguration('robot_description_file')
    parameters = LaunchConfiguration('params_file')
    simulator = Node(
        package='kron_dynamics',
        executable='simulator_node',
        name='simulator_node',
        namespace=namespace,
        parameters=[
            parameters,
            {
                'robot_description_file': description,
                'real_time_factor': LaunchConfiguration('real_time_factor'),
                'publish_clock': True,
            },
        ],
        remappings=[
            ('~/commands', 'dynamics_node/commands'),
            ('~/command_state', 'dynamics_node/command_state'),
        ],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='screen',
    )
    controller = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([share, 'launch', 'stacker_reclaimer.launch.py'])
        ),
        launch_arguments={
            'namespace': namespace,
            'robot_description_file': description,
            'params_file': parameters,
            'use_sim_time': 'true',
            'allow_commands_in_sim_time': 'true',
            'log_level': LaunchConfiguration('log_level'),
        }.items(),
    )
    return LaunchDescription([*arguments, simulator, controller])
