# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a start loads: libraries that take long to import wait until something needs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kron_dynamics as kd

ROOT = Path(__file__).parents[1]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
TO_READ_A_URDF = {'lxml', 'urdf_parser_py', 'yaml'}


def loaded_by(code: str, cache: Path | None = None) -> set[str]:
    """Packages outside the standard library that a fresh interpreter loads for some code."""
    report = (
        'import json, sys; before = set(sys.modules)\n'
        f'{code}\n'
        'print(); print(json.dumps(sorted(set(sys.modules) - before)))'
    )
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    if cache is not None:
        environment['KRON_DYNAMICS_CACHE'] = str(cache)
    done = subprocess.run(
        [sys.executable, '-c', report], stdout=subprocess.PIPE, check=True, env=environment
    )
    names = json.loads(done.stdout.splitlines()[-1])
    roots = {name.partition('.')[0] for name in names}
    # Extension types of Cython put modules of their own beside the package that they are in.
    return {
        root
        for root in roots - sys.stdlib_module_names
        if not root.startswith(('_', 'cython_runtime'))
    } - {'kron_dynamics', 'kron_caller'}


def test_packages_that_are_loaded_are_seen() -> None:
    assert loaded_by('import scipy.linalg') == {'numpy', 'scipy'}


def test_help_loads_numpy_at_most() -> None:
    """Nor does the package, which it imports."""
    code = (
        'import kron_dynamics.cli\n'
        'for option in ("--help", "--version"): kron_dynamics.cli.main([option])'
    )
    assert loaded_by(code) <= {'numpy'}


def test_rooms_and_commands_load_what_reads_a_urdf_at_most() -> None:
    """Neither a room nor `check`, nor what analyzes recordings before it does."""
    rooms = ['control', 'dynamics', 'flexible', 'kernels', 'simulation']
    modules = [*rooms, 'cli', 'cli.campaign_job', 'cli.identify']
    code = (
        f'import {", ".join(f"kron_dynamics.{name}" for name in modules)}\n'
        f'kron_dynamics.cli.main(["check", {str(STACKER)!r}])'
    )
    assert loaded_by(code) <= {'numpy', *TO_READ_A_URDF}


def test_a_robot_needs_nothing_more(kernel_cache: Path) -> None:
    """Rigid, or with links that bend, whose natural frequencies are found at its start."""
    code = (
        f'import kron_dynamics as kd; robot = kd.load({str(STACKER)!r})\n'
        'q = robot.model.position_lower\n'
        'robot.inverse_dynamics(q, q, q); robot.frame("bucket_wheel").pose(q)\n'
        f'bending = kd.load({str(STACKER)!r}, flexible={str(BOOM)!r}).model\n'
        'assert bending.n > robot.n; kd.dynamics.gravity_vector(bending, bending.n * [0.0])'
    )
    assert loaded_by(code, kernel_cache) <= {'numpy', *TO_READ_A_URDF}


def started_without(node: str, missing: str, told: str) -> subprocess.CompletedProcess[str]:
    """Start a node where a module is missing, which the error tells with these arguments."""
    code = (
        'import sys\n'
        'class Absent:\n'
        '    def find_spec(self, name, path=None, target=None):\n'
        f'        if name == {missing!r}:\n'
        f'            raise ModuleNotFoundError({told})\n'
        'sys.meta_path.insert(0, Absent())\n'
        f'from kron_dynamics.ros.start import {node}; sys.exit({node}())'
    )
    return subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )


@pytest.mark.parametrize(
    ('node', 'missing'),
    [
        ('simulator_node', 'rclpy'),
        ('dynamics_node', 'rclpy'),
        ('dynamics_node', 'diagnostic_msgs'),
        ('dynamics_node', 'kron_dynamics_msgs'),
    ],
)
def test_nodes_without_ros_say_in_one_line_what_is_missing(node: str, missing: str) -> None:
    """ROS as a whole, or a workspace that is not sourced: no traceback."""
    if missing != 'rclpy':
        pytest.importorskip('rclpy', reason='rclpy is not installed')
    done = started_without(node, missing, "f'No module named {name!r}', name=name")
    assert done.returncode == 1
    assert done.stderr == f'{node}: {missing} is missing: source ROS 2 and this workspace\n'
    assert done.stdout == ''


@pytest.mark.parametrize(
    ('missing', 'told'),
    [('kron_dynamics.ros.simulator_node', "'lost', name=name"), ('rclpy', "'lost'")],
)
def test_what_is_not_known_to_be_missing_of_ros_keeps_its_traceback(
    missing: str, told: str
) -> None:
    """A file of the package itself, or a module that the error does not name."""
    done = started_without('simulator_node', missing, told)
    assert done.returncode == 1
    assert done.stderr.startswith('Traceback')
    assert done.stderr.splitlines()[-1] == 'ModuleNotFoundError: lost'


def test_holding_a_position_needs_numpy_alone() -> None:
    code = (
        'from kron_dynamics.control import Trajectory\n'
        'Trajectory.from_points(["j"], [0.0], [[1.0]]).sample(3.0)'
    )
    assert 'scipy' not in loaded_by(code)


def test_names_that_are_loaded_later_are_listed_and_others_are_not_there() -> None:
    code = 'import kron_dynamics; print(sorted(dir(kron_dynamics)))'
    done = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE)
    assert set(kd.__all__) <= set(eval(done.stdout))
    with pytest.raises(AttributeError, match="'kron_dynamics' has no attribute 'laod'"):
        kd.laod  # noqa: B018


def test_solvers_are_all_that_control_imports_of_scipy() -> None:
    used = set()
    for file in (ROOT / 'kron_dynamics' / 'control').rglob('*.py'):
        used |= set(re.findall(r'(?:from|import) (scipy[.\w]+)', file.read_text('utf-8')))
    assert {'scipy.interpolate', 'scipy.optimize'} <= used
    code = (
        'import sys; from kron_dynamics.control import load_solvers; load_solvers()\n'
        f'assert {used} <= set(sys.modules)'
    )
    assert 'scipy' in loaded_by(code)
