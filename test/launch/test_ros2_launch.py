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
from typing import Any, NamedTuple

import pytest
import yaml
from ros_domains import domain_number, this_computer_only

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / 'launch' / 'demo.launch.py'
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
    number = domain_number(1)
    for name, value in this_computer_only(number).items():
        monkeypatch.setenv(name, value)
    return number


class Heard(NamedTuple):
    """What was heard of two launches: the messages of each, and all topics."""

    messages: list[list[Any]]
    topics: set[str]


def launched(
    domain: int, folder: Path, commands: dict[str, list[str]], kind: Any, topic: str
) -> Heard:
    """Run `ros2 launch kron_dynamics` in namespaces until 20 messages are heard in each."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    ros2 = shutil.which('ros2')
    assert ros2 is not None
    base = [ros2, 'launch', '--noninteractive', 'kron_dynamics']
    launches, logs = [], []
    for name, arguments in commands.items():
        logs.append(folder / f'{name}.output')
        with logs[-1].open('w', encoding='utf-8') as output:
            launches.append(
                subprocess.Popen(
                    [*base, *arguments, f'namespace:={name}'],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
    context = rclpy.Context()
    try:
        rclpy.init(args=[], context=context, domain_id=domain)
        node = rclpy.create_node('test', context=context)
        messages: dict[str, list[Any]] = {name: [] for name in commands}
        for name, heard in messages.items():
            node.create_subscription(kind, f'/{name}/dynamics_node/{topic}', heard.append, 1)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        end = time.monotonic() + PATIENCE
        while (
            min(map(len, messages.values())) < 20
            and all(each.poll() is None for each in launches)
            and time.monotonic() < end
        ):
            executor.spin_once(timeout_sec=0.1)
        topics = set(dict(node.get_topic_names_and_types()))
        for each in launches:
            each.send_signal(signal.SIGINT)
        codes = [each.wait(PATIENCE) for each in launches]
    finally:
        rclpy.try_shutdown(context=context)
        for each in launches:
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGKILL)
                each.wait()
    outputs = [log.read_text(encoding='utf-8') for log in logs]
    for code, heard, said in zip(codes, messages.values(), outputs, strict=True):
        assert code == 0, said
        assert len(heard) >= 20, said
        assert 'Traceback' not in said
        assert said.count('process has finished cleanly') == 2, said
    return Heard(list(messages.values()), topics)


@pytest.mark.ros
def test_two_demos_run_in_one_domain_and_end_in_order(domain: int, tmp_path: Path) -> None:
    pytest.importorskip('ros2launch')
    pytest.importorskip('rclpy')
    from std_msgs.msg import Float64MultiArray

    own = {'wall': [DEMO.name], 'fast': [DEMO.name, 'use_sim_time:=true', 'real_time_factor:=3']}
    heard = launched(domain, tmp_path, own, Float64MultiArray, 'commands')
    assert all(len(command.data) == 3 for each in heard.messages for command in each)
    assert '/fast/clock' in heard.topics
    assert '/clock' not in heard.topics


@pytest.mark.ros
def test_two_robots_of_one_xacro_file_run_in_one_domain(domain: int, tmp_path: Path) -> None:
    pytest.importorskip('ros2launch')
    pytest.importorskip('rclpy')
    pytest.importorskip('xacro')
    from sensor_msgs.msg import JointState

    urdf = (ROOT / 'test' / 'robots' / 'planar_2r.urdf').read_text(encoding='utf-8')
    tag = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '
    text = urdf.replace('<robot ', tag, 1).replace('"shoulder"', '"$(arg first)"')
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(text.replace('<link', '<xacro:arg name="first" default="x"/><link', 1))
    own = {}
    for name, first in (('left', 'swivel'), ('right', 'pivot')):
        gains = {joint: {'kp': 9.0, 'kd': 6.0} for joint in (first, 'elbow')}
        parameters = tmp_path / f'{name}.yaml'
        node = {'ros__parameters': {'gains': gains, 'state_timeout': 5.0}}
        parameters.write_text(yaml.safe_dump({'/**/dynamics_node': node}))
        own[name] = [
            'robot.launch.py',
            f'robot_description_file:={file}',
            f'xacro_args:=first:={first}',
            f'params_file:={parameters}',
            'simulated:=true',
        ]
    heard = launched(domain, tmp_path, own, JointState, 'command_state')
    for messages, first in zip(heard.messages, ('swivel', 'pivot'), strict=True):
        assert {tuple(message.name) for message in messages} == {(first, 'elbow')}
