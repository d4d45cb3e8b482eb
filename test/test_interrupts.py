# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command is interrupted without a word, whatever it is doing."""

from __future__ import annotations

from pathlib import Path

import pytest
from interrupts import every_moment, interrupted

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
FLEXIBLE = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
COMMANDS = {
    'info': ['info', STACKER],
    'derive': ['derive', STACKER, '--simplify'],
    'modes': ['modes', STACKER, '--flexible', FLEXIBLE],
}
MOMENTS = {'info': (0.0, 0.2, 0.45, 0.8), 'derive': (1.3,), 'modes': (0.7,)}


def check(name: str, moment: float, whole_group: bool) -> int:
    code, _, errors = interrupted(
        'kron_dynamics.start:command', COMMANDS[name], moment, whole_group
    )
    assert errors == ''
    assert code in (0, 130)  # the command may have done all before
    return code


@pytest.mark.parametrize('name', COMMANDS)
def test_interrupt_at_some_moments(name: str, kernel_cache: Path) -> None:
    codes = [check(name, moment, k % 2 == 0) for k, moment in enumerate(MOMENTS[name])]
    assert 130 in codes or name != 'info'  # the first comes before anything has begun


@pytest.mark.long
@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.parametrize('whole_group', [False, True], ids=['process', 'group'])
def test_interrupt_at_every_moment(
    name: str, whole_group: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in every_moment(tmp_path, monkeypatch):
        check(name, moment, whole_group)
