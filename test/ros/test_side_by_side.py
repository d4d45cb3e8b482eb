# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulator and node without launch, as README shows, and two such pairs in one domain."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
from sensor_msgs.msg import JointState

import kron_dynamics as kd

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0
# Of the second pair: time of its own, three times as fast.
SIMULATED = {
    'simulator_node': '-p publish_clock:=true -p real_time_factor:=3.0 -r /clock:=clock',
    'dynamics_node': '-p use_sim_time:=true -p allow_commands_in_sim_time:=true -r /clock:=clock',
}


def commands():
    """Arguments of each node in README."""
    text = (ROOT / 'README.md').read_text(encoding='utf-8')
    (machine,) = re.findall(r'^MACHINE=\(\n(.*?)^\)$', text, flags=re.MULTILINE | re.DOTALL)
    found = {}
    for node, rest in re.findall(r'^ros2 run kron_dynamics (\w+) (.*)$', text, flags=re.MULTILINE):
        line = rest.removesuffix(' &').replace('"${MACHINE[@]}"', ' '.join(machine.split()))
        line = line.replace('$SHARE', str(ROOT))
        found[node] = shlex.split(line)
    return found


@pytest.fixture
def pairs(ros, tmp_path):
    """Both pairs, running; they must end in order."""
    processes = []
    for namespace in ('wall', 'simulated'):
        for node, arguments in commands().items():
            more = shlex.split(SIMULATED[node]) if namespace == 'simulated' else []
            script = f'import sys; from kron_dynamics.ros.start import {node}; sys.exit({node}())'
            log = tmp_path / f'{namespace}_{node}'
            with log.open('w') as output:
                process = subprocess.Popen(
                    [sys.executable, '-c', script, *arguments, '-r', f'__ns:=/{namespace}', *more],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=ROOT,  # which comes before the path
                    env={**os.environ, 'PYTHONPATH': str(ROOT)},
                    start_new_session=True,
                )
            processes.append((process, log))
    yield
    for process, _ in processes:
        process.send_signal(signal.SIGINT)
    for process, log in processes:
        try:
            assert process.wait(PATIENCE) == 0, log.read_text()
        finally:
            process.kill()
        assert 'Traceback' not in log.read_text()


def test_each_simulator_obeys_the_node_beside_it(pairs):
    assert set(commands()) == {'simulator_node', 'dynamics_node'}
    node = rclpy.create_node('observer')
    states, sent, stamps = {}, {}, {'wall': [], 'simulated': []}

    def on_state(message, name):
        states[name] = message
        stamps[name].append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)

    for name in stamps:
        for topic, callback in (
            ('joint_states', lambda message, name=name: on_state(message, name)),
            (
                'dynamics_node/command_state',
                lambda message, name=name: sent.update({name: message}),
            ),
        ):
            node.create_subscription(JointState, f'/{name}/{topic}', callback, 10)
    gravity = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf').gravity_vector([100.0, 0.5, 0.0])

    def obeyed():
        """Without the remap brakes hold the machine, and carry the weight: no command does."""
        return len(sent) == 2 and all(
            name in states
            and np.allclose(states[name].effort, sent[name].effort, rtol=1e-6, atol=1.0)
            and abs(sent[name].effort[2] - gravity[2]) < 0.5 * abs(gravity[2])
            for name in sent
        )

    end = time.monotonic() + PATIENCE
    while not obeyed():
        assert time.monotonic() < end, (states, sent)
        rclpy.spin_once(node, timeout_sec=0.1)
    # Stamps of one are of the wall clock, those of the other of a clock that began with it.
    assert abs(stamps['wall'][-1] - time.time()) < PATIENCE
    assert stamps['simulated'][-1] < 10.0 * PATIENCE
    assert (np.diff(stamps['simulated']) > 0).all()
    topics = {name for name, _ in node.get_topic_names_and_types()}
    assert '/simulated/clock' in topics
    assert not topics & {'/clock', '/wall/clock'}
    node.destroy_node()
