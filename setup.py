# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Packaging of kron_dynamics, for colcon (ament_python) and for pip."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = 'kron_dynamics'


def files_of(folder: str) -> list[str]:
    """Return the files of a folder beside this file; empty if the folder does not exist."""
    return sorted(str(path) for path in Path(folder).glob('*') if path.is_file())


setup(
    name=PACKAGE,
    version='0.1.0',
    description='Closed-form, compiled robot dynamics from a URDF, in Kronecker form, for ROS 2.',
    author='The kron_dynamics Authors',
    author_email='maintainers@kron-dynamics.org',
    maintainer='The kron_dynamics Authors',
    maintainer_email='maintainers@kron-dynamics.org',
    license='Apache-2.0',
    # Listed by name: kron_dynamics_msgs, in the same folder, is a separate package.
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={
        PACKAGE: [
            'py.typed',
            'kernels/*.[ch]',
            'control/reference/*.c',
            'simulation/*.c',
            'export/templates/*',
            # The HTML page of an analysis: its own files, and uPlot with its license.
            'bag/outputs/page/*.css',
            'bag/outputs/page/*.js',
            'bag/outputs/page/uPlot.LICENSE',
        ],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/config', files_of('config')),
        (f'share/{PACKAGE}/examples', files_of('examples')),
        (f'share/{PACKAGE}/examples/real_time', files_of('examples/real_time')),
        (
            f'share/{PACKAGE}/examples/real_time/ros2_control',
            files_of('examples/real_time/ros2_control'),
        ),
        (
            f'share/{PACKAGE}/examples/real_time/ros2_control/src',
            files_of('examples/real_time/ros2_control/src'),
        ),
        (f'share/{PACKAGE}/launch', files_of('launch')),
        (f'share/{PACKAGE}/urdf', files_of('urdf')),
    ],
    python_requires='>=3.10',
    # rclpy and the message packages are installed with ROS 2, not by pip.
    install_requires=[
        'PyYAML',
        'lxml',
        'matplotlib',
        'numpy',
        'rosbags >= 0.11',
        'scipy',
        'sympy',
        'urdf-parser-py',
    ],
    extras_require={
        'cluster': ['distributed'],
        'parquet': ['pyarrow'],
        'test': ['hypothesis', 'pytest', 'pytest-timeout'],
        'xacro': ['xacro'],
    },
    entry_points={
        'console_scripts': [
            'kron_dynamics = kron_dynamics.start:command',
            'dynamics_node = kron_dynamics.ros.start:dynamics_node',
            'simulator_node = kron_dynamics.ros.start:simulator_node',
        ],
    },
    zip_safe=False,
)
