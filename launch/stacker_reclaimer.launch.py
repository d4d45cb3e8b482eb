# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""robot.launch.py with the parameters of the stacker-reclaimer."""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return dynamics_node at the machine; all arguments of robot.launch.py can be given."""
    share = FindPackageShare('kron_dynamics')
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'params_file',
                default_value=PathJoinSubstitution([share, 'config', 'stacker_reclaimer.yaml']),
                description='YAML file with the parameters of the nodes.',
            ),
            IncludeLaunchDescription(
                PathJoinSubstitution([share, 'launch', 'robot.launch.py']),
            ),
        ]
    )
