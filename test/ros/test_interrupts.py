# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and demonstration are interrupted in order, however short they have lived."""

from __future__ import annotations

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
    for k, moment in enumerate((0.0, 0.4, 0.8, 1.2, 1.8)):
        check(name, moment, k % 2 == 0, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize('name', PROCESSES)
@pytest.mark.parametrize('whole_group', [False, True], ids=['process', 'group'])
def test_interrupt_at_every_moment(
    name: str, whole_group: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in every_moment(tmp_path, monkeypatch):
        check(name, moment, whole_group, tmp_path)
