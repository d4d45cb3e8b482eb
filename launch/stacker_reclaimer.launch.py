# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""dynamics_node at a machine: joint states in, efforts for a forward_command_controller out."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return dynamics_node with everything that differs between machines as an argument."""
    share = FindPackageShare('kron_dynamics')
    arguments = [
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node.'),
        DeclareLaunchArgument(
            'robot_description_file',
            default_value='',
            description='URDF of the machine; empty: the topic robot_description, as '
            'robot_state_publisher latches it.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'stacker_reclaimer.yaml']),
            description='Parameters of dynamics_node.',
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
            default_value='true',
            choices=['true', 'false'],
            description='Configure and activate without lifecycle transitions from outside.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take time from /clock.',
        ),
        DeclareLaunchArgument(
            'allow_commands_in_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Send commands although time comes from /clock.',
        ),
        DeclareLaunchArgument('log_level', default_value='info', description='Logging level.'),
    ]
    node = Node(
        package='kron_dynamics',
        executable='dynamics_node',
        name='dynamics_node',
        namespace=LaunchConfiguration('namespace'),
        parameters=[
            LaunchConfiguration('params_file'),
            {
                'robot_description_file': LaunchConfiguration('robot_description_file'),
                'autostart': LaunchConfiguration('autostart'),
                'use_sim_time': LaunchConfiguration('use_sim_time'),
                'allow_commands_in_sim_time': LaunchConfiguration('allow_commands_in_sim_time'),
            },
        ],
        remappings=[
            ('joint_states', LaunchConfiguration('joint_states')),
            ('~/commands', LaunchConfiguration('commands')),
        ],
        arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
        output='screen',
    )
    return LaunchDescription([*arguments, node])
