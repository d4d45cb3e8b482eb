# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files run by `launch` and by `ros2 launch`, with processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ros_domains import domain_number

DEMO = Path(__file__).resolve().parents[2] / 'launch' / 'demo.launch.py'
PATIENCE = 240.0


def test_a_simulated_robot_ends_with_the_first_of_its_nodes(
    make_executable: Callable[[str, str], None], prefix: Path
) -> None:
    pytest.importorskip('launch_ros')
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription

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
    make_executable('dynamics_node', waiting)
    make_executable('simulator_node', dying)
    service = LaunchService(noninteractive=True)
    service.include_launch_description(LaunchDescription([IncludeLaunchDescription(str(DEMO))]))
    service.run()
    assert interrupted.exists()


@pytest.fixture
def domain(make_executable: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch) -> int:
    """The package's own nodes, in a domain of their own, whose number is returned."""
    for name in ('dynamics_node', 'simulator_node'):
        make_executable(
            name, f'import sys\nfrom kron_dynamics.ros.start import {name}\nsys.exit({name}())'
        )
    # Not the one of the other tests of nodes in this session.
    number = domain_number(second=True)
    monkeypatch.setenv('ROS_DOMAIN_ID', str(number))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    return number


@pytest.mark.ros
def test_two_demos_run_in_one_domain_and_end_in_order(domain: int, tmp_path: Path) -> None:
    pytest.importorskip('ros2launch')
    rclpy = pytest.importorskip('rclpy')
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import Float64MultiArray

    ros2 = shutil.which('ros2')
    assert ros2 is not None
    base = [ros2, 'launch', '--noninteractive', 'kron_dynamics', DEMO.name]
    own = {
        'wall': [],
        'fast': ['use_sim_time:=true', 'real_time_factor:=3'],
    }
    demos, logs = [], []
    for name, arguments in own.items():
        logs.append(tmp_path / f'{name}.output')
        with logs[-1].open('w', encoding='utf-8') as output:
            demos.append(
                subprocess.Popen(
                    [*base, f'namespace:={name}', *arguments],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
    context = rclpy.Context()
    try:
        rclpy.init(args=[], context=context, domain_id=domain)
        node = rclpy.create_node('test', context=context)
        commands: dict[str, list[Any]] = {name: [] for name in own}
        for name, heard in commands.items():
            topic = f'/{name}/dynamics_node/commands'
            node.create_subscription(Float64MultiArray, topic, heard.append, 1)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + PATIENCE
        while (
            min(map(len, commands.values())) < 20
            and all(demo.poll() is None for demo in demos)
            and time.monotonic() < end
        ):
            executor.spin_once(timeout_sec=0.1)
        topics = dict(node.get_topic_names_and_types())
        for demo in demos:
            demo.send_signal(signal.SIGINT)
        codes = [demo.wait(PATIENCE) for demo in demos]
    finally:
        rclpy.try_shutdown(context=context)
        for demo in demos:
            if demo.poll() is None:
                os.killpg(demo.pid, signal.SIGKILL)
                demo.wait()
    for name, code, log in zip(own, codes, logs, strict=True):
        said = log.read_text(encoding='utf-8')
        assert code == 0, said
        assert len(commands[name]) >= 20, said
        assert all(len(command.data) == 3 for command in commands[name])
        assert 'Traceback' not in said
        assert said.count('process has finished cleanly') == 2, said
    assert '/fast/clock' in topics
    assert '/clock' not in topics
