# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A few fuzz cases of each kind; `make fuzz` runs thousands, with any seed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import api_cases
import campaign
import frame_cases
import numpy as np
import pytest
from description_cases import close
from guarding import Finding, guarded

import kron_dynamics as kd
from kron_dynamics import dynamics, loading
from kron_dynamics.taylor import expand

SEED = 9


@pytest.mark.parametrize(
    ('kind', 'count'), [('urdf', 80), ('yaml', 15), ('api', 60), ('frames', 40)]
)
def test_nothing_is_found(
    kind: str, count: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    count = count if request.config.getoption('--long') else count // 3
    monkeypatch.setattr(api_cases, 'ROBOTS', {'rrp': api_cases.ROBOTS['rrp']})
    assert campaign.run(kind, SEED, count) == []


def test_cases_are_the_same_every_time() -> None:
    for kind in ('urdf', 'yaml'):
        texts = [campaign.case(kind, 3, number).input for number in (0, 0, 1)]
        assert texts[0] == texts[1] != texts[2]


def spin() -> None:
    while True:
        pass


def fail(*arguments: Any, **options: Any) -> Any:
    raise ZeroDivisionError('division\nby zero')


def refuse(*arguments: Any, **options: Any) -> Any:
    raise kd.ModelError('x' * 5000)


@pytest.mark.parametrize(
    ('call', 'said'), [(spin, 'hang: '), (fail, 'foreign error: ZeroDiv'), (refuse, 'message: ')]
)
def test_what_a_call_may_not_do_is_found(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(Finding, match=f'^{said}'):
        guarded(call, 0.2)


def test_waiting_is_no_hang() -> None:
    assert guarded(lambda: time.sleep(0.4), 0.2) == (None, None)


def test_wrong_numbers_are_found() -> None:
    close('x', [1.0, 2.0], [1.0, 2.0 + 1e-10], 2.0)
    for wrong in (2.0 + 1e-8, np.nan, np.inf):
        with pytest.raises(Finding, match='^numbers: x differs'):
            close('x', [1.0, 2.0], [1.0, wrong], 2.0)


@pytest.mark.parametrize('kind', ['urdf', 'yaml'])
def test_a_wrong_equation_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = dynamics.inverse_dynamics
    wrong = SimpleNamespace(**{**vars(dynamics), 'inverse_dynamics': lambda *x: 1.001 * right(*x)})
    for module in ('description_cases', 'kron_dynamics.robot'):
        monkeypatch.setattr(sys.modules[module], 'dynamics', wrong)
    found = campaign.run(kind, SEED, 15)
    assert found
    assert all('numbers: ' in text for _, text in found)


def test_a_wrong_expansion_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_cases, 'ROBOTS', {'rrp': api_cases.ROBOTS['rrp']})

    def wrong(*arguments: Any) -> Any:
        right = expand(*arguments)
        return replace(right, derivatives=tuple(1.001 * A for A in right.derivatives))

    monkeypatch.setattr(frame_cases, 'expand', wrong)
    found = campaign.run('frames', SEED, 12)
    assert any('numbers: ' in text for _, text in found)


def test_a_foreign_error_and_a_dead_process_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, 'load_model', fail)
    found = campaign.run('urdf', SEED, 8)
    assert found
    assert all('foreign error: ZeroDivisionError' in text for _, text in found)
    monkeypatch.setattr(
        loading, 'load_model', lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    )
    found = campaign.run('urdf', SEED, 8)
    assert found
    assert all('crash: exit code -9 while it did: load' in text for _, text in found)


def test_the_command_prints_seed_and_reproducers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path(campaign.__file__)
    done = subprocess.run(
        [sys.executable, str(script), '--only', 'urdf', '--seed', '7', '--count', '4'],
        capture_output=True,
        text=True,
        timeout=150,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == 'seed 7'
    found = any('findings' in line and ' 0 findings' not in line for line in lines)
    assert done.returncode == int(found)
    again = ['--only', 'urdf', '--seed', '7', '--case', '2']
    monkeypatch.setattr(sys, 'argv', [str(script), *again])
    campaign.main()
    assert '"case": 2' in capsys.readouterr().out
