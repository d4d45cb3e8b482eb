# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated stacker-reclaimer, with the same topics as a real machine."""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return simulator_node and dynamics_node; all arguments of robot.launch.py can be given."""
    share = FindPackageShare('kron_dynamics')
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'robot_description_file',
                default_value=PathJoinSubstitution([share, 'urdf', 'stacker_reclaimer.urdf']),
                description='URDF or xacro file of the machine.',
            ),
            DeclareLaunchArgument(
                'simulated',
                default_value='true',
                choices=['true'],
                description='Start simulator_node in place of the machine.',
            ),
            IncludeLaunchDescription(
                PathJoinSubstitution([share, 'launch', 'stacker_reclaimer.launch.py']),
            ),
        ]
    )
