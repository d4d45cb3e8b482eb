# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and demonstration are interrupted in order, however short they have lived."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from interrupts import every_moment, interrupted

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
NODE_ARGUMENTS = [
    *('--ros-args', '--params-file', str(ROOT / 'config' / 'stacker_reclaimer.yaml')),
    *('-p', f'robot_description_file:={ROOT / "urdf" / "stacker_reclaimer.urdf"}'),
]
# Entry point and exit code.
PROCESSES = {
    'dynamics_node': ('kron_dynamics.ros.start:dynamics_node', 0),
    'simulator_node': ('kron_dynamics.ros.start:simulator_node', 0),
    'demo': ('kron_dynamics.start:command', 130),
}


def check(name: str, moment: float, whole_group: bool, folder: Path) -> None:
    entry, expected = PROCESSES[name]
    output = folder / str(moment)
    arguments = ['demo', '--output', str(output)] if name == 'demo' else NODE_ARGUMENTS
    code, said, errors = interrupted(entry, arguments, moment, whole_group)
    assert code == expected, errors
    for trouble in ('Traceback', 'Error', '[ERROR]', '[FATAL]', 'terminate called'):
        assert trouble not in said + errors, (moment, said, errors)
    if name == 'demo':
        assert errors == ''


@pytest.mark.parametrize('name', PROCESSES)
def test_interrupt_at_some_moments(name: str, tmp_path: Path) -> None:
    for k, moment in enumerate((0.0, 0.5, 1.2)):
        check(name, moment, k % 2 == 0, tmp_path)


# Says that it compiles, and takes its time.
SLOW_COMPILER = """#!/bin/sh
case "$*" in *.so*) touch '{started}'; sleep 60;; esac
exec cc "$@"
"""


@pytest.mark.parametrize('name', ['dynamics_node', 'simulator_node'])
def test_an_interrupt_does_not_wait_for_the_compiler(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, started, kernels = (tmp_path / each for each in ('slow_cc', 'started', 'kernels'))
    compiler.write_text(SLOW_COMPILER.format(started=started), encoding='utf-8')
    compiler.chmod(0o755)
    kernels.mkdir(mode=0o700)
    monkeypatch.setenv('CC', str(compiler))
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(kernels))
    begin = time.monotonic()
    code, said, errors = interrupted(PROCESSES[name][0], NODE_ARGUMENTS, 0.2, after=started)
    assert started.exists()
    assert time.monotonic() - begin < 45.0
    assert code == 0, errors
    for trouble in ('Traceback', 'Error', '[ERROR]', '[FATAL]'):
        assert trouble not in said + errors
    # Neither the compiler nor its work is left over.
    assert subprocess.run(['pgrep', '-f', str(compiler)], check=False).returncode == 1
    assert not [path for path in kernels.iterdir() if path.is_dir()]


@pytest.mark.long
@pytest.mark.parametrize('name', PROCESSES)
@pytest.mark.parametrize('whole_group', [False, True], ids=['process', 'group'])
def test_interrupt_at_every_moment(
    name: str, whole_group: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in every_moment(tmp_path, monkeypatch):
        check(name, moment, whole_group, tmp_path)
