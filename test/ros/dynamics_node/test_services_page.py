# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What docs/services.md shows a planner's author is what the services do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd

try:
    import rclpy
    from forgetful_nodes import ForgetfulNode
    from std_srvs.srv import Trigger
except ImportError:
    pass  # then nothing of this folder is collected

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / 'docs' / 'services.md').read_text(encoding='utf-8')
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
LARGEST = 500_000


def program():
    """Text of the page's program."""
    return '\n'.join(re.findall(r'^```python\n(.*?)^```', PAGE, re.MULTILINE | re.DOTALL))


def test_the_program_of_a_planner_runs(start, connect, kernel_cache):
    """As a process of its own beside the node, in one namespace."""
    process = start(
        'dynamics_node', 'planning', robot_description_file=str(STACKER), autostart=True
    )
    connect('planning').wait_for(lambda: 'kernels' in process.output, 'configured node')
    printing = '\nprint(trajectory.points[20].effort.tolist(), tip[20].tolist())\n'
    done = subprocess.run(
        [sys.executable, '-c', program() + printing, '--ros-args', '-r', '__ns:=/planning'],
        capture_output=True,
        text=True,
        timeout=240.0,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    moved, limits, quickest, numbers = done.stdout.splitlines()
    assert re.fullmatch(r'the tip moves 0\.\d{3} m', moved)
    assert limits == 'all limits are kept'
    said = re.fullmatch(r"([\d.]+) s; joint '\w+': .* at its limit in .*", quickest)
    assert said and 1.0 < float(said[1]) < 10.0
    effort, tip = (np.fromstring(row, sep=',') for row in re.findall(r'\[(.*?)\]', numbers))
    robot = kd.load(STACKER)
    q, qd = np.array([100.25, 0.205, 0.001]), np.array([0.5, 0.01, 0.002]) / 4.0 * 1.5
    np.testing.assert_allclose(tip, robot.frame('bucket_wheel').pose(q)[:3, 3], rtol=1e-9)
    # Half-way the speed is greatest and the acceleration is 0.
    expected = robot.inverse_dynamics(q, qd, np.zeros(3)) + robot.joint_friction(qd)
    np.testing.assert_allclose(
        effort, expected[[2, 1, 0]], rtol=1e-3, atol=1e-3 * abs(expected[2])
    )


def asking(node, monkeypatch):
    """The page's function that asks, with a node that needs no network."""
    for name in ('init', 'spin_until_future_complete'):
        monkeypatch.setattr(rclpy, name, lambda *_, **options: None)
    monkeypatch.setattr(rclpy, 'create_node', lambda name: node)
    names = {}
    exec(program().partition('\n\n\ntimes =')[0], names)
    return names['ask']


def test_a_planner_whose_responses_are_lost_asks_again(monkeypatch):
    node = ForgetfulNode(lost=2)
    answer = asking(node, monkeypatch)(Trigger, 'clear_faults')
    assert answer.message == 'heard' and node.requests == 3 * [Trigger.Request()]


def test_a_planner_that_nobody_answers_says_so(monkeypatch):
    ask = asking(ForgetfulNode(lost=1000), monkeypatch)
    with pytest.raises(TimeoutError, match='dynamics_node/clear_faults does not answer'):
        ask(Trigger, 'clear_faults')


def test_the_table_of_batch_sizes_is_that_of_the_layouts():
    numbers = {
        'inverse_dynamics': lambda n: 3 * n,
        'equations_of_motion': lambda n: n**3 + 2 * n * n + n,
        'frame_kinematics': lambda n: 7 + 6 * n + 6 * n * n + 18,
        'linearize': lambda n: 3 * n * n + 4 * n,
        'annotate_trajectory': lambda n: 1 + 3 * n,
    }
    rows = re.findall(
        r'^\| `~/(\w+)`[^|]*\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|', PAGE, re.MULTILINE
    )
    told = {name: [int(x.replace(',', '')) for x in counts] for name, *counts in rows}
    assert told == {
        name: [LARGEST // size(n) for n in (3, 6, 7)] for name, size in numbers.items()
    }
